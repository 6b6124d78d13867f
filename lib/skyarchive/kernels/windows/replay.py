"""All records are known: who beats whom, without a list of events."""

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.windows.checking import Records
from skyarchive.kernels.windows.codes import Codes, coder_for, encoded
from skyarchive.kernels.windows.keeper import Keeper
from skyarchive.kernels.windows.sieve import may_matter
from skyarchive.kernels.windows.stays import NOBODY, Counters, Settled


def everybody(stream: Records, counters: Counters) -> Settled:
    """Who freed and who beat each record, also those that are never in."""
    rows = np.arange(len(stream), dtype=np.int32)
    return _settled(stream, _coded(stream), rows, counters)


def replay(stream: Records, counters: Counters) -> Settled:
    """The same of all that may be in the skyline one day."""
    codes = _coded(stream)
    rows = may_matter(stream.moments, codes, stream.width)
    _, freed_by, beaten_by = _settled(stream, codes, rows, counters)
    freed_by, beaten_by = (np.where(who == NOBODY, NOBODY, rows[who]) for who in (freed_by, beaten_by))
    return rows, freed_by, beaten_by


def _coded(stream: Records) -> Codes:
    return encoded(coder_for(stream.columns, 0, len(stream)), stream.columns, len(stream))


def _settled(stream: Records, codes: Codes, rows: NDArray[np.int32], counters: Counters) -> Settled:
    """Who of these rows freed and beat each of them, by place among them."""
    keeper = Keeper(len(stream.columns))
    numbers = keeper.numbers(len(rows))
    keeper.take(stream.columns, stream.moments, codes.blocks, rows, 0, len(rows), stream.width, numbers)
    counters.tests += keeper.tests
    counters.kept = max(counters.kept, keeper.most)
    return rows, numbers.freed_by, numbers.beaten_by

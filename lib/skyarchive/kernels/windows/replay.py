"""All records are known: who beats whom, without a list of events."""

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.columns import Columns
from skyarchive.kernels.windows.checking import Records
from skyarchive.kernels.windows.codes import Codes, coder_for, encoded
from skyarchive.kernels.windows.keeper import Keeper
from skyarchive.kernels.windows.sieve import may_matter
from skyarchive.kernels.windows.stays import NOBODY, Counters, Stays, stays_of

Numbers = NDArray[np.int64]


def settled(records: Records, counters: Counters) -> tuple[Numbers, Numbers]:
    """Who freed and who beat each record."""
    order, stream = _by_group(records)
    everyone = np.arange(len(stream), dtype=np.int32)
    freed_by, beaten_by = _settled(stream, _coded(stream), everyone, counters)
    if order is None:
        return freed_by, beaten_by
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return _renumbered(freed_by, order)[place], _renumbered(beaten_by, order)[place]


def replayed(records: Records, begin: int, counters: Counters) -> Stays:
    """The stays that outlast the record before `begin`."""
    order, stream = _by_group(records)
    codes = _coded(stream)
    rows: NDArray[np.integer] = may_matter(stream.moments, codes, stream.width)
    freed_by, beaten_by = _settled(stream, codes, rows, counters)
    if order is not None:
        rows = order[rows]
    freed_by, beaten_by = _renumbered(freed_by, rows), _renumbered(beaten_by, rows)
    if order is not None:
        ascending = np.argsort(rows)
        rows, freed_by, beaten_by = rows[ascending], freed_by[ascending], beaten_by[ascending]
    return stays_of(records.moments, rows, freed_by, beaten_by, records.width, begin)


def _coded(stream: Records) -> Codes:
    return encoded(coder_for(stream.columns, 0, len(stream)), stream.columns, len(stream))


def _settled(stream: Records, codes: Codes, rows: NDArray[np.int32], counters: Counters) -> tuple[Numbers, Numbers]:
    """Who freed and who beat each of these rows, among them, by place."""
    keeper = Keeper(len(stream.columns))
    numbers = keeper.numbers(len(rows))
    keeper.take(stream.columns, stream.moments, codes.blocks, rows, 0, len(rows), stream.width, numbers)
    counters.tests += keeper.tests
    counters.kept = max(counters.kept, keeper.most)
    return numbers.freed_by, numbers.beaten_by


def _by_group(records: Records) -> tuple[Numbers | None, Records]:
    """The records one group after the other, so far apart in time that nobody meets one of another group; and whose
    they are."""
    width = min(records.width, int(records.moments[-1] - records.moments[0]) + 1) if len(records) else records.width
    if records.groups is None:
        return None, Records(records.moments, None, records.columns, width)
    order = np.argsort(records.groups, kind="stable")
    groups = records.groups[order]
    number = np.cumsum(np.concatenate([[0], groups[1:] != groups[:-1]])) if len(order) else order
    moments = records.moments[order]
    if len(order):
        moments = moments - records.moments[0] + number * (int(records.moments[-1] - records.moments[0]) + width)
    columns = Columns([array[order] for array in records.columns.arrays])
    return order, Records(moments, None, columns, width)


def _renumbered(found: Numbers, numbers: NDArray[np.integer]) -> Numbers:
    """Places among some records, as their numbers."""
    return np.where(found == NOBODY, NOBODY, numbers[found]) if len(found) else found

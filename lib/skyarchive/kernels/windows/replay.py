"""All records are known: who beats whom, without a list of events."""

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.columns import Columns
from skyarchive.kernels.windows.checking import Records
from skyarchive.kernels.windows.codes import coder_for, encode
from skyarchive.kernels.windows.keeper import Keeper
from skyarchive.kernels.windows.stays import NOBODY, Counters, Stays, stays_of

Numbers = NDArray[np.int64]


def settled(records: Records, counters: Counters) -> tuple[Numbers, Numbers]:
    """Who freed and who beat each record."""
    order, stream = _by_group(records)
    freed_by, beaten_by = _settled_alone(stream, counters)
    if order is None:
        return freed_by, beaten_by
    return _renumbered(freed_by, order), _renumbered(beaten_by, order)


def replayed(records: Records, begin: int, counters: Counters) -> Stays:
    freed_by, beaten_by = settled(records, counters)
    return stays_of(records.moments, freed_by, beaten_by, records.width, begin)


def _settled_alone(stream: Records, counters: Counters) -> tuple[Numbers, Numbers]:
    columns = stream.columns
    coded = np.empty((len(stream), len(columns)), np.uint8)
    encode(coder_for(columns, 0, len(stream)), columns, 0, coded)
    keeper = Keeper(len(columns))
    numbers = keeper.numbers(len(stream))
    everyone = np.arange(len(stream), dtype=np.int32)
    keeper.take(columns, stream.moments, coded, everyone, stream.width, numbers)
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


def _renumbered(found: Numbers, order: Numbers) -> Numbers:
    """Numbers among the records in another order, as numbers of the records."""
    answer = np.empty_like(found)
    answer[order] = np.where(found == NOBODY, NOBODY, order[found])
    return answer

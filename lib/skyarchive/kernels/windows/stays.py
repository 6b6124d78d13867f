"""From the two numbers of each record (who freed it, who beat it) to the stays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.compiling import entry_point

NOBODY = -1
Settled = tuple[NDArray[np.integer], NDArray[np.int64], NDArray[np.int64]]
"""Some rows, ascending, which are all that can have a stay; who freed each of them, and who beat it."""


@dataclass
class Counters:
    """What a method did, whatever the machine."""

    tests: int = 0
    """Pairs of records compared. They are compared by blocks where a method has such: each block looked at counts with
    all its lanes."""
    kept: int = 0
    """The most records kept at once."""


@dataclass(frozen=True)
class Stays:
    """The stays of records in the skyline of the last while; every record has one at most."""

    record: NDArray[np.int64]
    """Index into the given arrays, ascending."""
    entered: NDArray[np.int64]
    """Moment."""
    left: NDArray[np.int64]
    """The first moment at which it is not a member any more, as if no record came after the given ones: its own and
    the width, if nothing beats it."""
    freed_by: NDArray[np.int64]
    """The youngest older record that beat it, whose expiry let it in later than it arrived; -1 if it entered then."""
    beaten_by: NDArray[np.int64]
    """The first younger record that beat it before its time was up; -1 if it expired."""

    def __len__(self) -> int:
        return len(self.record)


@entry_point
def _fill(moments, rows, freed_by, beaten_by, width, after, record, entered, left, freed, beaten):  # type: ignore[no-untyped-def]
    """Writes the stays that last beyond the moment `after`; gives how many there are."""
    size = 0
    for at in range(len(rows)):
        row = rows[at]
        begins, ends = moments[row], moments[row] + width
        if freed_by[at] != NOBODY:
            begins = max(begins, moments[freed_by[at]] + width)
        if beaten_by[at] != NOBODY:
            ends = min(ends, moments[beaten_by[at]])
        record[size], entered[size], left[size] = row, begins, ends
        freed[size], beaten[size] = freed_by[at], beaten_by[at]
        size += begins < ends and ends > after
    return size


def stays_of(
    moments: NDArray[np.int64],
    rows: NDArray[np.integer],
    freed_by: NDArray[np.int64],
    beaten_by: NDArray[np.int64],
    width: int,
    begin: int = 0,
) -> Stays:
    """The stays that outlast the record before `begin`, given who freed and who beat these records, ascending; others
    have none."""
    after = int(moments[begin - 1]) if begin else np.iinfo(np.int64).min
    told = np.empty((5, len(rows) + 1), np.int64)  # one more: the last one tried is written, too
    size = _fill(moments, rows, freed_by, beaten_by, width, after, *told)
    return Stays(*told[:, :size])

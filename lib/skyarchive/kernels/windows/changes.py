"""What happens to the skyline of the last while, moment by moment."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.compiling import entry_point, inlined
from skyarchive.kernels.windows.slots import BLOCKED_AT, BLOCKER, MOMENT, NOBODY, RECORD


@dataclass(frozen=True)
class Changes:
    """Who enters and who leaves, by moment; of one moment those who leave come first, then by record."""

    moment: NDArray[np.int64]
    record: NDArray[np.int64]
    """Number."""
    change: NDArray[np.int64]
    """1: entered, -1: left."""
    because: NDArray[np.int64]
    """The number of the record whose expiry let it in or of the one that beat it; -1 if it arrived or expired."""

    def __len__(self) -> int:
        return len(self.moment)


@inlined
def _note(told, size, entered, left, record, blocker, beater, after, until):  # type: ignore[no-untyped-def]
    """Writes down what happens to a record later than `after` and not later than `until`; gives how many changes are
    noted by now. A place more than there are changes is written to."""
    was_in = entered < left
    told[0, size], told[1, size], told[2, size], told[3, size] = left, record, -1, beater
    size += was_in and after < left <= until
    told[0, size], told[1, size], told[2, size], told[3, size] = entered, record, 1, blocker
    return size + (was_in and after < entered <= until)


@inlined
def _place_of(known, record):  # type: ignore[no-untyped-def]
    """Of a record that was kept before, among those."""
    low, high = 0, len(known)
    while low < high:
        middle = (low + high) // 2
        if known[middle, RECORD] < record:
            low = middle + 1
        else:
            high = middle
    return low


@entry_point
def _tell(known, known_beaten_by, moments, freed_by, beaten_by, base, width, after, told):  # type: ignore[no-untyped-def]
    until = moments[-1]
    size = np.int64(0)
    for at in range(len(known)):
        entered, left, beater = known[at, MOMENT], known[at, MOMENT] + width, known_beaten_by[at]
        if known[at, BLOCKER] != NOBODY:
            entered = max(entered, known[at, BLOCKED_AT] + width)
        if beater != NOBODY:
            left = min(left, moments[beater - base])
        size = _note(told, size, entered, left, known[at, RECORD], known[at, BLOCKER], beater, after, until)
    for row in range(len(moments)):
        entered, left, blocker, beater = moments[row], moments[row] + width, freed_by[row], beaten_by[row]
        if blocker >= base:
            entered = moments[blocker - base] + width
        elif blocker != NOBODY:
            entered = known[_place_of(known, blocker), MOMENT] + width
        if beater != NOBODY:
            left = min(left, moments[beater - base])
        size = _note(told, size, entered, left, base + row, blocker, beater, after, until)
    return size


def changes_of(
    known: NDArray[np.int64],
    known_beaten_by: NDArray[np.int64],
    moments: NDArray[np.int64],
    freed_by: NDArray[np.int64],
    beaten_by: NDArray[np.int64],
    base: int,
    width: int,
    after: int,
) -> Changes:
    """The changes later than `after`, up to the last of these moments: those of records numbered from `base` on, given
    who freed and who beat each, and of those kept before, given what was known about them and who beat them since."""
    told = np.empty((4, 2 * (len(known) + len(moments)) + 1), np.int64)
    told = told[:, : _tell(known, known_beaten_by, moments, freed_by, beaten_by, base, width, after, told)]
    return Changes(*told[:, _order(told[0], told[1], told[2])])


def _order(moment: NDArray[np.int64], record: NDArray[np.int64], change: NDArray[np.int64]) -> NDArray[np.intp]:
    """By moment, change and record: sorted as one number, which is many times faster, if they fit into one."""
    if not len(moment):
        return np.arange(0)
    first, lowest = int(moment.min()), int(record.min())
    numbers = int(record.max()) - lowest + 1
    if (int(moment.max()) - first + 1) * 2 * numbers < 2**63:
        return np.argsort(((moment - first) * 2 + (change > 0)) * numbers + (record - lowest))
    return np.lexsort((record, change, moment))

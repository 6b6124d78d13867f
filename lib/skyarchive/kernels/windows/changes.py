"""What happens to the skyline of the last while, moment by moment."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.compiling import entry_point
from skyarchive.kernels.windows.slots import NOBODY


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


@entry_point
def _tell(record, moment, blocker, blocked_at, beaten_by, beaten_at, width, after, until, told):  # type: ignore[no-untyped-def]
    """Writes what happens later than `after` and not later than `until`; gives how many changes. One more column of
    `told` than there may be changes is written to."""
    size = 0
    for row in range(len(record)):
        entered, left = moment[row], moment[row] + width
        if blocker[row] != NOBODY:
            entered = max(entered, blocked_at[row] + width)
        if beaten_by[row] != NOBODY:
            left = min(left, beaten_at[row])
        was_in = entered < left
        told[0, size], told[1, size], told[2, size], told[3, size] = left, record[row], -1, beaten_by[row]
        size += was_in and after < left <= until
        told[0, size], told[1, size], told[2, size], told[3, size] = entered, record[row], 1, blocker[row]
        size += was_in and after < entered <= until
    return size


def changes_of(
    record: NDArray[np.int64],
    moment: NDArray[np.int64],
    blocker: NDArray[np.int64],
    blocked_at: NDArray[np.int64],
    beaten_by: NDArray[np.int64],
    beaten_at: NDArray[np.int64],
    width: int,
    after: int,
    until: int,
) -> Changes:
    """The changes later than `after` and up to `until` of these records: number and moment of each, of who kept it out
    and of who beat it by then."""
    told = np.empty((4, 2 * len(record) + 1), np.int64)
    told = told[:, : _tell(record, moment, blocker, blocked_at, beaten_by, beaten_at, width, after, until, told)]
    return Changes(*told[:, np.lexsort((told[1], told[2], told[0]))])

"""What the paper's two methods tell of each record: when it entered and left, who freed and who beat it."""

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.windows.stays import NOBODY

ENTERED, LEFT, FREED_BY, BEATEN_BY = range(4)
"""Rows."""
NEVER = np.iinfo(np.int64).max


def new_told(length: int) -> NDArray[np.int64]:
    told = np.full((4, length), NOBODY, np.int64)
    told[[ENTERED, LEFT]] = NEVER
    return told


def members_told(told: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Who was in the skyline, who freed each and who beat it. Who enters and leaves in one moment was never there."""
    rows = np.flatnonzero(told[ENTERED] < told[LEFT])
    return rows, told[FREED_BY, rows], told[BEATEN_BY, rows]

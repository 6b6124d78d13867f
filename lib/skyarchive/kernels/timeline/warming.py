"""Loading the compiled code of the default methods, which comes with their first call."""

import numpy as np

from skyarchive.kernels.points import unbeaten
from skyarchive.kernels.timeline import skyline_intervals


def warm() -> None:
    """What a worker needs for its first part of a timeline, and for its first rows that are compared."""
    first, value = np.zeros(1, np.int32), np.zeros(1)
    skyline_intervals(first, first, [value], 1)
    for width in (1, 4):  # swept, and compared with members
        unbeaten([value] * width)

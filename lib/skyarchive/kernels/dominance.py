"""The one meaning of 'beats' that all kernels share.

numba looks only at a function's own file when it decides whether compiled code is still good: after a change
here, remove the compiled files of the kernels that call it (`make clean`).
"""

import numpy as np
from numba import njit


@njit(cache=True, forceinline=True)
def beats(points, a, b):  # type: ignore[no-untyped-def]
    """Whether row a of `points` is at least as good as row b everywhere and better somewhere."""
    better = False
    for axis in range(points.shape[1]):
        if points[a, axis] > points[b, axis]:
            return False
        if points[a, axis] < points[b, axis]:
            better = True
    return better


@njit(cache=True, forceinline=True)
def relation(points, a, b):  # type: ignore[no-untyped-def]
    """1 if row a beats row b, -1 if b beats a, 0 if neither does."""
    better = False
    worse = False
    for axis in range(points.shape[1]):
        better |= points[a, axis] < points[b, axis]
        worse |= points[a, axis] > points[b, axis]
        if better and worse:
            return 0
    return int(better) - int(worse)


@njit(cache=True, forceinline=True)
def is_position(points, row):  # type: ignore[no-untyped-def]
    """Whether row `row` is a position; one NaN makes it 'gone'."""
    for axis in range(points.shape[1]):
        if np.isnan(points[row, axis]):
            return False
    return True

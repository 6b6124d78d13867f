"""The one meaning of 'beats' that all kernels share."""

import numpy as np

from skyarchive.kernels.compiling import inlined

NEITHER, BEATS, BEATEN, SAME = 0, 1, 2, 3
"""How one point stands to another."""


@inlined
def beats(points, a, b):  # type: ignore[no-untyped-def]
    """Whether row a of `points` is at least as good as row b everywhere and better somewhere."""
    one, other = np.uintp(a), np.uintp(b)
    better = False
    for axis in range(points.shape[1]):
        if points[one, axis] > points[other, axis]:
            return False
        better |= points[one, axis] < points[other, axis]
    return better


@inlined
def relation(points, a, b):  # type: ignore[no-untyped-def]
    """How row a of `points` stands to row b."""
    better = False
    worse = False
    for axis in range(points.shape[1]):
        better |= points[a, axis] < points[b, axis]
        worse |= points[a, axis] > points[b, axis]
        if better and worse:
            return NEITHER
    if better:
        return BEATS
    return BEATEN if worse else SAME


@inlined
def is_position(points, row):  # type: ignore[no-untyped-def]
    """Whether row `row` is a position; one NaN makes it 'gone'."""
    for axis in range(points.shape[1]):  # noqa: SIM110 - numba is slow on generators
        if np.isnan(points[row, axis]):
            return False
    return True

"""Positions in one number each: a glance at two of them rules most comparisons out.

A sketch has four bits for each of the first eight attributes: which eighth of the attribute's range the value is in,
and a bit that is free. Who beats another is in no later eighth on any attribute; the other way round says nothing.
"""

import numpy as np

from skyarchive.kernels.compiling import inlined

_BITS = 4
SKETCHED = 32 // _BITS
"""Attributes that a sketch tells of."""
_LEVELS = 1 << (_BITS - 1)
_EVERY_BIT = (1 << _BITS) - 1
_FREE = 0x88888888
"""The free bit of every attribute."""
SCALES = 2
"""Rows at the end of `points`, before the last, that hold the ranges: where they begin, and eighths per unit."""


def set_scales(points: np.ndarray, sample: np.ndarray) -> None:
    """Takes the ranges from a sample of positions, a row each; NaN and infinities do not count."""
    for axis in range(points.shape[1]):
        values = sample[np.isfinite(sample[:, axis]), axis]
        low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
        width = high - low
        points[-3, axis] = low
        points[-2, axis] = _LEVELS / width if 0 < width < np.inf and _LEVELS / width < np.inf else 0.0


@inlined
def _level(points, node, axis):  # type: ignore[no-untyped-def]
    """In which eighth of its range a value is. It never falls when the value rises, also beyond the range."""
    level = (points[node, axis] - points[len(points) - 3, axis]) * points[len(points) - 2, axis]
    # In this order: what is no number (infinity times nothing) is level 0, on every attribute without a range.
    return np.int64(min(level, _LEVELS - 1.0)) if level > 0.0 else 0


@inlined
def sketch(points, node):  # type: ignore[no-untyped-def]
    """Of a position."""
    seen = 0
    for axis in range(min(points.shape[1], SKETCHED)):
        seen |= _level(points, node, axis) << (_BITS * axis)
    return seen


@inlined
def redrawn(points, node, axis, seen):  # type: ignore[no-untyped-def]
    """A sketch of the position that changed on one attribute."""
    if axis >= SKETCHED:
        return seen
    shift = _BITS * axis
    return seen & ~(_EVERY_BIT << shift) | (_level(points, node, axis) << shift)


@inlined
def may_beat(one, other):  # type: ignore[no-untyped-def]
    """Whether who has the one sketch may beat who has the other."""
    return ((other | _FREE) - one) & _FREE == _FREE

"""One number per point that a better point never has a larger one of: it spares most comparisons.

It is the product of 1 + x over the attributes, each x scaled to 0..1: exp of the entropy by which LESS sorts, in the
same order, but made of operations that are monotone in floating point too (a library's logarithm need not be).
"""

from collections.abc import Iterable

import numpy as np

from skyarchive.kernels.compiling import entry_point


@entry_point
def _fill(points, low, high, scores):  # type: ignore[no-untyped-def]
    """Halves, because high - low may be more than a float can hold."""
    for row in range(len(points)):
        score = 1.0
        for axis in range(points.shape[1]):
            span = high[axis] * 0.5 - low[axis] * 0.5
            if span > 0:
                value = min(max(points[row, axis], low[axis]), high[axis])
                score *= 1.0 + (value * 0.5 - low[axis] * 0.5) / span
        scores[row] = score


class Score:
    """The scale: values beyond it count as its ends, so any scale is right and a fitting one is quick."""

    def __init__(self, low: np.ndarray, high: np.ndarray) -> None:
        self._low, self._high = low, high

    @classmethod
    def of(cls, parts: Iterable[np.ndarray], width: int) -> "Score":
        """Fits these points; infinite values are left out of the scale."""
        low, high = np.full(width, np.inf), np.full(width, -np.inf)
        for points in parts:
            if len(points):
                finite = np.isfinite(points)
                low = np.minimum(low, np.where(finite, points, np.inf).min(axis=0))
                high = np.maximum(high, np.where(finite, points, -np.inf).max(axis=0))
        known = low <= high
        return cls(np.where(known, low, 0.0), np.where(known, high, 0.0))

    def __call__(self, points: np.ndarray) -> np.ndarray:
        scores = np.empty(len(points))
        _fill(read_only(points), self._low, self._high, scores)
        return scores


def best_first(points: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The rows sorted so that no point comes before one that beats it: by score, and equal ones lexicographically (a
    score is rounded)."""
    return np.lexsort((*points.T[::-1], scores))


def read_only(values: np.ndarray) -> np.ndarray:
    """The same ids or points as compiled code gets them from a stream: it is compiled once for each kind."""
    view = values.view()
    view.flags.writeable = False
    return view

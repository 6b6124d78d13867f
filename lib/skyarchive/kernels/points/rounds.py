"""What every machine does in a round of distributed RAND (Das Sarma et al., VLDB 2009, algorithm 3).

The points that come from the centre are few, the rows that meet them are many: bits as in `points` rule out most pairs.
"""

from collections.abc import Sequence

import numpy as np

from skyarchive.kernels.compiling import entry_point
from skyarchive.kernels.points import checked_columns, marked, quantile_thresholds

FREE, BEATEN, EQUAL = 0, 1, 2
"""How a row stands to the points found so far."""


@entry_point
def _improve(points, group, marks, targets, target_group, target_marks, best):  # type: ignore[no-untyped-def]
    """Puts into `best` the lexicographically least of itself and the rows that are at least as good as the target."""
    for row in range(len(points)):
        mark = marks[row]
        for at in range(len(targets)):
            if (mark & ~target_marks[at]) != 0 or group[row] != target_group[at]:
                continue
            at_least_as_good = True
            for axis in range(points.shape[1]):
                at_least_as_good &= points[row, axis] <= targets[at, axis]
            if not at_least_as_good:
                continue
            for axis in range(points.shape[1]):
                if points[row, axis] > best[at, axis]:
                    break
                if points[row, axis] < best[at, axis]:
                    for rest in range(points.shape[1]):
                        best[at, rest] = points[row, rest]
                    break


@entry_point
def _judge(points, group, marks, found, found_group, found_marks, standing):  # type: ignore[no-untyped-def]
    """Fills `standing`; nobody beats a found point, so the first that is at least as good decides."""
    for row in range(len(points)):
        lacks = ~marks[row]
        standing[row] = FREE
        for at in range(len(found)):
            if (found_marks[at] & lacks) != 0 or group[row] != found_group[at]:
                continue
            nowhere_worse = True
            better = False
            for axis in range(points.shape[1]):
                nowhere_worse &= found[at, axis] <= points[row, axis]
                better |= found[at, axis] < points[row, axis]
            if nowhere_worse:
                standing[row] = BEATEN if better else EQUAL
                break


def improved(
    columns: Sequence[np.ndarray], group: np.ndarray, targets: np.ndarray, target_group: np.ndarray
) -> np.ndarray:
    """For each target (a row of it) the lexicographically least point among it and the rows of its group that are at
    least as good everywhere. If all rows are seen, that is a skyline point. No row has a NaN."""
    points = np.column_stack(checked_columns(columns))
    best = np.array(targets, np.float64)
    limits = quantile_thresholds(best)
    marks, target_marks = marked(points, limits), marked(best, limits)
    _improve(points, _numbers(group), marks, best.copy(), _numbers(target_group), target_marks, best)
    return best


def standing(
    columns: Sequence[np.ndarray], group: np.ndarray, found: np.ndarray, found_group: np.ndarray
) -> np.ndarray:
    """Whether each row is FREE, BEATEN by a found skyline point of its group, or EQUAL to one and so a member itself.
    No row has a NaN."""
    points = np.column_stack(checked_columns(columns))
    answer = np.empty(len(points), np.int8)
    rivals = np.ascontiguousarray(found, np.float64)
    limits = quantile_thresholds(rivals)
    _judge(
        points, _numbers(group), marked(points, limits), rivals, _numbers(found_group), marked(rivals, limits), answer
    )
    return answer


def _numbers(group: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(group, np.int64)

"""The skyline of points that lie in memory: who is beaten by nobody.

Most points fall to a few strong ones, in passes that the processor does many rows at a time. The others are swept where
they have at most three attributes (see `sweep`). Else they are sorted so that nobody comes after a point it beats; then
a point has to be compared only with the members found before it. Each carries its place in the middle of the others as
bits (a bit for each of some thresholds it is above): who beats it has none that it lacks, so one instruction rules out
most pairs.
"""

from collections.abc import Sequence

import numpy as np

from skyarchive.kernels.columns import Columns, column
from skyarchive.kernels.compiling import entry_point
from skyarchive.kernels.points import sweep

MOST_COLUMNS = 64
"""A bit for each at least."""
_BITS = 64
_TILE = 256
"""Rows that are judged together without leaving the first-level cache."""
_BLOCK = 16
"""Members whose bits are compared at once."""
_SAMPLE = 4096
_JUDGED = 512
"""Points of the sample on which candidates show how much they beat."""
_CANDIDATES = 64
_STRONG = 6
_WORTH = 0.005
"""A strong point must beat this share of the judged that none before it does."""
_FEW = 2048
"""So few points are sorted at once."""
_GAIN = 0.3
"""A pass that drops less than this share of the points is the last one."""
_FAR = 1e300


@entry_point
def _strike(addresses, strong, strict, kept, worse):  # type: ignore[no-untyped-def]
    """Clears `kept` for rows that are nowhere better than a strong point and worse on its axis `strict`: to be worse on
    one known axis is quicker to test than on any. `worse` is room for a tile."""
    for start in range(0, len(kept), _TILE):
        length = min(_TILE, len(kept) - start)
        for point in range(len(strong)):
            values = column(addresses, strict[point])
            limit = strong[point, strict[point]]
            for at in range(length):
                worse[at] = limit < values[start + at]
            for axis in range(strong.shape[1]):
                values = column(addresses, axis)
                limit = strong[point, axis]
                for at in range(length):
                    worse[at] &= limit <= values[start + at]
            for at in range(length):
                kept[start + at] &= ~worse[at]


@entry_point
def _mark(points, thresholds, marks):  # type: ignore[no-untyped-def]
    """Sets a bit of `marks` for every threshold that a point is above."""
    for row in range(len(points)):
        mark = np.uint64(0)
        bit = np.uint64(1)
        for axis in range(points.shape[1]):
            for at in range(thresholds.shape[1]):
                if points[row, axis] > thresholds[axis, at]:
                    mark |= bit
                bit <<= np.uint64(1)
        marks[row] = mark


@entry_point
def _scan(points, group, marks, window, window_marks, member):  # type: ignore[no-untyped-def]
    """Fills `member` for sorted points: groups in one piece each, nobody after whom it beats, equals side by side.

    `window` and `window_marks` have room for all. A member that beats somebody moves half the way to the front.
    """
    size = 0
    width = points.shape[1]
    for row in range(len(points)):
        is_new = row == 0 or group[row] != group[row - 1]
        if is_new:
            size = 0
        else:
            equal = True
            for axis in range(width):
                equal &= points[row, axis] == points[row - 1, axis]
            if equal:
                member[row] = member[row - 1]
                continue
        lacks = ~marks[row]
        beaten = False
        start = 0
        while start < size and not beaten:
            end = min(start + _BLOCK, size)
            possible = False
            for at in range(start, end):
                possible |= (window_marks[at] & lacks) == 0
            if possible:
                for at in range(start, end):
                    if (window_marks[at] & lacks) != 0:
                        continue
                    rival = window[at]
                    nowhere_worse = True
                    for axis in range(width):
                        if points[rival, axis] > points[row, axis]:
                            nowhere_worse = False
                            break
                    if nowhere_worse:
                        beaten = True
                        ahead = at >> 1
                        window[at], window[ahead] = window[ahead], window[at]
                        window_marks[at], window_marks[ahead] = window_marks[ahead], window_marks[at]
                        break
            start = end
        member[row] = not beaten
        if not beaten:
            window[size] = row
            window_marks[size] = marks[row]
            size += 1


def unbeaten(columns: Sequence[np.ndarray], group: np.ndarray | None = None) -> np.ndarray:
    """Which rows nobody beats: bool, one per row. Smaller is better; equal rows do not beat each other, so all rows
    that are equal to an unbeaten one are unbeaten too. A row with a NaN takes no part and is not in the answer; an
    infinity is a value like any other.

    The columns are 1 to 64 float64 arrays of one length, which are not changed. With `group`, a number per row, only
    rows of one group are compared.
    """
    arrays = checked_columns(columns)
    rows = np.flatnonzero(_complete(arrays))
    if group is None:
        while len(rows) > _FEW:
            left = _without_beaten(arrays, rows)
            dropped = len(rows) - len(left)
            rows = left
            if dropped < _GAIN * (dropped + len(left)):
                break
    elif len(group) != len(arrays[0]):
        raise ValueError(f"group must have one number per row: {len(group)} for {len(arrays[0])} rows")
    answer = np.zeros(len(arrays[0]), bool)
    answer[rows] = _members([values[rows] for values in arrays], None if group is None else np.asarray(group)[rows])
    return answer


def checked_columns(columns: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The columns in one piece each; anything but float64 columns of one length is an error."""
    if not 1 <= len(columns) <= MOST_COLUMNS:
        raise ValueError(f"columns must be 1 to {MOST_COLUMNS}, not {len(columns)}")
    for axis, values in enumerate(columns):
        if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype != np.float64:
            what = f"{values.dtype}[{values.ndim}d]" if isinstance(values, np.ndarray) else type(values).__name__
            raise ValueError(f"columns[{axis}] must be a one-dimensional float64 array, not {what}")
        if len(values) != len(columns[0]):
            raise ValueError(f"columns[{axis}] has {len(values)} values, columns[0] has {len(columns[0])}")
    return [np.ascontiguousarray(values) for values in columns]


def strong_points(candidates: Sequence[np.ndarray], judged: Sequence[np.ndarray]) -> np.ndarray:
    """A few of the candidates that together beat many of the judged, each a row of the answer; none where hardly any
    is beaten. Both are columns like those of `unbeaten`, and no candidate has a NaN."""
    points, others = np.column_stack(checked_columns(candidates)), np.column_stack(checked_columns(judged))
    return _choose(points[_order(points, None)[:_CANDIDATES]], others[:: max(len(others) // _JUDGED, 1)])


def spared(columns: Sequence[np.ndarray], strong: np.ndarray) -> np.ndarray:
    """Which rows none of the strong points beats: bool, one per row; a row with a NaN is spared."""
    return _spared(checked_columns(columns), np.ascontiguousarray(strong, np.float64))


def _spared(arrays: Sequence[np.ndarray], strong: np.ndarray) -> np.ndarray:
    kept = np.ones(len(arrays[0]), np.int64)
    # The axis on which fewest rows can be as good as a strong point: where most others are worse.
    few = np.column_stack([values[:: max(len(values) // _JUDGED, 1)] for values in arrays])
    strict = (strong[:, None, :] < few).sum(axis=1).argmax(axis=1)
    _strike(Columns(arrays).addresses, strong, strict, kept, np.empty(_TILE, np.int64))
    return kept.astype(bool)


def _complete(arrays: Sequence[np.ndarray]) -> np.ndarray:
    complete = ~np.isnan(arrays[0])
    for values in arrays[1:]:
        complete &= ~np.isnan(values)
    return complete


def _without_beaten(arrays: Sequence[np.ndarray], rows: np.ndarray) -> np.ndarray:
    """The rows that some strong ones among them do not beat."""
    strong = _strongest(arrays, rows)
    if not len(strong):
        return rows
    own = arrays if len(rows) == len(arrays[0]) else [values[rows] for values in arrays]
    return rows[_spared(own, strong)]


def _strongest(arrays: Sequence[np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Strong points of a sample of the rows."""
    sample = rows[:: max(len(rows) // _SAMPLE, 1)]
    points = np.column_stack([values[sample] for values in arrays])
    order, member = _sorted_members(points, None)
    return _choose(points[order[member][:_CANDIDATES]], points[:: max(len(points) // _JUDGED, 1)])


def _choose(candidates: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """Greedily: each beats most of what those before it leave."""
    below, lower = candidates[:, None, :] <= judged, candidates[:, None, :] < judged
    beats = np.asarray(below.all(axis=2) & lower.any(axis=2))
    chosen: list[int] = []
    while len(chosen) < min(_STRONG, len(candidates)):
        gains = beats.sum(axis=1)
        best = int(gains.argmax())
        if gains[best] <= _WORTH * len(judged):
            break
        chosen.append(best)
        beats &= ~beats[best]
    return candidates[chosen]


def _members(arrays: Sequence[np.ndarray], group: np.ndarray | None) -> np.ndarray:
    """Which rows no other beats; none has a NaN."""
    if len(arrays) <= sweep.MOST_COLUMNS:
        return sweep.swept(arrays, group)
    order, is_unbeaten = _sorted_members(np.column_stack(arrays), group)
    member = np.empty(len(order), bool)
    member[order] = is_unbeaten
    return member


def _sorted_members(points: np.ndarray, group: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The points' places with nobody after whom it beats, and whether each is unbeaten."""
    n = len(points)
    groups = np.zeros(n, np.int64) if group is None else np.unique(group, return_inverse=True)[1].astype(np.int64)
    order = _order(points, None if group is None else groups)
    points = points[order]
    member = np.empty(n, np.bool_)
    marks = marked(points, quantile_thresholds(points))
    _scan(points, groups[order], marks, np.empty(n, np.int64), np.empty(n, np.uint64), member)
    return order, member


def quantile_thresholds(points: np.ndarray) -> np.ndarray:
    """Per axis (a row of the answer) values that part the points about evenly, as many as there are bits for."""
    if not len(points):
        return np.empty((points.shape[1], 0))
    middle = np.sort(points[:: max(len(points) // _SAMPLE, 1)], axis=0)
    per_axis = max(_BITS // points.shape[1], 1)
    places = np.linspace(0, len(middle), per_axis + 2)[1:-1].astype(np.int64)
    return np.ascontiguousarray(middle[places].T)


def marked(points: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Every point's bits: one point is nowhere above another only where its bits are among the other's."""
    marks = np.empty(len(points), np.uint64)
    _mark(points, thresholds, marks)
    return marks


def _order(points: np.ndarray, group: np.ndarray | None) -> np.ndarray:
    """By group, then by the sum of the values, each brought to the scale of the others; where the sums are equal, as
    they can be for a point and one it beats, by the first value, the second and so on."""
    n = len(points)
    finite = np.clip(points, -_FAR, _FAR)
    low, high = np.quantile(finite[:: max(n // _SAMPLE, 1)], [0.05, 0.95], axis=0) if n else (0.0, 1.0)
    with np.errstate(over="ignore", divide="ignore"):
        scale = np.where(high > low, 1 / np.maximum(high - low, 1 / _FAR), 1.0)
        # Every operation keeps the order of its operands, or makes them equal: what beats has no greater sum.
        score = np.clip((finite - low) * scale, -_FAR / MOST_COLUMNS, _FAR / MOST_COLUMNS).sum(axis=1)
    order = np.argsort(score, kind="stable") if group is None else np.lexsort((score, group))
    sums, groups = score[order], None if group is None else group[order]
    ties: np.ndarray = sums[1:] == sums[:-1]
    if groups is not None:
        ties &= groups[1:] == groups[:-1]
    tied = np.zeros(n, bool)
    tied[1:] |= ties
    tied[:-1] |= ties
    if tied.any():
        run = np.concatenate([[0], np.cumsum(~ties)])[tied]
        among = order[tied]
        order[tied] = among[np.lexsort((*points[among].T[::-1], run))]
    return order

"""Who was in the answer often enough, from who was in it when: frequent objects over a sliding window.

At snapshot t an object's count is the number of the last `window` snapshots, t - window + 1 to t, in which it was a
member. From one snapshot to the next it grows by one if the object is a member now, and shrinks by one if it was one
`window` snapshots ago: between the borders of its intervals, and the same borders a window later, the count is a
straight line. So the sweep goes from border to border: its cost is the number of intervals, whatever their length.

All borders are swept at once by numpy: nothing is compiled, so a question at the command line need not wait for that.
"""

import numpy as np

Columns = tuple[np.ndarray, np.ndarray, np.ndarray]


def frequent_intervals(
    item: np.ndarray, first: np.ndarray, last: np.ndarray, window: int, needed: int, begin: int, end: int
) -> Columns:
    """The maximal intervals within snapshots begin..end during which an object was a member in at least `needed` of
    the last `window` snapshots; only full windows count. Memberships are `item`, `first`, `last` (inclusive), sorted
    by item, then first; those of one item may touch, not overlap. The order of the answer is the same."""
    if not 1 <= needed <= window:
        raise ValueError(f"needed must be in 1..{window}, the window: it is {needed}")
    item, first, last = (np.asarray(column, np.int64) for column in (item, first, last))
    _check_order(item, first, last)
    begin = max(begin, window - 1)
    who, opened, closed = _sweep(item, first, last, window, needed)
    inside = (opened <= end) & (closed >= begin) & (begin <= end)
    return who[inside], np.maximum(opened[inside], begin), np.minimum(closed[inside], end)


def _sweep(item: np.ndarray, first: np.ndarray, last: np.ndarray, window: int, needed: int) -> Columns:
    """The same for windows of any length and the whole of time."""
    who, at, change = _borders(item, first, last, window)
    follows = who[1:] == who[:-1]
    stretch = np.where(follows, np.diff(at), 0)
    # Sums over everything are sums over each object: its changes add up to nothing, and so does its count.
    after = np.cumsum(np.cumsum(change)[:-1] * stretch)
    before = np.concatenate([np.zeros(min(len(after), 1), np.int64), after[:-1]])
    rises = np.flatnonzero((before < needed) & (after >= needed))
    falls = np.flatnonzero((before >= needed) & (after < needed))
    return who[rises], at[rises] + needed - before[rises] - 1, at[falls] + before[falls] - needed - 1


def _borders(item: np.ndarray, first: np.ndarray, last: np.ndarray, window: int) -> Columns:
    """Where the slope of a count changes, in order: object, snapshot, by how much."""
    now = np.stack([first, last + 1], axis=1).ravel()
    who = np.tile(np.repeat(item, 2), 2)
    at = np.concatenate([now, now + window])
    change = np.tile(np.array([1, -1]), len(item))
    # Two sorted runs, those of now and those of a window ago: a stable sort only has to merge them.
    dense = np.cumsum(np.diff(who[: len(now)], prepend=who[:1]) != 0)
    order = np.argsort(np.tile(dense, 2) * (at.max(initial=0) + 1) + at, kind="stable")
    return who[order], at[order], np.concatenate([change, -change])[order]


def _check_order(item: np.ndarray, first: np.ndarray, last: np.ndarray) -> None:
    wrong = (first < 0) | (last < first)
    wrong[1:] |= (item[1:] < item[:-1]) | ((item[1:] == item[:-1]) & (first[1:] <= last[:-1]))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"intervals must be sorted by object and not overlap: row {row} is {item[row]}, {first[row]} to {last[row]}"
        )

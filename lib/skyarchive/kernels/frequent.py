"""Who was in the answer often enough, from who was in it when: frequent objects over a sliding window.

At snapshot t an object's count is the number of the last `window` snapshots, t - window + 1 to t, in which it was a
member. From one snapshot to the next it grows by one if the object is a member now, and shrinks by one if it was one
`window` snapshots ago: between the borders of its intervals, and the same borders a window later, the count is a
straight line. So the sweep goes from border to border: its cost is the number of intervals, whatever their length.
"""

import numpy as np

from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.intervals import Intervals

_NEVER = np.iinfo(np.int64).max
_NOT_OPEN = -1


@inlined
def _border(first, last, number):  # type: ignore[no-untyped-def]
    """The borders of the rows: where a membership begins (even numbers) and where it is over (odd)."""
    row = number // 2
    return last[row] + 1 if number % 2 else first[row]


@inner
def _sweep_object(first, last, rows, query, found_first, found_last, n_found):  # type: ignore[no-untyped-def]
    """One object's intervals, written from number `n_found` on; gives the next number."""
    window, needed, begin, end = query
    stop = 2 * rows[1]
    entering = leaving = 2 * rows[0]  # borders that are passed now, and those passed a window ago
    count = 0
    opened = _NOT_OPEN
    at = first[rows[0]]
    while at <= end and leaving < stop:
        while entering < stop and _border(first, last, entering) <= at:
            entering += 1
        while leaving < stop and _border(first, last, leaving) + window <= at:
            leaving += 1
        following = _NEVER
        if entering < stop:
            following = _border(first, last, entering)
        if leaving < stop:
            following = min(following, _border(first, last, leaving) + window)
            # A member has passed an odd number of borders.
            after = count + (entering % 2 - leaving % 2) * (following - at)
            if opened == _NOT_OPEN and after >= needed:
                opened = at + needed - count - 1
            elif opened != _NOT_OPEN and after < needed:
                closed = at + count - needed - 1
                if closed >= begin and opened <= end:
                    found_first[n_found], found_last[n_found] = max(opened, begin), min(closed, end)
                    n_found += 1
                opened = _NOT_OPEN
            count = after
            at = following
    if opened != _NOT_OPEN and opened <= end:
        found_first[n_found], found_last[n_found] = max(opened, begin), end
        n_found += 1
    return n_found


@entry_point
def _sweep(item, first, last, query, found_item, found_first, found_last):  # type: ignore[no-untyped-def]
    """Fills the last three and gives how many intervals there are. A count rises to what is needed at most once
    within a row, so there are never more of them than rows."""
    n_found = 0
    stop = 0
    while stop < len(item):
        start = stop
        while stop < len(item) and item[stop] == item[start]:
            stop += 1
        before = n_found
        n_found = _sweep_object(first, last, (start, stop), query, found_first, found_last, n_found)
        found_item[before:n_found] = item[start]
    return n_found


@entry_point
def _disordered(item, first, last):  # type: ignore[no-untyped-def]
    """The first row that ends before it begins or does not come after the row before it; -1 if there is none."""
    for row in range(len(item)):
        if first[row] < 0 or last[row] < first[row]:
            return row
        if row > 0:
            before = row - 1
            if item[row] < item[before] or (item[row] == item[before] and first[row] <= last[before]):
                return row
    return -1


def frequent_intervals(
    item: np.ndarray, first: np.ndarray, last: np.ndarray, window: int, needed: int, begin: int, end: int
) -> Intervals:
    """The maximal intervals within snapshots begin..end during which an object was a member in at least `needed` of
    the last `window` snapshots; only full windows count. Memberships are `item`, `first`, `last` (inclusive), sorted
    by item, then first; those of one item may touch, not overlap. The order of the answer is the same."""
    if not 1 <= needed <= window:
        raise ValueError(f"needed must be in 1..{window}, the window: it is {needed}")
    item, first, last = (np.ascontiguousarray(column, np.int64) for column in (item, first, last))
    row = _disordered(item, first, last)
    if row >= 0:
        raise ValueError(
            f"intervals must be sorted by object and not overlap: row {row} is {item[row]}, {first[row]} to {last[row]}"
        )
    found = (np.empty(len(item), np.int64), np.empty(len(item), np.int64), np.empty(len(item), np.int64))
    full = max(begin, window - 1)
    count = _sweep(item, first, last, (window, needed, full, end), *found) if full <= end else 0
    return found[0][:count], found[1][:count], found[2][:count]

"""The skyline of records many of which are in the same place: groups without traffic, players without a game."""

from skyarchive.kernels.compiling import entry_point
from skyarchive.kernels.dominance import BEATEN, BEATS, SAME, relation

CANDIDATES, WINDOW, TWIN, ROWS = 0, 1, 2, 3
"""Rows of `lists`, and their number."""


@entry_point
def skyline_of_places(points, lists, count):  # type: ignore[no-untyped-def]
    """Leaves in the row of candidates the skyline of its first `count`, in order; gives its size.

    Block-nested loops over places and not over records: of those in one place the first stands for all, so a thousand
    equal ones cost no more than one and a look at it.
    """
    candidates, window, twin = lists[CANDIDATES], lists[WINDOW], lists[TWIN]
    size = 0
    for index in range(count):
        candidate = candidates[index]
        twin[candidate] = candidate
        kept = 0
        for at in range(size):
            rival = window[at]
            standing = relation(points, rival, candidate)
            if standing in (BEATS, SAME):
                # Nothing was thrown out before: this rival would have thrown it out.
                twin[candidate] = rival if standing == SAME else -1
                window[at], window[at >> 1] = window[at >> 1], rival
                break
            if standing == BEATEN:
                twin[rival] = -1
            else:
                window[kept] = rival
                kept += 1
        if twin[candidate] == candidate:
            window[kept] = candidate
            size = kept + 1
    members = 0
    for index in range(count):
        candidate = candidates[index]
        if twin[candidate] >= 0 and twin[twin[candidate]] >= 0:
            candidates[members] = candidate
            members += 1
    return members

"""Writing down who is in the answer from when to when; the same for every method."""

from typing import NamedTuple

import numpy as np
from numba import njit

Intervals = tuple[np.ndarray, np.ndarray, np.ndarray]
"""object, first, last (inclusive), sorted by object, then first."""

NOT_OPEN = -1
FIRST_ROOM = 1024
_GROWTH = 2


class Book(NamedTuple):
    """Where the answer is written down while snapshots go by."""

    opened: np.ndarray
    """int32 per object: the snapshot since which it is in the answer, or NOT_OPEN."""
    count: np.ndarray
    """int64[1]: closed intervals so far."""


class Roll(NamedTuple):
    """The skyline of the snapshot before, for methods that compute each one whole."""

    members: np.ndarray
    seen: np.ndarray
    """The snapshot at which an object was last in the skyline."""
    size: np.ndarray
    """int64[1]"""


def new_roll(n_objects: int) -> Roll:
    return Roll(np.empty(n_objects, np.int32), np.full(n_objects, -1, np.int32), np.zeros(1, np.int64))


def new_book(n_objects: int) -> Book:
    return Book(np.full(n_objects, NOT_OPEN, np.int32), np.zeros(1, np.int64))


def new_closed() -> np.ndarray:
    """Room for closed intervals: rows of object, first, last."""
    return np.empty((FIRST_ROOM, 3), np.int32)


@njit(cache=True)
def with_room(closed, used, more):  # type: ignore[no-untyped-def]
    """`closed`, or a longer copy of it, with room for `more` rows after the `used` ones."""
    if used + more <= len(closed):
        return closed
    longer = np.empty((max(_GROWTH * len(closed), used + more), 3), np.int32)
    longer[:used] = closed[:used]
    return longer


@njit(cache=True, forceinline=True)
def note(book, closed, item, is_member, snapshot):  # type: ignore[no-untyped-def]
    """The object's final standing at a snapshot. `closed` must have room for one more row."""
    since = book.opened[item]
    if is_member:
        if since == NOT_OPEN:
            book.opened[item] = snapshot
    elif since != NOT_OPEN:
        row = book.count[0]
        closed[row, 0] = item
        closed[row, 1] = since
        closed[row, 2] = snapshot - 1
        book.count[0] = row + 1
        book.opened[item] = NOT_OPEN


@njit(cache=True)
def note_skyline(roll, book, closed, skyline, size, snapshot):  # type: ignore[no-untyped-def]
    """The first `size` objects of `skyline` are a snapshot's answer: who came and left since the one before?"""
    for at in range(size):
        item = skyline[at]
        roll.seen[item] = snapshot
        note(book, closed, item, True, snapshot)
    closed = with_room(closed, book.count[0], roll.size[0])
    for at in range(roll.size[0]):
        if roll.seen[roll.members[at]] != snapshot:
            note(book, closed, roll.members[at], False, snapshot)
    roll.members[:size] = skyline[:size]
    roll.size[0] = size
    return closed


@njit(cache=True)
def finished(book, closed, n_snapshots):  # type: ignore[no-untyped-def]
    """All intervals, the open ones ended by the last snapshot, in order of object, then first.

    An object's intervals were closed in order of time, so one stable counting sort by object is enough.
    """
    n_objects = len(book.opened)
    used = book.count[0]
    start = np.zeros(n_objects + 1, np.int64)
    for row in range(used):
        start[closed[row, 0] + 1] += 1
    for item in range(n_objects):
        start[item + 1] += start[item] + (book.opened[item] != NOT_OPEN)
    total = start[n_objects]
    objects = np.empty(total, np.int32)
    first = np.empty(total, np.int32)
    last = np.empty(total, np.int32)
    for row in range(used):
        item = closed[row, 0]
        at = start[item]
        objects[at], first[at], last[at] = item, closed[row, 1], closed[row, 2]
        start[item] = at + 1
    for item in range(n_objects):
        if book.opened[item] != NOT_OPEN:
            at = start[item]
            objects[at], first[at], last[at] = item, book.opened[item], n_snapshots - 1
    return objects, first, last

"""Writing down who is in the answer from when to when; the same for every method."""

from collections.abc import Callable

import numpy as np

from skyarchive.kernels.compiling import entry_point, inlined, inner

Intervals = tuple[np.ndarray, np.ndarray, np.ndarray]
"""object, first, last (inclusive), sorted by object, then first."""

NOT_OPEN = -1
_FIRST_ROOM = 1024


@inlined
def has_room(closed, more):  # type: ignore[no-untyped-def]
    """Whether `more` intervals can be closed."""
    return closed[0, 0] + more <= len(closed)


@inlined
def note(opened, closed, item, is_member, snapshot):  # type: ignore[no-untyped-def]
    """The object's final standing at a snapshot. There must be room to close one more interval."""
    since = opened[item]
    if is_member:
        if since == NOT_OPEN:
            opened[item] = snapshot
    elif since != NOT_OPEN:
        row = closed[0, 0]
        closed[row, 0] = item
        closed[row, 1] = since
        closed[row, 2] = snapshot - 1
        closed[0, 0] = row + 1
        opened[item] = NOT_OPEN


@inner
def note_skyline(opened, closed, skyline, size, before, seen, snapshot):  # type: ignore[no-untyped-def]
    """The first `size` objects of `skyline` are a snapshot's answer: who came and left since the one before?

    `before` holds that one, its size first; `seen` the snapshot at which an object was last in the answer. There
    must be room to close all of `before`.
    """
    for at in range(size):
        item = skyline[at]
        seen[item] = snapshot
        if opened[item] == NOT_OPEN:
            opened[item] = snapshot
    for at in range(1, before[0] + 1):
        if seen[before[at]] != snapshot:
            note(opened, closed, before[at], False, snapshot)
    before[0] = size
    for at in range(size):
        before[at + 1] = skyline[at]


@entry_point
def _in_order(opened, closed, last_snapshot, start, objects, first, last):  # type: ignore[no-untyped-def]
    """A counting sort by object; `start` holds a zero per object and one more. It is stable, and an object's
    intervals were closed in order of time."""
    n_objects = len(opened)
    for row in range(1, closed[0, 0]):
        start[closed[row, 0] + 1] += 1
    for item in range(n_objects):
        start[item + 1] += start[item] + (opened[item] != NOT_OPEN)
    for row in range(1, closed[0, 0]):
        item = closed[row, 0]
        at = start[item]
        objects[at], first[at], last[at] = item, closed[row, 1], closed[row, 2]
        start[item] = at + 1
    for item in range(n_objects):
        if opened[item] != NOT_OPEN:
            at = start[item]
            objects[at], first[at], last[at] = item, opened[item], last_snapshot


class Book:
    """The answer as far as it is written."""

    def __init__(self, n_objects: int) -> None:
        self.opened = np.full(n_objects, NOT_OPEN, np.int32)
        """Per object the snapshot since which it is in the answer, or NOT_OPEN."""
        self.closed = np.empty((_FIRST_ROOM, 3), np.int32)
        """Rows of object, first, last; row 0 has the number of rows in use, itself included."""
        self.closed[0, 0] = 1

    def write(self, advance: Callable[..., int], state: tuple[np.ndarray, ...], *rows: object) -> None:
        """Lets a method's `advance` go through rows of the log. Kernels do not allocate: if there may not be room to
        write a snapshot's changes down, it stops before that and says at which row it goes on."""
        row = 0
        while row >= 0:
            row = advance(*state, self.opened, self.closed, *rows, row)
            if row >= 0:
                self.closed = np.concatenate([self.closed, np.empty_like(self.closed), self._for_everybody()])

    def finished(self, n_snapshots: int) -> Intervals:
        """All intervals; the open ones last to the end."""
        count = int(self.closed[0, 0]) - 1 + np.count_nonzero(self.opened != NOT_OPEN)
        found = (np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32))
        start = np.zeros(len(self.opened) + 1, np.int64)
        _in_order(self.opened, self.closed, n_snapshots - 1, start, *found)
        return found

    def _for_everybody(self) -> np.ndarray:
        return np.empty((len(self.opened) + 1, 3), np.int32)


DONE = -1
"""What `advance` gives when it went through all rows."""

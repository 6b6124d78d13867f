"""The skyline of each snapshot computed from scratch: block-nested loops (Börzsönyi et al., ICDE 2001)."""

import numpy as np

from skyarchive.kernels.columns import Columns
from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.dominance import BEATEN, BEATS, is_position, relation
from skyarchive.kernels.timeline.blocks import point_blocks
from skyarchive.kernels.timeline.intervals import DONE, Book, Intervals, has_room, note_skyline

SNAPSHOT, ALIVE, TESTS = 0, 1, 2
"""Places in `tally`."""


@inner
def block_nested_loop(points, candidates, count, window):  # type: ignore[no-untyped-def]
    """Puts the skyline of the first `count` candidates into `window`; gives its size and the tests it took.

    A window point that beats a candidate moves half the way to the front: strong points meet the next ones first.
    """
    size = 0
    tests = 0
    for index in range(count):
        candidate = candidates[index]
        kept = 0
        beaten = False
        for at in range(size):
            rival = window[at]
            tests += 1
            standing = relation(points, rival, candidate)
            if standing == BEATS:
                # Nothing was thrown out before: what beats the candidate would beat what that beats.
                beaten = True
                window[at], window[at >> 1] = window[at >> 1], rival
                break
            if standing != BEATEN:
                window[kept] = rival
                kept += 1
        if not beaten:
            window[kept] = candidate
            size = kept + 1
    return size, tests


@inlined
def _apply(points, living, place, tally, item, rows, row):  # type: ignore[no-untyped-def]
    """One update: the object is where the row says, or gone."""
    if is_position(rows, row):
        for axis in range(rows.shape[1]):
            points[item, axis] = rows[row, axis]
        if place[item] < 0:
            place[item] = tally[ALIVE]
            living[tally[ALIVE]] = item
            tally[ALIVE] += 1
    elif place[item] >= 0:
        tally[ALIVE] -= 1
        other = living[tally[ALIVE]]
        living[place[item]] = other
        place[other] = place[item]
        place[item] = -1


@inner
def _answer(points, living, window, before, seen, tally, opened, closed):  # type: ignore[no-untyped-def]
    """The skyline of the current snapshot."""
    size, tests = block_nested_loop(points, living, tally[ALIVE], window)
    tally[TESTS] += tests
    note_skyline(opened, closed, window, size, before, seen, tally[SNAPSHOT])


@entry_point
def _advance(  # type: ignore[no-untyped-def]
    points, living, place, window, before, seen, tally, opened, closed, snapshot, item, rows, is_last, start
):
    """Carries out updates, taking the skyline of each snapshot when it is complete."""
    for row in range(start, len(snapshot)):
        if snapshot[row] != tally[SNAPSHOT]:
            if not has_room(closed, before[0]):
                return row
            _answer(points, living, window, before, seen, tally, opened, closed)
            tally[SNAPSHOT] = snapshot[row]
        _apply(points, living, place, tally, item[row], rows, row)
    if is_last:
        if not has_room(closed, before[0]):
            return len(snapshot)
        _answer(points, living, window, before, seen, tally, opened, closed)
    return DONE


def intervals(
    snapshot: np.ndarray, item: np.ndarray, columns: Columns, n_snapshots: int, n_objects: int
) -> tuple[Intervals, int]:
    """The intervals of a checked log, and how many pairs were tested for dominance."""
    points = np.empty((n_objects, len(columns)))
    living, window = np.empty(n_objects, np.int32), np.empty(n_objects, np.int32)
    place, seen = np.full(n_objects, -1, np.int32), np.full(n_objects, -1, np.int32)
    before = np.zeros(n_objects + 1, np.int32)
    tally = np.array([snapshot[0], 0, 0], np.int64)
    state = (points, living, place, window, before, seen, tally)
    book = Book(n_objects)
    for part, rows in point_blocks(columns, 0, len(snapshot)):
        book.write(_advance, state, snapshot[part], item[part], rows, part.stop == len(snapshot))
    return book.finished(n_snapshots), int(tally[TESTS])

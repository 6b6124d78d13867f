"""The skyline of each snapshot computed from scratch: block-nested loops (Börzsönyi et al., ICDE 2001)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from skyarchive.kernels.blocks import point_blocks
from skyarchive.kernels.dominance import is_position, relation
from skyarchive.kernels.intervals import Intervals, Roll, finished, new_book, new_closed, new_roll, note_skyline

_SNAPSHOT, _ALIVE, _TESTS = 0, 1, 2


class State(NamedTuple):
    """What stands between two blocks of rows."""

    points: np.ndarray
    living: np.ndarray
    """The objects that are alive, in any order."""
    place: np.ndarray
    """Where an object stands in `living`, or -1."""
    window: np.ndarray
    roll: Roll
    tally: np.ndarray


@njit(cache=True, forceinline=True)
def block_nested_loop(points, candidates, count, window):  # type: ignore[no-untyped-def]
    """Puts the skyline of the first `count` candidates into `window`; gives its size and the tests it took.

    A window point that beats a candidate moves one place forward: strong points meet the next candidates first.
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
            if standing > 0:
                # Nothing was thrown out: what beats the candidate would beat what it beats.
                beaten = True
                if at > 0:
                    window[at], window[at - 1] = window[at - 1], rival
                break
            if standing == 0:
                window[kept] = rival
                kept += 1
        if not beaten:
            window[kept] = candidate
            size = kept + 1
    return size, tests


@njit(cache=True)
def _apply(state, item, rows, row):  # type: ignore[no-untyped-def]
    """One update: the object is where the row says, or gone."""
    place, living, tally = state.place, state.living, state.tally
    if is_position(rows, row):
        for axis in range(rows.shape[1]):
            state.points[item, axis] = rows[row, axis]
        if place[item] < 0:
            place[item] = tally[_ALIVE]
            living[tally[_ALIVE]] = item
            tally[_ALIVE] += 1
    elif place[item] >= 0:
        tally[_ALIVE] -= 1
        other = living[tally[_ALIVE]]
        living[place[item]] = other
        place[other] = place[item]
        place[item] = -1


@njit(cache=True)
def _answer(state, book, closed):  # type: ignore[no-untyped-def]
    """The skyline of the current snapshot."""
    tally = state.tally
    size, tests = block_nested_loop(state.points, state.living, tally[_ALIVE], state.window)
    tally[_TESTS] += tests
    return note_skyline(state.roll, book, closed, state.window, size, tally[_SNAPSHOT])


@njit(cache=True)
def _advance(state, book, closed, snapshot, item, rows):  # type: ignore[no-untyped-def]
    for row in range(len(snapshot)):
        if snapshot[row] != state.tally[_SNAPSHOT]:
            closed = _answer(state, book, closed)
            state.tally[_SNAPSHOT] = snapshot[row]
        _apply(state, item[row], rows, row)
    return closed


def _new_state(n_objects: int, width: int, first: int) -> State:
    nobody = np.full(n_objects, -1, np.int32)
    points = np.empty((n_objects, width))
    tally = np.array([first, 0, 0], np.int64)
    return State(points, nobody.copy(), nobody.copy(), nobody.copy(), new_roll(n_objects), tally)


def intervals(
    snapshot: np.ndarray, item: np.ndarray, columns: Sequence[np.ndarray], n_snapshots: int, n_objects: int
) -> tuple[Intervals, int]:
    """The intervals, and how many pairs were tested for dominance."""
    state = _new_state(n_objects, len(columns), int(snapshot[0]))
    book, closed = new_book(n_objects), new_closed()
    for part, points in point_blocks(columns, 0, len(snapshot)):
        closed = _advance(state, book, closed, snapshot[part], item[part], points)
    closed = _answer(state, book, closed)
    return finished(book, closed, n_snapshots), int(state.tally[_TESTS])

"""MBR pruning (Udomlamlert, Hara, Nishio): the paper's method, snapshot by snapshot.

Each object has a box (its MBR) around its positions since some snapshot. An object whose box is beaten by another's
cannot be in the skyline and is no candidate. Three steps per snapshot: PRE grows the boxes by the updates and finds
who must become a candidate; SKY takes the skyline of the candidates; POST builds the box of a candidate anew that
was one in vain for `cfp` snapshots in a row.

Two things differ from the print, which loses tied points: a box beats another only if it is strictly better on some
attribute (definition 4 lets equal ones beat each other), and a box that shrank in pruning power is checked whether
or not it is a candidate's (section 5.2 checks those of candidates only, yet after a reconstruction others prune too).
Insertions start with a box of one point in the verification list; a deletion sends those it beat there.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from skyarchive.kernels.blocks import point_blocks
from skyarchive.kernels.dominance import is_position
from skyarchive.kernels.intervals import (
    Intervals,
    Roll,
    finished,
    new_book,
    new_closed,
    new_roll,
    note_skyline,
)
from skyarchive.kernels.members import ABSENT, LEAVING, MEMBER, NOBODY, link, unlink
from skyarchive.kernels.naive import block_nested_loop

CFP = 50
"""The paper's choice of consecutive false positives."""
_SNAPSHOT, _CANDIDATES, _VERIFY, _STARTED = 0, 1, 2, 3
_PRE, _SKY, _POST, _RECONSTRUCTIONS, _IN_SKY = 0, 1, 2, 3, 4
_TO_VERIFY = LEAVING
"""In `witness`: the object is in the verification list."""


class Counters(NamedTuple):
    """What the method did: dominance tests of its three steps, reconstructions, and candidates over all snapshots."""

    pre_tests: int
    sky_tests: int
    post_tests: int
    reconstructions: int
    candidates: int

    @property
    def tests(self) -> int:
        return self.pre_tests + self.sky_tests + self.post_tests


class Boxes(NamedTuple):
    """The state between two snapshots, with the paper's names beside ours."""

    points: np.ndarray
    low: np.ndarray
    """lb"""
    high: np.ndarray
    """ub"""
    witness: np.ndarray
    """adrm: whose box beats this one (it is in NSKM); MEMBER: it is in SKM."""
    head: np.ndarray
    """DRM, chained by `after` and `before`."""
    after: np.ndarray
    before: np.ndarray
    candidates: np.ndarray
    """SKM"""
    place: np.ndarray
    """Where an object stands in `candidates`."""
    in_vain: np.ndarray
    """cfp"""
    verify: np.ndarray
    """VL"""
    window: np.ndarray
    tally: np.ndarray
    counts: np.ndarray
    roll: Roll


@njit(cache=True, forceinline=True)
def _box_beats(boxes, a, b):  # type: ignore[no-untyped-def]
    """Whether all of a's box beats all of b's."""
    better = False
    for axis in range(boxes.low.shape[1]):
        if boxes.high[a, axis] > boxes.low[b, axis]:
            return False
        if boxes.high[a, axis] < boxes.low[b, axis]:
            better = True
    return better


@njit(cache=True, forceinline=True)
def _to_verify(boxes, item):  # type: ignore[no-untyped-def]
    boxes.witness[item] = _TO_VERIFY
    boxes.verify[boxes.tally[_VERIFY]] = item
    boxes.tally[_VERIFY] += 1


@njit(cache=True, forceinline=True)
def _add_candidate(boxes, item):  # type: ignore[no-untyped-def]
    boxes.witness[item] = MEMBER
    boxes.in_vain[item] = 0
    boxes.place[item] = boxes.tally[_CANDIDATES]
    boxes.candidates[boxes.tally[_CANDIDATES]] = item
    boxes.tally[_CANDIDATES] += 1


@njit(cache=True, forceinline=True)
def _drop_candidate(boxes, item):  # type: ignore[no-untyped-def]
    boxes.tally[_CANDIDATES] -= 1
    other = boxes.candidates[boxes.tally[_CANDIDATES]]
    boxes.candidates[boxes.place[item]] = other
    boxes.place[other] = boxes.place[item]


@njit(cache=True)
def _release(boxes, item, all_of_them):  # type: ignore[no-untyped-def]
    """Those whom the object's box does not beat (any more) must be verified."""
    beaten = boxes.head[item]
    while beaten != NOBODY:
        following = boxes.after[beaten]
        boxes.counts[_PRE] += not all_of_them
        if all_of_them or not _box_beats(boxes, item, beaten):
            unlink(boxes, beaten)
            _to_verify(boxes, beaten)
        beaten = following


@njit(cache=True)
def _delete(boxes, item):  # type: ignore[no-untyped-def]
    _release(boxes, item, True)
    if boxes.witness[item] == MEMBER:
        _drop_candidate(boxes, item)
    elif boxes.witness[item] >= 0:
        unlink(boxes, item)
    boxes.witness[item] = ABSENT


@njit(cache=True)
def _insert(boxes, item, rows, row):  # type: ignore[no-untyped-def]
    for axis in range(rows.shape[1]):
        boxes.points[item, axis] = boxes.low[item, axis] = boxes.high[item, axis] = rows[row, axis]
    _to_verify(boxes, item)


@njit(cache=True)
def _grow(boxes, item, rows, row):  # type: ignore[no-untyped-def]
    """The object moves; its box may grow downwards (the paper's case II), upwards (I), both (III) or not (IV)."""
    lowered = False
    raised = False
    for axis in range(rows.shape[1]):
        value = rows[row, axis]
        boxes.points[item, axis] = value
        if value < boxes.low[item, axis]:
            boxes.low[item, axis] = value
            lowered = True
        if value > boxes.high[item, axis]:
            boxes.high[item, axis] = value
            raised = True
    if lowered and boxes.witness[item] >= 0:
        boxes.counts[_PRE] += 1
        if not _box_beats(boxes, boxes.witness[item], item):
            unlink(boxes, item)
            _to_verify(boxes, item)
    if raised:
        _release(boxes, item, False)


@njit(cache=True)
def _witness_among_candidates(boxes, item, step):  # type: ignore[no-untyped-def]
    for at in range(boxes.tally[_CANDIDATES]):
        boxes.counts[step] += 1
        if _box_beats(boxes, boxes.candidates[at], item):
            return boxes.candidates[at]
    return NOBODY


@njit(cache=True)
def _refine(boxes):  # type: ignore[no-untyped-def]
    """PRE, last part: who is in the verification list finds a candidate that beats it or becomes one."""
    for index in range(boxes.tally[_VERIFY]):
        item = boxes.verify[index]
        if boxes.witness[item] != _TO_VERIFY:
            continue  # deleted in the same snapshot
        witness = _witness_among_candidates(boxes, item, _PRE)
        if witness != NOBODY:
            link(boxes, item, witness)
            continue
        if boxes.tally[_STARTED] == 0:
            # The first snapshot: boxes are points, and the relations come from taking their skyline.
            for at in range(boxes.tally[_CANDIDATES] - 1, -1, -1):
                rival = boxes.candidates[at]
                boxes.counts[_PRE] += 1
                if _box_beats(boxes, item, rival):
                    _drop_candidate(boxes, rival)
                    link(boxes, rival, item)
        _add_candidate(boxes, item)
    boxes.tally[_VERIFY] = 0
    boxes.tally[_STARTED] = 1


@njit(cache=True)
def _reconstruct(boxes, item):  # type: ignore[no-untyped-def]
    """The box starts anew at the current point, which may make another's beat it."""
    for axis in range(boxes.points.shape[1]):
        boxes.low[item, axis] = boxes.high[item, axis] = boxes.points[item, axis]
    boxes.in_vain[item] = 0
    boxes.counts[_RECONSTRUCTIONS] += 1
    witness = _witness_among_candidates(boxes, item, _POST)
    if witness != NOBODY:
        _drop_candidate(boxes, item)
        link(boxes, item, witness)


@njit(cache=True)
def _maintain(boxes, cfp):  # type: ignore[no-untyped-def]
    """POST: counts the candidates' snapshots in vain."""
    snapshot = boxes.tally[_SNAPSHOT]
    for at in range(boxes.tally[_CANDIDATES] - 1, -1, -1):  # backwards: one may drop out
        item = boxes.candidates[at]
        if boxes.roll.seen[item] == snapshot:
            boxes.in_vain[item] = 0
        else:
            boxes.in_vain[item] += 1
            if boxes.in_vain[item] >= cfp:
                _reconstruct(boxes, item)


@njit(cache=True)
def _answer(boxes, book, closed, cfp):  # type: ignore[no-untyped-def]
    """The snapshot's updates are in: verification, skyline, maintenance."""
    _refine(boxes)
    n_candidates = boxes.tally[_CANDIDATES]
    size, tests = block_nested_loop(boxes.points, boxes.candidates, n_candidates, boxes.window)
    boxes.counts[_SKY] += tests
    boxes.counts[_IN_SKY] += n_candidates
    closed = note_skyline(boxes.roll, book, closed, boxes.window, size, boxes.tally[_SNAPSHOT])
    _maintain(boxes, cfp)
    return closed


@njit(cache=True)
def _advance(boxes, book, closed, snapshot, item, rows, cfp):  # type: ignore[no-untyped-def]
    for row in range(len(snapshot)):
        if snapshot[row] != boxes.tally[_SNAPSHOT]:
            closed = _answer(boxes, book, closed, cfp)
            boxes.tally[_SNAPSHOT] = snapshot[row]
        who = item[row]
        if not is_position(rows, row):
            if boxes.witness[who] != ABSENT:
                _delete(boxes, who)
        elif boxes.witness[who] == ABSENT:
            _insert(boxes, who, rows, row)
        else:
            _grow(boxes, who, rows, row)
    return closed


def _new_boxes(n_objects: int, width: int, first: int) -> Boxes:
    def nobody() -> np.ndarray:
        return np.full(n_objects, NOBODY, np.int32)

    return Boxes(
        points=np.empty((n_objects, width)),
        low=np.empty((n_objects, width)),
        high=np.empty((n_objects, width)),
        witness=np.full(n_objects, ABSENT, np.int32),
        head=nobody(),
        after=nobody(),
        before=nobody(),
        candidates=nobody(),
        place=nobody(),
        in_vain=np.zeros(n_objects, np.int32),
        verify=nobody(),
        window=nobody(),
        tally=np.array([first, 0, 0, 0], np.int64),
        counts=np.zeros(5, np.int64),
        roll=new_roll(n_objects),
    )


def intervals(
    snapshot: np.ndarray, item: np.ndarray, columns: Sequence[np.ndarray], n_snapshots: int, n_objects: int, cfp: int
) -> tuple[Intervals, Counters]:
    """The intervals of a checked log, and what they cost."""
    boxes = _new_boxes(n_objects, len(columns), int(snapshot[0]))
    book, closed = new_book(n_objects), new_closed()
    for part, points in point_blocks(columns, 0, len(snapshot)):
        closed = _advance(boxes, book, closed, snapshot[part], item[part], points, cfp)
    closed = _answer(boxes, book, closed, cfp)
    return finished(book, closed, n_snapshots), Counters(*(int(count) for count in boxes.counts))

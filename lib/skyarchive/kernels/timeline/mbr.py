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

from typing import NamedTuple

import numpy as np

from skyarchive.kernels.columns import Columns
from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.dominance import is_position
from skyarchive.kernels.timeline.blocks import point_blocks
from skyarchive.kernels.timeline.intervals import DONE, Book, Intervals, has_room, note_skyline
from skyarchive.kernels.timeline.links import (
    ABSENT,
    AFTER,
    FLAGS,
    HEAD,
    IN_BETWEEN,
    MEMBER,
    NOBODY,
    WITNESS,
    link,
    new_links,
    unlink,
)
from skyarchive.kernels.timeline.naive import block_nested_loop

CFP = 50
"""The paper's choice of consecutive false positives."""
_TO_VERIFY = IN_BETWEEN
"""As witness: the object is in the verification list."""
_CANDIDATES, _PLACE, _VERIFY, _WINDOW, _SEEN = 0, 1, 2, 3, 4
"""Rows of `lists`: the candidates; where an object stands among them; the verification list; the skyline; the
snapshot at which an object was last in it."""
_PRE, _SKY, _POST, _RECONSTRUCTIONS, _IN_SKY, _SNAPSHOT, _N_CANDIDATES, _N_VERIFY, _STARTED = range(9)
"""Places in `tally`; the first five are the counters."""


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
    """What stands between two snapshots, with the paper's names. Passed to compiled code one by one."""

    points: np.ndarray
    low: np.ndarray
    """lb"""
    high: np.ndarray
    """ub"""
    links: np.ndarray
    """WITNESS is adrm, whose box beats this one (then it is in NSKM; MEMBER: in SKM); HEAD starts DRM; FLAGS
    counts the snapshots in vain, cfp."""
    lists: np.ndarray
    """Candidates are SKM, the verification list is VL."""
    before: np.ndarray
    """The last snapshot's skyline, its size first."""
    tally: np.ndarray


@inlined
def _box_beats(low, high, a, b):  # type: ignore[no-untyped-def]
    """Whether all of a's box beats all of b's."""
    better = False
    for axis in range(low.shape[1]):
        if high[a, axis] > low[b, axis]:
            return False
        if high[a, axis] < low[b, axis]:
            better = True
    return better


@inlined
def _to_verify(links, lists, tally, item):  # type: ignore[no-untyped-def]
    links[item, WITNESS] = _TO_VERIFY
    lists[_VERIFY, tally[_N_VERIFY]] = item
    tally[_N_VERIFY] += 1


@inlined
def _add_candidate(links, lists, tally, item):  # type: ignore[no-untyped-def]
    links[item, WITNESS] = MEMBER
    links[item, FLAGS] = 0
    lists[_PLACE, item] = tally[_N_CANDIDATES]
    lists[_CANDIDATES, tally[_N_CANDIDATES]] = item
    tally[_N_CANDIDATES] += 1


@inlined
def _drop_candidate(lists, tally, item):  # type: ignore[no-untyped-def]
    tally[_N_CANDIDATES] -= 1
    other = lists[_CANDIDATES, tally[_N_CANDIDATES]]
    lists[_CANDIDATES, lists[_PLACE, item]] = other
    lists[_PLACE, other] = lists[_PLACE, item]


@inner
def _release(low, high, links, lists, tally, item, all_of_them):  # type: ignore[no-untyped-def]
    """Those whom the object's box does not beat (any more) must be verified."""
    beaten = int(links[item, HEAD])
    while beaten != NOBODY:
        following = int(links[beaten, AFTER])
        tally[_PRE] += not all_of_them
        if all_of_them or not _box_beats(low, high, item, beaten):
            unlink(links, beaten)
            _to_verify(links, lists, tally, beaten)
        beaten = following


@inner
def _delete(low, high, links, lists, tally, item):  # type: ignore[no-untyped-def]
    _release(low, high, links, lists, tally, item, True)
    if links[item, WITNESS] == MEMBER:
        _drop_candidate(lists, tally, item)
    elif links[item, WITNESS] >= 0:
        unlink(links, item)
    links[item, WITNESS] = ABSENT


@inner
def _insert(points, low, high, links, lists, tally, item, rows, row):  # type: ignore[no-untyped-def]
    for axis in range(rows.shape[1]):
        points[item, axis] = low[item, axis] = high[item, axis] = rows[row, axis]
    _to_verify(links, lists, tally, item)


@inlined
def _grow(points, low, high, links, lists, tally, item, rows, row):  # type: ignore[no-untyped-def]
    """The object moves; its box may grow downwards (the paper's case II), upwards (I), both (III) or not (IV)."""
    lowered = False
    raised = False
    for axis in range(rows.shape[1]):
        value = rows[row, axis]
        points[item, axis] = value
        if value < low[item, axis]:
            low[item, axis] = value
            lowered = True
        if value > high[item, axis]:
            high[item, axis] = value
            raised = True
    if lowered and links[item, WITNESS] >= 0:
        tally[_PRE] += 1
        if not _box_beats(low, high, links[item, WITNESS], item):
            unlink(links, item)
            _to_verify(links, lists, tally, item)
    if raised and links[item, HEAD] != NOBODY:
        _release(low, high, links, lists, tally, item, False)


@inner
def _candidate_that_beats(low, high, lists, tally, item, step):  # type: ignore[no-untyped-def]
    for at in range(tally[_N_CANDIDATES]):
        if _box_beats(low, high, lists[_CANDIDATES, at], item):
            tally[step] += at + 1
            return int(lists[_CANDIDATES, at])
    tally[step] += tally[_N_CANDIDATES]
    return NOBODY


@inner
def _displace(low, high, links, lists, tally, item):  # type: ignore[no-untyped-def]
    """In the first snapshot boxes are points, and taking their skyline shows who beats whom: candidates that the
    next one beats are none."""
    for at in range(tally[_N_CANDIDATES] - 1, -1, -1):
        rival = int(lists[_CANDIDATES, at])
        tally[_PRE] += 1
        if _box_beats(low, high, item, rival):
            _drop_candidate(lists, tally, rival)
            link(links, rival, item)


@inner
def _refine(low, high, links, lists, tally):  # type: ignore[no-untyped-def]
    """PRE, last part: who is in the verification list finds a candidate that beats it or becomes one."""
    for index in range(tally[_N_VERIFY]):
        item = int(lists[_VERIFY, index])
        if links[item, WITNESS] != _TO_VERIFY:
            continue  # deleted in the same snapshot
        witness = _candidate_that_beats(low, high, lists, tally, item, _PRE)
        if witness != NOBODY:
            link(links, item, witness)
            continue
        if tally[_STARTED] == 0:
            _displace(low, high, links, lists, tally, item)
        _add_candidate(links, lists, tally, item)
    tally[_N_VERIFY] = 0
    tally[_STARTED] = 1


@inner
def _reconstruct(points, low, high, links, lists, tally, item):  # type: ignore[no-untyped-def]
    """The box starts anew at the current point, which may make another's beat it."""
    for axis in range(points.shape[1]):
        low[item, axis] = high[item, axis] = points[item, axis]
    links[item, FLAGS] = 0
    tally[_RECONSTRUCTIONS] += 1
    witness = _candidate_that_beats(low, high, lists, tally, item, _POST)
    if witness != NOBODY:
        _drop_candidate(lists, tally, item)
        link(links, item, witness)


@inner
def _maintain(points, low, high, links, lists, tally, cfp):  # type: ignore[no-untyped-def]
    """POST: counts the candidates' snapshots in vain."""
    for at in range(tally[_N_CANDIDATES] - 1, -1, -1):  # backwards: one may drop out
        item = int(lists[_CANDIDATES, at])
        if lists[_SEEN, item] == tally[_SNAPSHOT]:
            links[item, FLAGS] = 0
        else:
            links[item, FLAGS] += 1
            if links[item, FLAGS] >= cfp:
                _reconstruct(points, low, high, links, lists, tally, item)


@inner
def _answer(points, low, high, links, lists, before, tally, opened, closed, cfp):  # type: ignore[no-untyped-def]
    """The snapshot's updates are in: verification, skyline, maintenance."""
    _refine(low, high, links, lists, tally)
    size, tests = block_nested_loop(points, lists[_CANDIDATES], tally[_N_CANDIDATES], lists[_WINDOW])
    tally[_SKY] += tests
    tally[_IN_SKY] += tally[_N_CANDIDATES]
    note_skyline(opened, closed, lists[_WINDOW], size, before, lists[_SEEN], tally[_SNAPSHOT])
    _maintain(points, low, high, links, lists, tally, cfp)


@entry_point
def _advance(  # type: ignore[no-untyped-def]
    points, low, high, links, lists, before, tally, opened, closed, snapshot, item, rows, cfp, is_last, start
):
    """Carries out updates (PRE), taking the skyline of each snapshot when it is complete."""
    for row in range(start, len(snapshot)):
        if snapshot[row] != tally[_SNAPSHOT]:
            if not has_room(closed, before[0]):
                return row
            _answer(points, low, high, links, lists, before, tally, opened, closed, cfp)
            tally[_SNAPSHOT] = snapshot[row]
        who = int(item[row])
        if not is_position(rows, row):
            if links[who, WITNESS] != ABSENT:
                _delete(low, high, links, lists, tally, who)
        elif links[who, WITNESS] == ABSENT:
            _insert(points, low, high, links, lists, tally, who, rows, row)
        else:
            _grow(points, low, high, links, lists, tally, who, rows, row)
    if is_last:
        if not has_room(closed, before[0]):
            return len(snapshot)
        _answer(points, low, high, links, lists, before, tally, opened, closed, cfp)
    return DONE


def _new_boxes(n_objects: int, width: int, first: int) -> Boxes:
    lists = np.full((5, n_objects), NOBODY, np.int32)
    tally = np.zeros(9, np.int64)
    tally[_SNAPSHOT] = first
    points, low, high = (np.empty((n_objects, width)) for _ in range(3))
    return Boxes(points, low, high, new_links(n_objects), lists, np.zeros(n_objects + 1, np.int32), tally)


def intervals(
    snapshot: np.ndarray, item: np.ndarray, columns: Columns, n_snapshots: int, n_objects: int, cfp: int
) -> tuple[Intervals, Counters]:
    """The intervals of a checked log, and what they cost."""
    boxes = _new_boxes(n_objects, len(columns), int(snapshot[0]))
    book = Book(n_objects)
    for part, rows in point_blocks(columns, 0, len(snapshot)):
        book.write(_advance, tuple(boxes), snapshot[part], item[part], rows, cfp, part.stop == len(snapshot))
    counters = Counters(*(int(count) for count in boxes.tally[: len(Counters._fields)]))
    return book.finished(n_snapshots), counters

"""The paper's SSKY and MSKY: records kept in an aggregate tree of two levels, so that few of them are looked at.

For an arrival a node's box tells whether all of its records beat it (their common doubt counts), are all beaten by it
(noted once, for all), or have to be looked at. What the paper prints is followed but where it is wrong: the global
product is multiplied where a node is beaten whole, factors of 0 are never divided out (see `logs`), a record that rises
is looked for in every band, and answers are net per moment.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.dominance import BEATEN, BEATS, relation
from skyarchive.kernels.uncertain.checking import Stream, Thresholds
from skyarchive.kernels.uncertain.eager import GONE, judge
from skyarchive.kernels.uncertain.logs import logs_of
from skyarchive.kernels.uncertain.nodes import (
    LEAVING,
    LIVING,
    N_FREE,
    N_GONE,
    N_NODES,
    NOWHERE,
    OLDEST,
    ROW,
    TO_SETTLE,
    TOUCHED,
    chance_of,
    gather,
    hand_down,
    insert,
    new_tree,
    remove,
    touch,
    with_more_room,
)
from skyarchive.kernels.uncertain.stays import LARGEST, PAIRS, TESTS, TOLD, Counters, counters_of, renumbered

_MORE_ROOM = 256
_APART, _ALL_BEAT, _ALL_BEATEN, _MIXED = 0, 1, 2, 3
"""How a node's records stand to a point: unrelated; all of them beat it; it beats them all; each has to be asked."""


@inlined
def _beats_corner(points, at, corners, number):  # type: ignore[no-untyped-def]
    """How a record's point stands to a corner: not worse anywhere, better somewhere."""
    not_worse = True
    better = False
    for axis in range(points.shape[1]):
        not_worse &= points[at, axis] <= corners[number, axis]
        better |= points[at, axis] < corners[number, axis]
    return not_worse, better


@inlined
def _stands(lows, highs, points, at, number):  # type: ignore[no-untyped-def]
    above_low, better_than_low = _beats_corner(points, at, lows, number)
    if above_low and better_than_low:
        return _ALL_BEATEN
    below_high = True
    worse_than_high = False
    not_below_low = True
    not_above_high = True
    for axis in range(points.shape[1]):
        value = points[at, axis]
        below_high &= highs[number, axis] <= value
        worse_than_high |= highs[number, axis] < value
        not_below_low &= lows[number, axis] <= value
        not_above_high &= value <= highs[number, axis]
    if below_high and worse_than_high:
        return _ALL_BEAT
    return _MIXED if not_below_low or not_above_high else _APART


@inlined
def _note_gone(lists, tally, at):  # type: ignore[no-untyped-def]
    lists[LEAVING, tally[N_GONE]] = at
    tally[N_GONE] += 1


@inner
def _arrive(tree, at, floor):  # type: ignore[no-untyped-def]
    """A record comes: it takes from those it beats, and those that beat it take from it. Who has to go is noted."""
    nodes, lows, highs, members, lists, points, standing, spans, logs, _, tally = tree
    older = 0
    for number in range(tally[N_NODES]):
        node = nodes[number]
        if node.count == 0:
            continue
        tally[TESTS] += 1
        how = _stands(lows, highs, points, at, number)
        if how == _ALL_BEAT:
            older += node.doubt
            tally[PAIRS] += node.count
        elif how == _ALL_BEATEN:
            node.new += logs[1, at]
            touch(nodes, lists, tally, number)
            tally[PAIRS] += node.count
            if node.least_new + node.new < floor:
                hand_down(nodes, members, lists, standing, spans, logs, tally, number)
                for place in range(node.count):
                    if standing[members[number, place]].younger < floor:
                        _note_gone(lists, tally, members[number, place])
        elif how == _MIXED:
            tally[TESTS] += node.count
            is_changed = False
            for place in range(node.count):
                other = members[number, place]
                relative = relation(points, at, other)
                if relative == BEATEN:
                    older += logs[1, other]
                    tally[PAIRS] += 1
                elif relative == BEATS:
                    tally[PAIRS] += 1
                    if not is_changed:
                        hand_down(nodes, members, lists, standing, spans, logs, tally, number)
                        is_changed = True
                    standing[other].younger += logs[1, at]
                    if standing[other].younger < floor:
                        _note_gone(lists, tally, other)
            if is_changed:
                gather(nodes, lows, highs, members, lists, points, standing, logs, tally, number)
    standing[at].older = older


@inner
def _give_back(tree, gone):  # type: ignore[no-untyped-def]
    """A record went: those that it beats are freed of it."""
    nodes, lows, highs, members, lists, points, standing, spans, logs, _, tally = tree
    for number in range(tally[N_NODES]):
        node = nodes[number]
        if node.count == 0:
            continue
        tally[TESTS] += 1
        how = _stands(lows, highs, points, gone, number)
        if how == _ALL_BEATEN:
            node.old -= logs[1, gone]
            touch(nodes, lists, tally, number)
        elif how == _MIXED:
            tally[TESTS] += node.count
            is_changed = False
            for place in range(node.count):
                other = members[number, place]
                if relation(points, gone, other) == BEATS:
                    if not is_changed:
                        hand_down(nodes, members, lists, standing, spans, logs, tally, number)
                        is_changed = True
                    standing[other].older -= logs[1, gone]
            if is_changed:
                gather(nodes, lows, highs, members, lists, points, standing, logs, tally, number)


@inner
def _depart(tree, at, levels, moment):  # type: ignore[no-untyped-def]
    """A record leaves the tree."""
    nodes, lows, highs, members, lists, points, standing, spans, logs, told, tally = tree
    remove(nodes, lows, highs, members, lists, points, standing, spans, logs, tally, at)
    judge(standing, spans, levels, told, tally, at, moment, GONE)
    tally[LIVING] -= 1


@inner
def _settle(tree, levels, moment):  # type: ignore[no-untyped-def]
    """The moment is complete: records that left the range of their band go to another."""
    nodes, lows, highs, members, lists, points, standing, spans, logs, told, tally = tree
    settled = 0
    while settled < tally[TOUCHED]:
        number = lists[TO_SETTLE, settled]
        settled += 1
        node = nodes[number]
        node.touched = 0
        if node.count == 0:
            continue
        noted = node.new + node.old
        falls = node.band > 0 and node.least + noted < levels[node.band - 1]
        rises = node.band < len(levels) and node.most + noted >= levels[node.band]
        if falls or rises:
            hand_down(nodes, members, lists, standing, spans, logs, tally, number)
            place = 0
            while place < node.count:
                at = members[number, place]
                judge(standing, spans, levels, told, tally, at, moment, chance_of(standing, logs, at))
                if standing[at].reached == node.band:
                    place += 1
                else:
                    remove(nodes, lows, highs, members, lists, points, standing, spans, logs, tally, at)
                    _insert(tree, at)
        node.settled = max(node.settled, node.new + node.old)
        if settled >= lists.shape[1] // 2:  # what is settled makes room
            for left in range(settled, tally[TOUCHED]):
                lists[TO_SETTLE, left - settled] = lists[TO_SETTLE, left]
            tally[TOUCHED] -= settled
            settled = 0
    tally[TOUCHED] = 0


@inner
def _insert(tree, at):  # type: ignore[no-untyped-def]
    nodes, lows, highs, members, lists, points, standing, spans, logs, _, tally = tree
    band = standing[at].reached
    insert(nodes, lows, highs, members, lists, points, standing, spans, logs, tally, at, band)


@entry_point
def _run(tree, moments, width, end, levels, floor):  # type: ignore[no-untyped-def]
    """Moment by moment until all up to `end` have come and gone; False: first there must be more room."""
    _, _, _, _, lists, _, standing, _, _, told, tally = tree
    while tally[ROW] < end or tally[LIVING] > 0:
        row = tally[ROW]
        while tally[OLDEST] < row and standing[tally[OLDEST]].touched == NOWHERE:
            tally[OLDEST] += 1
        oldest = tally[OLDEST]
        moment = moments[oldest] + width if oldest < row else moments[row]
        if row < end:
            moment = min(moment, moments[row])
        arriving = 0
        while row + arriving < end and moments[row + arriving] == moment:
            arriving += 1
        if min(len(told) - tally[TOLD], lists.shape[1] // 2) <= (tally[LIVING] + arriving) * len(levels):
            return False
        while oldest < row and moments[oldest] + width == moment:
            if standing[oldest].touched != NOWHERE:
                _depart(tree, oldest, levels, moment)
                _give_back(tree, oldest)
            oldest += 1
        for at in range(row, row + arriving):
            _arrive(tree, at, floor)
            for place in range(tally[N_GONE]):
                _depart(tree, lists[LEAVING, place], levels, moment)
            for place in range(tally[N_GONE]):
                _give_back(tree, lists[LEAVING, place])
            tally[N_GONE] = 0
            _insert(tree, at)
            tally[LIVING] += 1
            tally[LARGEST] = max(tally[LARGEST], tally[LIVING])
        tally[ROW] = row + arriving
        _settle(tree, levels, moment)
    tally[N_NODES] = 0
    tally[N_FREE] = 0
    return True


def stays(stream: Stream, thresholds: Thresholds) -> tuple[NDArray[Any], Counters]:
    """All stays, and what it took."""
    logs = logs_of(stream, thresholds)
    points = np.ascontiguousarray(np.column_stack(stream.columns.arrays))
    tree = new_tree(points, np.stack([logs.own, logs.doubt]), len(logs.levels), _MORE_ROOM)
    for end in stream.borders[1:]:
        while not _run(tree, stream.moments, stream.width, int(end), logs.levels, logs.floor):
            tree = with_more_room(tree)
    tally = tree.tally
    return renumbered(tree.told[: tally[TOLD]], stream.numbers), counters_of(tally)

"""The nodes of an aggregate tree: a box around some records of one band, and what is known of all of them at once.

A band holds the records that reach equally many thresholds. What concerns all records of a node alike is noted at the
node and handed down when one of them is looked at. All products are logarithms, see `logs`.
"""

from typing import NamedTuple

import numpy as np

from skyarchive.kernels.compiling import inlined, inner
from skyarchive.kernels.uncertain.eager import GONE, STANDING
from skyarchive.kernels.uncertain.logs import probability_of
from skyarchive.kernels.uncertain.standing import SPAN
from skyarchive.kernels.uncertain.stays import STAY, TALLY

ROOM = 32
"""Records of a node."""
NODE = np.dtype(
    [
        ("band", np.int64),
        ("count", np.int64),
        ("doubt", np.int64),  # the product of (1 - P) of its records
        ("new", np.int64),  # not handed down yet: what younger ones took from all of them
        ("old", np.int64),  # the same of older ones, less what has been given back
        ("least_new", np.int64),  # of its records' products over younger ones, without what is not handed down
        ("most_new", np.int64),
        ("least", np.int64),  # of its records' chances, likewise
        ("most", np.int64),
        ("settled", np.int64),  # the most that new + old was at the end of a moment since they were handed down
        ("touched", np.int64),
    ]
)
N_NODES, N_FREE, TOUCHED, N_GONE, LIVING, OLDEST, ROW = range(TALLY, TALLY + 7)
"""More places in the tally."""
NOWHERE = -1


class Tree(NamedTuple):
    """All that stands between two moments."""

    nodes: np.ndarray
    lows: np.ndarray
    """float64[nodes, m]: corners of the boxes."""
    highs: np.ndarray
    members: np.ndarray
    """int64[nodes, ROOM]"""
    lists: np.ndarray
    """int64[3, nodes]: empty nodes, nodes touched, records gone."""
    points: np.ndarray
    """float64[records, m]"""
    standing: np.ndarray
    spans: np.ndarray
    logs: np.ndarray
    """int64[2, records]: of P and of 1 - P."""
    told: np.ndarray
    tally: np.ndarray


EMPTY, TO_SETTLE, LEAVING = 0, 1, 2
"""Rows of `lists`."""


def new_tree(points: np.ndarray, logs: np.ndarray, n_thresholds: int, room: int) -> Tree:
    n, m = points.shape
    standing = np.zeros(n, STANDING)
    standing["touched"] = NOWHERE
    return Tree(
        np.zeros(room, NODE),
        np.zeros((room, m)),
        np.zeros((room, m)),
        np.zeros((room, ROOM), np.int64),
        np.zeros((3, room), np.int64),
        points,
        standing,
        np.zeros((n, n_thresholds), SPAN),
        logs,
        np.zeros(room * n_thresholds, STAY),
        np.zeros(TALLY + 7, np.int64),
    )


def with_more_room(tree: Tree) -> Tree:
    by_node = {name: getattr(tree, name) for name in ("nodes", "lows", "highs", "members", "told")}
    doubled = {name: np.concatenate([room, np.zeros_like(room)]) for name, room in by_node.items()}
    return tree._replace(lists=np.concatenate([tree.lists, np.zeros_like(tree.lists)], axis=1), **doubled)


@inlined
def chance_of(standing, logs, at):  # type: ignore[no-untyped-def]
    return logs[0, at] + standing[at].older + standing[at].younger


@inlined
def touch(nodes, lists, tally, number):  # type: ignore[no-untyped-def]
    """The node is to be settled at the end of the moment."""
    if not nodes[number].touched:
        nodes[number].touched = 1
        lists[TO_SETTLE, tally[TOUCHED]] = number
        tally[TOUCHED] += 1


@inner
def hand_down(nodes, members, lists, standing, spans, logs, tally, number):  # type: ignore[no-untyped-def]
    """What was noted for all records of the node goes to each of them."""
    node = nodes[number]
    touch(nodes, lists, tally, number)
    for place in range(node.count):
        at = members[number, place]
        record = standing[at]
        if record.reached > 0 and node.settled > GONE:
            best = probability_of(chance_of(standing, logs, at) + node.settled)
            for level in range(record.reached):
                spans[at, level].greatest = max(spans[at, level].greatest, best)
        record.younger += node.new
        record.older += node.old
    node.least_new += node.new
    node.most_new += node.new
    node.least += node.new + node.old
    node.most += node.new + node.old
    node.new = 0
    node.old = 0
    node.settled = GONE


@inner
def gather(nodes, lows, highs, members, lists, points, standing, logs, tally, number):  # type: ignore[no-untyped-def]
    """The node's box and aggregates anew; everything has been handed down."""
    node = nodes[number]
    node.doubt = 0
    for place in range(node.count):
        at = members[number, place]
        younger, chance = standing[at].younger, chance_of(standing, logs, at)
        node.doubt += logs[1, at]
        node.least_new = younger if place == 0 else min(node.least_new, younger)
        node.most_new = younger if place == 0 else max(node.most_new, younger)
        node.least = chance if place == 0 else min(node.least, chance)
        node.most = chance if place == 0 else max(node.most, chance)
        for axis in range(points.shape[1]):
            value = points[at, axis]
            lows[number, axis] = value if place == 0 else min(lows[number, axis], value)
            highs[number, axis] = value if place == 0 else max(highs[number, axis], value)
    if node.count == 0:
        lists[EMPTY, tally[N_FREE]] = number
        tally[N_FREE] += 1


@inner
def remove(nodes, lows, highs, members, lists, points, standing, spans, logs, tally, at):  # type: ignore[no-untyped-def]
    number = standing[at].touched
    hand_down(nodes, members, lists, standing, spans, logs, tally, number)
    node = nodes[number]
    node.count -= 1
    for place in range(node.count):
        if members[number, place] == at:
            members[number, place] = members[number, node.count]
    standing[at].touched = NOWHERE
    gather(nodes, lows, highs, members, lists, points, standing, logs, tally, number)


@inlined
def _new_node(nodes, lists, tally, band):  # type: ignore[no-untyped-def]
    if tally[N_FREE] > 0:
        tally[N_FREE] -= 1
        number = lists[EMPTY, tally[N_FREE]]
    else:
        number = tally[N_NODES]
        tally[N_NODES] += 1
    node = nodes[number]
    node.band = band
    node.count = 0
    node.new = 0
    node.old = 0
    node.settled = GONE
    return number


@inlined
def _best_node(nodes, lows, highs, points, tally, at, band):  # type: ignore[no-untyped-def]
    """The node of the band whose box grows least, in the sum of its sides."""
    best = NOWHERE
    least = np.inf
    for number in range(tally[N_NODES]):
        if nodes[number].count > 0 and nodes[number].band == band:
            growth = 0.0
            for axis in range(points.shape[1]):
                value = points[at, axis]
                growth += max(lows[number, axis] - value, 0.0) + max(value - highs[number, axis], 0.0)
            if growth < least:
                least = growth
                best = number
    return best


@inner
def _split(nodes, lows, highs, members, lists, points, standing, logs, tally, number):  # type: ignore[no-untyped-def]
    """Half of a full node's records, by its longest side, go to a new one."""
    widest = 0
    for axis in range(points.shape[1]):
        if highs[number, axis] - lows[number, axis] > highs[number, widest] - lows[number, widest]:
            widest = axis
    for place in range(1, ROOM):
        at = members[number, place]
        before = place
        while before > 0 and points[members[number, before - 1], widest] > points[at, widest]:
            members[number, before] = members[number, before - 1]
            before -= 1
        members[number, before] = at
    other = _new_node(nodes, lists, tally, nodes[number].band)
    for place in range(ROOM // 2):
        members[other, place] = members[number, ROOM // 2 + place]
        standing[members[other, place]].touched = other
    nodes[number].count = ROOM // 2
    nodes[other].count = ROOM - ROOM // 2
    touch(nodes, lists, tally, other)
    for half in (number, other):
        gather(nodes, lows, highs, members, lists, points, standing, logs, tally, half)


@inner
def insert(nodes, lows, highs, members, lists, points, standing, spans, logs, tally, at, band):  # type: ignore[no-untyped-def]
    number = _best_node(nodes, lows, highs, points, tally, at, band)
    if number == NOWHERE:
        number = _new_node(nodes, lists, tally, band)
    hand_down(nodes, members, lists, standing, spans, logs, tally, number)
    node = nodes[number]
    members[number, node.count] = at
    node.count += 1
    standing[at].touched = number
    gather(nodes, lows, highs, members, lists, points, standing, logs, tally, number)
    if node.count == ROOM:
        _split(nodes, lows, highs, members, lists, points, standing, logs, tally, number)

"""The engine behind `witness`: updates one after the other, the answer changed by as little as they ask for.

Every beaten node remembers one live node that beats it, its witness, and is looked at again only when it or its
witness moves or goes. A member that moves is compared only with the members in the slab it crossed, per
attribute: whoever it newly beats, or is newly beaten by, must be there.

A node is an object, or the one node that stands for all objects of the crowd: the one position where very many
objects are (all counts zero). The tables below are passed one by one; see `Engine` for what they hold.
"""

from typing import NamedTuple

import numpy as np

from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.dominance import is_position
from skyarchive.kernels.timeline.fetching import fetch
from skyarchive.kernels.timeline.intervals import DONE, has_room, note
from skyarchive.kernels.timeline.links import ABSENT, FLAGS, HEAD, MEMBER, NOBODY, WITNESS, new_links
from skyarchive.kernels.timeline.members import CROWDED, HINT, SNAPSHOT, TALLY, TOUCHED, new_lists
from skyarchive.kernels.timeline.moves import IS_TOUCHED, TO_LOOK_AT, arrive, depart, put, touch
from skyarchive.kernels.timeline.sketches import SCALES, set_scales

_IN_CROWD = 2
"""A bit of a node's flags, beside IS_TOUCHED."""
_AHEAD = 8
"""Rows between asking for an object's tables and needing them."""


class Engine(NamedTuple):
    """Everything that stands between two calls. Nodes are the objects and, last, the crowd."""

    points: np.ndarray
    """float64[nodes + 3, m]: where each node is. The crowd's row says where the crowd is (NaN: there is none); then
    come the scales of the sketches, and a row that remembers where a moving node comes from."""
    links: np.ndarray
    values: np.ndarray
    nodes: np.ndarray
    """The members' lists, see `members`."""
    lists: np.ndarray
    """int32[5, nodes or m]: nodes collected in one change; new members of it; nodes to look at when the snapshot is
    complete; a moving node's old ranks; the attributes it moved on."""
    tally: np.ndarray


def new_engine(n_objects: int, crowd: np.ndarray, sample: np.ndarray) -> Engine:
    """For this crowd (NaN: there is none) and positions like those of the sample."""
    n_nodes, width = n_objects + 1, len(crowd)
    points = np.empty((n_nodes + SCALES + 1, width))
    points[n_objects] = crowd
    set_scales(points, sample)
    tally = np.zeros(TALLY, np.int64)
    tally[SNAPSHOT] = tally[HINT] = -1
    lists = np.empty((5, max(n_nodes, width)), np.int32)
    return Engine(points, new_links(n_nodes), *new_lists(n_nodes, width), lists, tally)


@inner
def _join_or_leave_crowd(points, links, values, nodes, lists, tally, item, joins):  # type: ignore[no-untyped-def]
    """An object comes to the crowd's position, or is not there any more."""
    crowd = len(links) - 1
    links[item, FLAGS] ^= _IN_CROWD
    touch(links, lists, tally, item)
    if joins:
        tally[CROWDED] += 1
        if links[item, WITNESS] != ABSENT:
            depart(points, links, values, nodes, lists, tally, item)
        if tally[CROWDED] == 1:
            arrive(points, links, values, nodes, lists, tally, crowd, True)
    else:
        tally[CROWDED] -= 1
        if tally[CROWDED] == 0:
            depart(points, links, values, nodes, lists, tally, crowd)


@inlined
def _is_at(points, node, rows, row):  # type: ignore[no-untyped-def]
    for axis in range(points.shape[1]):  # noqa: SIM110 - numba is slow on generators
        if rows[row, axis] != points[node, axis]:
            return False
    return True


@inlined
def _stays_beaten(points, links, rows, row, node):  # type: ignore[no-untyped-def]
    """Whether nothing changes but the node's position: nobody relies on it, and its witness beats it there too.

    Most updates are like this. No way out of the loop: a wrong guess of the processor costs more than all of it.
    """
    witness = links[node, WITNESS]
    if witness < 0 or links[node, HEAD] != NOBODY:
        return False
    crowd = np.uintp(len(links) - 1)
    by = np.uintp(witness)
    beaten = True
    strictly = False
    crowded = True
    for axis in range(points.shape[1]):
        value = rows[row, axis]
        beaten &= points[by, axis] <= value
        strictly |= points[by, axis] < value
        crowded &= points[crowd, axis] == value
    return beaten & strictly & (not crowded)


@inner
def _commit(links, lists, tally, opened, closed):  # type: ignore[no-untyped-def]
    """The snapshot is complete: what changed in it on balance is written down."""
    crowd = len(links) - 1
    crowd_wins = links[crowd, WITNESS] == MEMBER
    if links[crowd, FLAGS] & IS_TOUCHED:
        for item in range(crowd):
            if links[item, FLAGS] & _IN_CROWD:
                touch(links, lists, tally, item)
    for index in range(tally[TOUCHED]):
        node = int(lists[TO_LOOK_AT, index])
        links[node, FLAGS] &= ~IS_TOUCHED
        if node != crowd:
            is_member = links[node, WITNESS] == MEMBER or (crowd_wins and links[node, FLAGS] & _IN_CROWD != 0)
            note(opened, closed, node, is_member, tally[SNAPSHOT])
    tally[TOUCHED] = 0


@inlined
def _room_needed(links, tally):  # type: ignore[no-untyped-def]
    """How many intervals the snapshot may close: the whole crowd's if its standing was touched."""
    return tally[TOUCHED] + (tally[CROWDED] if links[-1, FLAGS] & IS_TOUCHED else 0)


@entry_point
def advance(  # type: ignore[no-untyped-def]
    points, links, values, nodes, lists, tally, opened, closed, snapshot, item, rows, leaves, is_last, start
):
    """Carries out updates in order of snapshot. An object leaves the engine when its row holds a NaN or `leaves`
    says so (empty: for none). `is_last`: the last snapshot is complete with these rows."""
    crowd = len(links) - 1
    for row in range(start, len(snapshot)):
        soon = np.uint32(item[min(row + _AHEAD, len(item) - 1)])
        fetch(links, soon)
        fetch(points, soon)
        if snapshot[row] != tally[SNAPSHOT]:
            if tally[TOUCHED] > 0:
                if not has_room(closed, _room_needed(links, tally)):
                    return row
                _commit(links, lists, tally, opened, closed)
            tally[SNAPSHOT] = snapshot[row]
        is_pruned = len(leaves) > 0 and leaves[row]
        if not is_pruned and _stays_beaten(points, links, rows, row, np.uintp(item[row])):
            for axis in range(points.shape[1]):
                points[np.uintp(item[row]), axis] = rows[row, axis]
            continue
        who = int(item[row])
        stays = not is_pruned and is_position(rows, row)
        to_crowd = stays and _is_at(points, crowd, rows, row)
        if to_crowd != (links[who, FLAGS] & _IN_CROWD != 0):
            _join_or_leave_crowd(points, links, values, nodes, lists, tally, who, to_crowd)
        if to_crowd:
            continue
        if stays:
            put(points, links, values, nodes, lists, tally, who, rows, row)
        elif links[who, WITNESS] != ABSENT:
            depart(points, links, values, nodes, lists, tally, who)
    if is_last:
        if not has_room(closed, _room_needed(links, tally)):
            return len(snapshot)
        _commit(links, lists, tally, opened, closed)
    return DONE

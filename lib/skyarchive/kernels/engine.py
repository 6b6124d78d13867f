"""The engine behind `witness`: updates one after the other, the answer changed by as little as they ask for.

Every beaten node remembers one live node that beats it, its witness, and is looked at again only when it or its
witness moves or goes. A member that moves is compared only with the members in the slab it crossed, per
attribute: whoever it newly beats, or is newly beaten by, must be there.

The crowd is the one position where very many objects stand (all counts zero): one node stands for all of them.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from skyarchive.kernels.dominance import beats, is_position
from skyarchive.kernels.intervals import note, with_room
from skyarchive.kernels.members import (
    ABSENT,
    LEAVING,
    MEMBER,
    NOBODY,
    SIZE,
    TOUCHED,
    Standing,
    enlist,
    first_above,
    first_at_least,
    link,
    new_standing,
    relocate,
    search_witness,
    strike,
    touch,
    unlink,
)

_SNAPSHOT, _CROWDED = 0, 1


class Engine(NamedTuple):
    """Everything that stands between two calls."""

    standing: Standing
    crowd: np.ndarray
    """The crowd's position; NaN if there is none, as nothing equals that."""
    in_crowd: np.ndarray
    old: np.ndarray
    """The position a moving node comes from."""
    found: np.ndarray
    """Nodes collected in one change, before it is carried out."""
    entered: np.ndarray
    clock: np.ndarray


def new_engine(n_objects: int, crowd: np.ndarray) -> Engine:
    width = len(crowd)
    standing = new_standing(n_objects + 1, width)  # the last node stands for the crowd
    room = np.empty(n_objects + 1, np.int32)
    in_crowd = np.zeros(n_objects, np.bool_)
    return Engine(standing, crowd, in_crowd, np.empty(width), room, room.copy(), np.array([-1, 0], np.int64))


@njit(cache=True)
def _hand_over(s, node, heir, all_of_them):  # type: ignore[no-untyped-def]
    """Those whom a beaten node does not beat (any more) go to the node that beat it where it was: that beats
    them too."""
    beaten = s.head[node]
    while beaten != NOBODY:
        following = s.after[beaten]
        if all_of_them or not beats(s.points, node, beaten):
            unlink(s, beaten)
            link(s, beaten, heir)
        beaten = following


@njit(cache=True)
def _find_orphans(s, node, all_of_them, found):  # type: ignore[no-untyped-def]
    """Takes those off a member's list whom it does not beat any more; gives their number."""
    count = 0
    beaten = s.head[node]
    while beaten != NOBODY:
        following = s.after[beaten]
        if all_of_them or not beats(s.points, node, beaten):
            unlink(s, beaten)
            found[count] = beaten
            count += 1
        beaten = following
    return count


@njit(cache=True)
def _settle_orphans(s, count, mover, found, entered):  # type: ignore[no-untyped-def]
    """Each orphan finds another witness or becomes a member.

    A new member can only beat the node that lost it and other orphans: the rest was not beaten by what its
    former witness beat.
    """
    entered[0] = mover
    n_entered = 1
    for index in range(count):
        node = found[index]
        witness = search_witness(s, node)
        if witness != NOBODY:
            link(s, node, witness)
            continue
        for at in range(n_entered):
            rival = entered[at]
            if s.witness[rival] == MEMBER and beats(s.points, node, rival):
                strike(s, rival, s.points[rival])
                link(s, rival, node)
        enlist(s, node)
        entered[n_entered] = node
        n_entered += 1


@njit(cache=True, forceinline=True)
def _mark_beaten(s, node, axis, begin, end, found, count):  # type: ignore[no-untyped-def]
    """Adds the members in a part of a sorted list that the node beats to `found`; gives their number."""
    for at in range(begin, end):
        rival = s.nodes[axis, at]
        if s.witness[rival] == MEMBER and beats(s.points, node, rival):
            s.witness[rival] = LEAVING
            found[count] = rival
            count += 1
    return count


@njit(cache=True)
def _find_beaten_by_mover(s, node, old, found):  # type: ignore[no-untyped-def]
    """The members that a node beats where it is and did not beat at `old`: they lie in a slab it crossed
    getting better (closed: those that stood exactly where it was are among them)."""
    count = 0
    for axis in range(len(old)):
        value = s.points[node, axis]
        if value < old[axis]:
            begin, end = first_at_least(s, axis, value), first_above(s, axis, old[axis])
            count = _mark_beaten(s, node, axis, begin, end, found, count)
    return count


@njit(cache=True)
def _find_beaten_by_newcomer(s, node, found):  # type: ignore[no-untyped-def]
    """The members that a node without a past beats: they come after it in every list, so in the shortest rest."""
    size = s.tally[SIZE]
    begin = -1
    best = 0
    for axis in range(s.points.shape[1]):
        rank = first_at_least(s, axis, s.points[node, axis])
        if rank > begin:
            begin = rank
            best = axis
    return _mark_beaten(s, node, best, begin, size, found, 0)


@njit(cache=True)
def _expel(s, node, found, count):  # type: ignore[no-untyped-def]
    for index in range(count):
        strike(s, found[index], s.points[found[index]])
        link(s, found[index], node)


@njit(cache=True)
def _arrive(s, node, found):  # type: ignore[no-untyped-def]
    """A node that was absent stands where `points` says."""
    witness = search_witness(s, node)
    if witness != NOBODY:
        link(s, node, witness)
        return
    _expel(s, node, found, _find_beaten_by_newcomer(s, node, found))
    enlist(s, node)


@njit(cache=True)
def _move_beaten(s, node, old, worse, found):  # type: ignore[no-untyped-def]
    """A beaten node moved from `old`."""
    witness = s.witness[node]
    if worse and s.head[node] != NOBODY:
        _hand_over(s, node, witness, False)
    if beats(s.points, witness, node):
        return
    unlink(s, node)
    other = search_witness(s, node)
    if other != NOBODY:
        link(s, node, other)
        return
    _expel(s, node, found, _find_beaten_by_mover(s, node, old, found))
    enlist(s, node)


@njit(cache=True)
def _beaten_by(s, node, old):  # type: ignore[no-untyped-def]
    """A member that beats a member which moved from `old`, or NOBODY: it is in a slab crossed getting worse."""
    for axis in range(len(old)):
        value = s.points[node, axis]
        if value > old[axis]:
            for at in range(first_at_least(s, axis, old[axis]), first_above(s, axis, value)):
                rival = s.nodes[axis, at]
                if beats(s.points, rival, node):
                    return rival
    return NOBODY


@njit(cache=True)
def _move_member(s, node, old, worse, better, found, entered):  # type: ignore[no-untyped-def]
    """A member moved from `old`."""
    witness = _beaten_by(s, node, old) if worse else NOBODY
    if witness != NOBODY:
        strike(s, node, old)
        link(s, node, witness)
    else:
        count = _find_beaten_by_mover(s, node, old, found) if better else 0
        for axis in range(len(old)):
            if s.points[node, axis] != old[axis]:
                relocate(s, node, axis, old[axis])
        _expel(s, node, found, count)
    if worse and s.head[node] != NOBODY:
        _settle_orphans(s, _find_orphans(s, node, False, found), node, found, entered)


@njit(cache=True)
def _depart(s, node, found, entered):  # type: ignore[no-untyped-def]
    """A present node is gone."""
    witness = s.witness[node]
    if witness == MEMBER:
        strike(s, node, s.points[node])
        s.witness[node] = ABSENT
        _settle_orphans(s, _find_orphans(s, node, True, found), node, found, entered)
    else:
        _hand_over(s, node, witness, True)
        unlink(s, node)
        s.witness[node] = ABSENT


@njit(cache=True, forceinline=True)
def _put(engine, node, rows, row):  # type: ignore[no-untyped-def]
    """A node stands where the row says, wherever it was before."""
    s, old = engine.standing, engine.old
    worse = False
    better = False
    for axis in range(len(old)):
        value = rows[row, axis]
        old[axis] = s.points[node, axis]
        s.points[node, axis] = value
        worse |= value > old[axis]
        better |= value < old[axis]
    if s.witness[node] == ABSENT:
        _arrive(s, node, engine.found)
    elif not (worse or better):
        pass
    elif s.witness[node] == MEMBER:
        _move_member(s, node, old, worse, better, engine.found, engine.entered)
    else:
        _move_beaten(s, node, old, worse, engine.found)


@njit(cache=True, forceinline=True)
def _is_crowded(engine, rows, row):  # type: ignore[no-untyped-def]
    for axis in range(len(engine.crowd)):
        if rows[row, axis] != engine.crowd[axis]:
            return False
    return True


@njit(cache=True)
def _update(engine, item, rows, row, stays):  # type: ignore[no-untyped-def]
    """One row of the log: the object stands there (`stays`) or leaves the engine."""
    s = engine.standing
    crowd_node = len(engine.in_crowd)
    to_crowd = stays and _is_crowded(engine, rows, row)
    if engine.in_crowd[item] != to_crowd:
        engine.in_crowd[item] = to_crowd
        touch(s, item)
        if to_crowd:
            engine.clock[_CROWDED] += 1
        else:
            engine.clock[_CROWDED] -= 1
    if s.witness[item] != ABSENT and (to_crowd or not stays):
        _depart(s, item, engine.found, engine.entered)
    if engine.clock[_CROWDED] == 0 and s.witness[crowd_node] != ABSENT:
        _depart(s, crowd_node, engine.found, engine.entered)
    if stays and not to_crowd:
        _put(engine, item, rows, row)
    elif to_crowd and s.witness[crowd_node] == ABSENT:
        _put(engine, crowd_node, rows, row)


@njit(cache=True)
def _commit(engine, book, closed):  # type: ignore[no-untyped-def]
    """The snapshot is complete: what changed in it on balance is written down."""
    s = engine.standing
    snapshot = engine.clock[_SNAPSHOT]
    crowd_node = len(engine.in_crowd)
    crowd_wins = s.witness[crowd_node] == MEMBER
    if s.is_touched[crowd_node]:
        for item in range(crowd_node):
            if engine.in_crowd[item]:
                touch(s, item)
    closed = with_room(closed, book.count[0], s.tally[TOUCHED])
    for index in range(s.tally[TOUCHED]):
        node = s.touched[index]
        s.is_touched[node] = False
        if node != crowd_node:
            is_member = s.witness[node] == MEMBER or (crowd_wins and engine.in_crowd[node])
            note(book, closed, node, is_member, snapshot)
    s.tally[TOUCHED] = 0
    return closed


@njit(cache=True)
def advance(engine, book, closed, snapshot, item, rows, leaves):  # type: ignore[no-untyped-def]
    """Carries out updates in order of snapshot. An object leaves when its row holds a NaN or `leaves` is set
    (empty: for none)."""
    for row in range(len(snapshot)):
        if snapshot[row] != engine.clock[_SNAPSHOT]:
            closed = _commit(engine, book, closed)
            engine.clock[_SNAPSHOT] = snapshot[row]
        stays = is_position(rows, row) and not (len(leaves) > 0 and leaves[row])
        _update(engine, item[row], rows, row, stays)
    return closed


@njit(cache=True)
def complete(engine, book, closed):  # type: ignore[no-untyped-def]
    """The last snapshot is complete."""
    return _commit(engine, book, closed)

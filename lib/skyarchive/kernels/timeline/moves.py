"""What one update changes in the standing of the nodes; the tables are those of `engine.Engine`."""

from skyarchive.kernels.compiling import inlined, inner
from skyarchive.kernels.dominance import beats
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
    unlink,
)
from skyarchive.kernels.timeline.members import (
    BITS,
    SIZE,
    TOUCHED,
    enlist,
    first_at_least,
    relocate,
    renew_sketch,
    search_witness,
    sketch_of,
    strike,
)
from skyarchive.kernels.timeline.sketches import may_beat, sketch

IS_TOUCHED = 1
"""A bit of a node's flags."""
_FOUND, _ENTERED, TO_LOOK_AT, _RANKS, _CHANGED = 0, 1, 2, 3, 4
"""Rows of `lists`."""


@inlined
def touch(links, lists, tally, node):  # type: ignore[no-untyped-def]
    """The node's standing is to be looked at when the snapshot is complete."""
    if not links[node, FLAGS] & IS_TOUCHED:
        links[node, FLAGS] |= IS_TOUCHED
        lists[TO_LOOK_AT, tally[TOUCHED]] = node
        tally[TOUCHED] += 1


@inner
def _promote(points, links, values, nodes, lists, tally, node):  # type: ignore[no-untyped-def]
    """The node becomes a member."""
    enlist(points, values, nodes, tally, node)
    links[node, WITNESS] = MEMBER
    touch(links, lists, tally, node)


@inner
def _demote(points, links, values, nodes, lists, tally, node, position, witness):  # type: ignore[no-untyped-def]
    """A member, enlisted at row `position` of `points`, is beaten by `witness` now (or ABSENT)."""
    strike(points, values, nodes, tally, node, position)
    touch(links, lists, tally, node)
    links[node, WITNESS] = witness
    if witness >= 0:
        link(links, node, witness)


@inner
def _hand_over(points, links, node, heir, all_of_them):  # type: ignore[no-untyped-def]
    """Those whom a beaten node does not beat (any more) go to the node that beat it where it was: that beats
    them too."""
    beaten = int(links[node, HEAD])
    while beaten != NOBODY:
        following = int(links[beaten, AFTER])
        if all_of_them or not beats(points, node, beaten):
            unlink(links, beaten)
            link(links, beaten, heir)
        beaten = following


@inner
def _settle_orphans(points, links, values, nodes, lists, tally, node, all_of_them):  # type: ignore[no-untyped-def]
    """Those whom a node that was a member does not beat (any more) find another witness or become members.

    A new member can only beat that node and other orphans: nobody else was beaten by what the node beat.
    """
    count = 0
    beaten = int(links[node, HEAD])
    while beaten != NOBODY:
        following = int(links[beaten, AFTER])
        if all_of_them or not beats(points, node, beaten):
            unlink(links, beaten)
            lists[_FOUND, count] = beaten
            count += 1
        beaten = following
    lists[_ENTERED, 0] = node
    n_entered = 1
    for index in range(count):
        orphan = int(lists[_FOUND, index])
        witness = search_witness(points, links, values, nodes, tally, orphan)
        if witness != NOBODY:
            link(links, orphan, witness)
            continue
        for at in range(n_entered):
            rival = int(lists[_ENTERED, at])
            if links[rival, WITNESS] == MEMBER and beats(points, orphan, rival):
                _demote(points, links, values, nodes, lists, tally, rival, rival, orphan)
        _promote(points, links, values, nodes, lists, tally, orphan)
        lists[_ENTERED, n_entered] = orphan
        n_entered += 1


@inlined
def _mark_if_beaten(points, links, nodes, lists, node, own, rival, count):  # type: ignore[no-untyped-def]
    """Collects a member, after the `count` so far, if the node, whose sketch is `own`, beats it and it was not
    collected before."""
    might = may_beat(own, sketch_of(points, nodes, rival))
    if might and beats(points, node, rival) and links[rival, WITNESS] == MEMBER:  # in this order: few are beaten
        links[rival, WITNESS] = IN_BETWEEN
        lists[_FOUND, count] = rival
        count += 1
    return count


@inlined
def _beaten_in_slab(points, links, values, nodes, lists, size, node, own, axis, rank, count):  # type: ignore[no-untyped-def]
    """Collects the members that a node beats where it is and did not beat where it comes from: they are in a slab
    it crossed getting better. `rank` is that of the old value; the slab is closed, as members that stood exactly
    where the node was are among them. `own` is the node's sketch."""
    old = len(points) - 1
    at = rank - 1
    while at >= 0 and values[axis, at] >= points[node, axis]:
        count = _mark_if_beaten(points, links, nodes, lists, node, own, int(nodes[axis, at]), count)
        at -= 1
    at = rank
    while at < size and values[axis, at] == points[old, axis]:
        count = _mark_if_beaten(points, links, nodes, lists, node, own, int(nodes[axis, at]), count)
        at += 1
    return count


@inner
def _beaten_by_mover(points, links, values, nodes, lists, tally, node):  # type: ignore[no-untyped-def]
    """Collects the members that a node, beaten where it comes from, beats where it is."""
    count = 0
    old = len(points) - 1
    size = tally[SIZE]
    own = sketch(points, node)
    for axis in range(points.shape[1]):
        if points[node, axis] < points[old, axis]:
            rank = first_at_least(values, axis, tally[BITS], points[old, axis])
            count = _beaten_in_slab(points, links, values, nodes, lists, size, node, own, axis, rank, count)
    return count


@inner
def _beaten_by_newcomer(points, links, values, nodes, lists, tally, node):  # type: ignore[no-untyped-def]
    """Collects the members that a node without a past beats: they come after it in every list."""
    size = tally[SIZE]
    begin = -1
    best = 0
    for axis in range(points.shape[1]):
        rank = first_at_least(values, axis, tally[BITS], points[node, axis])
        if rank > begin:
            begin = rank
            best = axis
    count = 0
    own = sketch(points, node)
    for at in range(begin, size):
        count = _mark_if_beaten(points, links, nodes, lists, node, own, int(nodes[best, at]), count)
    return count


@inlined
def _expel(points, links, values, nodes, lists, tally, node, count):  # type: ignore[no-untyped-def]
    for index in range(count):
        loser = int(lists[_FOUND, index])
        _demote(points, links, values, nodes, lists, tally, loser, loser, node)


@inner
def arrive(points, links, values, nodes, lists, tally, node, is_new):  # type: ignore[no-untyped-def]
    """A node that nobody is known to beat finds a witness or becomes a member. Unless it is new, it was beaten
    where it comes from."""
    witness = search_witness(points, links, values, nodes, tally, node)
    if witness != NOBODY:
        link(links, node, witness)
        return
    if is_new:
        count = _beaten_by_newcomer(points, links, values, nodes, lists, tally, node)
    else:
        count = _beaten_by_mover(points, links, values, nodes, lists, tally, node)
    _expel(points, links, values, nodes, lists, tally, node, count)
    _promote(points, links, values, nodes, lists, tally, node)


@inlined
def _winner_in_slab(points, values, nodes, size, node, own, axis, rank):  # type: ignore[no-untyped-def]
    """A member that beats a member where that moved to, or NOBODY: it is in a slab crossed getting worse."""
    at = rank
    while at < size and values[axis, at] <= points[node, axis]:
        rival = int(nodes[axis, at])
        if may_beat(sketch_of(points, nodes, rival), own) and beats(points, rival, node):
            return rival
        at += 1
    return NOBODY


@inlined
def _move_member(points, links, values, nodes, lists, tally, node, n_changed, worse):  # type: ignore[no-untyped-def]
    """A member moved on some attributes. First all slabs are looked through, then the lists change."""
    old = len(points) - 1
    size = tally[SIZE]
    witness = NOBODY
    count = 0
    for at in range(n_changed):
        renew_sketch(points, nodes, node, lists[_CHANGED, at])
    own = sketch_of(points, nodes, node)
    for at in range(n_changed):
        axis = lists[_CHANGED, at]
        if witness == NOBODY:
            rank = first_at_least(values, axis, tally[BITS], points[old, axis])
            lists[_RANKS, at] = rank
            if points[node, axis] > points[old, axis]:
                witness = _winner_in_slab(points, values, nodes, size, node, own, axis, rank)
            else:
                count = _beaten_in_slab(points, links, values, nodes, lists, size, node, own, axis, rank, count)
    if witness != NOBODY:  # then nobody was collected: who beats the node would beat them
        _demote(points, links, values, nodes, lists, tally, node, old, witness)
    else:
        for at in range(n_changed):
            axis = lists[_CHANGED, at]
            relocate(values, nodes, size, axis, node, lists[_RANKS, at], points[node, axis])
        _expel(points, links, values, nodes, lists, tally, node, count)
    if worse and links[node, HEAD] != NOBODY:
        _settle_orphans(points, links, values, nodes, lists, tally, node, False)


@inner
def depart(points, links, values, nodes, lists, tally, node):  # type: ignore[no-untyped-def]
    """A present node is gone."""
    witness = int(links[node, WITNESS])
    if witness == MEMBER:
        _demote(points, links, values, nodes, lists, tally, node, node, ABSENT)
        if links[node, HEAD] != NOBODY:
            _settle_orphans(points, links, values, nodes, lists, tally, node, True)
    else:
        _hand_over(points, links, node, witness, True)
        unlink(links, node)
        links[node, WITNESS] = ABSENT


@inlined
def put(points, links, values, nodes, lists, tally, node, rows, row):  # type: ignore[no-untyped-def]
    """A node stands where the row says, wherever it was before."""
    old = len(points) - 1
    worse = False
    n_changed = 0
    for axis in range(points.shape[1]):
        value, before = rows[row, axis], points[node, axis]
        points[old, axis] = before
        points[node, axis] = value
        worse |= value > before
        lists[_CHANGED, n_changed] = axis  # without a branch: most move on one, and nobody can guess on which
        n_changed += value != before
    witness = int(links[node, WITNESS])
    if witness >= 0:
        if links[node, HEAD] != NOBODY and worse:
            _hand_over(points, links, node, witness, False)
        if not beats(points, witness, node):
            unlink(links, node)
            arrive(points, links, values, nodes, lists, tally, node, False)
    elif witness == ABSENT:
        arrive(points, links, values, nodes, lists, tally, node, True)
    elif n_changed > 0:
        _move_member(points, links, values, nodes, lists, tally, node, n_changed, worse)

"""The skyline's members in one sorted list per attribute.

`values[axis]` are the members' values on an attribute, ascending, and `nodes[axis]` whose they are; `tally[SIZE]`
is the number of members, and behind the last value all are NaN. After the lists, `nodes[m]` has every member's sketch,
by node.
"""

import numpy as np

from skyarchive.kernels.compiling import inlined, inner
from skyarchive.kernels.dominance import beats
from skyarchive.kernels.timeline.links import MEMBER, NOBODY, WITNESS
from skyarchive.kernels.timeline.sketches import may_beat, redrawn, sketch

SIZE, TOUCHED, HINT, SNAPSHOT, CROWDED, BITS = 0, 1, 2, 3, 4, 5
"""Places in `tally`: members; nodes touched in this snapshot; the witness found last; the snapshot; objects in the
crowd; bits of the number of members (it may have had more)."""
TALLY = 6
_APART = 72
"""More places per list than a power of two, so that the lists do not all want the same places in the cache."""


def new_lists(n_nodes: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """`values` and `nodes`, for up to so many members."""
    room = (1 << n_nodes.bit_length()) + _APART
    return np.full((width, room), np.nan), np.empty((width + 1, n_nodes), np.int32)


@inlined
def first_at_least(values, axis, bits, value):  # type: ignore[no-untyped-def]
    """How many members are below a value on one attribute.

    Bit by bit, from `tally[BITS]` on down, as what is behind the last member is NaN and below nothing. No branch:
    which way it goes is anybody's guess, also the processor's. (A product with the comparison would become one.)
    """
    low = np.uintp(0)
    for bit in range(bits - 1, -1, -1):
        step = np.uintp(bit)
        low += np.uintp(values[axis, low + (np.uintp(1) << step) - np.uintp(1)] < value) << step
    return np.intp(low)


@inlined
def first_above(values, axis, bits, value):  # type: ignore[no-untyped-def]
    """How many members are at or below a value on one attribute."""
    low = np.uintp(0)
    for bit in range(bits - 1, -1, -1):
        step = np.uintp(bit)
        low += np.uintp(values[axis, low + (np.uintp(1) << step) - np.uintp(1)] <= value) << step
    return np.intp(low)


@inlined
def _rank_of(values, nodes, axis, bits, value, node):  # type: ignore[no-untyped-def]
    """Where a member stands in the list of an attribute in which it is known by `value`."""
    rank = first_at_least(values, axis, bits, value)
    while nodes[axis, rank] != node:
        rank += 1
    return rank


@inlined
def _make_way(part):  # type: ignore[no-untyped-def]
    """Moves everything one place up, over the last. An unsigned index, as numba takes a signed one for one that may
    count from the end, and then does not vectorise."""
    at = np.uintp(len(part) - 1)
    while at > np.uintp(0):
        part[at] = part[at - np.uintp(1)]
        at -= np.uintp(1)


@inlined
def _close_up(part):  # type: ignore[no-untyped-def]
    """Moves everything one place down, over the first."""
    for at in range(len(part) - 1):
        part[at] = part[at + 1]


@inlined
def sketch_of(points, nodes, node):  # type: ignore[no-untyped-def]
    """A member's."""
    return np.int64(np.uint32(nodes[points.shape[1], node]))


@inlined
def note_sketch(points, nodes, node):  # type: ignore[no-untyped-def]
    """Of a new member."""
    nodes[points.shape[1], node] = np.int32(sketch(points, node))


@inlined
def renew_sketch(points, nodes, node, axis):  # type: ignore[no-untyped-def]
    """Of a member that moved on one attribute."""
    nodes[points.shape[1], node] = np.int32(redrawn(points, node, axis, sketch_of(points, nodes, node)))


@inner
def enlist(points, values, nodes, tally, node):  # type: ignore[no-untyped-def]
    """Puts a node into the lists."""
    size = tally[SIZE]
    note_sketch(points, nodes, node)
    for axis in range(points.shape[1]):
        value = points[node, axis]
        rank = first_above(values, axis, tally[BITS], value)
        _make_way(values[axis, rank : size + 1])
        _make_way(nodes[axis, rank : size + 1])
        values[axis, rank] = value
        nodes[axis, rank] = node
    tally[SIZE] = size + 1
    if tally[SIZE] >> tally[BITS]:
        tally[BITS] += 1


@inner
def strike(points, values, nodes, tally, node, position):  # type: ignore[no-untyped-def]
    """Takes a node off the lists that stands in them as row `position` of `points` says."""
    size = tally[SIZE]
    for axis in range(points.shape[1]):
        rank = _rank_of(values, nodes, axis, tally[BITS], points[position, axis], node)
        _close_up(values[axis, rank:size])
        values[axis, size - 1] = np.nan
        _close_up(nodes[axis, rank:size])
    tally[SIZE] = size - 1


@inlined
def relocate(values, nodes, size, axis, node, rank, value):  # type: ignore[no-untyped-def]
    """The value of a member that stands at `rank` or behind others of its value changes: only those between old and
    new rank make way."""
    while nodes[axis, rank] != node:
        rank += 1
    if value > values[axis, rank]:
        while rank < size - 1 and values[axis, rank + 1] < value:
            values[axis, rank] = values[axis, rank + 1]
            nodes[axis, rank] = nodes[axis, rank + 1]
            rank += 1
    else:
        while rank > 0 and values[axis, rank - 1] > value:
            values[axis, rank] = values[axis, rank - 1]
            nodes[axis, rank] = nodes[axis, rank - 1]
            rank -= 1
    values[axis, rank] = value
    nodes[axis, rank] = node


@inner
def search_witness(points, links, values, nodes, tally, node):  # type: ignore[no-untyped-def]
    """A member that beats the node, or NOBODY.

    Only members that are not worse on any attribute can beat it, so those are tried that come before it in
    the list where it ranks best. What beat the last one often beats the next.
    """
    hint = tally[HINT]
    if hint != NOBODY and links[hint, WITNESS] == MEMBER and beats(points, hint, node):
        return hint
    fewest = tally[SIZE]
    best = 0
    for axis in range(points.shape[1]):
        rank = first_above(values, axis, tally[BITS], points[node, axis])
        if rank < fewest:
            fewest = rank
            best = axis
    own = sketch(points, node)
    for at in range(fewest - 1, -1, -1):
        rival = int(nodes[best, at])
        if may_beat(sketch_of(points, nodes, rival), own) and beats(points, rival, node):
            tally[HINT] = rival
            return rival
    return NOBODY

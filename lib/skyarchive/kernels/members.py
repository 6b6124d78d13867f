"""The skyline's members in one sorted list per attribute, and who is whose witness.

A node is an object, or the one node that stands for all objects of the crowd (see `engine`).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from skyarchive.kernels.dominance import beats

ABSENT, MEMBER, LEAVING = -2, -1, -3
"""What `witness` says of a node that is not beaten; LEAVING only in the middle of a change."""
NOBODY = -1
SIZE, TOUCHED, HINT = 0, 1, 2
"""Places in `tally`: members, nodes whose standing changed in this snapshot, the witness found last."""


class Standing(NamedTuple):
    """Where everybody is and who beats whom."""

    points: np.ndarray
    """float64[nodes, m]"""
    witness: np.ndarray
    """A node that beats this one, or MEMBER, ABSENT, LEAVING."""
    head: np.ndarray
    """The first of those a node is the witness of, or NOBODY; `after` and `before` chain them."""
    after: np.ndarray
    before: np.ndarray
    values: np.ndarray
    """float64[m, nodes]: the members' values, ascending."""
    nodes: np.ndarray
    """int32[m, nodes]: whose values those are."""
    touched: np.ndarray
    is_touched: np.ndarray
    tally: np.ndarray


def new_standing(n_nodes: int, width: int) -> Standing:
    def nobody() -> np.ndarray:
        return np.full(n_nodes, NOBODY, np.int32)

    return Standing(
        points=np.empty((n_nodes, width)),
        witness=np.full(n_nodes, ABSENT, np.int32),
        head=nobody(),
        after=nobody(),
        before=nobody(),
        values=np.empty((width, n_nodes)),
        nodes=np.empty((width, n_nodes), np.int32),
        touched=nobody(),
        is_touched=np.zeros(n_nodes, np.bool_),
        tally=np.array([0, 0, NOBODY], np.int64),
    )


@njit(cache=True, forceinline=True)
def link(s, node, witness):  # type: ignore[no-untyped-def]
    """From now on `witness` answers for `node` being beaten."""
    first = s.head[witness]
    s.witness[node] = witness
    s.after[node] = first
    s.before[node] = NOBODY
    if first != NOBODY:
        s.before[first] = node
    s.head[witness] = node


@njit(cache=True, forceinline=True)
def unlink(s, node):  # type: ignore[no-untyped-def]
    """Takes a beaten node off its witness's list; the caller says at once what becomes of it."""
    previous, following = s.before[node], s.after[node]
    if previous != NOBODY:
        s.after[previous] = following
    else:
        s.head[s.witness[node]] = following
    if following != NOBODY:
        s.before[following] = previous


@njit(cache=True, forceinline=True)
def touch(s, node):  # type: ignore[no-untyped-def]
    """The node's standing is to be looked at when the snapshot is complete."""
    if not s.is_touched[node]:
        s.is_touched[node] = True
        s.touched[s.tally[TOUCHED]] = node
        s.tally[TOUCHED] += 1


@njit(cache=True, forceinline=True)
def first_at_least(s, axis, value):  # type: ignore[no-untyped-def]
    """How many members are below a value on one attribute."""
    low = 0
    length = s.tally[SIZE]
    while length > 0:
        half = length >> 1
        if s.values[axis, low + half] < value:
            low += half + 1
            length -= half + 1
        else:
            length = half
    return low


@njit(cache=True, forceinline=True)
def first_above(s, axis, value):  # type: ignore[no-untyped-def]
    """How many members are at or below a value on one attribute."""
    low = 0
    length = s.tally[SIZE]
    while length > 0:
        half = length >> 1
        if s.values[axis, low + half] <= value:
            low += half + 1
            length -= half + 1
        else:
            length = half
    return low


@njit(cache=True, forceinline=True)
def _rank_of(s, node, axis, value):  # type: ignore[no-untyped-def]
    """Where a member stands in the list of an attribute in which it is known by `value`."""
    rank = first_at_least(s, axis, value)
    while s.nodes[axis, rank] != node:
        rank += 1
    return rank


@njit(cache=True)
def enlist(s, node):  # type: ignore[no-untyped-def]
    """The node becomes a member."""
    size = s.tally[SIZE]
    for axis in range(s.points.shape[1]):
        value = s.points[node, axis]
        rank = first_above(s, axis, value)
        for at in range(size, rank, -1):
            s.values[axis, at] = s.values[axis, at - 1]
            s.nodes[axis, at] = s.nodes[axis, at - 1]
        s.values[axis, rank] = value
        s.nodes[axis, rank] = node
    s.tally[SIZE] = size + 1
    s.witness[node] = MEMBER
    touch(s, node)


@njit(cache=True)
def strike(s, node, position):  # type: ignore[no-untyped-def]
    """The node, enlisted at `position`, is no member any more; the caller says what it is instead."""
    last = s.tally[SIZE] - 1
    for axis in range(s.points.shape[1]):
        rank = _rank_of(s, node, axis, position[axis])
        for at in range(rank, last):
            s.values[axis, at] = s.values[axis, at + 1]
            s.nodes[axis, at] = s.nodes[axis, at + 1]
    s.tally[SIZE] = last
    touch(s, node)


@njit(cache=True)
def relocate(s, node, axis, old):  # type: ignore[no-untyped-def]
    """A member's value on one attribute changed from `old`: only those between old and new rank make way."""
    value = s.points[node, axis]
    rank = _rank_of(s, node, axis, old)
    if value > old:
        last = s.tally[SIZE] - 1
        while rank < last and s.values[axis, rank + 1] < value:
            s.values[axis, rank] = s.values[axis, rank + 1]
            s.nodes[axis, rank] = s.nodes[axis, rank + 1]
            rank += 1
    else:
        while rank > 0 and s.values[axis, rank - 1] > value:
            s.values[axis, rank] = s.values[axis, rank - 1]
            s.nodes[axis, rank] = s.nodes[axis, rank - 1]
            rank -= 1
    s.values[axis, rank] = value
    s.nodes[axis, rank] = node


@njit(cache=True)
def search_witness(s, node):  # type: ignore[no-untyped-def]
    """A member that beats the node, or NOBODY.

    Only members that are not worse on any attribute can beat it, so those are tried that come before it in
    the list where it ranks best. What beat the last one often beats the next.
    """
    hint = s.tally[HINT]
    if hint != NOBODY and s.witness[hint] == MEMBER and beats(s.points, hint, node):
        return hint
    fewest = s.tally[SIZE] + 1
    best = 0
    for axis in range(s.points.shape[1]):
        rank = first_above(s, axis, s.points[node, axis])
        if rank < fewest:
            fewest = rank
            best = axis
    for at in range(fewest - 1, -1, -1):
        rival = s.nodes[best, at]
        if beats(s.points, rival, node):
            s.tally[HINT] = rival
            return rival
    return NOBODY

"""Records in a tree of boxes in memory, as the paper's I methods keep them in an R-tree.

Each node knows the best and the worst corner of its records and the youngest of them (who expires last). Nodes have
two children; a leaf has a few records, is split in two halves along the attribute on which it spreads most when it is
full, and two leaves become one when they have shrunk to half of one. A record goes where boxes grow least.
"""

import numpy as np

from skyarchive.kernels.compiling import inlined, inner
from skyarchive.kernels.dominance import beats

NOBODY = -1
LEAF = 16
"""Records of a leaf, at most."""
COLUMNS = 5
LEFT, RIGHT, PARENT, COUNT, NEWEST = range(COLUMNS)
"""Columns of `nodes`. A leaf's COUNT is the number of its records, an inner node's NOBODY."""
PLACES = 4
FREE, LAST, SIZE, TESTS = range(PLACES)
"""Places in a tally: the free nodes' first (linked by PARENT), nodes ever used, records, dominance tests (those with
corners count, too)."""
ROOT = 0


@inner
def begin(nodes, tally):  # type: ignore[no-untyped-def]
    """An empty tree: one leaf."""
    tally[FREE], tally[LAST], tally[SIZE] = NOBODY, 1, 0
    nodes[ROOT, PARENT], nodes[ROOT, COUNT], nodes[ROOT, NEWEST] = NOBODY, 0, NOBODY


@inlined
def _new_node(nodes, tally):  # type: ignore[no-untyped-def]
    node = tally[FREE]
    if node != NOBODY:
        tally[FREE] = nodes[node, PARENT]
    else:
        node = tally[LAST]
        tally[LAST] += 1
    return node


@inlined
def _include(best, worst, nodes, node, points, record):  # type: ignore[no-untyped-def]
    for axis in range(points.shape[1]):
        best[node, axis] = min(best[node, axis], points[record, axis])
        worst[node, axis] = max(worst[node, axis], points[record, axis])
    nodes[node, NEWEST] = max(nodes[node, NEWEST], record)


@inner
def _fit_leaf(best, worst, nodes, records, node, points):  # type: ignore[no-untyped-def]
    """Its box as small as can be."""
    nodes[node, NEWEST] = NOBODY
    best[node, :] = np.inf
    worst[node, :] = -np.inf
    for at in range(nodes[node, COUNT]):
        _include(best, worst, nodes, node, points, records[node, at])


@inner
def _fit_above(best, worst, nodes, node):  # type: ignore[no-untyped-def]
    """The boxes of all above a node, from their children's."""
    above = nodes[node, PARENT]
    while above != NOBODY:
        left, right = nodes[above, LEFT], nodes[above, RIGHT]
        for axis in range(best.shape[1]):
            best[above, axis] = min(best[left, axis], best[right, axis])
            worst[above, axis] = max(worst[left, axis], worst[right, axis])
        nodes[above, NEWEST] = max(nodes[left, NEWEST], nodes[right, NEWEST])
        above = nodes[above, PARENT]


@inlined
def _growth(best, worst, node, points, record):  # type: ignore[no-untyped-def]
    """By how much a box would grow, all sides together."""
    sum_ = 0.0
    for axis in range(points.shape[1]):
        sum_ += max(best[node, axis] - points[record, axis], 0.0) + max(points[record, axis] - worst[node, axis], 0.0)
    return sum_


@inner
def _split(best, worst, nodes, records, leaf_of, tally, node, points):  # type: ignore[no-untyped-def]
    """A full leaf becomes an inner node over two halves."""
    widest = 0
    for axis in range(points.shape[1]):
        if worst[node, axis] - best[node, axis] > worst[node, widest] - best[node, widest]:
            widest = axis
    for at in range(1, LEAF):  # insertion sort: they are few
        record, place = records[node, at], at
        while place > 0 and points[records[node, place - 1], widest] > points[record, widest]:
            records[node, place] = records[node, place - 1]
            place -= 1
        records[node, place] = record
    for side in range(2):
        child = _new_node(nodes, tally)
        nodes[node, LEFT + side] = child
        nodes[child, PARENT], nodes[child, COUNT] = node, LEAF // 2
        for at in range(LEAF // 2):
            records[child, at] = records[node, side * (LEAF // 2) + at]
            leaf_of[records[child, at]] = child
        _fit_leaf(best, worst, nodes, records, child, points)
    nodes[node, COUNT] = NOBODY


@inner
def put(best, worst, nodes, records, leaf_of, tally, points, record):  # type: ignore[no-untyped-def]
    node = np.int64(ROOT)
    if tally[SIZE] == 0:
        best[ROOT, :] = np.inf
        worst[ROOT, :] = -np.inf
    while nodes[node, COUNT] == NOBODY:
        _include(best, worst, nodes, node, points, record)
        left, right = nodes[node, LEFT], nodes[node, RIGHT]
        to_left = _growth(best, worst, left, points, record)
        node = left if to_left <= _growth(best, worst, right, points, record) else right
    _include(best, worst, nodes, node, points, record)
    records[node, nodes[node, COUNT]] = record
    leaf_of[record] = node
    nodes[node, COUNT] += 1
    tally[SIZE] += 1
    if nodes[node, COUNT] == LEAF:
        _split(best, worst, nodes, records, leaf_of, tally, node, points)


@inlined
def _free(nodes, tally, node):  # type: ignore[no-untyped-def]
    nodes[node, PARENT] = tally[FREE]
    tally[FREE] = node


@inner
def _move_up(best, worst, nodes, records, leaf_of, tally, node):  # type: ignore[no-untyped-def]
    """What is left of a node, one of whose children is empty: the other child's content."""
    left, right = nodes[node, LEFT], nodes[node, RIGHT]
    child = right if nodes[left, COUNT] == 0 else left
    nodes[node, LEFT], nodes[node, RIGHT] = nodes[child, LEFT], nodes[child, RIGHT]
    nodes[node, COUNT], nodes[node, NEWEST] = nodes[child, COUNT], nodes[child, NEWEST]
    for axis in range(best.shape[1]):
        best[node, axis], worst[node, axis] = best[child, axis], worst[child, axis]
    if nodes[node, COUNT] == NOBODY:
        nodes[nodes[node, LEFT], PARENT] = nodes[nodes[node, RIGHT], PARENT] = node
    for at in range(nodes[node, COUNT]):
        records[node, at] = records[child, at]
        leaf_of[records[node, at]] = node
    _free(nodes, tally, left)
    _free(nodes, tally, right)


@inner
def _unite(nodes, records, leaf_of, tally, node):  # type: ignore[no-untyped-def]
    """A node over two leaves becomes a leaf."""
    size = 0
    for side in range(2):
        child = nodes[node, LEFT + side]
        for at in range(nodes[child, COUNT]):
            records[node, size] = records[child, at]
            leaf_of[records[node, size]] = node
            size += 1
    _free(nodes, tally, nodes[node, LEFT])
    _free(nodes, tally, nodes[node, RIGHT])
    nodes[node, COUNT] = size


@inner
def take_out(best, worst, nodes, records, leaf_of, tally, points, record):  # type: ignore[no-untyped-def]
    node = np.int64(leaf_of[record])
    leaf_of[record] = NOBODY
    tally[SIZE] -= 1
    at = 0
    while records[node, at] != record:
        at += 1
    nodes[node, COUNT] -= 1
    records[node, at] = records[node, nodes[node, COUNT]]
    above = nodes[node, PARENT]
    if above != NOBODY and nodes[node, COUNT] == 0:
        _move_up(best, worst, nodes, records, leaf_of, tally, above)
        _fit_above(best, worst, nodes, above)
        return
    _fit_leaf(best, worst, nodes, records, node, points)
    _fit_above(best, worst, nodes, node)
    if above != NOBODY:
        left, right = nodes[nodes[above, LEFT], COUNT], nodes[nodes[above, RIGHT], COUNT]
        if left != NOBODY and right != NOBODY and left + right <= LEAF // 2:
            _unite(nodes, records, leaf_of, tally, above)


@inlined
def _may_beat(corners, node, points, record):  # type: ignore[no-untyped-def]
    """Whether a best corner is at least as good as the record: somebody in the box may beat it."""
    for axis in range(points.shape[1]):  # noqa: SIM110 - numba is slow on generators
        if corners[node, axis] > points[record, axis]:
            return False
    return True


@inlined
def _may_be_beaten(corners, node, points, record):  # type: ignore[no-untyped-def]
    for axis in range(points.shape[1]):  # noqa: SIM110
        if corners[node, axis] < points[record, axis]:
            return False
    return True


@inner
def youngest_that_beats(best, nodes, records, tally, points, record, stack):  # type: ignore[no-untyped-def]
    """The max search: the youngest record that beats this one, younger boxes first; or NOBODY."""
    least = np.int64(NOBODY)
    depth = 1
    stack[0] = ROOT
    while depth:
        depth -= 1
        node = stack[depth]
        if nodes[node, NEWEST] <= least:
            continue
        tally[TESTS] += 1
        if not _may_beat(best, node, points, record):
            continue
        if nodes[node, COUNT] == NOBODY:
            left, right = nodes[node, LEFT], nodes[node, RIGHT]
            is_left_older = nodes[left, NEWEST] < nodes[right, NEWEST]
            stack[depth], stack[depth + 1] = (left, right) if is_left_older else (right, left)
            depth += 2
            continue
        for at in range(nodes[node, COUNT]):
            other = np.int64(records[node, at])
            if other > least:
                tally[TESTS] += 1
                if beats(points, other, record):
                    least = other
    return least


@inner
def is_beaten(best, nodes, records, tally, points, record, stack):  # type: ignore[no-untyped-def]
    """The test for emptiness: ends with the first that beats the record."""
    depth = 1
    stack[0] = ROOT
    while depth:
        depth -= 1
        node = stack[depth]
        tally[TESTS] += 1
        if not _may_beat(best, node, points, record):
            continue
        if nodes[node, COUNT] == NOBODY:
            stack[depth], stack[depth + 1] = nodes[node, LEFT], nodes[node, RIGHT]
            depth += 2
            continue
        for at in range(nodes[node, COUNT]):
            tally[TESTS] += 1
            if beats(points, records[node, at], record):
                return True
    return False


@inner
def collect_beaten(worst, nodes, records, tally, points, record, stack, found):  # type: ignore[no-untyped-def]
    """The range search: everybody whom the record beats, into `found`; gives how many."""
    depth, size = 1, 0
    stack[0] = ROOT
    while depth:
        depth -= 1
        node = stack[depth]
        tally[TESTS] += 1
        if nodes[node, NEWEST] == NOBODY or not _may_be_beaten(worst, node, points, record):
            continue
        if nodes[node, COUNT] == NOBODY:
            stack[depth], stack[depth + 1] = nodes[node, LEFT], nodes[node, RIGHT]
            depth += 2
            continue
        for at in range(nodes[node, COUNT]):
            tally[TESTS] += 1
            found[size] = records[node, at]
            size += beats(points, record, records[node, at])
    return size

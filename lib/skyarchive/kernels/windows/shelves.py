"""Where the paper's methods keep records: a plain list or a tree, as the caller wants. A shelf is the tables of one."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.compiling import inlined, inner
from skyarchive.kernels.windows import lists, tree
from skyarchive.kernels.windows.lists import NOBODY as NOBODY
from skyarchive.kernels.windows.lists import SIZE
from skyarchive.kernels.windows.lists import TESTS as TESTS

Index = Literal["list", "tree"]
INDEXES: tuple[Index, ...] = get_args(Index)
Shelf = tuple[
    NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64],
    NDArray[np.int32], NDArray[np.int64],
]  # fmt: skip
"""Best corners, worst corners, nodes, the records of each leaf (a list has one), a stack for searches, where each
record stands, and a tally."""


def new_shelf(points: NDArray[np.float64], index: Index) -> Shelf:
    """With room for all of these."""
    length, axes = points.shape
    n_nodes = 2 * length + 2 if index == "tree" else 1
    best, worst = np.empty((n_nodes, axes)), np.empty((n_nodes, axes))
    records = np.empty((n_nodes, tree.LEAF if index == "tree" else length), np.int32)
    nodes, stack = np.empty((n_nodes, tree.COLUMNS), np.int64), np.empty(n_nodes + 1, np.int64)
    return best, worst, nodes, records, stack, np.empty(length, np.int32), np.zeros(tree.PLACES, np.int64)


@inner
def begin(shelf, is_tree):  # type: ignore[no-untyped-def]
    _, _, nodes, _, _, _, tally = shelf
    if is_tree:
        tree.begin(nodes, tally)


@inlined
def size_of(shelf):  # type: ignore[no-untyped-def]
    return shelf[-1][SIZE]


@inner
def put(shelf, is_tree, points, record):  # type: ignore[no-untyped-def]
    best, worst, nodes, records, _, home, tally = shelf
    if is_tree:
        tree.put(best, worst, nodes, records, home, tally, points, record)
    else:
        lists.put(records[0], home, tally, record)


@inner
def take_out(shelf, is_tree, points, record):  # type: ignore[no-untyped-def]
    best, worst, nodes, records, _, home, tally = shelf
    if is_tree:
        tree.take_out(best, worst, nodes, records, home, tally, points, record)
    else:
        lists.take_out(records[0], home, tally, record)


@inner
def is_beaten(shelf, is_tree, points, record):  # type: ignore[no-untyped-def]
    """The paper's test for emptiness: whether anybody beats the record."""
    best, _, nodes, records, stack, _, tally = shelf
    if is_tree:
        return tree.is_beaten(best, nodes, records, tally, points, record, stack)
    return lists.is_beaten(points, records[0], tally, record)


@inner
def collect_beaten(shelf, is_tree, points, record, found):  # type: ignore[no-untyped-def]
    """The paper's range search: everybody whom the record beats, into `found`; gives how many."""
    _, worst, nodes, records, stack, _, tally = shelf
    if is_tree:
        return tree.collect_beaten(worst, nodes, records, tally, points, record, stack, found)
    return lists.collect_beaten(points, records[0], tally, record, found)


@inner
def meet(shelf, is_tree, points, record, found):  # type: ignore[no-untyped-def]
    """The range search, and the max search for the youngest who beats the record. Gives how many, and whom."""
    best, worst, nodes, records, stack, _, tally = shelf
    if is_tree:
        size = tree.collect_beaten(worst, nodes, records, tally, points, record, stack, found)
        youngest = tree.youngest_that_beats(best, nodes, records, tally, points, record, stack)
        return size, youngest
    return lists.meet(points, records[0], tally, record, found)

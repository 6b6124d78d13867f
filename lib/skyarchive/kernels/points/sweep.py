"""Unbeaten points on up to three attributes by a sweep: in the order of the first, a tree over the second remembers the
least third so far. It takes the time of sorting however many are unbeaten, where comparing members with each other
takes the square of their number.
"""

import math
from collections.abc import Sequence

import numpy as np

from skyarchive.kernels.compiling import entry_point, inlined

MOST_COLUMNS = 3


@entry_point
def _sweep(order, group, first, second, third, tree, member):  # type: ignore[no-untyped-def]
    """Fills `member`. The columns are ranks from 0; `order` sorts by group, then by them. `tree` (Fenwick's, over the
    second ranks from 1) is full of a number above every third rank, and is so again when a group is through."""
    above = tree[0]
    begin = 0
    for at in range(len(order)):
        row = order[at]
        if at > 0:
            before = order[at - 1]
            if group[row] != group[before]:
                _forget(order[begin:at], second, member, tree, above)
                begin = at
            elif first[row] == first[before] and second[row] == second[before] and third[row] == third[before]:
                member[row] = member[before]
                continue
        least = above
        node = second[row] + 1
        while node > 0:
            least = min(least, tree[node])
            node &= node - 1
        # Whoever came before is not worse on the first, and not equal.
        member[row] = least > third[row]
        if member[row]:
            node = second[row] + 1
            while node < len(tree):
                tree[node] = min(tree[node], third[row])
                node += node & -node


@inlined
def _forget(rows, second, member, tree, above):  # type: ignore[no-untyped-def]
    for at in range(len(rows)):
        if member[rows[at]]:
            node = second[rows[at]] + 1
            while node < len(tree):
                tree[node] = above
                node += node & -node


def swept(columns: Sequence[np.ndarray], group: np.ndarray | None) -> np.ndarray:
    """Which rows no other (of its group) beats: bool, one per row. No value is NaN."""
    n = len(columns[0])
    ranks = [_ranks(values) for values in columns]
    ranks += [np.zeros(n, np.int32)] * (MOST_COLUMNS - len(ranks))
    groups = np.zeros(n, np.int32) if group is None else _ranks(group)
    order = _order([groups, *ranks])
    tree = np.full(int(ranks[1].max(initial=0)) + 2, n, np.int32)
    member = np.empty(n, np.bool_)
    _sweep(order, groups, *ranks, tree, member)
    return member


def _order(keys: Sequence[np.ndarray]) -> np.ndarray:
    """Rows by the first key, then the second and so on; keys are ranks from 0. To sort one number per row takes a fifth
    of the time of sorting key after key, so they become one where 64 bits hold it."""
    counts = [int(key.max(initial=0)) + 1 for key in keys]
    if math.prod(counts) > np.iinfo(np.int64).max:
        return np.lexsort(tuple(reversed(keys)))
    one = np.zeros(len(keys[0]), np.int64)
    for key, count in zip(keys, counts, strict=True):
        one *= count
        one += key
    return np.argsort(one)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Each value's place among the different ones."""
    return np.unique(values, return_inverse=True)[1].astype(np.int32)

"""Rows of a log as they come from a shuffle, brought into order: one pass, whatever order they are in."""

import numpy as np

from skyarchive.kernels.compiling import entry_point


@entry_point
def _counting_sort(snapshot, start, order):  # type: ignore[no-untyped-def]
    """`start` holds a zero per snapshot and one more; stable."""
    for row in range(len(snapshot)):
        start[snapshot[row] + 1] += 1
    for at in range(len(start) - 1):
        start[at + 1] += start[at]
    for row in range(len(snapshot)):
        at = start[snapshot[row]]
        order[at] = row
        start[snapshot[row]] = at + 1


def in_snapshot_order(snapshot: np.ndarray, n_snapshots: int) -> np.ndarray:
    """The row numbers in the order of their snapshots."""
    if len(snapshot) and not 0 <= snapshot.min() <= snapshot.max() < n_snapshots:
        raise ValueError(f"snapshot must be in 0..{n_snapshots - 1}")
    order = np.empty(len(snapshot), np.int64)
    _counting_sort(snapshot, np.zeros(n_snapshots + 1, np.int64), order)
    return order

"""Whether an update log is one, in one compiled pass over its snapshots and objects."""

import numpy as np
from numba import njit

FINE, UNSORTED, OUTSIDE, NEGATIVE_OBJECT, TWICE = 0, 1, 2, 3, 4


@njit(cache=True)
def _first_disorder(snapshot, item, n_snapshots):  # type: ignore[no-untyped-def]
    """The first row that is out of order or out of range and what is wrong with it; else the highest object."""
    highest = -1
    bad = False
    previous = np.int32(0)
    for row in range(len(snapshot)):  # without a way out, so that it is vectorised: a good log is the rule
        bad |= snapshot[row] < previous
        bad |= snapshot[row] >= n_snapshots
        bad |= item[row] < 0
        previous = snapshot[row]
        highest = max(highest, item[row])
    if not bad:
        return FINE, highest
    for row in range(len(snapshot)):
        if snapshot[row] < 0 or snapshot[row] >= n_snapshots:
            return OUTSIDE, row
        if row > 0 and snapshot[row] < snapshot[row - 1]:
            return UNSORTED, row
        if item[row] < 0:
            return NEGATIVE_OBJECT, row
    return FINE, highest


@njit(cache=True)
def _first_repeat(snapshot, item, n_objects):  # type: ignore[no-untyped-def]
    """The first row of an object that has one in the same snapshot already, or -1."""
    last = np.full(n_objects, -1, np.int32)
    repeated = False
    for row in range(len(snapshot)):
        repeated |= last[item[row]] == snapshot[row]
        last[item[row]] = snapshot[row]
    if repeated:
        last[:] = -1
        for row in range(len(snapshot)):
            if last[item[row]] == snapshot[row]:
                return row
            last[item[row]] = snapshot[row]
    return -1


def check_order(snapshot: np.ndarray, item: np.ndarray, n_snapshots: int) -> int:
    """The highest object number; ValueError if rows are out of order or numbers out of range."""
    verdict, where = _first_disorder(snapshot, item, n_snapshots)
    if verdict == UNSORTED:
        raise ValueError(
            f"snapshot must be sorted: row {where} has {snapshot[where]} after {snapshot[where - 1]} in row {where - 1}"
        )
    if verdict == OUTSIDE:
        raise ValueError(f"snapshot must be in 0..{n_snapshots - 1}: row {where} has {snapshot[where]}")
    if verdict == NEGATIVE_OBJECT:
        raise ValueError(f"object must be numbered from 0: row {where} has {item[where]}")
    return int(where)


def check_once(snapshot: np.ndarray, item: np.ndarray, n_objects: int) -> None:
    """ValueError if an object has two rows in one snapshot."""
    row = _first_repeat(snapshot, item, n_objects)
    if row >= 0:
        raise ValueError(
            f"an object may have one row per snapshot: row {row} is object {item[row]}'s second in {snapshot[row]}"
        )

"""Whether an update log is one, in one compiled pass over its snapshots and objects."""

import numpy as np

from skyarchive.kernels.compiling import entry_point


@entry_point
def _summary(snapshot, item, n_snapshots):  # type: ignore[no-untyped-def]
    """The highest object, whether something is out of order or range, and whether objects may repeat in a snapshot
    (they do not where they ascend). No way out of the loop, so that it is vectorised: a good log is the rule."""
    highest = item[0]
    lowest = item[0]
    bad = (snapshot[0] < 0) | (snapshot[-1] >= n_snapshots)
    may_repeat = False
    for row in range(1, len(snapshot)):
        highest = max(highest, item[row])
        lowest = min(lowest, item[row])
        bad |= snapshot[row] < snapshot[row - 1]
        may_repeat |= (snapshot[row] == snapshot[row - 1]) & (item[row] <= item[row - 1])
    return highest, bad | (lowest < 0), may_repeat


@entry_point
def _first_repeat(snapshot, item, last):  # type: ignore[no-untyped-def]
    """The first row of an object that has one in the same snapshot already, or -1; `last` holds a -1 per object."""
    for row in range(len(snapshot)):
        if last[item[row]] == snapshot[row]:
            return row
        last[item[row]] = snapshot[row]
    return -1


def check_log(snapshot: np.ndarray, item: np.ndarray, n_snapshots: int) -> tuple[int, bool]:
    """The highest object number, and whether objects may repeat within a snapshot; ValueError if rows are out of
    order or numbers out of range."""
    if len(snapshot) == 0:
        return -1, False
    highest, is_bad, may_repeat = _summary(snapshot, item, n_snapshots)
    if is_bad:
        _complain(snapshot, item, n_snapshots)
    return int(highest), bool(may_repeat)


def _complain(snapshot: np.ndarray, item: np.ndarray, n_snapshots: int) -> None:
    """Raises for the first wrong row."""
    outside = (snapshot < 0) | (snapshot >= n_snapshots)
    unsorted = np.diff(snapshot, prepend=snapshot[0]) < 0
    row = int(np.argmax(outside | unsorted | (item < 0)))
    if outside[row]:
        raise ValueError(f"snapshot must be in 0..{n_snapshots - 1}: row {row} has {snapshot[row]}")
    if unsorted[row]:
        raise ValueError(f"snapshot must be sorted: row {row} has {snapshot[row]} after {snapshot[row - 1]}")
    raise ValueError(f"object must be numbered from 0: row {row} has {item[row]}")


def check_no_repeats(snapshot: np.ndarray, item: np.ndarray, n_objects: int) -> None:
    """ValueError if an object has two rows in one snapshot."""
    row = _first_repeat(snapshot, item, np.full(n_objects, -1, np.int32))
    if row >= 0:
        raise ValueError(
            f"an object may have one row per snapshot: row {row} is its object's second in snapshot {snapshot[row]}"
        )

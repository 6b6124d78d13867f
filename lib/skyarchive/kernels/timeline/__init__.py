"""Every snapshot's skyline, from the log of updates: for each object the intervals in which nobody beat it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from skyarchive.kernels.columns import Columns
from skyarchive.kernels.timeline import mbr, naive, witness
from skyarchive.kernels.timeline.intervals import Intervals
from skyarchive.kernels.timeline.log_check import check_log, check_no_repeats
from skyarchive.kernels.timeline.mbr import Counters

Method = Literal["naive", "mbr", "witness"]
MOST_ATTRIBUTES = 16
SPARSE = 4
"""Objects are renumbered when the highest number is this many times the number of rows: tables are per object."""


def skyline_intervals(
    snapshot: np.ndarray,
    object: np.ndarray,
    attributes: Sequence[np.ndarray],
    n_snapshots: int,
    method: Method = "witness",
) -> Intervals:
    """Who is in the skyline from when to when: (object, first, last), int32 each, last inclusive, sorted by
    object, then first; an object's intervals neither overlap nor touch.

    The log: row i says where `object[i]` (numbered from 0) stands from `snapshot[i]` on, until its next row:
    attributes[0][i], attributes[1][i], ... One NaN among them: it is gone. Smaller is better; an infinity is a
    value like any other, and -0.0 is 0.0. Rows are sorted by snapshot, at most one per object and snapshot.
    snapshot and object are int32, attributes 1 to 16 float64 columns of their length, which are read as they
    are and never changed. Methods differ in speed, not in the answer; see the modules of their names.

    To compute a part of a longer log apart, number its snapshots from 0 and open it with a keyframe: at
    snapshot 0 one row per living object with its position there (the part's own updates of snapshot 0 applied).
    Intervals that end at a part's last snapshot and start at the next part's first, of one object, are one.
    """
    log = _checked(snapshot, object, attributes, n_snapshots)
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, not {method!r}")
    if log.is_empty:
        return _nothing()
    arguments = (log.snapshot, log.item, log.columns, n_snapshots, log.n_objects)
    if method == "naive":
        return log.named(naive.intervals(*arguments)[0])
    if method == "mbr":
        return log.named(mbr.intervals(*arguments, mbr.CFP)[0])
    return log.named(witness.intervals(*arguments))


def mbr_intervals(
    snapshot: np.ndarray,
    object: np.ndarray,
    attributes: Sequence[np.ndarray],
    n_snapshots: int,
    cfp: int = mbr.CFP,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Counters]:
    """Like `skyline_intervals` by the paper's method, with its tolerance `cfp` (consecutive false positives before
    an MBR is built anew) and with its counters."""
    log = _checked(snapshot, object, attributes, n_snapshots)
    if cfp < 1:
        raise ValueError(f"cfp must be at least 1, not {cfp}")
    if log.is_empty:
        return *_nothing(), Counters(0, 0, 0, 0, 0)
    found, counters = mbr.intervals(log.snapshot, log.item, log.columns, n_snapshots, log.n_objects, cfp)
    return *log.named(found), counters


def naive_tests(snapshot: np.ndarray, object: np.ndarray, attributes: Sequence[np.ndarray], n_snapshots: int) -> int:
    """How many pairs the naive method compares: what the paper's counters are measured against."""
    log = _checked(snapshot, object, attributes, n_snapshots)
    return 0 if log.is_empty else naive.intervals(log.snapshot, log.item, log.columns, n_snapshots, log.n_objects)[1]


@dataclass(frozen=True)
class _Log:
    """A log that is fit for the kernels."""

    snapshot: np.ndarray
    item: np.ndarray
    columns: Columns
    n_objects: int
    names: np.ndarray | None
    """The callers' numbers of the objects, if they were renumbered."""

    @property
    def is_empty(self) -> bool:
        return len(self.snapshot) == 0

    def named(self, found: Intervals) -> Intervals:
        return found if self.names is None else (self.names[found[0]], found[1], found[2])


def _nothing() -> Intervals:
    return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32)


def _checked(snapshot: np.ndarray, item: np.ndarray, attributes: Sequence[np.ndarray], n_snapshots: int) -> _Log:
    if not 1 <= len(attributes) <= MOST_ATTRIBUTES:
        raise ValueError(f"attributes must be 1 to {MOST_ATTRIBUTES} columns, not {len(attributes)}")
    if n_snapshots < 0 or n_snapshots > np.iinfo(np.int32).max:
        raise ValueError(f"n_snapshots must be a count that fits int32, not {n_snapshots}")
    when = _column("snapshot", snapshot, np.int32, None)
    who = _column("object", item, np.int32, len(when))
    columns = Columns(
        [_column(f"attributes[{axis}]", column, np.float64, len(when)) for axis, column in enumerate(attributes)]
    )
    highest, may_repeat = check_log(when, who, n_snapshots)
    n_objects = highest + 1
    names = None
    if n_objects > SPARSE * max(len(who), 1):
        names, number = np.unique(who, return_inverse=True)
        who = _read_only(number.astype(np.int32))
        n_objects = len(names)
    if may_repeat:
        check_no_repeats(when, who, n_objects)
    return _Log(when, who, columns, n_objects, names)


def _column(name: str, values: np.ndarray, dtype: type, length: int | None) -> np.ndarray:
    """The column as the compiled code wants it: of its type exactly, in one piece, read-only (as Arrow's are)."""
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype != dtype:
        what = f"{values.dtype}[{values.ndim}d]" if isinstance(values, np.ndarray) else type(values).__name__
        raise ValueError(f"{name} must be a one-dimensional {np.dtype(dtype)} array, not {what}")
    if length is not None and len(values) != length:
        raise ValueError(f"{name} must have one value per row: {len(values)} for {length} rows of snapshot")
    return _read_only(np.ascontiguousarray(values).view())


def _read_only(values: np.ndarray) -> np.ndarray:
    """Arrow's arrays are: with all of one kind, nothing is compiled twice."""
    values.flags.writeable = False
    return values

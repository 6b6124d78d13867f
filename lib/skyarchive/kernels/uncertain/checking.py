"""What the public functions ask of their arguments, in sentences, and how the kernels get them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.columns import Columns

MOST_ATTRIBUTES = 16
MOST_THRESHOLDS = 100
SLACK = 1e-9
"""A probability counts as having reached a threshold that it misses by this share: products are rounded."""


@dataclass(frozen=True)
class Stream:
    """Records fit for the kernels: one group after the other, each in order of arrival."""

    moments: NDArray[np.int64]
    columns: Columns
    probability: NDArray[np.float64]
    width: int
    borders: NDArray[np.int64]
    """Where the groups begin, and the end of the last one."""
    numbers: NDArray[np.int64]
    """Each record's place in the given arrays."""

    def __len__(self) -> int:
        return len(self.moments)


@dataclass(frozen=True)
class Thresholds:
    """Thresholds from the lowest up, each lowered by the slack."""

    lowered: NDArray[np.float64]
    names: NDArray[np.int64]
    """Each one's place in the given sequence."""


def checked_stream(
    moments: NDArray[np.int64],
    groups: NDArray[np.int32] | None,
    columns: Sequence[NDArray[np.float64]],
    probability: NDArray[np.float64],
    width: int,
) -> Stream:
    """The arguments, found fit; sorted by group where there are any."""
    when = _column("moments", moments, np.int64, None)
    if (when[1:] < when[:-1]).any():
        row = int(np.argmax(when[1:] < when[:-1])) + 1
        raise ValueError(f"moments must not decrease, but moments[{row}] is {when[row]} after {when[row - 1]}")
    check_width(width)
    if len(when) and int(when[-1]) > np.iinfo(np.int64).max - width:
        raise ValueError(f"the last moment plus the width must fit int64: {when[-1]} + {width} does not")
    if not 1 <= len(columns) <= MOST_ATTRIBUTES:
        raise ValueError(f"columns must be 1 to {MOST_ATTRIBUTES} columns, not {len(columns)}")
    values = [_column(f"columns[{axis}]", column, np.float64, len(when)) for axis, column in enumerate(columns)]
    for axis, column in enumerate(values):
        _refuse(f"columns[{axis}]", column, ~np.isfinite(column), "must be finite")
    chance = _column("probability", probability, np.float64, len(when))
    _refuse("probability", chance, ~((chance > 0) & (chance <= 1)), "must be above 0 and at most 1")
    if groups is None:
        return Stream(when, Columns(values), chance, width, np.array([0, len(when)]), np.arange(len(when)))
    group = _column("groups", groups, np.int32, len(when))
    order = np.argsort(group, kind="stable")
    changes = np.flatnonzero(np.diff(group[order])) + 1
    borders = np.concatenate([[0], changes, [len(when)]])
    parted = Columns([read_only(column[order]) for column in values])
    return Stream(read_only(when[order]), parted, read_only(chance[order]), width, borders, order)


def checked_objects(
    moments: NDArray[np.int64],
    starts: NDArray[np.int64],
    groups: NDArray[np.int32] | None,
    columns: Sequence[NDArray[np.float64]],
    probability: NDArray[np.float64],
    width: int,
) -> tuple[Stream, Stream, NDArray[np.int64]]:
    """Objects, their instances in the same order, and where each object's begin; sorted by group if there are any."""
    when = _column("moments", moments, np.int64, None)
    begins = _column("starts", starts, np.int64, None)
    if len(begins) != len(when) + 1 or begins[0] != 0 or begins[-1] != len(probability):
        raise ValueError(
            f"starts must go from 0 to the number of instances, {len(probability)}, with one more than the {len(when)} "
            "moments"
        )
    counts = np.diff(begins)
    if (counts < 1).any():
        raise ValueError(f"every object must have an instance, but object {int(np.argmax(counts < 1))} has none")
    points = checked_stream(np.repeat(when, counts), None, columns, probability, width)
    mass = np.add.reduceat(points.probability, begins[:-1]) if len(when) else np.empty(0)
    if (mass > 1 + SLACK).any():
        which = int(np.argmax(mass > 1 + SLACK))
        raise ValueError(f"an object's probabilities must sum to at most 1, but object {which}'s sum to {mass[which]}")
    objects = checked_stream(when, groups, [np.zeros(len(when))], np.ones(len(when)), width)
    if groups is None:
        return objects, points, begins
    counts = counts[objects.numbers]
    arranged = read_only(np.concatenate([[0], np.cumsum(counts)]))
    rows = np.repeat(begins[objects.numbers] - arranged[:-1], counts) + np.arange(len(probability))
    parted = Columns([read_only(column[rows]) for column in points.columns.arrays])
    instances = Stream(points.moments[rows], parted, read_only(points.probability[rows]), width, points.borders, rows)
    return objects, instances, arranged


def checked_thresholds(thresholds: Sequence[float]) -> Thresholds:
    """The thresholds, found fit."""
    given = [checked_threshold(f"thresholds[{at}]", threshold) for at, threshold in enumerate(thresholds)]
    if not 1 <= len(given) <= MOST_THRESHOLDS:
        raise ValueError(f"thresholds must be 1 to {MOST_THRESHOLDS} probabilities, not {len(given)}")
    for at, threshold in enumerate(given):
        if threshold in given[:at]:
            raise ValueError(f"thresholds must differ, but thresholds[{at}] is {threshold} again")
    names = np.argsort(given)
    return Thresholds(read_only(np.array(given)[names] * (1 - SLACK)), names)


def checked_threshold(name: str, threshold: float) -> float:
    if not 0 < threshold <= 1:
        raise ValueError(f"{name} must be above 0 and at most 1, not {threshold}")
    return float(threshold)


def check_width(width: int) -> None:
    if width < 1:
        raise ValueError(f"width must be at least 1, not {width}")


def _column(name: str, values: NDArray[Any], dtype: type, length: int | None) -> NDArray[Any]:
    """The column as the compiled code wants it: of its type exactly, in one piece, read-only (as Arrow's are)."""
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype != dtype:
        what = f"{values.dtype}[{values.ndim}d]" if isinstance(values, np.ndarray) else type(values).__name__
        raise ValueError(f"{name} must be a one-dimensional {np.dtype(dtype)} array, not {what}")
    if length is not None and len(values) != length:
        raise ValueError(f"{name} must have one value per record: {len(values)} for {length} moments")
    return read_only(np.ascontiguousarray(values).view())


def _refuse(name: str, values: NDArray[Any], bad: NDArray[np.bool_], rule: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{name} {rule}, but {name}[{row}] is {values[row]}")


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    """Arrow's arrays are: with all of one kind, nothing is compiled twice."""
    values.flags.writeable = False
    return values

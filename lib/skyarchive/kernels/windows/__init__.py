"""Stand-in: sliding-window skylines by comparing everything with everything."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Stays:
    """When records were members; each has one stay at most."""

    record: Ints
    entered: Ints
    left: Ints
    freed_by: Ints
    beaten_by: Ints


def dominators(
    moments: Ints, groups: NDArray[np.int32] | None, columns: Sequence[NDArray[np.float64]], width: int
) -> tuple[Ints, Ints]:
    count = len(moments)
    freed, beaten = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    values = np.column_stack(columns) if count else np.zeros((0, len(columns)))
    group = np.zeros(count, np.int64) if groups is None else groups
    begin = np.searchsorted(moments, moments - width, "right")
    end = np.searchsorted(moments, moments + width, "left")
    for at in range(count):
        older, younger = slice(begin[at], at), slice(at + 1, end[at])
        for side, target in ((older, freed), (younger, beaten)):
            near = values[side]
            beats = (near <= values[at]).all(axis=1) & (near < values[at]).any(axis=1) & (group[side] == group[at])
            places = np.flatnonzero(beats)
            if len(places):
                target[at] = (side.start or 0) + (places[-1] if target is freed else places[0])
    return freed, beaten


def window_stays(
    moments: Ints,
    groups: NDArray[np.int32] | None,
    columns: Sequence[NDArray[np.float64]],
    width: int,
    *,
    method: str = "replay",
    begin: int = 0,
) -> Stays:
    freed, beaten = dominators(moments, groups, columns, width)
    entered = np.where(freed < 0, moments, moments[freed] + width)
    left = np.where(beaten < 0, moments + width, np.minimum(moments[beaten], moments + width))
    record = np.flatnonzero(entered < left)
    return Stays(record, entered[record], left[record], freed[record], beaten[record])

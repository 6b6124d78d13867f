"""What the public functions are given: checked, and in the form that kernels read."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.columns import Columns, column
from skyarchive.kernels.compiling import entry_point

MOST_ATTRIBUTES = 16
_LARGEST = np.finfo(np.float64).max
_FARTHEST = 2**61
"""Moments and widths stay this side of it, so that their sums are numbers too."""


@dataclass(frozen=True)
class Records:
    """Checked records in the order in which they came."""

    moments: NDArray[np.int64]
    groups: NDArray[np.int32] | None
    columns: Columns
    width: int

    def __len__(self) -> int:
        return len(self.moments)


@entry_point
def _is_descending(moments):  # type: ignore[no-untyped-def]
    falls = 0
    for at in range(1, len(moments)):
        falls |= moments[at] < moments[at - 1]
    return falls != 0


@entry_point
def _has_missing(addresses, axis, length):  # type: ignore[no-untyped-def]
    """Whether a value is NaN or infinite."""
    values = column(addresses, axis)
    missing = 0
    for at in range(length):
        missing |= not abs(values[at]) <= _LARGEST
    return missing != 0


def checked(
    moments: NDArray[np.int64],
    groups: NDArray[np.int32] | None,
    columns: Sequence[NDArray[np.float64]],
    width: int,
) -> Records:
    """The records, if kernels can work on them."""
    if not 1 <= len(columns) <= MOST_ATTRIBUTES:
        raise ValueError(f"there must be 1 to {MOST_ATTRIBUTES} columns, not {len(columns)}")
    if isinstance(width, bool) or not isinstance(width, int | np.integer) or not 1 <= width <= _FARTHEST:
        raise ValueError(f"width must be a whole number of at least 1, not {width!r}")
    moments = _of_type(moments, "moments", np.int64)
    groups = None if groups is None else _of_type(groups, "groups", np.int32)
    arrays = [_of_type(values, f"columns[{axis}]", np.float64) for axis, values in enumerate(columns)]
    for name, array in [("groups", groups), *((f"columns[{axis}]", array) for axis, array in enumerate(arrays))]:
        if array is not None and len(array) != len(moments):
            raise ValueError(f"{name} has {len(array)} rows where moments has {len(moments)}")
    _check_moments(moments)
    records = Records(moments, groups, Columns(arrays), int(width))
    for axis in range(len(arrays)):
        if _has_missing(records.columns.addresses, axis, len(moments)):
            raise ValueError(f"columns[{axis}] has a NaN or an infinity: such a record takes no part, leave it out")
    return records


def _of_type(array: NDArray[np.generic], name: str, wanted: type[np.generic]) -> NDArray:  # type: ignore[type-arg]
    """The array in one piece; a view of another's every other value is copied."""
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != wanted:
        raise ValueError(f"{name} must be an array of {np.dtype(wanted)} of one dimension")
    return np.ascontiguousarray(array)


def _check_moments(moments: NDArray[np.int64]) -> None:
    if not len(moments):
        return
    if _is_descending(moments):
        raise ValueError("moments must not descend: records come in the order of time")
    if moments[0] < -_FARTHEST // 2 or moments[-1] > _FARTHEST // 2:
        raise ValueError(f"moments must be within ±{_FARTHEST // 2}")

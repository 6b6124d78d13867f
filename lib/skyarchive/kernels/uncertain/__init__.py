"""Probabilistic skylines over sliding windows: which records are unbeaten with at least a given probability, when."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.uncertain import look_back, scan, tree
from skyarchive.kernels.uncertain.checking import checked_stream, checked_thresholds
from skyarchive.kernels.uncertain.stays import Counters, Likely, likely

Method = Literal["look_back", "scan", "tree"]


def likely_stays(
    moments: NDArray[np.int64],
    groups: NDArray[np.int32] | None,
    columns: Sequence[NDArray[np.float64]],
    probability: NDArray[np.float64],
    width: int,
    thresholds: Sequence[float],
    *,
    method: Method = "look_back",
) -> Likely:
    return counted_stays(moments, groups, columns, probability, width, thresholds, method=method)[0]


def counted_stays(
    moments: NDArray[np.int64],
    groups: NDArray[np.int32] | None,
    columns: Sequence[NDArray[np.float64]],
    probability: NDArray[np.float64],
    width: int,
    thresholds: Sequence[float],
    *,
    method: Method = "look_back",
) -> tuple[Likely, Counters]:
    """`likely_stays`, and what the method counted."""
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, not {method!r}")
    stream = checked_stream(moments, groups, columns, probability, width)
    asked = checked_thresholds(thresholds)
    told, counters = {"scan": scan, "tree": tree, "look_back": look_back}[method].stays(stream, asked)
    return likely(told, stream.order, asked.names), counters

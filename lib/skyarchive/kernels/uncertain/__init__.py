"""Probabilistic skylines over sliding windows: which records are unbeaten with at least a given probability, when.

A record exists with a probability P and lives for a while. It is in the skyline if it exists and nobody alive who beats
it does: P times the product of (1 - P) over those that beat it, older and younger. Equal points do not beat each other.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.uncertain import instances, look_back, scan, tree
from skyarchive.kernels.uncertain.checking import (
    Stream,
    Thresholds,
    checked_objects,
    checked_stream,
    checked_thresholds,
)
from skyarchive.kernels.uncertain.present import Present, top_k
from skyarchive.kernels.uncertain.stays import Counters, Likely, likely

__all__ = ["Counters", "Likely", "Method", "Present", "counted_stays", "instance_stays", "likely_stays", "top_k"]

Method = Literal["look_back", "scan", "tree", "ssky", "msky"]
_Stays = Callable[[Stream, Thresholds], tuple[NDArray[Any], Counters]]


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
    """When each record's skyline probability is at least each threshold.

    Record i lives for moments[i] <= t < moments[i] + width; moments (int64) do not decrease. For a window of the last N
    records they are the records' numbers, and width is N. Only records of one group (int32; None: of all) are compared.
    columns are 1 to 16 of float64 and finite; smaller is better, and -0.0 is 0.0. Probabilities are above 0 and at most
    1; one that misses a threshold by a billionth of it has reached it. The answer is net per moment: all that expire or
    arrive at it count at once, expiry first.

    Methods differ in speed, not in the answer: `look_back` is the fastest; `scan` the trivial one; `ssky` and `msky`
    are the paper's on a tree of aggregates, one threshold after the other or all in one pass, and `tree` is whichever
    of the two is meant for so many thresholds. For a slice of a longer stream, hand over the records from one width
    before it on.
    """
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
    told, counters = _METHODS[method](stream, asked)
    return likely(told, asked.names), counters


def instance_stays(
    moments: NDArray[np.int64],
    starts: NDArray[np.int64],
    groups: NDArray[np.int32] | None,
    columns: Sequence[NDArray[np.float64]],
    probability: NDArray[np.float64],
    width: int,
    thresholds: Sequence[float],
) -> tuple[Likely, Counters]:
    """The same for objects of several instances that exclude each other: object i, of moments[i] and groups[i], has the
    instances from starts[i] to starts[i + 1], whose probabilities sum to at most 1. It is in the skyline if one of its
    instances exists that no other object's existing instance beats."""
    objects, points, begins = checked_objects(moments, starts, groups, columns, probability, width)
    asked = checked_thresholds(thresholds)
    told, counters = instances.stays(objects, begins, points, asked)
    return likely(told, asked.names), counters


def _one_by_one(stream: Stream, thresholds: Thresholds) -> tuple[NDArray[Any], Counters]:
    """A pass for each threshold. Tests and pairs are those of all passes."""
    passes = []
    for level, lowered in enumerate(thresholds.lowered):
        told, counters = tree.stays(stream, Thresholds(np.array([lowered]), np.zeros(1, np.int64)))
        told["threshold"] = level
        passes.append((told, counters))
    counted = [counters for _, counters in passes]
    total = Counters(
        sum(counters.tests for counters in counted),
        sum(counters.pairs for counters in counted),
        max(counters.largest for counters in counted),
    )
    return np.concatenate([told for told, _ in passes]), total


_METHODS: dict[Method, _Stays] = {
    "look_back": look_back.stays,
    "scan": scan.stays,
    "tree": tree.stays,  # with one threshold the two are the same
    "ssky": _one_by_one,
    "msky": tree.stays,
}

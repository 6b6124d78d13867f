"""What the kernels for probabilistic windows answer: stays, and what it took to find them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.compiling import entry_point
from skyarchive.kernels.uncertain.sorting import in_order

STAY = np.dtype(
    [
        ("threshold", np.int64),
        ("record", np.int64),
        ("entered", np.int64),
        ("left", np.int64),
        ("probability", np.float64),
        ("greatest", np.float64),
    ]
)
"""A stay as kernels write it down."""
TESTS, PAIRS, LARGEST, TOLD = 0, 1, 2, 3
"""Places in a tally: pairs of records tested, those found of which one beats the other, the most records kept at once,
stays written down."""
TALLY = 4


@dataclass(frozen=True)
class Likely:
    """Intervals during which a record's skyline probability is at least a threshold; a record can have several per
    threshold. Sorted by threshold, entered, record."""

    record: NDArray[np.int64]
    """Index into the given arrays."""
    threshold: NDArray[np.int32]
    """Index into the given thresholds."""
    entered: NDArray[np.int64]
    left: NDArray[np.int64]
    """The first moment at which it is not a member any more: own moment + width if it expires."""
    probability: NDArray[np.float64]
    """When it entered."""
    greatest: NDArray[np.float64]
    """During the stay."""

    def __len__(self) -> int:
        return len(self.record)


@dataclass(frozen=True)
class Counters:
    """What a method did, in its own measure."""

    tests: int
    """Pairs of records compared; where blocks of them are compared at once, each counts with all its lanes."""
    pairs: int
    """Pairs found of which one beats the other."""
    largest: int
    """The most records kept at once; with groups, of one group."""


def counters_of(tally: NDArray[np.int64]) -> Counters:
    return Counters(int(tally[TESTS]), int(tally[PAIRS]), int(tally[LARGEST]))


def likely(told: NDArray[Any], names: NDArray[np.int64]) -> Likely:
    """Stays as kernels wrote them down; `names[j]` is the callers' number of the j-th lowest threshold."""
    threshold = names[told["threshold"]]
    order = in_order(threshold, told["entered"], told["record"])
    whole, fractions = np.empty((3, len(told)), np.int64), np.empty((2, len(told)))
    _spread(told, order, whole, fractions)
    return Likely(whole[0], threshold[order].astype(np.int32), *whole[1:], *fractions)


@entry_point
def _spread(told, order, whole, fractions):  # type: ignore[no-untyped-def]
    """The rows in this order, by columns. Each row is fetched from memory once."""
    for place in range(len(order)):
        stay = told[np.uintp(order[place])]
        whole[0, place] = stay.record
        whole[1, place] = stay.entered
        whole[2, place] = stay.left
        fractions[0, place] = stay.probability
        fractions[1, place] = stay.greatest


def renumbered(told: NDArray[Any], numbers: NDArray[np.int64]) -> NDArray[Any]:
    """The same stays, of the records `numbers[record]`."""
    told["record"] = numbers[told["record"]]
    return told

"""What the kernels for probabilistic windows answer: stays, and what it took to find them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    place = _in_order(threshold, told["entered"], told["record"])
    rows = told[place]  # whole ones: each is fetched from memory once
    values = {name: np.ascontiguousarray(rows[name]) for name in STAY.names or () if name != "threshold"}
    return Likely(threshold=threshold[place].astype(np.int32), **values)


def _in_order(*keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order by these keys, the first counts most. No two rows have all of them alike."""
    whole, bits = np.zeros(len(keys[0]), np.int64), 0
    for key in keys:
        lowest, highest = (int(key.min()), int(key.max())) if len(key) else (0, 0)
        width = (highest - lowest).bit_length()
        bits += width
        if bits >= _BITS:
            return np.lexsort(keys[::-1])
        whole = (whole << width) + (key - lowest)
    return np.argsort(whole)


_BITS = 63
"""Keys that fit one number are sorted several times as fast."""


def renumbered(told: NDArray[Any], numbers: NDArray[np.int64]) -> NDArray[Any]:
    """The same stays, of the records `numbers[record]`."""
    told["record"] = numbers[told["record"]]
    return told

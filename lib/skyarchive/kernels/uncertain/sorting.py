"""Sorting by several whole numbers, digit by digit: several times as fast as comparing rows."""

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.compiling import entry_point

_BITS = 11
"""Of a digit: so many counts stay in the nearest cache."""


@entry_point
def _sort_by_digit(key, lowest, shift, order, sorted_order, counts):  # type: ignore[no-untyped-def]
    """Takes `order`, sorted by lower digits, into `sorted_order`, sorted by this one too."""
    digits = len(counts)
    counts[:] = 0
    for row in range(len(key)):
        counts[((key[row] - lowest) >> shift) & (digits - 1)] += 1
    total = 0
    for digit in range(digits):
        total += counts[digit]
        counts[digit] = total - counts[digit]
    for place in range(len(order)):
        row = order[place]
        digit = ((key[row] - lowest) >> shift) & (digits - 1)
        sorted_order[counts[digit]] = row
        counts[digit] += 1


def in_order(*keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of rows by these keys, of which the first counts most."""
    order = np.arange(len(keys[0]))
    if not len(order):
        return order
    other, counts = np.empty_like(order), np.empty(1 << _BITS, np.int64)
    for key in map(np.ascontiguousarray, reversed(keys)):
        lowest = int(key.min())
        for shift in range(0, (int(key.max()) - lowest).bit_length(), _BITS):
            _sort_by_digit(key, lowest, shift, order, other, counts)
            order, other = other, order
    return order

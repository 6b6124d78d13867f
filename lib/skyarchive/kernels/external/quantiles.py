"""Approximate quantiles of a stream of numbers in little memory.

Greenwald, Khanna: Space-Efficient Online Computation of Quantile Summaries (SIGMOD 2001). Some of the values are kept,
each with how many values it stands for (`gain`) and how uncertain its rank is (`slack`), such that gain + slack never
exceeds 2 · error · n: every rank is then known to within error · n. Values come in sorted batches, and any neighbours
that may be merged are.
"""

import numpy as np

from skyarchive.errors import SettingError
from skyarchive.kernels.compiling import entry_point


@entry_point
def _merge_in(values, gains, slacks, fresh, merged, merged_gains, merged_slacks):  # type: ignore[no-untyped-def]
    """The summary and sorted fresh values as one. A fresh value between others is as uncertain as what follows it."""
    old = 0
    new = 0
    for at in range(len(merged)):
        if new == len(fresh) or (old < len(values) and values[old] <= fresh[new]):
            merged[at], merged_gains[at], merged_slacks[at] = values[old], gains[old], slacks[old]
            old += 1
        else:
            at_an_end = old == 0 or old == len(values)
            merged[at], merged_gains[at] = fresh[new], 1
            merged_slacks[at] = 0 if at_an_end else gains[old] + slacks[old] - 1
            new += 1


@entry_point
def _compress(values, gains, slacks, limit):  # type: ignore[no-untyped-def]
    """Merges each value into the next larger one kept while the two together stay within the limit; the least and the
    largest stay. What is kept moves to the end; gives where it starts."""
    kept = len(values) - 1
    for at in range(len(values) - 2, -1, -1):
        if at > 0 and gains[at] + gains[kept] + slacks[kept] <= limit:
            gains[kept] += gains[at]
        else:
            kept -= 1
            values[kept], gains[kept], slacks[kept] = values[at], gains[at], slacks[at]
    return kept


class QuantileSummary:
    """Ranks of what was added, to within error · count."""

    def __init__(self, error: float) -> None:
        if not 0 < error < 1:
            raise SettingError(f"error must be between 0 and 1, not {error}")
        self.error = error
        self.count = 0
        self._values = np.empty(0)
        self._gains = np.empty(0, np.int64)
        self._slacks = np.empty(0, np.int64)

    def __len__(self) -> int:
        """Values kept."""
        return len(self._values)

    def add(self, values: np.ndarray) -> None:
        """Takes more values, none of them NaN."""
        if not len(values):
            return
        merged = np.empty(len(self) + len(values))
        gains, slacks = np.empty(len(merged), np.int64), np.empty(len(merged), np.int64)
        _merge_in(self._values, self._gains, self._slacks, np.sort(values), merged, gains, slacks)
        self.count += len(values)
        start = _compress(merged, gains, slacks, int(2 * self.error * self.count))
        self._values, self._gains, self._slacks = merged[start:].copy(), gains[start:].copy(), slacks[start:].copy()

    def quantiles(self, shares: np.ndarray) -> np.ndarray:
        """For each share (0 the least, 1 the largest) a value that was added and whose rank is at most error · count
        from ceil(share · count)."""
        if not self.count:
            raise ValueError("nothing was added: there are no quantiles")
        ranks = np.clip(np.ceil(shares * self.count), 1, self.count)
        most = np.cumsum(self._gains) + self._slacks
        # The last value that cannot rank too high; the summary's limit keeps it from ranking too low.
        place = np.searchsorted(np.maximum.accumulate(most), ranks + self.error * self.count, side="right") - 1
        return self._values[np.maximum(place, 0)]

"""FSQW: who was in the skyline of at least θ of the last s snapshots, from all of them or from those sampled."""

from typing import NamedTuple

import numpy as np

from skyarchive.kernels.compiling import entry_point

SNAPSHOT, SAMPLES = 0, 1
"""Places in `tally`."""


class Window(NamedTuple):
    """The last s snapshots: who was in their skylines, and how often."""

    members: np.ndarray
    """bool[s, n]: a ring."""
    sampled: np.ndarray
    """bool[s]"""
    counts: np.ndarray
    """int64[n]"""
    tally: np.ndarray


def new_window(size: int, n: int) -> Window:
    return Window(np.zeros((size, n), np.bool_), np.zeros(size, np.bool_), np.zeros(n, np.int64), np.zeros(2, np.int64))


@entry_point
def advance(window, members, sampled, numerator, denominator, frequent):  # type: ignore[no-untyped-def]
    """Slides the window over snapshots with these skylines; marks in `frequent` whom each answer reports. θ is
    numerator / denominator, so that nothing is rounded. No answer before the window is full, nor without a sample."""
    size = len(window.members)
    n = len(window.counts)
    for at in range(len(members)):
        slot = window.tally[SNAPSHOT] % size
        window.tally[SAMPLES] += np.int64(sampled[at]) - np.int64(window.sampled[slot])
        window.sampled[slot] = sampled[at]
        for item in range(n):
            comes = members[at, item] and sampled[at]
            window.counts[item] += np.int64(comes) - np.int64(window.members[slot, item])
            window.members[slot, item] = comes
        window.tally[SNAPSHOT] += 1
        if window.tally[SNAPSHOT] >= size and window.tally[SAMPLES] > 0:
            needed = numerator * window.tally[SAMPLES]
            for item in range(n):
                frequent[at, item] = window.counts[item] * denominator >= needed


def new_quality() -> np.ndarray:
    """Nothing compared yet."""
    return np.array([0.0, 0.0, 0.0, 1.0, 1.0])


@entry_point
def compare(answer, exact, begin, quality):  # type: ignore[no-untyped-def]
    """Adds to `quality` the recall and the precision of answers from the block's snapshot `begin` on, and their number;
    behind these stand the lowest of both. Where there is nothing to find nothing is missed; where nothing is reported
    nothing is wrong."""
    for at in range(begin, len(answer)):
        both = 0
        reported = 0
        right = 0
        for item in range(answer.shape[1]):
            both += answer[at, item] and exact[at, item]
            reported += answer[at, item]
            right += exact[at, item]
        recall = both / right if right else 1.0
        precision = both / reported if reported else 1.0
        quality[0] += recall
        quality[1] += precision
        quality[2] += 1
        quality[3] = min(quality[3], recall)
        quality[4] = min(quality[4], precision)

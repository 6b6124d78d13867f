"""Naive and Sampling: everybody reports, always or at some snapshots; the server computes skylines from scratch."""

import math
from typing import NamedTuple

import numpy as np

from skyarchive.kernels.compiling import entry_point, inner
from skyarchive.kernels.dominance import is_position
from skyarchive.kernels.monitoring.guard import BIRTHS, DEATHS, REPORTS, TALLY, UPDATES, WELCOMES
from skyarchive.kernels.monitoring.ties import CANDIDATES, ROWS, skyline_of_places


def sampling_rate(theta: float, window: int, epsilon: float, delta: float) -> float:
    """The chance with which a snapshot is sampled, so that who is reported is (θ - ε)-frequent with confidence
    1 - 2δ (theorem 5.1)."""
    doubt = math.log(1 / delta)
    return min(1.0, math.sqrt(doubt / (2 * window)) + 2 * doubt / (epsilon**2 * theta * window))


def schedule(rate: float, n_snapshots: int, seed: int) -> np.ndarray:
    """Which snapshots are sampled: what every client works out for itself from the seed that all share."""
    return np.random.default_rng(seed).random(n_snapshots) <= rate


class Crowd(NamedTuple):
    """Where everybody is."""

    now: np.ndarray
    """float64[n, d]; NaN: not alive."""
    lists: np.ndarray
    """int32[3, n]: the living, of which the skyline is left; and what `skyline_of_places` needs."""
    tally: np.ndarray


def new_crowd(n: int, width: int) -> Crowd:
    return Crowd(np.full((n, width), np.nan), np.empty((ROWS, n), np.int32), np.zeros(TALLY, np.int64))


@inner
def _move(crowd, item, rows, row):  # type: ignore[no-untyped-def]
    """Where the record is now; gives what kind of update that was, as a place in `tally`, or -1 for none."""
    was = is_position(crowd.now, item)
    comes = is_position(rows, row)
    changed = False
    for axis in range(rows.shape[1]):
        changed |= crowd.now[item, axis] != rows[row, axis]
        crowd.now[item, axis] = rows[row, axis]
    if not was:
        return BIRTHS if comes else -1
    if not comes:
        return DEATHS
    return UPDATES if changed else -1


@inner
def _skyline(crowd, members):  # type: ignore[no-untyped-def]
    """Marks the skyline of the living; gives how many live."""
    count = 0
    for item in range(len(crowd.now)):
        if is_position(crowd.now, item):
            crowd.lists[CANDIDATES, count] = item
            count += 1
    for at in range(skyline_of_places(crowd.now, crowd.lists, count)):
        members[crowd.lists[CANDIDATES, at]] = True
    return count


@entry_point
def report_always(crowd, start, item, rows, members):  # type: ignore[no-untyped-def]
    """Naive: everybody alive reports at every snapshot. Beside that it counts what changes, for those who would send
    nothing else. `members` gets each snapshot's skyline."""
    lived = 0
    for at in range(len(start) - 1):
        changed = at == 0
        for row in range(start[at], start[at + 1]):
            kind = _move(crowd, item[row], rows, row)
            if kind >= 0:
                crowd.tally[kind] += 1
                changed = True
        if changed:
            lived = _skyline(crowd, members[at])
        else:  # nor does the answer
            for one in range(members.shape[1]):
                members[at, one] = members[at - 1, one]
        crowd.tally[REPORTS] += lived


@entry_point
def report_samples(crowd, sampled, start, item, rows, members, first):  # type: ignore[no-untyped-def]
    """Sampling: everybody reports at the sampled snapshots (the first of the block is snapshot `first`). Who is there
    at the beginning is sent the seed; who comes later asks for it."""
    for at in range(len(start) - 1):
        for row in range(start[at], start[at + 1]):
            if _move(crowd, item[row], rows, row) == BIRTHS:
                crowd.tally[WELCOMES] += 1
                crowd.tally[BIRTHS] += first + at > 0
        if sampled[at]:
            crowd.tally[REPORTS] += _skyline(crowd, members[at])

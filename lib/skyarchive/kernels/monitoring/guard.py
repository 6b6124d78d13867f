"""The server's book on the records it watches through filters, and the messages it counts."""

from typing import NamedTuple

import numpy as np

NOBODY, ABSENT = -1, -2
"""In `boss`: in the skyline, so beaten by nobody; not watched through a filter."""

UPDATES, BIRTHS, DEATHS, FAILURES, PROBES, REPORTS, RENEWALS, SWITCHES, WELCOMES, LOGGED, MEMBERS, TALLY = range(12)
"""Places in `tally`. Uplink: changes, births and deaths that are sent, filters left, probes answered, reports at
samples. Downlink: a filter for each one left, two for each probe (the question and a new filter), filters renewed after
a report, switches between modes, and what a client is sent when it is first seen (its filter, or the seed)."""
LOG = 16
"""Sources of probes that are remembered (the paper's M)."""


class Guard(NamedTuple):
    """Everything that stands between two snapshots; a row per record."""

    now: np.ndarray
    """float64[n, d]: where the record is. Only its own client knows that."""
    known: np.ndarray
    """float64[n, d]: where the server last heard it to be."""
    low: np.ndarray
    high: np.ndarray
    """float64[n, d]: the corners of its filter, or twice its position while that is known exactly."""
    rate: np.ndarray
    """float64[n, d]: the farthest it strayed between two reports."""
    boss: np.ndarray
    """int32[n]: a record that certainly beats it, or NOBODY, or ABSENT."""
    is_open: np.ndarray
    """bool[n]: heard of in this snapshot, so its position is known and it will get a new filter."""
    is_fresh: np.ndarray
    """bool[n]: reported in this snapshot without having left its filter, so nobody needs to ask it."""
    spent: np.ndarray
    """int64[n]: messages for its sake: two a failure, three a probe. Hybrid starts anew now and then."""
    is_loose: np.ndarray
    """bool[n]: was looked at in this snapshot, so that its boss is to be chosen anew."""
    contends: np.ndarray
    """bool[n]: may be in the skyline as far as is known."""
    lists: np.ndarray
    """int32[3, n]: contenders; members of the skyline; records to look at."""
    sources: np.ndarray
    """float64[LOG, d]: positions for whose sake others were probed, the latest ones."""
    past_low: np.ndarray
    past_high: np.ndarray
    """int32[n, d]: for open records the sources, as bits, that lie at or beyond the filter's border on an axis."""
    tally: np.ndarray


def new_guard(n: int, spread: np.ndarray) -> Guard:
    """Nobody is watched yet. `spread`: how far apart values of each attribute are."""
    d = len(spread)
    floor = np.where(spread > 0, spread, 1.0) * SLOWEST
    return Guard(
        now=np.full((n, d), np.nan),
        known=np.full((n, d), np.nan),
        low=np.full((n, d), -np.inf),
        high=np.full((n, d), np.inf),
        rate=np.tile(floor, (n, 1)),
        boss=np.full(n, ABSENT, np.int32),
        is_open=np.zeros(n, np.bool_),
        is_fresh=np.zeros(n, np.bool_),
        spent=np.zeros(n, np.int64),
        is_loose=np.zeros(n, np.bool_),
        contends=np.zeros(n, np.bool_),
        lists=np.empty((3, n), np.int32),
        sources=np.full((LOG, d), np.nan),
        past_low=np.zeros((n, d), np.int32),
        past_high=np.zeros((n, d), np.int32),
        tally=np.zeros(TALLY, np.int64),
    )


SLOWEST = 1e-3
"""A record is taken to stray at least so much of the spread before it is known to stray farther."""

"""Filter and Hybrid against a server written down the plain way: the same skylines, the same messages."""

import numpy as np
import pytest

from oracle import monitoring as oracle
from oracle.random_logs import random_log, walking_log
from oracle.skylines import Log, skylines
from skyarchive.kernels.monitoring import filtering
from skyarchive.kernels.monitoring.feed import LogFeed
from skyarchive.kernels.monitoring.guard import ABSENT, NOBODY, Guard, new_guard
from skyarchive.kernels.monitoring.replaying import DOWNLINK, UPLINK

SEEDS = 60


def small_log(seed: int) -> Log:
    """Finite values: an infinite one is no position here, while the oracle of skylines compares it."""
    log = walking_log(seed, 25, 40, 1 + seed % 4) if seed % 3 == 0 else random_log(seed, 1 + seed % 4)
    columns = [np.where(np.isinf(column), 0.0, column) for column in log.attributes]
    return Log(log.snapshot, log.object, columns, log.n_snapshots)


def changes(log: Log, at: int) -> dict[int, oracle.Point]:
    rows = np.flatnonzero(log.snapshot == at)
    points = {int(log.object[row]): tuple(float(column[row]) for column in log.attributes) for row in rows}
    return {item: oracle.NOWHERE if np.isnan(point).any() else point for item, point in points.items()}


def one_by_one(feed: LogFeed):  # type: ignore[no-untyped-def]
    """Each snapshot as a block of its own."""
    for at in range(feed.n_snapshots):
        here = feed.snapshot == at
        yield np.array([0, here.sum()]), feed.item[here], feed.rows[here]


def assert_robust(guard: Guard) -> None:
    """Lemma 4.1 for every member of the skyline, lemma 4.2 for everybody else."""
    watched = np.flatnonzero(guard.boss != ABSENT)
    for item in watched:
        if guard.boss[item] == NOBODY:
            assert not any(oracle.dominates(guard.low[j], guard.high[item]) for j in watched if j != item)
        else:
            assert oracle.dominates(guard.high[guard.boss[item]], guard.low[item])


@pytest.mark.parametrize("seed", range(SEEDS))
def test_filter_keeps_the_exact_skyline_with_the_messages_of_the_plain_server(seed: int) -> None:
    log = small_log(seed)
    if len(log.snapshot) == 0:
        pytest.skip("nothing happens in this archive")
    feed = LogFeed(*log.arguments)
    guard = new_guard(feed.n_objects, feed.spread)
    server = oracle.FilterServer(feed.n_objects, feed.spread.tolist())
    exact = skylines(log)
    for at, block in enumerate(one_by_one(feed)):
        members = np.zeros((1, feed.n_objects), bool)
        filtering.watch(guard, *block, members)
        assert set(np.flatnonzero(members[0])) == exact[at]
        assert server.step(changes(log, at)) == exact[at]
        assert (guard.tally[UPLINK].sum(), guard.tally[DOWNLINK].sum()) == (server.uplink, server.downlink)
        assert_robust(guard)
        still = guard.boss != ABSENT
        inside = (guard.low <= guard.now) & (guard.now <= guard.high)
        assert (inside.all(axis=1) | np.isnan(guard.now).any(axis=1))[still].all()

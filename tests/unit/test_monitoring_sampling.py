"""Sampling, the answers to frequent-skyline queries, and the data they are tried on."""

import math
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.monitoring import skyline as oracle_skyline
from oracle.random_logs import random_log
from oracle.skylines import skylines
from skyarchive.kernels.monitoring import frequency, sampling
from skyarchive.kernels.monitoring.feed import LogFeed, dense_feed
from skyarchive.kernels.monitoring.guard import BIRTHS, DEATHS, REPORTS, UPDATES, WELCOMES
from skyarchive.kernels.monitoring.replaying import Query, Replay, Result, replay
from skyarchive.kernels.monitoring.ties import CANDIDATES, ROWS, skyline_of_places
from skyarchive.kernels.monitoring.workloads import Distribution, Workload, centres


def by_method(found: Replay) -> dict[str, Result]:
    return {result.method: result for result in found.results}


def test_the_rate_is_the_theorems_and_not_the_misprint() -> None:
    """The root is over the first term only."""
    doubt = math.log(10)
    expected = math.sqrt(doubt / 2000) + 2 * doubt / (0.04 * 0.8 * 1000)
    assert sampling.sampling_rate(0.8, 1000, 0.2, 0.1) == pytest.approx(expected) == pytest.approx(0.17784, abs=1e-5)
    assert sampling.sampling_rate(0.8, 10, 0.1, 0.1) == 1.0


def test_all_clients_work_out_one_schedule() -> None:
    assert (sampling.schedule(0.3, 500, 7) == sampling.schedule(0.3, 500, 7)).all()
    assert (sampling.schedule(0.3, 500, 7)[:100] == sampling.schedule(0.3, 100, 7)).all()
    assert sampling.schedule(1.0, 500, 7).all()
    assert sampling.schedule(0.3, 20_000, 7).mean() == pytest.approx(0.3, abs=0.02)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000), st.integers(1, 12), st.sampled_from(["0.1", "0.3", "0.7", "1", "0.333333"]),
    st.floats(0.05, 1),
)  # fmt: skip
def test_answers_are_counts_over_the_sampled_snapshots(seed: int, size: int, theta: str, rate: float) -> None:
    rng = np.random.default_rng(seed)
    members, sampled = rng.random((30, 6)) < rng.random(6), rng.random(30) <= rate
    frequent = np.zeros_like(members)
    window = frequency.new_window(size, 6)
    share = Fraction(theta)
    for part in (slice(0, 11), slice(11, 30)):
        frequency.advance(window, members[part], sampled[part], share.numerator, share.denominator, frequent[part])
    for at in range(30):
        chosen = [t for t in range(at - size + 1, at + 1) if t >= 0 and sampled[t]]
        expected = [
            at >= size - 1 and bool(chosen) and sum(bool(members[t, item]) for t in chosen) >= share * len(chosen)
            for item in range(6)
        ]
        assert frequent[at].tolist() == expected


def test_theta_is_the_decimal_that_was_written() -> None:
    """0.7 of 10 snapshots are 7 of them, though 0.7 * 10 is more in floating point."""
    members = np.array([[True]] * 7 + [[False]] * 3)
    frequent = np.zeros_like(members)
    share = Fraction("0.7")
    window = frequency.new_window(10, 1)
    frequency.advance(window, members, np.ones(10, bool), share.numerator, share.denominator, frequent)
    assert frequent[-1, 0]


def test_recall_and_precision_are_averages_over_answers() -> None:
    answer = np.array([[True, True, False], [False, False, False], [True, False, False]])
    exact = np.array([[True, False, True], [False, False, False], [False, True, True]])
    quality = frequency.new_quality()
    frequency.compare(answer[:2], exact[:2], 0, quality)
    assert quality.tolist() == [0.5 + 1, 0.5 + 1, 2, 0.5, 0.5]
    frequency.compare(answer[2:], exact[2:], 0, quality)
    assert quality.tolist() == [0.5 + 1 + 0, 0.5 + 1 + 0, 3, 0, 0]
    frequency.compare(answer, exact, 3, quality)
    assert quality[2] == 3


@pytest.mark.parametrize("seed", range(12))
def test_naive_and_sampling_send_what_they_must(seed: int) -> None:
    """Naive: everybody alive; changes: births, real changes and deaths. Sampling: everybody alive at each sampled
    snapshot, and the seeds."""
    log = random_log(seed)
    feed = LogFeed(*log.arguments)
    if feed.n_objects == 0:
        pytest.skip("nothing happens in this archive")
    sampled = np.random.default_rng(seed).random(feed.n_snapshots) < 0.4
    naive, some = (sampling.new_crowd(feed.n_objects, feed.rows.shape[1]) for _ in range(2))
    first, where = 0, np.full((feed.n_objects, feed.rows.shape[1]), np.nan)
    expected = dict.fromkeys(("births", "deaths", "updates", "late", "lived", "reports"), 0)
    for block in feed.blocks():
        members = np.zeros((len(block.start) - 1, feed.n_objects), bool)
        sampling.report_always(naive, *block, members)
        if np.isfinite(np.concatenate(log.attributes)[~np.isnan(np.concatenate(log.attributes))]).all():
            assert [set(np.flatnonzero(row)) for row in members] == skylines(log)[first : first + len(members)]
        part = sampled[first : first + len(members)]
        members[:] = False
        sampling.report_samples(some, part, *block, members, first)
        assert not members[~part].any()
        first += len(members)
    for at in range(feed.n_snapshots):
        for row in np.flatnonzero(feed.snapshot == at):
            old, new = where[feed.item[row]].copy(), feed.rows[row]
            where[feed.item[row]] = new
            was, comes = not np.isnan(old).any(), not np.isnan(new).any()
            expected["births"] += not was and comes
            expected["late"] += not was and comes and at > 0
            expected["deaths"] += was and not comes
            expected["updates"] += was and comes and bool((old != new).any())
        living = int((~np.isnan(where).any(axis=1)).sum())
        expected["lived"] += living
        expected["reports"] += living * bool(sampled[at])
    assert naive.tally[REPORTS] == expected["lived"]
    assert naive.tally[[BIRTHS, DEATHS, UPDATES]].tolist() == [expected[k] for k in ("births", "deaths", "updates")]
    assert some.tally[[WELCOMES, BIRTHS, REPORTS]].tolist() == [expected[k] for k in ("births", "late", "reports")]


def test_sampling_keeps_its_promise() -> None:
    """Theorem 5.1: who is reported is in more than (θ - ε) s skylines, with confidence 1 - 2δ, in every answer."""
    rng = np.random.default_rng(0)
    size, theta, epsilon, delta, rounds = 400, Fraction("0.8"), 0.3, 0.1, 60
    rate = sampling.sampling_rate(float(theta), size, epsilon, delta)
    assert rate < 0.5
    wrong = 0
    for seed in range(rounds):
        members = rng.random((size, 200)) < rng.uniform(0.3, 1, 200)
        frequent = np.zeros_like(members)
        sampled = sampling.schedule(rate, size, seed)
        window = frequency.new_window(size, 200)
        frequency.advance(window, members, sampled, theta.numerator, theta.denominator, frequent)
        reported = members[:, frequent[-1]].sum(axis=0)
        wrong += bool((reported <= (float(theta) - epsilon) * size).any())
    assert wrong <= 2 * delta * rounds


def test_a_replay_compares_all_methods() -> None:
    workload = Workload(objects=150, snapshots=300, dimensions=2, uncertainty=0.04)
    found = replay(workload, Query(Fraction("0.8"), 100, 0.4, 0.2, seed=3))
    results = by_method(found)
    assert list(results) == ["naive", "changes", "filter", "sampling", "hybrid"]
    assert (results["changes"].uplink, results["changes"].downlink) == (150 * 300, 0)  # everybody moves all the time
    assert (results["naive"].uplink, results["naive"].downlink) == (150 * 300, 0) == (found.lived, 0)
    assert results["sampling"].uplink == 150 * found.sampled and results["sampling"].downlink == 150
    filtered = results["filter"]
    assert filtered.uplink == 150 + filtered.failures + filtered.probes
    assert filtered.downlink == 150 + filtered.failures + 2 * filtered.probes  # theorem 4.1, and the first filters
    assert max(results[name].total for name in ("filter", "sampling", "hybrid")) < results["naive"].total / 2
    assert filtered.recall == filtered.precision == 1
    hybrid, sampled = results["hybrid"], results["sampling"]
    assert (hybrid.recall, hybrid.precision) == (sampled.recall, sampled.precision)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    positions = rng.random((60, 30, 3)).round(1)
    positions[rng.random((60, 30)) < 0.1] = np.nan
    query = Query(Fraction("0.5"), 20, 0.9, 0.5, seed=1)
    whole = replay(dense_feed(positions), query)
    monkeypatch.setattr("skyarchive.kernels.monitoring.feed.BLOCK_ROWS", 100)
    parts = replay(dense_feed(positions), query)
    for one, other in zip(whole.results, parts.results, strict=True):
        assert replace(one, cpu_seconds=0.0) == replace(other, cpu_seconds=0.0)


def some_log() -> tuple[np.ndarray, np.ndarray, list[np.ndarray], int]:
    """Two records of four snapshots; the second comes, stays and goes again."""
    nan = np.nan
    return np.array([0, 1, 3]), np.array([0, 1, 1]), [np.array([-3.0, -1.0, nan]), np.array([0.0, -1.0, nan])], 4


def test_naive_reports_always_and_changes_only_what_changed() -> None:
    """The paper's Naive makes its reports whether anything moved or not."""
    results = by_method(replay(LogFeed(*some_log()), Query(Fraction(1), 1, 0.5, 0.5)))
    assert (results["naive"].total, results["changes"].total) == (4 + 2, 3)


def test_who_is_absent_can_take_part_with_a_value_of_its_own() -> None:
    """As the address groups without connections do in the paper: 0 of each kind."""
    feed = LogFeed(*some_log(), absent=[0.0, 0.0])
    (block,) = feed.blocks()
    assert block.start.tolist() == [0, 2, 3, 3, 4]
    assert sorted(block.item[:2]) == [0, 1] and block.item[2:].tolist() == [1, 1]
    assert block.rows[np.argsort(block.item[:2])].tolist() == [[-3, 0], [0, 0]]
    assert block.rows[2:].tolist() == [[-1, -1], [0, 0]]
    results = by_method(replay(feed, Query(Fraction(1), 1, 0.5, 0.5)))
    assert (results["naive"].total, results["changes"].total) == (2 * 4, 4)


@pytest.mark.parametrize("seed", range(20))
def test_skylines_of_records_in_the_same_places(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 1 + seed % 5, (40, 1 + seed % 4)).astype(float)
    chosen = rng.permutation(40)[: int(rng.integers(0, 41))].astype(np.int32)
    lists = np.full((ROWS, 40), -7, np.int32)
    lists[CANDIDATES, : len(chosen)] = chosen
    size = skyline_of_places(points, lists, len(chosen))
    wanted = oracle_skyline({int(item): tuple(points[item]) for item in chosen})
    assert lists[CANDIDATES, :size].tolist() == [item for item in chosen if item in wanted]


def test_thousands_of_equal_records_cost_no_more_than_different_ones() -> None:
    """They all are in the skyline, but compared with each other they are not: that would be eight million pairs at
    every snapshot. One that moves away and comes back makes all of them be looked at again."""
    positions = np.zeros((40, 4000, 3))
    positions[5::9, 17] = -1.0
    began = time.process_time()
    replay(dense_feed(positions), Query(Fraction(1), 1, 0.5, 0.5))
    assert time.process_time() - began < 10


def test_an_infinite_value_is_no_position() -> None:
    positions = np.array([[[1.0, 1.0], [np.inf, 0.0]], [[1.0, 1.0], [0.0, 0.0]]])
    results = by_method(replay(dense_feed(positions), Query(Fraction(1), 1, 0.5, 0.5)))
    assert (results["naive"].uplink, results["changes"].uplink) == (3, 2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"theta": Fraction(0)}, "theta"), ({"theta": Fraction(11, 10)}, "theta"), ({"window": 0}, "window"),
        ({"epsilon": 0.0}, "epsilon"), ({"epsilon": 1.0}, "epsilon"), ({"delta": 0.0}, "delta"),
        ({"delta": 1.5}, "delta"),
    ],
)  # fmt: skip
def test_queries_out_of_range_are_refused(change: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Query(**{"theta": Fraction("0.8"), "window": 10, "epsilon": 0.2, "delta": 0.1} | change)  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [{"distribution": "round"}, {"objects": 0}, {"uncertainty": 2.0}, {"snapshots": 0}])
def test_workloads_out_of_range_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Workload(**change)  # type: ignore[arg-type]


def test_workloads_are_what_they_are_called() -> None:
    def correlation(kind: Distribution) -> float:
        points = centres(kind, 4000, 2, np.random.default_rng(0))
        assert points.shape == (4000, 2) and points.min() >= 0 and points.max() <= 1
        return float(np.corrcoef(points.T)[0, 1])

    assert abs(correlation("independent")) < 0.05
    assert correlation("correlated") > 0.5
    assert correlation("anticorrelated") < -0.5


def test_a_workloads_points_stay_in_their_boxes() -> None:
    workload = Workload(objects=40, dimensions=3, uncertainty=0.1, snapshots=50, seed=4)
    (block,) = workload.blocks()
    positions = block.rows.reshape(50, 40, 3)
    assert positions.min() >= 0 and positions.max() <= 1
    assert np.ptp(positions, axis=0).max() <= 0.2 and np.ptp(positions, axis=0).mean() > 0.15
    assert (next(iter(workload.blocks())).rows == block.rows).all()

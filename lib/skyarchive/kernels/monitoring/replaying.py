"""All methods on the same data at once: what each sends, how long it computes, and how good its answers are."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from skyarchive.kernels.monitoring import filtering, frequency, hybrid, sampling
from skyarchive.kernels.monitoring.feed import Block, Feed
from skyarchive.kernels.monitoring.guard import (
    BIRTHS,
    DEATHS,
    FAILURES,
    PROBES,
    RENEWALS,
    REPORTS,
    SWITCHES,
    UPDATES,
    WELCOMES,
    new_guard,
)

Method = Literal["naive", "changes", "filter", "sampling", "hybrid"]
"""Naive as the paper counts it: everybody alive reports at every snapshot. By its words ("transmits all updates") it
might send changes only; but on its TCP data, 782,281 connections of 7,776 groups in 25,920 snapshots, at most 60 counts
change per snapshot, while Sampling at ε 0.1 makes 4,740 reports (0.61 of the groups) and is said to cost almost as much
as Naive. So sending changes is a method of its own here, `changes`. Where everybody always moves the two are one."""
METHODS: tuple[Method, ...] = get_args(Method)
EXACT: tuple[Method, ...] = ("naive", "changes", "filter")
CHANGES = [UPDATES, BIRTHS, DEATHS]
UPLINK = [*CHANGES, FAILURES, PROBES, REPORTS]
DOWNLINK = [FAILURES, PROBES, PROBES, RENEWALS, SWITCHES, WELCOMES]


@dataclass(frozen=True)
class Query:
    """Who is in the skyline of at least θ of the last `window` snapshots, and how sure that has to be."""

    theta: Fraction
    window: int
    epsilon: float
    delta: float
    seed: int = 0
    """Of the schedule of samples."""

    def __post_init__(self) -> None:
        if not 0 < self.theta <= 1:
            raise ValueError(f"theta must be above 0 and at most 1, not {float(self.theta)}")
        if self.window < 1:
            raise ValueError(f"window must be at least 1 snapshot, not {self.window}")
        for name in ("epsilon", "delta"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} must be between 0 and 1, not {getattr(self, name)}")

    @property
    def rate(self) -> float:
        """The chance of a snapshot to be sampled."""
        return sampling.sampling_rate(float(self.theta), self.window, self.epsilon, self.delta)


@dataclass(frozen=True)
class Result:
    """What a method cost and how good it was, over the whole replay."""

    method: Method
    uplink: int
    downlink: int
    failures: int
    probes: int
    reports: int
    cpu_seconds: float
    recall: float
    precision: float
    """Both averaged over the snapshots with a full window."""
    lowest_recall: float
    lowest_precision: float
    """Of a single answer."""

    @property
    def total(self) -> int:
        return self.uplink + self.downlink


@dataclass(frozen=True)
class Replay:
    """The results of all methods on one feed."""

    snapshots: int
    sampled: int
    objects: int
    lived: int
    """Living records, summed over the snapshots: the messages if everybody reported every time."""
    results: list[Result]


class _Watcher:
    """One method on its way through the data."""

    def __init__(self, method: Method, feed: Feed, query: Query) -> None:
        n, width = feed.n_objects, len(feed.spread)
        self.method, self.query = method, query
        self.window = frequency.new_window(query.window, n)
        self.quality = frequency.new_quality()
        self.seconds = 0.0
        if method in ("naive", "sampling"):
            self.crowd = sampling.new_crowd(n, width)
            self.tally = self.crowd.tally
        else:
            self.guard, self.modes = new_guard(n, feed.spread), hybrid.new_modes(n)
            self.tally = self.guard.tally

    @property
    def samples(self) -> bool:
        return self.method in ("sampling", "hybrid")

    def advance(self, block: Block, sampled: np.ndarray, first: int) -> np.ndarray:
        """The skyline of every snapshot of a block, or of the sampled ones."""
        members = np.zeros((len(block.start) - 1, len(self.window.counts)), np.bool_)
        began = time.process_time()
        if self.method == "naive":
            sampling.report_always(self.crowd, *block, members)
        elif self.method == "filter":
            filtering.watch(self.guard, *block, members)
        elif self.method == "sampling":
            sampling.report_samples(self.crowd, sampled, *block, members, first)
        else:
            hybrid.watch(self.guard, self.modes, self.query.rate, sampled, *block, members, first)
        self.seconds += time.process_time() - began
        return members

    def answers(self, members: np.ndarray, sampled: np.ndarray) -> np.ndarray:
        """Who is frequent at every snapshot of a block, by what this method has seen."""
        frequent = np.zeros(members.shape, np.bool_)
        seen = sampled if self.samples else np.ones(len(members), np.bool_)
        theta = self.query.theta
        frequency.advance(self.window, members, seen, theta.numerator, theta.denominator, frequent)
        return frequent

    def results(self) -> list[Result]:
        """What the method cost. The run of Naive stands for `changes`, too: the same skylines, other messages."""
        if self.method == "naive":
            return [self._result("naive", [REPORTS], []), self._result("changes", CHANGES, [])]
        return [self._result(self.method, UPLINK, DOWNLINK)]

    def _result(self, method: Method, uplink: list[int], downlink: list[int]) -> Result:
        recall, precision, count, lowest_recall, lowest_precision = self.quality.tolist()
        return Result(
            method,
            uplink=int(self.tally[uplink].sum()),
            downlink=int(self.tally[downlink].sum()),
            failures=int(self.tally[FAILURES]),
            probes=int(self.tally[PROBES]),
            reports=int(self.tally[REPORTS]) if REPORTS in uplink else 0,
            cpu_seconds=self.seconds,
            recall=recall / count,
            precision=precision / count,
            lowest_recall=lowest_recall,
            lowest_precision=lowest_precision,
        )


def replay(
    feed: Feed, query: Query, say: Callable[[int], Any] | None = None, methods: Sequence[Method] = METHODS
) -> Replay:
    """Goes once through the feed with all methods, or some: always with Naive, by which the others are judged. `say` is
    told now and then how many snapshots are done."""
    if query.window > feed.n_snapshots:
        raise ValueError(f"window must not be longer than the {feed.n_snapshots} snapshots replayed: {query.window}")
    every = sampling.schedule(query.rate, feed.n_snapshots, query.seed)
    _warm_up(len(feed.spread))
    watchers = [_Watcher(method, feed, query) for method in METHODS if method in {"naive", *methods} - {"changes"}]
    first = 0
    for block in feed.blocks():
        last = first + len(block.start) - 1
        sampled = every[first:last]
        found = {watcher.method: watcher.advance(block, sampled, first) for watcher in watchers}
        _assert_equal(found, sampled, first)
        exact: np.ndarray | None = None
        for watcher in watchers:
            answers = watcher.answers(found[watcher.method], sampled)
            exact = answers if exact is None else exact
            frequency.compare(answers, exact, max(0, min(len(answers), query.window - 1 - first)), watcher.quality)
        first = last
        if say is not None:
            say(first)
    results = [result for watcher in watchers for result in watcher.results()]
    return Replay(feed.n_snapshots, int(every.sum()), feed.n_objects, results[0].reports, results)


def _warm_up(width: int) -> None:
    """Compiled code is loaded before anything is timed."""
    block = Block(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros((0, width)))
    nobody, members = np.zeros(0, np.bool_), np.zeros((0, 1), np.bool_)
    guard, crowd = new_guard(1, np.ones(width)), sampling.new_crowd(1, width)
    sampling.report_always(crowd, *block, members)
    sampling.report_samples(crowd, nobody, *block, members, 0)
    filtering.watch(guard, *block, members)
    hybrid.watch(guard, hybrid.new_modes(1), 1.0, nobody, *block, members, 0)


def _assert_equal(found: dict[Method, np.ndarray], sampled: np.ndarray, first: int) -> None:
    """Filter keeps every skyline exactly, and samples are exact: proved, and looked at all the same."""
    exact = found["naive"]
    for method, members in found.items():
        expected = exact & sampled[:, None] if method in ("sampling", "hybrid") else exact
        wrong = np.flatnonzero((members != expected).any(axis=1))
        if len(wrong):
            raise AssertionError(f"{method}'s skyline of snapshot {first + wrong[0]} is not the exact one")

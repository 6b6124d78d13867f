"""Every method gives, at every snapshot, what the definition gives.

SKYARCHIVE_FUZZ=5000 makes it try that many random archives and not only the first few.
"""

import os
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import skylines as oracle
from oracle.random_logs import random_log, walking_log
from oracle.skylines import Interval, Log
from skyarchive.kernels.timeline import Method, chunk_filter, mbr_intervals, naive_tests, skyline_intervals, witness

METHODS: list[Method] = ["naive", "mbr", "witness"]
ARCHIVES = int(os.environ.get("SKYARCHIVE_FUZZ", "160"))
BATCH = 20


def found(log: Log, method: Method) -> list[Interval]:
    return _rows(*skyline_intervals(*log.arguments, method))


def _rows(*columns: np.ndarray) -> list[Interval]:
    return [(int(item), int(first), int(last)) for item, first, last in zip(*columns, strict=True)]


def expected(log: Log) -> list[Interval]:
    return oracle.intervals(oracle.skylines(log))


@pytest.fixture
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The witness method's own chunks are long; short ones meet their borders in small archives too."""
    monkeypatch.setattr(witness, "SHORTEST_CHUNK", 30)
    monkeypatch.setattr(witness, "UPDATES_PER_OBJECT", 2)


def small_log(rows: Sequence[tuple[int, int, tuple[float, ...]]], n_snapshots: int) -> Log:
    """A log from rows of snapshot, object, position."""
    snapshot, item, points = zip(*rows, strict=True)
    columns = [np.array(column, float) for column in zip(*points, strict=True)]
    return Log(np.array(snapshot, np.int32), np.array(item, np.int32), columns, n_snapshots)


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize("first", range(0, ARCHIVES, BATCH))
def test_random_archives(first: int) -> None:
    for seed in range(first, first + BATCH):
        log = random_log(seed)
        wanted = expected(log)
        for method in METHODS:
            assert found(log, method) == wanted, (seed, method)
        for cfp in (1, 3):
            assert _rows(*mbr_intervals(*log.arguments, cfp=cfp)[:3]) == wanted, (seed, cfp)


POSITIONS = st.tuples(*[st.sampled_from([-1.0, -0.0, 0.0, 1.0, np.inf, np.nan])] * 2)
UPDATES = st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 4)), POSITIONS, min_size=1)


@settings(max_examples=150, deadline=None)
@given(UPDATES)
def test_any_small_log(updates: dict[tuple[int, int], tuple[float, ...]]) -> None:
    log = small_log([(*key, point) for key, point in sorted(updates.items())], 6)
    for method in METHODS:
        assert found(log, method) == expected(log)


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 6, 7, 16])
def test_with_the_filter_at_work(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects that walk, go and return; enough of them that the filter prunes, chunk after chunk."""
    kept, seen = [], []
    whole = chunk_filter.ChunkFilter.kept

    def watched(self: chunk_filter.ChunkFilter, begin: int, end: int) -> chunk_filter.Kept:
        answer = whole(self, begin, end)
        kept.append(len(answer.item))
        seen.append(end - begin)
        return answer

    monkeypatch.setattr(chunk_filter.ChunkFilter, "kept", watched)
    for seed in range(5):
        log = walking_log(seed, n_objects=150, n_snapshots=60, width=width, scatter=1.0 if width <= 3 else 0.3)
        wanted = expected(log)
        for method in METHODS:
            assert found(log, method) == wanted, seed
    assert len(seen) >= 3 and sum(kept) < sum(seen) / 2


def test_more_objects_and_whole_chunks() -> None:
    """The sizes that the witness method is made for, against the naive one, which the others vouch for."""
    for width in (2, 3, 6):
        log = walking_log(width, n_objects=1000, n_snapshots=400, width=width, decimals=2)
        wanted = found(log, "naive")
        assert found(log, "witness") == wanted
        assert found(log, "mbr") == wanted


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_parts", range(1, 8))
def test_parts_give_the_whole(method: Method, n_parts: int) -> None:
    for seed in range(12):
        log = random_log(seed) if seed % 2 else walking_log(seed, 60, 40, 3, decimals=0)
        borders = np.linspace(0, log.n_snapshots, n_parts + 1).astype(int)
        parts = [
            (int(begin), found(oracle.part(log, begin, end), method)) for begin, end in pairwise(borders) if begin < end
        ]
        assert oracle.stitched(parts) == found(log, method), seed


@pytest.mark.parametrize("method", METHODS)
def test_equal_points_are_all_members(method: Method) -> None:
    log = small_log([(0, item, (0.0, -0.0)) for item in range(5)] + [(0, 5, (0.0, 1.0)), (2, 0, (-0.0, 0.0))], 4)
    assert found(log, method) == [(item, 0, 3) for item in range(5)]


@pytest.mark.parametrize("method", METHODS)
def test_leaving_and_returning_within_a_snapshot_changes_nothing(method: Method) -> None:
    """Object 0 is beaten by the first row of snapshot 1 and not any more after the second."""
    log = small_log([(0, 0, (5.0, 5.0)), (0, 1, (9.0, 9.0)), (1, 1, (1.0, 1.0)), (1, 0, (0.0, 0.0))], 3)
    assert found(log, method) == [(0, 0, 2)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_snapshots", [2, 9])
def test_a_crowd_that_rises_and_falls_again_and_again(method: Method, n_snapshots: int) -> None:
    """1500 objects at one position win whenever a single one goes: more intervals than there was room for, in the
    last snapshot or before it."""
    crowd = [(0, item, (1.0, 1.0)) for item in range(1, 1501)]
    flicker = [(at, 0, (0.0, 0.0) if at % 2 else (np.nan, 0.0)) for at in range(1, n_snapshots)]
    single = [(0, at, at) for at in range(1, n_snapshots, 2)]
    many = [(item, at, at) for item in range(1, 1501) for at in range(0, n_snapshots, 2)]
    assert found(small_log(crowd + flicker, n_snapshots), method) == single + many


@pytest.mark.parametrize("method", METHODS)
def test_who_leaves_equal_ones_behind_beats_them(method: Method) -> None:
    """Two stand at one position and one of them gets better; a third stands elsewhere, and many more are beaten."""
    others = [(0, item, (9.0, 9.0)) for item in range(3, 30)]
    log = small_log([(0, 0, (4.0, 4.0)), (0, 1, (4.0, 4.0)), (0, 2, (1.0, 8.0)), *others, (1, 1, (3.0, 4.0))], 2)
    assert found(log, method) == [(0, 0, 0), (1, 0, 1), (2, 0, 1)]


@pytest.mark.parametrize("method", METHODS)
def test_infinities_are_values(method: Method) -> None:
    log = small_log([(0, 0, (np.inf, np.inf)), (1, 1, (np.inf, 0.0)), (2, 2, (-np.inf, -np.inf))], 3)
    assert found(log, method) == [(0, 0, 0), (1, 1, 1), (2, 2, 2)]


@pytest.mark.parametrize("method", METHODS)
def test_empty_log_and_snapshots_before_and_after_the_rows(method: Method) -> None:
    nothing = Log(np.empty(0, np.int32), np.empty(0, np.int32), [np.empty(0)], 5)
    assert found(nothing, method) == []
    assert found(small_log([(2, 0, (1.0,)), (4, 0, (np.nan,))], 9), method) == [(0, 2, 3)]
    assert found(small_log([(0, 0, (np.nan,))], 2), method) == []


@pytest.mark.parametrize("method", METHODS)
def test_order_within_a_snapshot_does_not_matter_and_inputs_stay(method: Method) -> None:
    log = walking_log(3, 80, 60, 3)
    shuffled = np.lexsort((np.random.default_rng(1).random(len(log.snapshot)), log.snapshot))
    other = Log(log.snapshot[shuffled], log.object[shuffled], [c[shuffled] for c in log.attributes], log.n_snapshots)
    copies = [column.copy() for column in (other.snapshot, other.object, *other.attributes)]
    assert found(other, method) == found(log, method)
    for copy, column in zip(copies, (other.snapshot, other.object, *other.attributes), strict=True):
        np.testing.assert_array_equal(copy, column)


def test_objects_with_high_numbers_keep_them() -> None:
    log = small_log([(0, 7, (1.0,)), (0, 2_000_000_000, (1.0,)), (1, 7, (2.0,))], 2)
    assert found(log, "witness") == [(7, 0, 0), (2_000_000_000, 0, 1)]


def test_the_papers_method_saves_tests_and_counts_them() -> None:
    log = walking_log(5, 400, 200, 3)
    *_, counters = mbr_intervals(*log.arguments, cfp=10)
    assert counters.tests == counters.pre_tests + counters.sky_tests + counters.post_tests
    assert 0 < counters.tests < naive_tests(*log.arguments) / 2
    assert counters.reconstructions > 0
    *_, patient = mbr_intervals(*log.arguments, cfp=10**6)
    assert patient.reconstructions == 0 and patient.candidates > counters.candidates

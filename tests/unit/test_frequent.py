"""Frequent intervals equal a count at every snapshot: any memberships, windows, thresholds and period borders."""

from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import frequency as oracle
from oracle.random_logs import random_log
from oracle.skylines import Log, intervals, skylines
from skyarchive.answers.intervals import Span
from skyarchive.definition.frequent import Query, asked_query
from skyarchive.errors import SettingError
from skyarchive.kernels.frequent import frequent_intervals
from skyarchive.steps.frequent.buckets import _bucket_rows

OBJECTS, SNAPSHOTS = 4, 24
ANSWERS = st.lists(st.sets(st.integers(0, OBJECTS - 1)), min_size=1, max_size=SNAPSHOTS)
THETAS = st.integers(1, 20).map(lambda twentieths: str(Decimal(twentieths) / 20))


def query(theta: str, window: int) -> Query:
    return Query.model_validate({"theta": theta, "window": window})


def columns(rows: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = np.array(rows, np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def found(rows: list[tuple[int, int, int]], asked: Query, begin: int, end: int) -> list[tuple[int, int, int]]:
    answer = frequent_intervals(*columns(rows), asked.window, asked.needed, begin, end)
    return list(zip(*(column.tolist() for column in answer), strict=True))


def cut(rows: list[tuple[int, int, int]], borders: list[int]) -> list[tuple[int, int, int]]:
    """The intervals cut where a period begins."""
    pieces = []
    for item, first, last in rows:
        starts = [first, *(border for border in sorted(borders) if first < border <= last), last + 1]
        pieces += [(item, begin, end - 1) for begin, end in pairwise(starts)]
    return pieces


@settings(max_examples=300, deadline=None)
@given(ANSWERS, THETAS, st.integers(1, SNAPSHOTS + 4), st.data())
def test_any_memberships(answers: list[set[int]], theta: str, window: int, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(answers) - 1))
    end = data.draw(st.integers(begin, len(answers) - 1))
    borders = data.draw(st.lists(st.integers(1, SNAPSHOTS), max_size=4, unique=True))
    right = oracle.frequent(answers, theta, window)
    wanted = intervals([members if begin <= at <= end else set() for at, members in enumerate(right)])
    members = intervals(answers)
    assert found(members, query(theta, window), begin, end) == wanted
    assert found(cut(members, borders), query(theta, window), begin, end) == wanted


def table_rows(answers: list[set[str]], periods: list[str], asked: list[Query], run: list[str]) -> list[Any]:
    """What the step makes of some periods, from the rows of `skyline` that it reads for them."""
    spans = {name: Span(name, periods.index(name), len(periods) - 1 - periods[::-1].index(name)) for name in periods}
    longest = max(one.window for one in asked)
    read = {at for name in run for at in range(max(spans[name].first - longest, 0), spans[name].last + 1)}
    reached = {periods[at] for at in read}
    names = sorted(set().union(*answers))
    whole = intervals([{names.index(item) for item in members} for members in answers])
    rows = [row for row in cut(whole, [span.first for span in spans.values()]) if periods[row[1]] in reached]
    np.random.default_rng(len(rows)).shuffle(rows)  # as a shuffle of Spark leaves them
    item, first, last = columns(rows)
    members = pa.table({"object": pa.array([names[at] for at in item], pa.string()), "first_snapshot": first,
                        "last_snapshot": last})  # fmt: skip
    if not members.num_rows:
        return []
    made = _bucket_rows(members, asked, [spans[name] for name in run])
    return [(*row.values(),) for row in made.to_pylist()]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sets(st.sampled_from("abcd")), min_size=1, max_size=SNAPSHOTS),
    st.lists(st.tuples(THETAS, st.integers(1, SNAPSHOTS)), min_size=1, max_size=3, unique=True),
    st.data(),
)
def test_any_split_into_periods_run_together_or_apart(
    answers: list[set[str]], queries: list[tuple[str, int]], data: st.DataObject
) -> None:
    borders = data.draw(st.lists(st.integers(1, SNAPSHOTS), max_size=6, unique=True))
    periods = [f"p{sum(border <= at for border in borders)}" for at in range(len(answers))]
    named = sorted(set(periods))
    asked = [query(*one) for one in queries]
    wanted = oracle.frequent_rows(answers, periods, queries)
    assert sorted(table_rows(answers, periods, asked, named)) == wanted
    apart = [row for name in named for row in table_rows(answers, periods, asked, [name])]
    assert sorted(apart) == wanted
    some = data.draw(st.lists(st.sampled_from(named), min_size=1, unique=True).map(sorted))
    assert sorted(table_rows(answers, periods, asked, some)) == [row for row in wanted if row[0] in some]


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_archives(first: int) -> None:
    """From update logs with ties, births, deaths and empty snapshots, over periods shorter than the windows."""
    for seed in range(first, first + 20):
        log: Log = random_log(seed, width=2)
        answers = [{f"o{item}" for item in members} for members in skylines(log)]
        chance = np.random.default_rng(seed)
        length = int(chance.integers(1, 8))
        periods = [f"p{at // length:02}" for at in range(log.n_snapshots)]
        queries = [(str(Decimal(int(chance.integers(1, 101))) / 100), int(chance.integers(1, 30))) for _ in range(4)]
        queries = sorted(set(queries))
        made = table_rows(answers, periods, [query(*one) for one in queries], sorted(set(periods)))
        assert sorted(made) == oracle.frequent_rows(answers, periods, queries), seed


def test_long_memberships_cost_nothing() -> None:
    """A million snapshots, three intervals."""
    far = 10**12
    rows = [(0, 0, far), (1, 5, far // 2), (1, far // 2 + 2, far)]
    assert found(rows, query("1", 1000), 0, far) == [(0, 999, far), (1, 1004, far // 2), (1, far // 2 + 1001, far)]


def test_inputs_stay_as_they_are() -> None:
    item, first, last = columns([(0, 1, 4), (0, 6, 9), (3, 0, 9)])
    copies = [column.copy() for column in (item, first, last)]
    frequent_intervals(item, first, last, 3, 2, 0, 9)
    for copy, column in zip(copies, (item, first, last), strict=True):
        np.testing.assert_array_equal(copy, column)


@pytest.mark.parametrize(
    ("rows", "needed", "words"),
    [
        ([(0, 3, 2)], 1, "row 0 is 0, 3 to 2"),
        ([(0, 0, 5), (0, 5, 6)], 1, "row 1"),
        ([(1, 0, 5), (0, 5, 6)], 1, "sorted by object"),
        ([(0, -1, 5)], 1, "row 0"),
        ([(0, 0, 1)], 0, "needed must be in 1..3"),
        ([(0, 0, 1)], 4, "needed must be in 1..3"),
    ],
)
def test_what_are_no_intervals_is_refused(rows: list[tuple[int, int, int]], needed: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        frequent_intervals(*columns(rows), 3, needed, 0, 9)


@pytest.mark.parametrize(
    ("theta", "window", "needed"),
    [("0.7", 10, 7), ("0.1", 3, 1), ("0.35", 20, 7), ("1", 5, 5), ("0.000001", 10, 1), ("0.000001", 2_000_000, 2),
     ("0.333334", 3, 2), ("0.999999", 1_000_000, 999_999), ("0.29", 100, 29), ("0.07", 100, 7)],
)  # fmt: skip
def test_theta_is_the_decimal_that_is_written(theta: str, window: int, needed: int) -> None:
    """In floating point 0.29 * 100 is below 29, and 0.07 * 100 above 7."""
    assert query(theta, window).needed == needed
    assert Query.model_validate({"theta": float(theta), "window": window}).needed == needed


@pytest.mark.parametrize(
    ("theta", "window", "words"),
    [
        ("0", 10, "--theta 0: must be above 0 and at most 1"),
        ("-0.5", 10, "--theta -0.5: must be above 0"),
        ("1.000001", 10, "at most 1"),
        ("nan", 10, "above 0"),
        ("many", 10, "--theta many: must be a number"),
        ("0.1234567", 10, "at most 6 decimal places"),
        ("0.5", 0, "--window 0: must be a number of snapshots from 1"),
        ("0.5", 2**31, "--window 2147483648"),
    ],
)
def test_bad_parameters_are_explained(theta: str, window: int, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        asked_query(theta, window)

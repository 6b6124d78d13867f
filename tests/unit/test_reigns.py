"""How long reigns last: until the snapshot that ends them, however far that is, as far as skylines are published."""

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chronicle import Chronicle, Place, Step
from skyarchive.definition.frequent import asked_query
from skyarchive.errors import NotPublishedError
from skyarchive.steps.frequent.pictures import begun, held
from skyarchive.steps.frequent.questions import Curve
from skyarchive.steps.skyline.pictures import Bar, labels


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def step(text: str, **moves: Place) -> Step:
    return Step(text[:4], day(text), moves)


BEST, WORSE, BETTER = (1.0, 5.0), (3.0, 2.0), (0.0, 9.0)
SPARSE = [
    step("2024-03-04", a=BEST),
    step("2024-05-01", b=WORSE),
    step("2024-09-01", b=(4.0, 1.0)),
    step("2025-02-05", c=BETTER),
    step("2025-03-01", b=None),
]
"""`a` is unbeaten until `c` comes; in between there are snapshots of others, the last of them in September."""


@pytest.fixture
def sparse(tmp_path: Path) -> Chronicle:
    told = Chronicle(tmp_path, SPARSE)
    told.derive("2024", "2025")
    told.skyline("2024", "2025")
    return told


def test_a_reign_lasts_until_the_snapshot_that_ends_it(sparse: Chronicle) -> None:
    found = sparse.ask().reigns(5)
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    a, c = (next(row for row in rows if row["object"] == name) for name in "ac")
    assert a["until"] == day("2025-02-05") and not a["ongoing"]
    assert (a["last_time"], a["days"], a["snapshots"]) == (day("2024-09-01"), 338.0, 3)
    assert c["until"] is None and c["ongoing"] and c["days"] == 24.0
    assert sparse.ask().all_reigns(["a"]) == [("a", day("2024-03-04"), day("2025-02-05"))]


def test_the_longest_by_time_need_not_be_the_longest_by_snapshots(tmp_path: Path) -> None:
    told = Chronicle(tmp_path, [
        step("2024-01-01", a=BEST), step("2024-11-01", a=None, b=BEST),
        *(step(f"2024-11-{at:02}", c=(9.0, float(at))) for at in range(2, 9)),
    ])  # fmt: skip
    told.derive("2024")
    told.skyline("2024")
    ask = told.ask()
    assert [row[0] for row in ask.reigns(1).rows] == ["a"] == [row[0] for row in ask.reigns(1, by="time").rows]
    assert [row[0] for row in ask.reigns(1, by="snapshots").rows] == ["b"]


def test_frequent_intervals_say_until_when(sparse: Chronicle) -> None:
    found = sparse.ask().frequent_over(asked_query("1", 2), None)
    until = {row[0]: row[found.columns.index("until")] for row in found.rows}
    assert until == {"a": day("2025-02-05"), "c": None}


def test_a_picture_holds_a_count_until_the_next_snapshot() -> None:
    times, counts = held([1.0, 200.0, 201.0], [5, 5, 0])
    assert list(zip(times, counts, strict=True)) == [(1, 5), (200, 5), (200, 5), (201, 5), (201, 0)]


def test_a_picture_begins_when_somebody_is_unbeaten() -> None:
    times = [day("2024-01-01") + timedelta(days=n) for n in range(5)]
    curves = [
        Curve(name, name, times, np.array(counts)) for name, counts in (("a", [0, 0, 0, 2, 3]), ("b", [0, 0, 1, 0, 0]))
    ]
    assert [(curve.name, curve.times[0], curve.counts.tolist()) for curve in begun(curves)] == [
        ("a", times[2], [0, 2, 3]), ("b", times[2], [1, 0, 0]),
    ]  # fmt: skip


def test_lengths_are_told_where_no_other_reign_is() -> None:
    bars = [Bar(0, 60, 0, "60 days"), Bar(1, 3, 1, "2 days"), Bar(4, 6, 1, "2 days"), Bar(7, 9, 1, "2 days"),
            Bar(96, 99, 2, "3 days")]  # fmt: skip
    within, nowhere = (0, False, True), None
    assert labels(bars, 0, 100) == [within, nowhere, nowhere, (9, False, False), (96, True, False)]


_places = st.one_of(st.none(), st.tuples(st.integers(0, 2).map(float), st.integers(0, 2).map(float)))


@st.composite
def chronicles(draw: st.DrawFn) -> tuple[list[Step], set[str]]:
    """Some periods of some snapshots, near and far (several may be of one time), and which of them have skylines."""
    time, steps, periods = day("2024-01-01"), [], draw(st.integers(1, 4))
    for number in range(periods):
        for _ in range(draw(st.integers(1, 3))):
            time += timedelta(days=draw(st.sampled_from([0, 1, 100])))
            moves = draw(st.dictionaries(st.sampled_from("abcd"), _places, min_size=1, max_size=3))
            steps.append(Step(f"{number:05}", time, moves))
    computed = draw(st.sets(st.integers(0, periods - 1), min_size=1))
    return steps, {f"{number:05}" for number in computed}


@settings(max_examples=15, deadline=None)
@given(chronicles())
def test_reigns_are_what_skylines_say_at_every_snapshot(told: tuple[list[Step], set[str]]) -> None:
    steps, computed = told
    with tempfile.TemporaryDirectory() as folder:
        archive = Chronicle(Path(folder), steps)
        archive.derive(*archive.periods)
        archive.skyline(*sorted(computed))
        ask = archive.ask()
        found = ask.reigns(1000)
        reigns = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
        newest = max(at for at, step in enumerate(steps) if step.period in computed)
        for at, step in enumerate(steps):
            last = max(n for n, other in enumerate(steps) if other.time <= step.time)
            asked = step.time.isoformat()
            if steps[last].period not in computed:
                with pytest.raises(NotPublishedError, match=f"{steps[last].period} are not computed"):
                    ask.skyline(asked)
                continue
            told_by_reigns = {
                row["object"] for row in reigns
                if row["first_time"] <= step.time and (row["until"] is None or step.time < row["until"])
            }  # fmt: skip
            assert told_by_reigns == {row[0] for row in ask.skyline(asked).rows} == archive.truth(last)
            if step.period in computed:
                touching = {row[:5] for row in ask.reigns(1000, start=str(at), end=str(at)).rows}
                assert {row[0] for row in touching} == archive.truth(at)
        for row in reigns:
            assert row["ongoing"] == (row["last_snapshot"] == newest)
            length = (row["until"] or steps[newest].time) - row["first_time"]
            assert row["days"] == pytest.approx(length / timedelta(days=1))

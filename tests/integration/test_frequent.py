"""The frequent step against a count at every snapshot: periods together, apart and in any order; its checks; what makes
it stale; questions."""

import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conftest import SHARED, Home, as_frame, as_settings, make_home
from oracle import frequency as oracle
from places import PERIODS, PLACES, Rows, rows, truth
from skyarchive.answers.intervals import Span
from skyarchive.definition.frequent import asked_query
from skyarchive.definition.selection import Selection
from skyarchive.pipeline.refreshing import refresh
from skyarchive.pipeline.running import run_step, run_steps
from skyarchive.pipeline.status import PeriodStatus, period_statuses
from skyarchive.steps.frequent import body as frequenting
from skyarchive.steps.frequent.checks import judge
from skyarchive.steps.frequent.questions import FrequentQuestions

QUERIES = [("1", 3), ("0.7", 10), ("0.3", 25), ("0.35", 32)]
FIGURES = ("period", "overlapping", "outside", "unasked", "audited", "wrong", "wrong_start")


def table(home: Home) -> list[tuple[Any, ...]]:
    found = rows(home, "select * from places.frequent")
    return sorted((row["period"], Fraction(row["theta"]), *list(row.values())[2:]) for row in found)


def expected(home: Home) -> list[tuple[Any, ...]]:
    answers, timeline = truth(home)
    return oracle.frequent_rows(answers, [row["period"] for row in timeline], QUERIES)


def test_the_table_is_what_the_definition_gives(places: Home) -> None:
    wanted = expected(places)
    assert table(places) == wanted
    # Every query has an answer, one that goes on over a border, and one that does not.
    for theta, window in QUERIES:
        own = [row for row in wanted if row[1:3] == (Fraction(theta), window)]
        assert {row[6] for row in own} == {row[7] for row in own} == {True, False}


def test_periods_apart_and_in_any_order_give_the_same(places: Home) -> None:
    before = table(places)
    for periods in (["00003"], ["00000", "00002"]):
        assert run_step(places.workshop("places"), "frequent", periods).published == periods
    assert table(places) == before
    assert refresh(places.workshop("places")) == []


def test_a_wrong_answer_is_never_published(places: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    before = table(places)
    right = frequenting.with_frequent_intervals
    monkeypatch.setattr(frequenting, "with_frequent_intervals", lambda *rest: right(*rest).where("window_size <> 25"))
    outcome = run_step(places.workshop("places"), "frequent", ["00002"])
    assert outcome.published == [] and not outcome.too_early
    assert "brute force counts" in outcome.refused["00002"] and "of 25)" in outcome.refused["00002"]
    assert table(places) == before
    kept = rows(places, "select count(*) n from places.quality where table_name = 'frequent' and not success")
    assert kept[0]["n"] > 0


def _judged(home: Home, change: Any) -> dict[str, Any]:
    """The figures of a period after a change to its right rows."""
    workshop = home.workshop("places")
    period = PERIODS[1]
    (own,) = rows(home, f"select min(snapshot) a, max(snapshot) b from places.snapshots where period = '{period}'")
    right = rows(home, f"select * from places.frequent where period = '{period}' order by all")
    found = as_frame(workshop, "frequent", change([dict(row) for row in right]))
    tables = workshop.lake.readings("places", {"skyline": workshop.ledger().versions["skyline"]}, PERIODS)
    spans = [Span(period, own["a"], own["b"])]
    figures = judge("places", tables, workshop.definition.frequent, spans, found).rows[0]
    return dict(zip(FIGURES, figures, strict=True))


def _split(intervals: Rows) -> Rows:
    long = next(row for row in intervals if row["last_snapshot"] > row["first_snapshot"])
    tail = long | {"first_snapshot": long["last_snapshot"], "continued_from": False}
    long |= {"last_snapshot": long["last_snapshot"] - 1, "continues_into": False}
    return [*intervals, tail]


@pytest.mark.parametrize(
    ("figure", "change"),
    [
        ("overlapping", _split),
        ("outside", lambda intervals: [row | {"last_snapshot": row["last_snapshot"] + 100} for row in intervals]),
        ("outside", lambda intervals: [row | {"continues_into": False} for row in intervals]),
        ("unasked", lambda intervals: [row | {"window_size": row["window_size"] + 1} for row in intervals]),
        ("wrong", lambda intervals: [row for row in intervals if not row["continues_into"]]),
        ("wrong", lambda intervals: []),
        ("wrong", lambda intervals: [row | {"object": "p99"} for row in intervals]),
        ("wrong_start", lambda intervals: [row | {"continued_from": False} for row in intervals]),
        ("wrong_start", lambda intervals: [row | {"continued_from": True} for row in intervals]),
    ],
)
def test_each_check_can_fail(places: Home, figure: str, change: Any) -> None:
    right = _judged(places, lambda intervals: intervals)
    assert right.pop("audited") >= 3 * len(QUERIES) and right.pop("period") == PERIODS[1]
    assert set(right.values()) == {0}
    assert _judged(places, change)[figure] > 0


def test_a_correction_goes_as_far_as_windows_reach_and_early_steps_wait(places: Home, tmp_path: Path) -> None:
    """One place wins for some steps of the second period. The last one's windows end before they reach it."""
    shutil.copytree(places.folder, tmp_path / "copy")
    home = make_home(tmp_path / "copy")
    home.settings = replace(home.settings, archives=str(home.folder / "definitions"))
    definition = home.folder / "definitions" / "places.yaml"
    queries = [("1", 3), ("0.5", 8)]
    begin, end = PLACES.index("frequent:"), PLACES.index("attributes:")
    asked = "".join(f"  - {{theta: {theta}, window: {window}}}\n" for theta, window in queries)
    definition.write_text(f"{PLACES[:begin]}frequent:\n{asked}{PLACES[end:]}")
    told = {status.steps["frequent"].why for status in _statuses(home)}
    assert told == {"the archive's definition changed since frequent"}
    path = home.raw / "places" / "places.csv"
    path.write_text(path.read_text() + "22,p7,-5,9,false\n")
    workshop = home.workshop("places")
    run_steps(workshop, Selection(), ["ingest"])
    run_steps(workshop, Selection("00001"), ["derive"])
    early = run_step(workshop, "frequent", ["00001", "00002", "00003"])
    assert early.published == ["00003"] and early.too_early == {"00001", "00002"}
    assert "has skylines of updates that have changed" in early.refused["00001"]
    assert "00002 looks back into 00001, which has skylines of updates" in early.refused["00002"]
    done = [(outcome.step, *outcome.published) for outcome in refresh(workshop)]
    assert done == [("skyline", "00001"), ("frequent", "00000", "00001", "00002")]
    answers, timeline = truth(home)
    assert table(home) == oracle.frequent_rows(answers, [row["period"] for row in timeline], queries)


def _statuses(home: Home) -> list[PeriodStatus]:
    return period_statuses(home.settings, home.workshop("places").definition)


def test_questions_at_every_snapshot(places: Home) -> None:
    answers, _ = truth(places)
    ask = FrequentQuestions(places.settings, places.workshop("places").definition)
    for theta, window in [*QUERIES, ("0.55", 7), ("0.01", 50)]:
        right = oracle.frequent(answers, theta, window)
        query = asked_query(theta, window)
        for at in range(window - 1, len(answers), 3):
            found = ask.frequent_at(query, str(at)).rows
            assert {row[0] for row in found} == right[at]
            last = answers[at - window + 1 : at + 1]
            assert {row[0]: row[2] for row in found} == {
                item: sum(item in members for members in last) for item in right[at]
            }
            assert {row[0] for row in found if row[4]} == right[at] & answers[at]
        for first, last in ((0, len(answers) - 1), (20, 33), (window - 1, window - 1), (len(answers) - 1,) * 2):
            if last < window - 1:
                continue
            given = ask.frequent_over(query, f"{first}..{last}").rows
            periods = ["a" if at < first else "b" if at <= last else "c" for at in range(len(answers))]
            wanted = [row for row in oracle.frequent_rows(answers, periods, [(theta, window)]) if row[0] == "b"]
            assert sorted((row[0], row[2], row[3], row[7], row[8]) for row in given) == sorted(
                (row[3], row[4], row[5], row[6], row[7]) for row in wanted
            )


def test_the_command_prints_one_list_and_draws(places: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    as_settings(monkeypatch, places)
    answers, _ = truth(places)
    asked = ("frequent", "places", "--theta", "0.55", "--window", "7", "--format", "json")
    found = places.command(*asked, "--at", "33")
    assert {row["object"] for row in found.rows} == oracle.frequent(answers, "0.55", 7)[33]
    assert all(4 <= row["count"] <= 7 and row["name"] for row in found.rows)
    assert {row["object"] for row in places.command(*asked).rows} == oracle.frequent(answers, "0.55", 7)[-1]
    picture = tmp_path / "frequent.svg"
    drawn = places.command(*asked, "--over", "10..", "--plot", str(picture))
    assert drawn.code == 0 and {row["first_snapshot"] >= 10 for row in drawn.rows} == {True}
    assert "<svg" in picture.read_text()
    curves = FrequentQuestions(places.settings, places.workshop("places").definition).curves(
        asked_query("0.55", 7), "10..", 3, 10_000
    )
    assert len(curves) == 3
    for curve in curves:
        windows = [answers[at - 6 : at + 1] for at in range(10, len(answers))]
        assert curve.counts.tolist() == [sum(curve.object in members for members in window) for window in windows]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--theta", "0", "--window", "5"], "--theta 0: must be above 0"),
        (["--theta", "1.5", "--window", "5"], "at most 1"),
        (["--theta", "half", "--window", "5"], "must be a number"),
        (["--theta", "0.5", "--window", "5000"], "is longer than places, which has"),
        (["--theta", "0.5", "--window", "20", "--at", "7"], "no full window of 20 snapshots at snapshot 7"),
        (["--theta", "0.5", "--window", "20", "--over", "3..7"], "no full window of 20 snapshots up to snapshot 7"),
        (["--theta", "0.5", "--window", "2", "--over", "7..3"], "is after"),
        (["--theta", "0.5", "--window", "2", "--over", "7"], "write A..B"),
        (["--theta", "0.5", "--window", "2", "--over", "7..9", "--at", "8"], "not both"),
        (["--theta", "0.5", "--window", "2", "--at", "9999"], "has no snapshot at 9999"),
        (["--theta", "0.5", "--window", "2", "--plot", "x.bmp"], "end the name in .svg"),
    ],
)
def test_a_question_that_cannot_be_answered_is_explained(
    places: Home, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    as_settings(monkeypatch, places)
    answer = places.command("frequent", "places", *arguments)
    assert answer.code == 1
    assert words in answer.err
    assert answer.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--theta", "0.5"],
        ["--window", "5"],
        ["--theta", "0.5", "--window", "few"],
        ["--theta", "0.5", "--window", "0"],
    ],
)
def test_wrong_use_is_told_from_a_wrong_value(
    places: Home, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    as_settings(monkeypatch, places)
    answer = places.command("frequent", "places", *arguments)
    assert answer.code == 2 and answer.out == "" and "Traceback" not in answer.err


@pytest.mark.thorough
@pytest.mark.skipif(not (SHARED / "nba").is_dir(), reason="the real archives are not at hand")
def test_a_real_season(home: Home, spark: SparkSession) -> None:
    """Counted again at every snapshot of the season, from its skylines by definition."""
    home.copy_raw("nba", [SHARED / "nba" / f"player_box_{season}.parquet" for season in ("2009", "2010")])
    given = home.workshop("nba")
    queries = [("0.8", 1000), ("1", 1000), ("0.5", 2500), ("0.9", 100)]
    asked = [asked_query(*query) for query in queries]
    workshop = replace(given, definition=given.definition.model_copy(update={"frequent": asked}))
    steps = ["ingest", "derive", "skyline", "frequent"]
    assert [outcome.refused for outcome in run_steps(workshop, Selection(), steps)] == [{}] * len(steps)
    timeline = [row["period"] for row in home.sql("select period from nba.snapshots order by snapshot")]
    answers: list[set[str]] = [set() for _ in timeline]
    for row in home.sql("select object, first_snapshot, last_snapshot from nba.skyline"):
        for at in range(row["first_snapshot"], row["last_snapshot"] + 1):
            answers[at].add(row["object"])
    wanted = oracle.frequent_rows(answers, timeline, queries)
    found = home.sql("select *, theta::varchar as share from nba.frequent")
    assert {row[1:3] for row in wanted} == {(Fraction(theta), window) for theta, window in queries}
    assert len({row[3] for row in wanted}) > 5
    assert wanted == sorted((row["period"], Fraction(row.pop("share")), *list(row.values())[2:]) for row in found)

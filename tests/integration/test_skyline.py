"""The skyline step against brute force over the whole timeline: any parts, any order; its checks; questions."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Home, as_frame, as_settings
from oracle import skylines as oracle
from places import PERIODS, Rows, rows, truth
from skyarchive.pipeline.refreshing import refresh
from skyarchive.pipeline.running import run_step
from skyarchive.steps.skyline import body as skylining
from skyarchive.steps.skyline.checks import judge
from skyarchive.steps.skyline.questions import SkylineQuestions


def expected_rows(answers: list[set[str]], timeline: Rows) -> Rows:
    """The table as the definition of its columns gives it."""
    found = []
    for period in PERIODS:
        own = [row for row in timeline if row["period"] == period]
        first, last = own[0]["snapshot"], own[-1]["snapshot"]
        for item, begin, end in named_intervals(answers[first : last + 1]):
            found.append({
                "period": period, "object": item, "first_snapshot": begin + first, "last_snapshot": end + first,
                "first_time": own[begin]["time"], "last_time": own[end]["time"],
                "continued_from": begin == 0 and first > 0 and item in answers[first - 1],
                "continues_into": end + first == last,
            })  # fmt: skip
    return sorted(found, key=lambda row: (row["period"], row["object"], row["first_snapshot"]))


def named_intervals(answers: list[set[str]]) -> list[tuple[str, int, int]]:
    names = sorted(set().union(*answers))
    numbered = [{names.index(item) for item in members} for members in answers]
    return [(names[item], first, last) for item, first, last in oracle.intervals(numbered)]


def skyline_table(home: Home) -> Rows:
    return rows(home, "select * from places.skyline order by period, object, first_snapshot")


def test_the_table_is_what_the_definition_gives(places: Home) -> None:
    answers, timeline = truth(places)
    wanted = expected_rows(answers, timeline)
    assert skyline_table(places) == wanted
    # The data has what makes it hard.
    assert any(row["continued_from"] for row in wanted) and any(not members for members in answers[1:])
    assert max(len(members) for members in answers) > 3


def test_reigns_are_stitched_over_periods(places: Home) -> None:
    answers, _ = truth(places)
    found = rows(places, "select object, first_snapshot, last_snapshot from places.reigns order by all")
    assert [tuple(row.values()) for row in found] == named_intervals(answers)


@pytest.mark.parametrize("size", [1, 7])
def test_the_number_of_parts_never_changes_the_answer(places: Home, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(skylining, "_MOVES_PER_OBJECT", 0)
    workshop = replace(places.workshop("places"), settings=replace(places.settings, part_updates=size))
    before = skyline_table(places)
    outcome = run_step(workshop, "skyline", PERIODS)
    assert (outcome.published, outcome.refused) == (PERIODS, {})
    assert skyline_table(places) == before
    newest = "qualify started = max(started) over ()"
    details = rows(places, f"select details from places.runs where step = 'skyline' {newest}")
    assert max(json.loads(row["details"])["parts"] for row in details) > 1


def test_periods_apart_and_in_any_order_give_the_same(places: Home) -> None:
    before = skyline_table(places)
    for period in ("00002", "00000"):
        assert run_step(places.workshop("places"), "skyline", [period], method="naive").published == [period]
    assert skyline_table(places) == before
    assert refresh(places.workshop("places")) == []


def test_a_period_without_an_update_log_is_refused(places: Home) -> None:
    outcome = run_step(places.workshop("places"), "skyline", ["00009"])
    assert outcome.published == []
    assert "is not derived" in outcome.refused["00009"]


def _judged(home: Home, change: Any) -> dict[str, Any]:
    """The figures of a period after a change to its right intervals."""
    workshop = home.workshop("places")
    period, before = PERIODS[1], PERIODS[0]
    right = [row for row in skyline_table(home) if row["period"] == period]
    found = as_frame(workshop, "skyline", change([dict(row) for row in right]))
    versions = workshop.ledger().versions
    tables = workshop.lake.readings(
        "places", {table: versions[table] for table in ("updates", "carry", "snapshots")}, [before, period]
    )
    figures = judge(workshop.definition, tables, {period: before}, found).rows[0]
    columns = ("period", "overlapping", "outside", "uncovered", "not_alive", "audited", "wrong")
    return dict(zip(columns, figures, strict=True))


def _split(intervals: Rows) -> Rows:
    long = next(row for row in intervals if row["last_snapshot"] > row["first_snapshot"])
    tail = long | {"first_snapshot": long["last_snapshot"], "continued_from": False}
    long |= {"last_snapshot": long["last_snapshot"] - 1, "continues_into": False}
    return [*intervals, tail]


def _outliving(intervals: Rows) -> Rows:
    return [row | {"last_snapshot": row["last_snapshot"] + 100} for row in intervals]


@pytest.mark.parametrize(
    ("figure", "change"),
    [
        ("overlapping", _split),
        ("outside", _outliving),
        ("uncovered", lambda intervals: []),
        ("not_alive", lambda intervals: [intervals[0] | {"object": "p99"}, *intervals[1:]]),
        ("wrong", lambda intervals: [row for row in intervals if not row["continues_into"]]),
    ],
)
def test_each_check_can_fail(places: Home, figure: str, change: Any) -> None:
    right = _judged(places, lambda intervals: intervals)
    assert right["audited"] > 0
    assert [right[name] for name in ("overlapping", "outside", "uncovered", "not_alive", "wrong")] == [0] * 5
    assert _judged(places, change)[figure] > 0


def test_a_wrong_answer_is_never_published(places: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    before = skyline_table(places)
    right = skylining.membership
    monkeypatch.setattr(skylining, "membership", lambda *rest: right(*rest).where("first % 2 = 0"))
    outcome = run_step(places.workshop("places"), "skyline", ["00001"])
    assert outcome.published == []
    assert "has a skyline" in outcome.refused["00001"] or "brute force" in outcome.refused["00001"]
    assert skyline_table(places) == before
    kept = rows(places, "select count(*) n from places.quality where table_name = 'skyline' and not success")
    assert kept[0]["n"] > 0


def test_questions_at_every_snapshot(places: Home) -> None:
    answers, timeline = truth(places)
    ask = SkylineQuestions(places.settings, places.workshop("places").definition)
    reigns = named_intervals(answers)
    for at in range(0, len(timeline), 3):
        found = ask.skyline(str(at))
        assert {row[0] for row in found.rows} == answers[at]
        since = {item: first for item, first, last in reigns if first <= at <= last}
        assert {row[0]: row[4] for row in found.rows} == since
        assert {row[0]: row[4] for row in ask.skyline(timeline[at]["time"].isoformat()).rows} == since


def test_why_names_exactly_those_who_beat_it(places: Home) -> None:
    answers, _ = truth(places)
    ask = SkylineQuestions(places.settings, places.workshop("places").definition)
    beaten = unbeaten = 0
    for at in (5, 20, 33, 50):
        positions = ask._positions(ask.moment(str(at)))
        where = dict(zip(positions.objects, positions.costs.tolist(), strict=True))
        for item, point in where.items():
            found = ask.why(item, str(at))
            wanted = {
                other for other, theirs in where.items()
                if all(x <= y for x, y in zip(theirs, point, strict=True)) and theirs != point
            }  # fmt: skip
            at_column = {name: n for n, name in enumerate(found.columns)}
            dominators = {row[at_column["dominator"]] for row in found.rows}
            if wanted:
                beaten += 1
                assert dominators == wanted and item not in answers[at]
                for row in found.rows:
                    ahead = [row[at_column[f"{name}_ahead"]] for name in ("cost", "worth")]
                    assert min(ahead) >= 0 and max(ahead) > 0
            else:
                unbeaten += 1
                assert dominators == {None} and item in answers[at]
                assert found.rows[0][at_column["rival"]] in set(where) - {item}
    assert beaten > 3 and unbeaten > 3


def test_changes_lead_from_one_answer_to_the_other(places: Home) -> None:
    answers, timeline = truth(places)
    ask = SkylineQuestions(places.settings, places.workshop("places").definition)
    for first, last in ((0, len(timeline) - 1), (3, 25), (12, 13), (20, 20)):
        members = set(answers[first])
        for row in ask.changes(str(first), str(last)).rows:
            snapshot, change, item, reason, by = row[0], row[3], row[4], row[6], row[7]
            if change == "entered":
                assert item in answers[snapshot] and item not in answers[snapshot - 1]
                members.add(item)
                continue
            assert item in answers[snapshot - 1] and item not in answers[snapshot]
            members.discard(item)
            alive = item in ask._positions(ask.moment(str(snapshot))).objects
            assert reason == ("beaten" if alive else "gone")
            if alive:
                assert by in answers[snapshot]
                assert by in {row[2] for row in ask.why(item, str(snapshot)).rows}
            else:
                assert by is None
        assert members == answers[last]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["skyline", "--at", "999"], "has no snapshot at 999: it has 0 to"),
        (["skyline", "--at", "yesterday"], "neither a snapshot number nor a time"),
        (["why", "p77", "--at", "5"], "has no object 'p77'"),
        (["why", "p", "--at", "5"], "give the object"),
        (["why", "p1", "--at", "EMPTY"], "is not alive at snapshot"),
        (["changes", "--from", "9", "--to", "3"], "is after"),
        (["reigns", "--plot", "x.bmp"], "end the name in .svg"),
    ],
)
def test_a_question_that_cannot_be_answered_is_explained(
    places: Home, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    as_settings(monkeypatch, places)
    answers, _ = truth(places)
    empty = next(at for at, members in enumerate(answers) if at > 0 and not members)
    command, *rest = (str(empty) if argument == "EMPTY" else argument for argument in arguments)
    answer = places.command(command, "places", *rest)
    assert answer.code == 1
    assert words in answer.err
    assert answer.out == ""


def test_the_commands_print_one_list_and_draw(places: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    as_settings(monkeypatch, places)
    answers, _ = truth(places)
    found = places.command("skyline", "places", "--at", "10", "--format", "json")
    assert {row["object"] for row in found.rows} == answers[10]
    last = places.command("skyline", "places", "--format", "json")
    assert {row["object"] for row in last.rows} == answers[-1]
    assert f"at snapshot {len(answers) - 1} " in last.err
    picture = tmp_path / "reigns.svg"
    longest = places.command("reigns", "places", "--top", "4", "--plot", str(picture), "--format", "json").rows
    assert [row["snapshots"] for row in longest] == sorted(
        (last - first + 1 for _, first, last in named_intervals(answers)), reverse=True
    )[:4]
    assert "<svg" in picture.read_text()
    beaten = places.command("why", "places", "p1", "--at", "10", "--format", "json").rows
    assert all(row["object"] == "p1" and "dominator" in row for row in beaten)

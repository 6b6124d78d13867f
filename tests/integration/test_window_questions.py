"""`skyarchive window`: what it answers is what the definition gives, and it needs no Spark."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from conftest import Answer, Home, as_settings
from oracle.windows_table import Row
from shifts import YEARS, records, truth
from skyarchive.steps.windows.following import new_changes
from skyarchive.steps.windows.questions import WindowQuestions

BEGIN = datetime(2001, 1, 1, tzinfo=UTC)
WIDTH = {"recent": 20, "while": 25 * 10**6}


@pytest.fixture
def home(all_shifts: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    as_settings(monkeypatch, all_shifts)
    return all_shifts


@pytest.fixture(scope="module")
def stays(all_shifts: Home) -> list[Row]:
    """Every stay once, as the last period that it touches tells it."""
    last: dict[Any, Row] = {}
    for row in truth(all_shifts.raw / "shifts"):
        last[row["query"], row["file"], row["row"]] = row
    return list(last.values())


def ask(home: Home, query: str, *arguments: str) -> Answer:
    answer = home.command("window", "shifts", "--query", query, *arguments, "--format", "json")
    assert answer.code == 0, answer.err
    return answer


def of_query(home: Home, query: str) -> list[dict[str, Any]]:
    """The query's records in the order of their numbers."""
    found = [row for row in records(home.raw / "shifts") if query == "recent" or row["object"] != "s3"]
    return sorted(found, key=lambda row: (row["period"], row["time"], row["file"], row["row"]))


def when(microseconds: int) -> str:
    return (BEGIN + timedelta(microseconds=microseconds)).replace(tzinfo=None).isoformat()


def keys(rows: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return sorted((row["file"], row["row"]) for row in rows)


def test_who_is_a_member_at_a_record(home: Home, stays: list[Row]) -> None:
    for query in WIDTH:
        known = of_query(home, query)
        for number in (0, 1, 17, len(known) // 2, len(known) - 2, len(known) - 1):
            moment = number if query == "recent" else known[number]["time"]
            begin, end = ("entered_at", "left_at") if query == "recent" else ("entered", "left")
            wanted = [
                row for row in stays
                if row["query"] == query and row[begin] <= moment and (row[end] is None or moment < row[end])
            ]  # fmt: skip
            answer = ask(home, query, "--at", str(number))
            assert keys(answer.rows) == keys(wanted) and wanted
            told = {(row["file"], row["row"]): row for row in answer.rows}
            for row in wanted:
                own = told[row["file"], row["row"]]
                assert (own["object"], own["because"]) == (row["object"], row["entered_because"])
                assert (own["until_because"], own["by_file"], own["by_row"]) == (
                    row["left_because"], row["by_file"], row["by_row"],
                )  # fmt: skip
                assert own["since"] == when(row["entered"]) + "Z" and own["since_number"] == row["entered_at"]
                assert own["until"] == (row["left"] and when(row["left"]) + "Z")


def test_who_is_a_member_at_a_time_between_records(home: Home, stays: list[Row]) -> None:
    for query in WIDTH:
        last = of_query(home, query)[-1]["time"]
        ends = sorted({row["left"] for row in stays if row["query"] == query and row["left"] is not None})
        for moment in (0, ends[3], ends[3] - 1, ends[len(ends) // 2], ends[-1] - 1, last, last + 10**9):
            at = min(moment, last)
            wanted = [
                row for row in stays
                if row["query"] == query and row["entered"] <= at and (row["left"] is None or at < row["left"])
            ]  # fmt: skip
            answer = ask(home, query, "--at", when(moment))
            assert keys(answer.rows) == keys(wanted)
            assert ("No record has come since" in answer.err) == (moment > last)


def test_what_changed(home: Home, stays: list[Row]) -> None:
    for query in WIDTH:
        own = [row for row in stays if row["query"] == query]
        changes = [(1, row["entered"], row["entered_at"], row["file"], row["row"]) for row in own]
        changes += [
            (-1, row["left"], row["left_at"], row["file"], row["row"]) for row in own if row["left"] is not None
        ]
        everything = ask(home, query, "--over", "..").rows
        told = [(row["change"], row["time"], row["number"], row["file"], row["row"]) for row in everything]
        assert sorted(told) == sorted((change, when(time) + "Z", *rest) for change, time, *rest in changes)
        begin, end = sorted(time for _, time, *_ in changes)[20:90:69]
        some = ask(home, query, "--over", f"{when(begin)}..{when(end)}").rows
        assert len(some) == sum(begin < time <= end for _, time, *_ in changes) > 0
        view = home.sql(f"select * from shifts.window_changes where query = '{query}'")
        assert sorted((row["change"], row["time"], row["number"], row["file"], row["row"]) for row in view) == sorted(
            told
        )
    numbers = ask(home, "recent", "--over", "30..60").rows
    assert {row["number"] for row in numbers} <= {*range(31, 61)} and numbers


def test_the_longest_stays(home: Home, stays: list[Row]) -> None:
    last = of_query(home, "while")[-1]["time"]
    lengths = sorted(((row["left"] or last) - row["entered"] for row in stays if row["query"] == "while"), reverse=True)
    found = ask(home, "while", "--top", "7").rows
    assert [round(row["days"] * 86400e6) for row in found] == lengths[:7]
    assert max(row["records"] for row in ask(home, "recent", "--top", "1").rows) == 20
    stitched = home.sql("select query, count(*) as n from shifts.window_skyline group by query")
    assert {row["query"]: row["n"] for row in stitched} == {
        query: sum(row["query"] == query for row in stays) for query in WIDTH
    }


def test_what_became_of_an_object_s_records(home: Home, stays: list[Row]) -> None:
    for query, width in WIDTH.items():
        known = of_query(home, query)
        members = {(row["file"], row["row"]): row for row in stays if row["query"] == query}

        def moment(number: int, query: str = query, known: list[dict[str, Any]] = known) -> int:
            return number if query == "recent" else int(known[number]["time"])

        def beats(one: dict[str, Any], other: dict[str, Any], query: str = query) -> bool:
            a, b = (one["cost"], -one["half"]), (other["cost"], -other["half"])
            same_group = query == "recent" or one["town"] == other["town"]
            return same_group and a[0] <= b[0] and a[1] <= b[1] and a != b

        for item in ("s0", "s2"):
            rows = ask(home, query, "--object", item).rows
            numbers = [number for number, row in enumerate(known) if row["object"] == item]
            assert [(row["file"], row["row"]) for row in rows] == [(known[n]["file"], known[n]["row"]) for n in numbers]
            for number, row in zip(numbers, rows, strict=True):
                own = known[number]
                assert (row["since"] is not None) == ((row["file"], row["row"]) in members)
                older = [n for n in range(number) if beats(known[n], own) and moment(n) + width > moment(number)]
                younger = [
                    n for n in range(number + 1, len(known))
                    if beats(known[n], own) and moment(n) < moment(number) + width
                ]  # fmt: skip
                assert row["kept_out_by_row"] == (known[older[-1]]["row"] if older else None)
                assert row["beaten_by_row"] == (known[younger[0]]["row"] if younger else None)
    answer = home.command("window", "shifts", "--query", "while", "--object", "s3")
    assert answer.code == 1 and "no record of 's3'" in answer.err


def test_a_picture_and_the_other_formats(home: Home, tmp_path: Path) -> None:
    for kind in ("svg", "png"):
        answer = home.command("window", "shifts", "--query", "while", "--plot", str(tmp_path / f"p.{kind}"))
        assert answer.code == 0 and (tmp_path / f"p.{kind}").stat().st_size > 5000
    answer = home.command("window", "shifts", "--query", "while", "--format", "csv")
    assert answer.out.startswith("group_key,object,name,cost,half,since,since_number,because")
    assert home.command("window", "shifts", "--query", "while", "--plot", str(tmp_path / "p.txt")).code == 1


def test_changes_are_told_as_periods_are_published(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    definition = home.workshop("shifts").definition
    everything = WindowQuestions(home.settings, definition, "while")
    before = [extent for extent in everything.extents if extent.period < "2005"]
    lines: list[str] = []

    class Seen(WindowQuestions):
        looks = 0

        @property
        def extents(self) -> Any:
            Seen.looks += 1
            return before if Seen.looks <= 2 else everything.extents

    monkeypatch.setattr("skyarchive.steps.windows.following.WindowQuestions", Seen)
    changes = new_changes(home.settings, definition, "while", 0.01)
    wanted = everything.changes_after("2004").rows
    lines = [next(changes) for _ in wanted]
    assert [json.loads(line)["row"] for line in lines] == [row[-1] for row in wanted] and wanted


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--query", "never"], "has no query 'never'; its queries are recent, while"),
        ([], "has several queries; give one with --query: recent, while"),
        (["--query", "while", "--at", "1999-05-01"], "has no record at 1999-05-01: the query while has records 0 to"),
        (["--query", "while", "--at", "99999"], "has no record 99999: the query while has records 0 to"),
        (["--query", "while", "--at", "soon"], "'soon' is neither a record's number nor a time"),
        (["--query", "while", "--over", "5"], "--over 5: write A..B"),
        (["--query", "recent", "--over", "9..5"], "--over 9..5: record 9 is after record 5"),
        (["--query", "while", "--at", "5", "--top", "3"], "Give --at or --top, not both."),
        (["--query", "while", "--object", "nobody"], "has no record of 'nobody'"),
    ],
)
def test_what_cannot_be_answered_is_told(home: Home, arguments: list[str], words: str) -> None:
    answer = home.command("window", "shifts", *arguments)
    assert answer.code == 1 and words in answer.err, answer.err
    assert answer.out == "" and "Traceback" not in answer.err


def test_no_question_needs_spark(home: Home) -> None:
    for arguments in (["--at", "50"], ["--top", "3"], ["--over", "5..50"], ["--object", "s1"]):
        code = (
            "import sys; from skyarchive.cli import main\n"
            f"sys.argv = ['skyarchive', 'window', 'shifts', '--query', 'while', *{arguments!r}]\n"
            "try: main()\nexcept SystemExit as end: assert not end.code\n"
            "assert 'skyarchive.pipeline.session' not in sys.modules"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, timeout=120)
        assert done.returncode == 0, done.stderr


def test_all_years_are_there(stays: list[Row]) -> None:
    assert {row["period"] for row in stays} == {*YEARS} - {"2003"}

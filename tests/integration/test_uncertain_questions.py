"""`skyarchive uncertain`: what it answers is what the definition gives, and it needs no Spark."""

import json
from datetime import UTC, datetime, timedelta
from math import isclose, prod
from pathlib import Path
from typing import Any

import pytest

from conftest import Answer, Home, as_settings
from doubts import QUERIES, known, left_out, truth
from oracle.uncertain_table import likely
from oracle.windows_table import Telling

BEGIN = datetime(2001, 1, 1, tzinfo=UTC)


@pytest.fixture
def home(all_doubts: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    as_settings(monkeypatch, all_doubts)
    return all_doubts


def ask(home: Home, query: str, *arguments: str) -> Answer:
    answer = home.command("uncertain", "doubts", "--query", query, *arguments, "--format", "json")
    assert answer.code == 0, answer.err
    return answer


def living(home: Home, query: str, moment: int) -> tuple[Telling, dict[int, float]]:
    own = known(home.raw / "doubts", query)
    told = Telling(QUERIES[query][0], [record for record, _ in own])
    return told, likely(told, [chance for _, chance in own], moment)


def when(microseconds: int) -> str:
    return (BEGIN + timedelta(microseconds=microseconds)).replace(tzinfo=None).isoformat()


def test_who_is_probable_at_a_moment(home: Home) -> None:
    for query, kept, other in (("recent", "0.05", "0.111"), ("while", "0.4", "0.2")):
        count = len(known(home.raw / "doubts", query))
        for number in (0, 1, 30, count // 2, count - 1):
            told, _ = living(home, query, 0)
            moment = told.moment_of(number)
            told, chances = living(home, query, moment)
            for threshold in (kept, other):
                wanted = {(told.records[n].file, told.records[n].row): chance for n, chance in chances.items()
                          if chance >= float(threshold) * (1 - 1e-9)}  # fmt: skip
                answer = ask(home, query, "--at", str(number), "--threshold", threshold, "--top", "99")
                found = {(row["file"], row["row"]): row for row in answer.rows}
                assert found.keys() == wanted.keys() and found
                assert all(isclose(found[key]["probability"], wanted[key], rel_tol=1e-9) for key in wanted)
                ordered = [row["probability"] for row in answer.rows]
                assert ordered == sorted(ordered, reverse=True)
                assert ("since" in answer.rows[0]) == (threshold == kept)
            stays = [row for row in truth(home.raw / "doubts") if row["query"] == query and not row["continues_into"]]
            ended = {(row["threshold"], row["file"], row["row"], row["entered_at"]): row for row in stays}
            for row in ask(home, query, "--at", str(number), "--threshold", kept, "--top", "99").rows:
                end = ended.get((float(kept), row["file"], row["row"], row["since_number"]))
                assert row["until"] == (end and when(end["left"]) + "Z")
                assert row["until_because"] == (end and end["left_because"])


def test_what_is_shown_and_told(home: Home) -> None:
    own = known(home.raw / "doubts", "recent")
    several = (n for n in range(len(own)) if sum(it >= 0.05 for it in living(home, "recent", n)[1].values()) > 3)
    number = str(next(several))
    answer = ask(home, "recent", "--at", number)
    assert len(answer.rows) == 3 and "the 3 most probable are shown" in answer.err
    assert f"at least 0.05 at record {number}" in answer.err
    year = own[int(number)][0].period
    assert f"{left_out(home.raw / 'doubts', year)} records of {year} took no part" in answer.err
    assert len(ask(home, "recent", "--at", number, "--top", "1").rows) == 1
    late = ask(home, "while", "--at", "2009-01-01")
    assert "No record has come since" in late.err


def test_between_records_what_has_expired_is_out(home: Home) -> None:
    own = [record for record, _ in known(home.raw / "doubts", "while")]
    for after in (own[10].time, own[40].time, own[90].time):
        moment = after + 25 * 10**6 - 1
        told, chances = living(home, "while", min(moment, own[-1].time))
        wanted = {(told.records[n].file, told.records[n].row) for n, chance in chances.items() if chance >= 0.4 - 1e-9}
        rows = ask(home, "while", "--at", when(moment), "--top", "99").rows
        assert {(row["file"], row["row"]) for row in rows} == wanted


def test_the_last_records_at_a_time(home: Home) -> None:
    own = [record for record, _ in known(home.raw / "doubts", "recent")]
    shared = [record.time for n, record in enumerate(own[1:]) if own[n].time == record.time]
    for time in (shared[0], shared[len(shared) // 2], own[70].time + 1):
        last = max(number for number, record in enumerate(own) if record.time <= time)
        told, chances = living(home, "recent", last)
        wanted = {(told.records[n].file, told.records[n].row) for n, it in chances.items() if it >= 0.11}
        rows = ask(home, "recent", "--at", when(time), "--threshold", "0.11", "--top", "99").rows
        assert {(row["file"], row["row"]) for row in rows} == wanted


def test_what_changed(home: Home) -> None:
    own = [row for row in truth(home.raw / "doubts") if row["query"] == "recent" and row["threshold"] == 0.2]
    changes = [(1, row["entered_at"], row["file"], row["row"]) for row in own if not row["continued_from"]]
    changes += [(-1, row["left_at"], row["file"], row["row"]) for row in own if not row["continues_into"]]
    rows = ask(home, "recent", "--threshold", "0.2", "--over", "..").rows
    assert sorted((row["change"], row["number"], row["file"], row["row"]) for row in rows) == sorted(changes)
    some = ask(home, "recent", "--threshold", "0.2", "--over", "30..60").rows
    assert len(some) == sum(30 < change[1] <= 60 for change in changes) > 0
    view = home.sql("select * from doubts.uncertain_changes where query = 'recent' and threshold = 0.2")
    assert sorted((row["change"], row["number"], row["file"], row["row"]) for row in view) == sorted(changes)


@pytest.mark.parametrize(("query", "number"), [("recent", 150), ("while", 60), ("while", 100)])
def test_why(home: Home, query: str, number: int) -> None:
    moment = living(home, query, 0)[0].moment_of(number)
    told, chances = living(home, query, moment)
    own = [chance for _, chance in known(home.raw / "doubts", query)]
    for at, probability in chances.items():
        record = told.records[at]
        beating = [other for other in told.alive(moment) if told.beats(other, at)]
        rows = ask(home, query, "--at", str(number), "--why", f"{record.file}:{record.row}").rows
        first = rows[0]
        assert isclose(first["own"], own[at], rel_tol=1e-12)
        assert isclose(first["probability"], probability, rel_tol=1e-9, abs_tol=1e-15)
        assert isclose(first["own"] * first["older"] * first["younger"], probability, rel_tol=1e-9, abs_tol=1e-15)
        costs = sorted((own[other] for other in beating), reverse=True)[:3]
        assert [row["own"] for row in rows[1:]] == pytest.approx(costs)
        older = {(told.records[other].file, told.records[other].row) for other in beating if other < at}
        assert all((row["what"] == "older") == ((row["file"], row["row"]) in older) for row in rows[1:])
        assert isclose(first["older"], prod(1 - own[other] for other in beating if other < at), abs_tol=1e-12)


def test_why_of_an_object_is_told_of_its_most_probable_record(home: Home) -> None:
    told, chances = living(home, "recent", 150)
    best = max(chances, key=lambda n: (told.records[n].object == "s1", chances[n]))
    [row, *_] = ask(home, "recent", "--at", "150", "--why", "s1").rows
    assert isclose(row["probability"], chances[best], rel_tol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--query", "recent", "--threshold", "0"], "--threshold 0: must be above 0 and at most 1."),
        (["--query", "recent", "--threshold", "1.5"], "--threshold 1.5: must be above 0 and at most 1."),
        (["--query", "recent", "--threshold", "many"], "--threshold many: must be a number above 0, at most 1."),
        (["--query", "recent", "--threshold", "0.3", "--over", ".."], "changes are kept for 0.2, 0.05, 0.9"),
        (["--query", "recent", "--why", "nobody"], "has no record of 'nobody' that counts at"),
        (["--query", "other"], "doubts has no query 'other'; its queries are recent, while."),
        ([], "doubts has several queries; give one with --query: recent, while."),
        (["--query", "recent", "--at", "1990-01-01"], "doubts has no record at 1990-01-01"),
        (["--query", "recent", "--at", "1", "--over", ".."], "Give --over or --at, not both."),
        (["--query", "recent", "--why", "s1", "--over", ".."], "Give --over or --why, not both."),
    ],
)
def test_what_cannot_be_asked_is_told(home: Home, arguments: list[str], words: str) -> None:
    answer = home.command("uncertain", "doubts", *arguments)
    assert answer.code == 1 and words in answer.err, answer.err
    assert answer.out == "" and answer.err.count("\n") == 1


def test_a_picture(home: Home, tmp_path: Path) -> None:
    for query, more in (("recent", []), ("while", ["--over", "40..120"])):
        path = tmp_path / f"{query}.svg"
        ask(home, query, "--plot", str(path), *more)
        assert path.stat().st_size > 5000


def test_what_spark_alone_can_tell(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skyarchive.arrivals.raw_records.in_duckdb", lambda text, columns: None)
    for number in range(20, 36):
        told, chances = living(home, "recent", number)
        wanted = {(told.records[n].file, told.records[n].row) for n, it in chances.items() if it >= 0.05 - 1e-9}
        rows: list[dict[str, Any]] = ask(home, "recent", "--at", str(number), "--top", "99").rows
        assert {(row["file"], row["row"]) for row in rows} == wanted
        assert all(row["probability"] is None and row["since"] for row in rows)
    answer = home.command("uncertain", "doubts", "--query", "recent", "--at", "150", "--threshold", "0.3")
    assert answer.code == 1 and "can only be told by Spark" in answer.err
    assert json.dumps(rows)

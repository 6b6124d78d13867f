"""The uncertain step: every period's stays are what the definition gives, however the periods are run."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from conftest import Home, as_settings
from doubts import DOUBTS, left_out, truth
from shifts import NAMES, YEARS, Rows, read_rows, write_rows
from skyarchive.arrivals import body
from skyarchive.arrivals.ordered import Asked
from skyarchive.arrivals.records import query_records
from skyarchive.pipeline.refreshing import refresh
from skyarchive.pipeline.running import run_step
from skyarchive.pipeline.status import period_statuses
from skyarchive.steps.uncertain.checks import LikelyStays
from uncertain_archives import assert_same

TOLD = (
    'period, query, threshold, group_key, file, "row", object, arrived, entered, "left", entered_at, left_at, '
    "probability, greatest, entered_because, left_because, continued_from, continues_into"
)
BEGIN = datetime(2001, 1, 1, tzinfo=UTC)


@pytest.fixture
def doubts(all_doubts: Home, tmp_path: Path) -> Home:
    """A copy of it for one test."""
    shutil.copytree(all_doubts.folder, tmp_path, dirs_exist_ok=True)
    settings = {name: str(tmp_path / name) for name in ("warehouse", "raw")}
    return Home(tmp_path, replace(all_doubts.settings, archives=str(tmp_path / "definitions"), **settings))


def table(home: Home) -> Rows:
    """The published table as the oracle tells it."""
    answer = home.workshop("doubts").lake.query(f"select {TOLD} from doubts.uncertain")
    found = []
    for row in (dict(zip(answer.columns, values, strict=True)) for values in answer.rows):
        times = {name: row[name] and _since(row[name]) for name in ("arrived", "entered", "left")}
        found.append(row | times | {"threshold": float(row["threshold"])})
    return found


def _since(time: datetime) -> int:
    return round((time - BEGIN).total_seconds() * 1e6)


def done(home: Home) -> list[str]:
    outcomes = refresh(home.workshop("doubts"))
    assert not any(outcome.refused for outcome in outcomes)
    return [period for outcome in outcomes if outcome.step == "uncertain" for period in outcome.published]


def change(home: Home, row: int, **values: Any) -> None:
    """Of the first year."""
    path = home.raw / "doubts" / "shifts2001.csv"
    found = read_rows(path)
    for name, value in values.items():
        found[row - 1][NAMES.index(name)] = str(value)
    write_rows(path, found)


def test_a_range_gives_the_table_by_definition(doubts: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = truth(doubts.raw / "doubts")
    assert_same(table(doubts), wanted)
    assert {row["entered_because"] for row in wanted} == {"arrived", "freed"}
    assert {row["left_because"] for row in wanted} == {"expired", "doubted", None}
    assert {row["period"] for row in wanted} == {*YEARS} - {"2003"}
    as_settings(monkeypatch, doubts)
    told = {row["period"]: row for row in doubts.command("status", "doubts", "--format", "json").rows}
    for year in ("2001", "2004"):
        assert told[year]["no_probability"] == left_out(doubts.raw / "doubts", year) > 0


def test_a_change_is_followed_as_far_as_it_matters(doubts: Home) -> None:
    assert run_step(doubts.workshop("doubts"), "uncertain", ["2004"]).published == ["2004"]
    assert_same(table(doubts), truth(doubts.raw / "doubts"))
    stays = [row for row in truth(doubts.raw / "doubts") if row["period"] == "2001" and row["query"] == "recent"]
    last, first = max(stays, key=lambda row: row["arrived"]), min(stays, key=lambda row: row["arrived"])
    change(doubts, last["row"], made=5, cost=-5)  # certain, and the last of the year: the next one looks into it
    assert done(doubts) == ["2001", "2002"]
    assert_same(table(doubts), truth(doubts.raw / "doubts"))
    change(doubts, first["row"], made=0)  # takes no part any more: the others are numbered anew
    assert done(doubts) == YEARS
    assert_same(table(doubts), truth(doubts.raw / "doubts"))
    path = doubts.folder / "definitions" / "doubts.yaml"
    path.write_text(DOUBTS.replace("top: 3", "top: 4"))  # what is shown is no matter of the table
    assert {it.steps["uncertain"].state for it in _statuses(doubts)} == {"current"}
    path.write_text(DOUBTS.replace("probability: made / 5", "probability: made / 6"))
    assert {it.steps["uncertain"].why for it in _statuses(doubts)} == {
        "the archive's definition changed since uncertain"
    }


def _statuses(home: Home) -> list[Any]:
    return list(period_statuses(home.settings, home.workshop("doubts").definition))


def test_each_check_can_fail(doubts: Home) -> None:
    workshop = doubts.workshop("doubts")
    definition, versions = workshop.definition, workshop.ledger().versions
    raw = workshop.tables.read("raw", versions["raw"], ["2001", "2002"]).where(definition.counts)
    records = query_records(raw, definition, definition.uncertain, None)
    published = workshop.tables.read("uncertain", versions["uncertain"], ["2001", "2002"]).persist()
    names = workshop.tables.contract("uncertain").columns
    right = [row.asDict() for row in published.where("period = '2002'").collect()]
    figures = ("repeated", "_strangers", "_wrong_starts")

    def told(rows: Rows) -> tuple[int, ...]:
        found = workshop.spark.createDataFrame([tuple(row[name] for name in names) for row in rows], published.schema)
        expected = [("2002", query.name) for query in definition.uncertain]
        following = {("2001", name): "2002" for _, name in expected}
        stays = LikelyStays(found, published.where("period = '2001'"), records, following, [],
                            Asked.of(definition.uncertain), expected, ["2002"])  # fmt: skip
        return tuple(getattr(stays, figure)().get("2002", 0) for figure in figures)

    assert told(right) == (0, 0, 0)
    last = next(row for row in right if row["continues_into"])
    ended = next(row for row in right if not row["continues_into"] and not row["continued_from"])
    begun = next(row for row in right if row["continued_from"])
    assert told([*right, last])[0] == 1
    assert told([*right, ended | {"entered_at": ended["left_at"] - 1}])[0] == 1
    assert told([*right, ended | {"row": 9999}])[1] == 1
    assert told([row for row in right if row is not begun])[2] == 1
    assert told([row | {"entered": BEGIN} if row is begun else row for row in right])[2] == 2
    published.unpersist()


def test_a_wrong_answer_is_never_published(doubts: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    before = table(doubts)
    right = body._computed
    monkeypatch.setattr(body, "_computed", lambda *rest: right(*rest).where("row % 3 <> 0 or row is null"))
    outcome = run_step(doubts.workshop("doubts"), "uncertain", ["2002"])
    assert outcome.published == []
    assert "members are those that direct products over the raw rows find" in outcome.refused["2002"]
    assert "misjudged:" in outcome.refused["2002"]
    assert_same(table(doubts), before)

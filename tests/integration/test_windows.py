"""The windows step: every period's stays are what the definition gives, however the periods are run."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from conftest import Home, as_settings
from shifts import NAMES, SHIFTS, YEARS, Rows, read_rows, truth, write_rows
from skyarchive.arrivals import body
from skyarchive.arrivals.body import ARROW
from skyarchive.arrivals.computing import SUMMARY, computed
from skyarchive.arrivals.ordered import Asked
from skyarchive.arrivals.planning import assignment
from skyarchive.arrivals.records import packed, query_records
from skyarchive.arrivals.samples import Sample
from skyarchive.definition.selection import Selection
from skyarchive.pipeline.look import Look
from skyarchive.pipeline.refreshing import refresh
from skyarchive.pipeline.running import run_step, run_steps
from skyarchive.pipeline.status import period_statuses
from skyarchive.steps.windows.checks import WindowStays
from skyarchive.steps.windows.facts import FACTS
from skyarchive.steps.windows.stays import stay_rows

TOLD = (
    'period, query, group_key, file, "row", object, arrived, entered, "left", entered_at, left_at, entered_because, '
    "freed_by_file, freed_by_row, left_because, by_file, by_row, continued_from, continues_into"
)
BEGIN = datetime(2001, 1, 1, tzinfo=UTC)


@pytest.fixture
def shifts(all_shifts: Home, tmp_path: Path) -> Home:
    """A copy of it for one test."""
    shutil.copytree(all_shifts.folder, tmp_path, dirs_exist_ok=True)
    settings = {name: str(tmp_path / name) for name in ("warehouse", "raw")}
    return Home(tmp_path, replace(all_shifts.settings, archives=str(tmp_path / "definitions"), **settings))


def rows(home: Home, sql: str) -> Rows:
    answer = home.workshop("shifts").lake.query(sql)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def table(home: Home) -> Rows:
    """The published table as the oracle tells it."""
    found = []
    for row in rows(home, f"select {TOLD} from shifts.windows order by query, period, file, row"):
        times = {name: row[name] and _since(row[name]) for name in ("arrived", "entered", "left")}
        found.append(row | times)
    return found


def _since(time: datetime) -> int:
    return round((time - BEGIN).total_seconds() * 1e6)


def done(home: Home) -> list[str]:
    """The periods of which windows was run by a refresh, in order."""
    outcomes = refresh(home.workshop("shifts"))
    assert not any(outcome.refused for outcome in outcomes)
    return [period for outcome in outcomes if outcome.step == "windows" for period in outcome.published]


def change(home: Home, year: str, row: int, **values: Any) -> None:
    path = home.raw / "shifts" / f"shifts{year}.csv"
    found = read_rows(path)
    for name, value in values.items():
        found[row - 1][NAMES.index(name)] = str(value)
    write_rows(path, found)


def test_a_range_gives_the_table_by_definition(shifts: Home) -> None:
    wanted = truth(shifts.raw / "shifts")
    assert table(shifts) == wanted
    # The data has what makes it hard.
    assert {row["entered_because"] for row in wanted} == {"arrived", "freed"}
    assert {row["left_because"] for row in wanted} == {"expired", "beaten", None}
    assert {row["period"] for row in wanted} == {*YEARS} - {"2003"}
    assert any(row["continued_from"] and row["period"] == "2004" for row in wanted)
    values = rows(shifts, "select cost, half from shifts.windows")
    assert all(row["cost"] is not None and row["half"] is not None for row in values)


def test_year_by_year_gives_the_same_and_what_is_missing_comes_first(shifts: Home) -> None:
    before = table(shifts)
    for year in ("2004", "2002"):
        assert run_step(shifts.workshop("shifts"), "windows", [year]).published == [year]
    assert table(shifts) == before
    assert done(shifts) == []
    shutil.rmtree(shifts.folder / "warehouse")
    workshop = shifts.workshop("shifts")
    run_steps(workshop, Selection(), ["ingest"])
    assert run_step(workshop, "windows", ["2002"]).published == ["2001", "2002"]
    assert table(shifts) == [row for row in before if row["period"] < "2003"]


def test_a_change_is_followed_as_far_as_it_matters(shifts: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    as_settings(monkeypatch, shifts)
    last = max(truth(shifts.raw / "shifts"), key=lambda row: (row["period"] == "2001", row["arrived"]))
    change(shifts, "2001", last["row"], cost=-5)  # the last of the year: the next one looks into it
    assert done(shifts) == ["2001", "2002"]
    assert table(shifts) == truth(shifts.raw / "shifts")
    first = min(
        (row for row in truth(shifts.raw / "shifts") if row["query"] == "recent"), key=lambda row: row["arrived"]
    )
    change(shifts, "2001", first["row"], cost=9)  # long before the next year
    assert done(shifts) == ["2001"]
    assert table(shifts) == truth(shifts.raw / "shifts")
    change(shifts, "2001", first["row"], open=False)  # one record less: the others are numbered anew
    run_steps(shifts.workshop("shifts"), Selection("2001"), ["ingest", "windows"])
    told = {row["period"]: row["why"] for row in shifts.command("status", "shifts", "--format", "json").rows}
    assert "1 fewer record before it" in told["2005"]
    assert done(shifts) == ["2002", "2003", "2004", "2005"]
    assert table(shifts) == truth(shifts.raw / "shifts")
    assert {state.state for state in _windows_states(shifts)} == {"current"}


def _windows_states(home: Home) -> list[Any]:
    return [it.steps["windows"] for it in period_statuses(home.settings, home.workshop("shifts").definition)]


def test_a_new_query_makes_only_this_table_stale(shifts: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    as_settings(monkeypatch, shifts)
    path = shifts.folder / "definitions" / "shifts.yaml"
    path.write_text(
        SHIFTS + "  - {name: cheap, last: 1 minute, attributes: {third: {better: lower, value: cost / 3}}}\n"
    )
    before = table(shifts)
    assert {state.why for state in _windows_states(shifts)} == {"the archive's definition changed since windows"}
    outcomes = refresh(shifts.workshop("shifts"))
    assert [outcome.step for outcome in outcomes if outcome.step in ("ingest", "windows")] == ["windows"]
    assert [row for row in table(shifts) if row["query"] != "cheap"] == before
    cheap = rows(shifts, "select cost, third from shifts.windows where query = 'cheap'")
    assert cheap and all(row["cost"] is None and row["third"] is not None for row in cheap)
    path.write_text(SHIFTS)  # and goes again
    assert refresh(shifts.workshop("shifts"))
    assert table(shifts) == before


def test_a_period_that_is_not_later_than_the_one_before_is_refused(shifts: Home) -> None:
    change(shifts, "2004", 7, second=1, open=True, cost=1, made=1, who="s1")
    outcomes = run_steps(shifts.workshop("shifts"), Selection(), ["ingest", "windows"])
    told = outcomes[1].refused
    assert set(told) == {"2004", "2005"}, told
    assert outcomes[1].published == ["2001", "2002", "2003"]
    assert "its records are not all later than those of 2002" in told["2004"]
    assert "shifts2004.csv, row 7 is of 2001-01-01 00:00:01" in told["2004"] and "shifts2002.csv, row " in told["2004"]
    assert "follows a period that was refused" in told["2005"]


def test_each_check_can_fail(shifts: Home) -> None:
    workshop = shifts.workshop("shifts")
    definition, look = workshop.definition, Look.read(workshop.lake, workshop.definition)
    versions = workshop.ledger().versions
    task = assignment(FACTS, look, ["2002"])
    assert task.context == ("2001",)
    raw = workshop.tables.read("raw", versions["raw"], ["2001", "2002"]).where(definition.counts)
    records = query_records(raw, definition, definition.windows, None).persist()
    published = workshop.tables.read("windows", versions["windows"], ["2001", "2002"])
    contract = workshop.tables.contract("windows")
    schema = pa.schema([*((name, ARROW[kind]) for name, kind in contract.columns.items()), (SUMMARY, pa.string())])
    packs = iter(packed(records).toArrow().to_batches())
    [summary] = [
        row for batch in computed(stay_rows, task, schema, packs) for row in batch.column(SUMMARY).to_pylist() if row
    ]
    samples = [Sample.of(told) for told in json.loads(summary)["samples"]]
    right = [row.asDict() for row in published.where("period = '2002'").collect()]
    names = ("repeated", "strangers", "wrong_start", "unaudited", "audited", "wrong")

    def figures(rows: Rows, samples: list[Sample] = samples) -> dict[str, int]:
        found = workshop.spark.createDataFrame(
            [tuple(row[c] for c in contract.columns) for row in rows], published.schema
        )
        expected = [("2002", query.name) for query in definition.windows]
        following = {("2001", name): "2002" for _, name in expected}
        stays = WindowStays(found, published.where("period = '2001'"), records, following, samples,
                      Asked.of(definition.windows), expected, ["2002"])  # fmt: skip
        judged = stays.judged()
        assert bool(judged.misjudged["2002"]) == bool(judged.rows[0][-1])
        return dict(zip(names, judged.rows[0][1:], strict=True))

    fine = figures(right)
    assert fine.pop("audited") == len(samples) >= 6 and set(fine.values()) == {0}
    last = next(row for row in right if row["continues_into"])
    begun = next(row for row in right if row["continued_from"])
    assert figures([*right, last])["repeated"] == 1
    assert figures([*right, last | {"row": 9999}])["strangers"] == 1
    assert figures([row for row in right if row is not begun])["wrong_start"] == 1
    assert figures([row | {"entered": BEGIN} if row is begun else row for row in right])["wrong_start"] == 2
    assert figures([row for row in right if row is not last])["wrong"] >= 1
    assert figures([row | {"cost": 99.0} if row is last else row for row in right])["wrong"] >= 1
    assert figures([row | {"object": "s9"} if row is last else row for row in right])["wrong"] >= 1
    assert figures(right, [replace(sample, come=sample.come + 1) for sample in samples])["wrong"] >= len(samples)
    assert figures(right, samples[:1])["unaudited"] == 1
    records.unpersist()


def test_a_wrong_answer_is_never_published(shifts: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    before = table(shifts)
    right = body._computed
    monkeypatch.setattr(body, "_computed", lambda *rest: right(*rest).where("row % 3 <> 0 or row is null"))
    outcome = run_step(shifts.workshop("shifts"), "windows", ["2002"])
    assert outcome.published == []
    assert "at audited moments the members are those that brute force finds" in outcome.refused["2002"]
    assert "misjudged:" in outcome.refused["2002"]
    assert table(shifts) == before

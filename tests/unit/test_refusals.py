"""Why a period was refused: kept for `status`, whatever refused it, until it is published."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from conftest import Home
from delta_log import Archive, SparkTable
from skyarchive.store.lake import Lake
from skyarchive.store.ledger import Ledger
from skyarchive.store.refusals import last_refusals
from world import World

PERIOD = "2010"
KEPT = pa.schema([
    ("period", pa.string()), ("step", pa.string()), ("time", pa.timestamp("us", "UTC")), ("sentence", pa.string()),
    ("run_id", pa.string()), ("code_version", pa.string()),
])  # fmt: skip


@pytest.fixture
def nba(home: Home) -> Home:
    """A raw file that cannot be read, and nothing was run. None of this needs Spark."""
    file = home.raw / "nba" / f"player_box_{PERIOD}.parquet"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"PAR1 and no more")
    return home


def told(home: Home, period: str = PERIOD) -> dict[str, Any]:
    rows = home.command("status", "nba", "--format", "json").rows
    return next(row for row in rows if row["period"] == period)


def test_an_unreadable_file_is_told_with_when_and_the_command_that_shows_more(nba: Home) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    refused = nba.command("run", "nba", "--periods", PERIOD)
    status = told(nba)
    assert refused.code == 1 and (status["state"], status["refusal_step"]) == ("refused", "ingest")
    assert status["refusal"] in refused.err and f"player_box_{PERIOD}.parquet" in status["refusal"]
    assert before < datetime.fromisoformat(status["refusal_time"]) < datetime.now(UTC)
    assert "ingest was refused on" in status["why"] and status["refusal_command"] in status["why"]
    assert "ingest was refused on" in nba.command("status", "nba").out
    shown = nba.sql(status["refusal_command"].split('"')[1])
    assert [row["sentence"] for row in shown] == [status["refusal"]]
    assert f"not ingested yet: {PERIOD}" in nba.command("refresh", "nba").err


@pytest.mark.parametrize("step", ["ingest", "derive", "skyline", "frequent", "external", "windows", "uncertain"])
def test_what_comes_too_early_is_told_for_every_step(nba: Home, step: str) -> None:
    period = "2035" if step == "ingest" else PERIOD
    refused = nba.command("run", "nba", "--periods", period, "--steps", step)
    status = told(nba, period)
    assert refused.code == 1
    assert (status["state"], status["refusal_step"]) == ("refused", step)
    assert status["refusal"] in refused.err and f"{step} was refused on" in status["why"]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A period that was run, and a table for what is refused."""
    world = World(tmp_path)
    world.put("2010")
    world.ingest("2010")
    world.derive("2010")
    return world


def refuse(world: World, step: str, period: str, time: datetime, run_id: str | None = None) -> None:
    table = world.tables.get("refusals")
    if table is None:
        table = Archive(Path(world.settings.warehouse)).table("refusals", KEPT, partitioned=False)
        world.tables["refusals"] = table
    row = {"step": step, "time": time, "sentence": "two checks failed.\n  a is 1\n  b is 2", "run_id": run_id}
    assert isinstance(table, SparkTable)
    table.append(period, [row | {"code_version": "0.1.0"}])


def test_a_publication_ends_it_and_a_later_refusal_is_told_again(world: World) -> None:
    refuse(world, "ingest", "2010", world.clock - timedelta(hours=1))
    refuse(world, "skyline", "2010", world.clock, run_id="a run")
    status = world.all()["2010"]
    assert status.state == "refused" and status.refusal and status.refusal.short == "two checks failed. a is 1"
    assert "nba.quality where run_id = 'a run' and not success" in status.refusal.command
    world.skyline("2010")
    assert world.told()["2010"] == ("unfinished", "frequent has not run")
    world.put("2010", "corrected")
    refuse(world, "ingest", "2010", world.clock + timedelta(hours=1))
    state, why = world.told()["2010"]
    assert state == "unfinished" and why.startswith("ingest was refused on 2026-01-01 ")
    assert why.endswith("; raw files changed since it was ingested; frequent has not run")
    found = last_refusals(Lake(world.settings), "nba", Ledger.read(Lake(world.settings), "nba"))
    assert set(found) == {("ingest", "2010")} == set(last_refusals(Lake(world.settings), "nba"))


def test_a_period_of_which_nothing_else_is_known_is_not_told_for_ever(world: World) -> None:
    refuse(world, "ingest", "20010", datetime.now(UTC) - timedelta(days=2))
    refuse(world, "ingest", "21010", datetime.now(UTC) - timedelta(days=32))
    assert set(world.told()) == {"2010", "20010"}

"""What a correction makes stale, what refresh mends, and where it stops."""

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from conftest import Home, make_home
from skyarchive.definition.selection import Selection
from skyarchive.pipeline.running import run_steps

SEASONS = ["2008", "2009", "2010"]


@pytest.fixture(scope="module")
def seasons(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seasons, run once."""
    home = make_home(tmp_path_factory.mktemp("seasons"))
    home.generate("nba", *SEASONS, size=0.7)
    workshop = home.workshop("nba")
    outcomes = run_steps(workshop, Selection(), workshop.steps)
    assert [outcome.published for outcome in outcomes] == [SEASONS] * len(workshop.steps)
    return home.folder


@pytest.fixture
def nba(home: Home, seasons: Path) -> Home:
    """A copy of them for one test."""
    shutil.copytree(seasons, home.folder, dirs_exist_ok=True)
    assert set(home.states("nba").values()) == {"current"}
    return home


def correct(home: Home, season: str, column: str, change: Any) -> None:
    """Rewrite one season's file with one changed column, as a late correction does."""
    path = home.raw / "nba" / f"player_box_{season}.parquet"
    table = pq.read_table(path)
    index = table.column_names.index(column)
    pq.write_table(table.set_column(index, table.field(index), change(table[column])), path)


def one_more_point(points: pa.ChunkedArray) -> pa.ChunkedArray:
    """The first player who played scored one more."""
    played = pc.index(pc.greater(pc.fill_null(points, 0), 0), True).as_py()
    values = points.to_pylist()
    values[played] += 1
    return pa.chunked_array([pa.array(values, points.type)])


def runs(home: Home) -> list[tuple[str, str]]:
    rows = home.sql("select step, period from nba.runs order by started, period")
    return [(row["step"], row["period"]) for row in rows]


def test_a_correction_makes_exactly_the_later_seasons_stale_and_refresh_mends_them(nba: Home) -> None:
    before = len(runs(nba))
    correct(nba, "2009", "points", one_more_point)
    assert nba.states("nba") == {"2008": "current", "2009": "stale", "2010": "stale"}
    assert nba.command("refresh", "nba").code == 0
    # The skylines come out as they were: what looks back into them stays.
    assert runs(nba)[before:] == [
        ("ingest", "2009"), ("derive", "2009"), ("derive", "2010"), ("skyline", "2009"), ("skyline", "2010"),
        ("external", "2009"), ("windows", "2009"), ("windows", "2010"),
        ("uncertain", "2009"), ("uncertain", "2010"),
    ]  # fmt: skip
    assert set(nba.states("nba").values()) == {"current"}


def test_a_correction_that_changes_nothing_downstream_stops_at_once(nba: Home) -> None:
    before = len(runs(nba))
    correct(nba, "2009", "athlete_jersey", lambda column: pc.fill_null(column, "00"))
    assert nba.states("nba")["2010"] == "stale"
    answer = nba.command("refresh", "nba")
    assert answer.code == 0
    assert runs(nba)[before:] == [("ingest", "2009")]  # nobody reads that column
    assert set(nba.states("nba").values()) == {"current"}
    file = next((nba.raw / "nba").glob("*2010*"))
    (nba.raw / "nba" / file.name.replace("2010", "2011")).write_bytes(b"")
    told = nba.command("refresh", "nba").err
    assert "nothing is stale" in told
    assert "nba: not ingested yet: 2011; run: skyarchive run nba --periods 2011" in told


def test_running_again_changes_nothing_a_reader_sees(nba: Home) -> None:
    tables = ("raw", "quarantine", "snapshots", "updates", "objects", "carry", "skyline", "frequent", "external",
              "windows")  # fmt: skip
    before = {table: nba.sql(f"select * from nba.{table} order by all") for table in tables}
    assert nba.command("run", "nba", "--periods", "2009").code == 0
    assert {table: nba.sql(f"select * from nba.{table} order by all") for table in tables} == before
    assert set(nba.states("nba").values()) == {"current"}

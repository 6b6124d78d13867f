"""What a correction makes stale, what refresh mends, where it stops; what an interrupted run leaves."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from conftest import Home, make_home
from skyarchive.running import run_steps
from skyarchive.selection import Selection
from skyarchive.status import STEPS

SEASONS = ["2008", "2009", "2010", "2011"]


@pytest.fixture(scope="module")
def seasons(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four seasons, ingested and derived once."""
    home = make_home(tmp_path_factory.mktemp("seasons"))
    home.generate("nba", *SEASONS, size=0.5)
    outcomes = run_steps(home.workshop("nba"), Selection(), STEPS)
    assert [outcome.published for outcome in outcomes] == [SEASONS, SEASONS]
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
    return [(row["step"], row["period"]) for row in home.sql("select step, period from nba.runs order by started")]


def test_a_correction_makes_exactly_the_later_seasons_stale_and_refresh_mends_them(nba: Home) -> None:
    before = len(runs(nba))
    correct(nba, "2009", "points", one_more_point)
    assert nba.states("nba") == {"2008": "current", "2009": "stale", "2010": "stale", "2011": "stale"}
    assert nba.command("refresh", "nba").code == 0
    assert runs(nba)[before:] == [("ingest", "2009"), ("derive", "2009"), ("derive", "2010"), ("derive", "2011")]
    assert set(nba.states("nba").values()) == {"current"}


def test_a_correction_that_changes_nothing_downstream_stops_at_once(nba: Home) -> None:
    before = len(runs(nba))
    correct(nba, "2009", "athlete_jersey", lambda column: pc.fill_null(column, "00"))
    assert nba.states("nba")["2011"] == "stale"
    answer = nba.command("refresh", "nba")
    assert answer.code == 0
    assert runs(nba)[before:] == [("ingest", "2009"), ("derive", "2009")]
    assert set(nba.states("nba").values()) == {"current"}
    assert "nothing is stale" in nba.command("refresh", "nba").err


def test_running_again_changes_nothing_a_reader_sees(nba: Home) -> None:
    tables = ("raw", "quarantine", "snapshots", "updates", "objects", "carry")
    before = {table: nba.sql(f"select * from nba.{table} order by all") for table in tables}
    assert nba.command("run", "nba", "--periods", "2009").code == 0
    assert {table: nba.sql(f"select * from nba.{table} order by all") for table in tables} == before
    assert set(nba.states("nba").values()) == {"current"}


KILLED = """
import os, signal, sys
from skyarchive.tables import Tables
moment, table = sys.argv.pop(1), sys.argv.pop(1)
write = Tables._write
def dying(self, name, *rest, **options):
    if name == table and moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    version = write(self, name, *rest, **options)
    if name == table and moment == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return version
Tables._write = dying
from skyarchive.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("moment", "table"), [("after", "updates"), ("before", "runs")])
def test_a_kill_in_the_middle_of_the_write_leaves_the_last_version_and_the_next_run_whole(
    nba: Home, moment: str, table: str
) -> None:
    tables = ("snapshots", "updates", "objects", "carry")
    before = {name: nba.sql(f"select * from nba.{name} order by all") for name in tables}
    correct(nba, "2011", "points", one_more_point)
    assert nba.command("ingest", "nba", "--periods", "2011").code == 0
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, moment, table, "derive", "nba", "--periods", "2011"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert killed.returncode == -signal.SIGKILL
    _wait_for_the_jvm_to_go(nba)
    assert {name: nba.sql(f"select * from nba.{name} order by all") for name in tables} == before
    assert nba.states("nba")["2011"] == "unfinished"
    assert nba.command("refresh", "nba").code == 0
    assert set(nba.states("nba").values()) == {"current"}
    after = nba.sql("select * from nba.updates order by all")
    assert after != before["updates"]
    assert len({(row["snapshot"], row["object"]) for row in after}) == len(after)


def _wait_for_the_jvm_to_go(home: Home) -> None:
    """A killed Python leaves its JVM a moment longer; the lock is free at once."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        mine = [p for p in Path("/proc").glob("[0-9]*/environ") if _belongs(p, home)]
        if not mine:
            return
        time.sleep(0.2)
    pytest.fail("the killed run's JVM is still there")


def _belongs(environ: Path, home: Home) -> bool:
    try:
        if int(environ.parent.name) == os.getpid():
            return False
        return f"SKYARCHIVE_WAREHOUSE={home.settings.warehouse}".encode() in environ.read_bytes()
    except OSError:
        return False

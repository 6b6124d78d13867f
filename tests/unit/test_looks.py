"""A look at the state of an archive: what it costs does not grow with the periods, and it is of one moment."""

from collections import Counter
from pathlib import Path

import pytest
from deltalake import DeltaTable

from long_run import LongRun
from skyarchive.errors import DamagedError
from skyarchive.pipeline.look import NOTHING
from skyarchive.pipeline.status import period_statuses
from skyarchive.store import log_files, logs, versions
from skyarchive.store.contracts import table_names
from skyarchive.store.lake import Lake
from skyarchive.store.ledger import Ledger
from skyarchive.store.log_files import LogFiles
from world import World

YEARS = [str(year) for year in range(1900, 2000)]
CURRENT = ("current", "")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two periods, run one after the other."""
    versions._say_once.cache_clear()
    world = World(tmp_path)
    for period, before in (("2010", None), ("2011", "2010")):
        world.put(period)
        world.ingest(period)
        world.derive(period, before)
        world.skyline(period)
        world.frequent(period)
    return world


class Counted:
    """What was read from disk, by table."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.looked: Counter[str] = Counter()
        self.names: Counter[str] = Counter()
        self.opened: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        find, names, select = log_files.find_end, log_files._names, versions.select_files

        def table_of(path: Path | str) -> str:
            return next(part for part in reversed(Path(path).parts) if part in table_names())

        def finding(folder: Path) -> object:
            self.looked[table_of(folder)] += 1
            return find(folder)

        def naming(folder: Path) -> list[str]:
            found = names(folder)
            self.names[table_of(folder)] += len(found)
            return found

        def opening(path: str, version: int | None = None) -> DeltaTable:
            self.opened[table_of(path)] += 1
            return DeltaTable(path, version=version)

        def selecting(columns: dict[str, str], files: list[str], partitioned: bool) -> str:
            self.rows[table_of(str(Path(files[0]).parents[1]))] += 1
            return select(columns, files, partitioned)

        patch.setattr(log_files, "find_end", finding)
        patch.setattr(log_files, "_names", naming)
        patch.setattr(logs, "DeltaTable", opening)
        patch.setattr(versions, "select_files", selecting)


@pytest.mark.parametrize("periods", [YEARS[:2], YEARS], ids=["2 periods", "100 periods"])
def test_it_costs_one_listing_of_each_table_and_one_reading_of_runs(
    periods: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = LongRun(tmp_path, periods)
    world.make_checkpoints()
    counted = Counted(monkeypatch)
    assert world.told() == dict.fromkeys(periods, CURRENT)
    there = {*world.tables, "runs"}
    assert counted.looked == dict.fromkeys(table_names(), 1)
    assert not +counted.names  # nor one by a listing of the folder
    assert counted.opened == dict.fromkeys(there, 1)
    assert counted.rows == {"runs": 1}


def test_a_ledger_is_read_from_one_reading_of_runs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(monkeypatch)
    assert Ledger.read(Lake(world.settings), "nba").versions["updates"] == 1
    assert counted.rows == {"runs": 1} and counted.opened["runs"] == 1


def test_other_archives_are_not_looked_at(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Path(world.settings.warehouse) / "other"
    other.mkdir()
    listed: list[Path] = []
    of = LogFiles.from_its_end
    monkeypatch.setattr(LogFiles, "from_its_end", lambda table: listed.append(table) or of(table))
    assert list(Lake(world.settings).query("select count(*) from nba.updates").rows) == [(2,)]
    assert listed and not any(table.is_relative_to(other) for table in listed)


def test_a_look_is_of_one_moment_and_the_next_one_of_another(world: World) -> None:
    lake = Lake(world.settings)
    look = lake.at_rest()
    assert look.at_rest() is look and not lake.is_at_rest
    before = look.publications("nba"), look.published_versions("nba"), look.last_commit("nba", "raw")
    world.ingest("2012")
    assert (look.publications("nba"), look.published_versions("nba"), look.last_commit("nba", "raw")) == before
    assert look.open("nba", "raw").version() == 1
    assert lake.last_commit("nba", "raw")[0] == lake.published_versions("nba")["raw"] == 2
    assert lake.open("nba", "raw").version() == lake.at_rest().open("nba", "raw").version() == 2


@pytest.mark.parametrize("table", ["raw", "runs", "snapshots", "refusals"])
def test_what_is_published_during_a_look_is_neither_unfinished_nor_lost(
    table: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    of, waiting = LogFiles.from_its_end, ["2012"]

    def interrupted(folder: Path) -> LogFiles:
        found = of(folder)
        if folder.name == table and waiting:
            world.put("2012")
            world.ingest(waiting.pop())
        return found

    monkeypatch.setattr(LogFiles, "from_its_end", interrupted)
    told = {status.period: status.steps["ingest"].state for status in period_statuses(world.settings, world.definition)}
    assert not waiting and told == dict.fromkeys(["2010", "2011", "2012"], "current")


def test_a_writer_that_never_rests_is_not_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    of = LogFiles.from_its_end

    def interrupted(folder: Path) -> LogFiles:
        found = of(folder)
        if folder.name == "raw":
            world.ingest("2010", "rows")
        return found

    monkeypatch.setattr(LogFiles, "from_its_end", interrupted)
    ledger = Ledger.read(Lake(world.settings), "nba")
    assert set(ledger.of("ingest")) == {"2010", "2011"} and not ledger.lost


def test_a_commit_that_nobody_published_is_unfinished_at_rest_too(world: World) -> None:
    world.commit("derive", "2011")
    assert world.told()["2011"][0] == "unfinished"
    assert list(Lake(world.settings).query("select count(*) from nba.updates").rows) == [(2,)]


def test_damage_is_told_at_rest_as_often_as_it_is_met(world: World) -> None:
    log = Path(world.settings.warehouse) / "nba" / "updates" / "_delta_log"
    DeltaTable(str(log.parent)).create_checkpoint()
    (log / f"{1:020d}.checkpoint.parquet").write_bytes(b"")
    look = Lake(world.settings).at_rest()
    for _ in range(2):
        with pytest.raises(DamagedError, match=r"a checkpoint in .* is damaged"):
            look.open("nba", "updates")
    assert look.published_versions("nba")["updates"] == 0


def test_a_version_that_a_later_run_only_found_is_not_missed_when_its_entry_is_gone(world: World) -> None:
    inputs = {"carry": NOTHING}
    world._publish("derive", "2010", {"updates": 1}, inputs, {"updates": "", "snapshots": "", "carry": "end of 2010"})
    (Path(world.settings.warehouse) / "nba" / "updates" / "_delta_log" / f"{1:020d}.json").unlink()
    assert list(Lake(world.settings).query("select count(*) from nba.updates").rows) == [(1,)]
    assert "was lost with its log entry" in world.told()["2011"][1]

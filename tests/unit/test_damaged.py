"""Logs and data files that are damaged or gone: told with table, file and what mends them, and mended by writers."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable

from skyarchive.errors import DamagedError
from skyarchive.pipeline.mending import mend_damaged
from skyarchive.pipeline.workshop import Workshop
from skyarchive.progress import Progress
from skyarchive.store import versions
from skyarchive.store.lake import Lake
from skyarchive.store.log_files import LogFiles
from skyarchive.store.losses import Listing, lost_rows
from world import World

COUNT = "select count(*) from nba.updates"
REFRESH = "skyarchive refresh nba"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two derived periods: versions 0 and 1 of raw and updates, four of runs."""
    versions._say_once.cache_clear()
    world = World(tmp_path)
    for period, before in (("2010", None), ("2011", "2010")):
        world.put(period)
        world.ingest(period)
        world.derive(period, before)
    return world


def entry(world: World, table: str, version: int) -> Path:
    return LogFiles.of(Path(world.settings.warehouse) / "nba" / table).entry(version)


def data_files(world: World, table: str) -> list[Path]:
    return sorted((Path(world.settings.warehouse) / "nba" / table).rglob("*.parquet"))


def answer(world: World, sql: str = COUNT) -> list[tuple[object, ...]]:
    return list(Lake(world.settings).query(sql).rows)


def workshop(world: World) -> Workshop:
    return Workshop(world.settings, world.definition, Progress(quiet=True))


def mended(world: World) -> list[str]:
    """As every step begins; the tables that were put back."""
    ours = workshop(world)
    with ours.noting():
        return ours.tables.discard_unpublished()


def half(path: Path) -> None:
    path.write_text(path.read_text()[:-40])


def cut_at_a_line(path: Path) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "commitInfo" not in line))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "emptied": lambda path: path.write_text(""),
    "half of it": half,
    "no JSON": lambda path: path.write_bytes(b"\xff\xfe\0\0"),
    "no object": lambda path: path.write_text("[]\n"),
    "no action": lambda path: path.write_text("{}\n"),
    "fewer lines": cut_at_a_line,
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_the_last_whole_version_is_read_and_the_other_told(
    world: World, damage: Callable[[Path], object], capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(world) == [(2,)]
    damaged = entry(world, "updates", 1)
    damage(damaged)
    assert answer(world) == [(1,)]
    said = capsys.readouterr().err
    assert "nba.updates cannot be read at version 1" in said and str(damaged) in said and REFRESH in said
    assert "version 0 is read" in said


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_is_lost_is_asked_for_and_published_no_more(world: World, damage: Callable[[Path], object]) -> None:
    damage(entry(world, "updates", 1))
    for _ in range(2):  # before it is mended, and after
        state, why = world.told()["2011"]
        assert state == "unfinished"
        assert "nba.updates, version 1, was lost with its log entry; run derive again" in why
        assert world.told()["2010"][1] == "skyline has not run; frequent has not run"
        mend_damaged(workshop(world))
    assert mended(world) == ["updates"]
    assert Lake(world.settings).publications("nba")["updates"] == {0}
    assert answer(world) == [(1,)]
    # No later commit may be taken for the lost one.
    world.tables["updates"].versions = [set()] * (Lake(world.settings).log("nba", "updates").last + 1)
    assert world.commit("derive", "2012") > 1
    assert answer(world) == [(1,)]


def test_what_could_not_be_read_is_kept_where_no_reader_takes_it_for_a_log(world: World) -> None:
    damaged = entry(world, "updates", 1)
    damaged.write_text("precious")
    mended(world)
    kept = [path for path in (Path(world.settings.warehouse) / "nba").rglob(damaged.name) if path != damaged]
    assert [path.read_text() for path in kept if path.parent.parent.parent.name == "_damaged"] == ["precious"]
    assert [commit.operation for commit in Lake(world.settings).history("nba", "updates")][-2:] == ["MEND", "WRITE"]


def test_a_hole_loses_what_comes_after_it(world: World) -> None:
    for period in ("2012", "2013"):
        world.ingest(period)
        world.derive(period, str(int(period) - 1))
    entry(world, "updates", 2).unlink()
    assert answer(world) == [(2,)]
    mended(world)
    assert {period for step, period in workshop(world).ledger().lost if step == "derive"} == {"2012", "2013"}
    assert answer(world) == [(2,)]


def test_without_any_whole_version_there_is_no_count(world: World) -> None:
    damaged = entry(world, "updates", 0)
    damaged.write_text("")
    with pytest.raises(DamagedError) as told:
        answer(world)
    assert "nba.updates cannot be read" in str(told.value)
    assert str(damaged) in str(told.value) and REFRESH in str(told.value)
    mended(world)
    assert {state for state, _ in world.told().values()} == {"unfinished"}


def test_of_runs_the_last_whole_version_counts(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    entry(world, "runs", 3).write_text("")
    assert answer(world) == [(1,)]
    assert answer(world, "select count(*) from nba.runs") == [(3,)]
    assert "nba.runs cannot be read at version 3" in capsys.readouterr().err
    assert world.told()["2011"] == ("unfinished", "derive stopped in the middle; the last good version is read, run "
                                    "derive again; skyline has not run; frequent has not run")  # fmt: skip
    assert mended(world) == ["updates"]
    assert world.told()["2011"][1].startswith("derive has not run")
    assert answer(world) == [(1,)]


def test_runs_that_nobody_can_read_are_told_whatever_is_asked(world: World) -> None:
    entry(world, "runs", 0).write_text("")
    with pytest.raises(DamagedError, match=r"nba\.runs cannot be read"):
        answer(world)
    mended(world)
    assert {state for state, _ in world.told().values()} == {"absent"}


@pytest.mark.parametrize("content", [b"", b"PAR1 no more PAR1", None])
def test_a_damaged_checkpoint_loses_nothing(world: World, content: bytes | None) -> None:
    log = Path(world.settings.warehouse) / "nba" / "updates"
    DeltaTable(str(log)).create_checkpoint()
    (checkpoint,) = (log / "_delta_log").glob("*.checkpoint.parquet")
    checkpoint.unlink() if content is None else checkpoint.write_bytes(content)
    assert answer(world) == [(1,)]  # what was published before it
    assert mended(world) == []
    assert answer(world) == [(2,)]


def test_a_checkpoint_that_is_promised_and_not_there_loses_nothing(world: World) -> None:
    hint = entry(world, "updates", 0).with_name("_last_checkpoint")
    hint.write_text('{"version": 99, "size": 3}')
    assert answer(world) == [(2,)]
    assert mended(world) == []
    assert not hint.exists()


@pytest.mark.parametrize("what", ["updates", "updates/_delta_log"])
def test_a_table_that_is_gone_is_told_and_its_numbers_are_given_anew(world: World, what: str) -> None:
    shutil.rmtree(Path(world.settings.warehouse) / "nba" / what)
    for sql in (COUNT, "select count(*) from nba.updates join nba.raw using (period)"):
        with pytest.raises(DamagedError, match=r"nba\.updates cannot be read at version 1: .* is missing.*refresh nba"):
            answer(world, sql)
    assert answer(world, "select count(*) from nba.raw") == [(2,)]
    mend_damaged(workshop(world))
    world.tables["updates"].versions = []
    world.commit("derive", "2010")
    world.derive("2010")  # under the number that the version of 2011 had
    told = world.told()
    assert "nba.updates, version 1, was lost with its log entry; run derive again" in told["2011"][1]
    assert "lost" not in told["2010"][1]


DATA_DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "its first page": lambda content: content[:4] + b"\xff" * 20 + content[24:],
    "its footer": lambda content: content[:-60] + b"\xff" * 30 + content[-30:],
    "its middle": lambda content: content[:100] + bytes(200) + content[300:],
}


@pytest.mark.parametrize(("table", "again"), [("updates", "run nba --periods 2011"), ("runs", REFRESH)])
@pytest.mark.parametrize("damage", DATA_DAMAGES.values(), ids=DATA_DAMAGES)
def test_a_data_file_of_nonsense_is_told(
    world: World, damage: Callable[[bytes], bytes], table: str, again: str
) -> None:
    file = data_files(world, table)[-1]
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(DamagedError) as told:
        answer(world, f"select bit_xor(hash(columns(*))) from nba.{table}")
    assert f"nba.{table} cannot be read: {file}" in str(told.value)
    assert str(told.value).endswith(again)


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"")], ids=["gone", "emptied"])
def test_a_data_file_is_told_with_what_makes_its_rows_anew(world: World, damage: Callable[[Path], object]) -> None:
    file = data_files(world, "updates")[-1]
    damage(file)
    with pytest.raises(DamagedError) as told:
        answer(world)
    assert str(file) in str(told.value)
    assert str(told.value).startswith("A data file of nba.updates")
    assert str(told.value).endswith("skyarchive run nba --periods 2011")


@pytest.mark.parametrize("damage", [*DATA_DAMAGES.values(), lambda _: b"", None], ids=[*DATA_DAMAGES, "all", "gone"])
def test_rows_of_runs_that_are_gone_publish_nothing(world: World, damage: Callable[[bytes], bytes] | None) -> None:
    file = data_files(world, "runs")[-1]
    file.write_bytes(damage(file.read_bytes())) if damage else file.unlink()
    with pytest.raises(DamagedError, match=r"A data file of nba\.runs .* skyarchive refresh nba"):
        answer(world)
    mend_damaged(workshop(world))
    assert mended(world) == ["updates"]
    assert answer(world) == [(1,)]
    assert world.told()["2011"][1].startswith("derive has not run")


def test_nothing_is_mended_where_nothing_is_damaged(world: World) -> None:
    before = {path: path.stat().st_mtime_ns for path in Path(world.settings.warehouse).rglob("*") if path.is_file()}
    mend_damaged(workshop(world))
    assert {path: path.stat().st_mtime_ns for path in before} == before


def listing(run_id: str, version: int, period: str, step: str = "ingest") -> Listing:
    return Listing(run_id, period, step, "quarantine", version)


def test_a_run_that_found_nothing_to_write_still_counts_where_the_last_whole_version_does() -> None:
    listings = [listing("a", 1, "2010"), listing("b", 2, "2011"), listing("c", 2, "2012"), listing("d", 2, "2011")]
    assert {run_id for run_id, _ in lost_rows(listings, {"quarantine": 1})} == {"b", "d"}
    assert {run_id for run_id, _ in lost_rows(listings[1:], {"quarantine": 1})} == {"b", "c", "d"}
    assert {run_id for run_id, _ in lost_rows(listings, {"quarantine": -1})} == {"a", "b", "c", "d"}
    assert lost_rows(listings, {}) == {}


def test_history_shows_the_damaged_entry(world: World) -> None:
    entry(world, "updates", 1).write_text("")
    first, second = Lake(world.settings).history("nba", "updates")
    assert (first.version, first.operation, first.published) == (1, "UNREADABLE", False)
    assert (second.version, second.operation, second.published) == (0, "WRITE", True)

"""Whatever changes in raw files: after `refresh` the tables are those of a straight run."""

import gzip
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from conftest import Home, make_home
from mutating_parquet import corrected
from mutating_text import ROWS
from places import PLACES, write_places
from prints import printed
from skyarchive.definition.selection import Selection
from skyarchive.pipeline.refreshing import refresh
from skyarchive.pipeline.running import run_step, run_steps
from skyarchive.pipeline.sources import looked_into
from skyarchive.pipeline.workshop import Workshop

FIELDS = "#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto"


def connections(port: int, *more: str) -> str:
    """A log of 300 tcp connections of one day, and other rows."""
    rows = [f"{1_713_484_900 + n}.5\tC{n}\t10.0.0.1\t40000\t9.9.{n % 7}.9\t{port}\ttcp" for n in range(300)]
    return "\n".join([FIELDS, *rows, *more, ""])


def ingested(spark: SparkSession, home: Home, archive: str) -> dict[str, tuple[int, str]]:
    """What `runs` says of the raw rows that are there now: it must be what a look at them as a whole says."""
    workshop = home.workshop(archive)
    assert run_step(workshop, "ingest", looked_into(workshop).periods()).refused == {}
    told = workshop.ledger().of("ingest")
    raw = workshop.tables.read("raw", workshop.lake.published_versions(archive)["raw"])
    found = printed(workshop, "raw", raw)
    assert {period: (it.rows_out, it.output_fingerprints) for period, it in told.items()} == found
    return found


def test_a_row_that_is_not_checked_and_gives_no_period_hides_no_correction(home: Home, spark: SparkSession) -> None:
    nowhere = "x\tU1\t10.0.0.1\t53\t8.8.8.8\t53\tudp"
    bad_port = "1713484900.5\tC1\t10.0.0.1\t40000\t9.9.9.9\tssh\ttcp"
    log = home.raw / "tcp" / "conn.log"
    log.parent.mkdir(parents=True)
    log.write_text(connections(443, nowhere, bad_port))
    before = ingested(spark, home, "tcp")
    assert home.sql("select period, row, reason from tcp.quarantine order by row") == [
        {"period": "2024-04-19", "row": 301, "reason": "ts is not a number"},
        {"period": "2024-04-19", "row": 302, "reason": "resp_p is not a number"},
    ]
    log.write_text(connections(25, nowhere, bad_port))
    assert ingested(spark, home, "tcp") != before


TABLES = ("raw", "quarantine", "snapshots", "updates", "objects", "carry", "skyline")


def to_skylines(home: Home, archive: str) -> Workshop:
    """Without the further steps, which start from the same fingerprints; and no row is too many to refuse."""
    workshop = home.workshop(archive)
    changed = {"frequent": [], "external": None, "max_refused_share": 1.0}
    return replace(workshop, definition=workshop.definition.model_copy(update=changed))


def run(home: Home, archive: str) -> Workshop:
    workshop = to_skylines(home, archive)
    run_steps(workshop, Selection(), workshop.steps)
    return workshop


def content(workshop: Workshop) -> dict[str, list[str]]:
    """What readers see."""
    select = f"select * from {workshop.archive}"
    return {table: sorted(map(repr, workshop.lake.query(f"{select}.{table}").rows)) for table in TABLES}


def write_raw(home: Home, archive: str) -> list[Path]:
    if archive == "places":
        write_places(home.raw / archive)
        (home.raw / archive / "archive.yaml").write_text(PLACES)
        return [home.raw / archive / "places.csv"]
    if archive == "synthetic":
        return home.generate(archive, objects=30, snapshots=2000, moves=0.01, block=1000)
    periods = {"nba": ["2008", "2009"], "stocks": ["2010", "2011"], "tcp": ["2024-04-19", "2024-04-20"]}[archive]
    return home.generate(archive, *periods, size=0.3 if archive == "nba" else 0.05)


def correct(chance: Random, file: Path) -> str:
    """Change a few rows of the file; what happened to it."""
    content = file.read_bytes()
    if file.suffix == ".parquet":
        file.write_bytes(corrected(chance, content))
        return "values"
    how = chance.choice([*ROWS])
    packed = content.startswith(b"\x1f\x8b")
    content = ROWS[how](chance, gzip.decompress(content) if packed else content)
    file.write_bytes(gzip.compress(content) if packed else content)
    return how


@pytest.mark.thorough
@pytest.mark.parametrize("archive", ["nba", "stocks", "tcp", "synthetic", "places"])
def test_refresh_gives_the_tables_of_a_straight_run(
    archive: str, home: Home, spark: SparkSession, tmp_path: Path
) -> None:
    files = [file for file in write_raw(home, archive) if file.name != "archive.yaml"]
    run(home, archive)
    for seed in range(4):
        chance = Random(f"{archive} {seed}")
        how = correct(chance, file := chance.choice(files))
        workshop = to_skylines(home, archive)
        refresh(workshop)
        run(home, archive) if "absent" in home.states(archive).values() else None  # rows of a new period
        straight = make_home(tmp_path / f"straight {seed}")
        (straight.folder / "raw").parent.mkdir(parents=True)
        straight.raw.symlink_to(home.raw)
        assert content(workshop) == content(run(straight, archive)), f"{file.name}: {how}, seed {seed}"

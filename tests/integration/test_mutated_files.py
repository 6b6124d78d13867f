"""Raw files that something happened to, ingested together: every row of every file is in `raw` or in `quarantine`, or
its file is refused by name; and what `runs` says of the accepted rows is what a look at them as a whole says."""

import gzip
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from boxes import box
from conftest import Home
from mutating_parquet import BYTES, TABLES, damaged, packed
from mutating_text import CONTENT, PACKED, records
from prints import printed
from skyarchive.pipeline.publishing import Outcome
from skyarchive.pipeline.running import run_step
from skyarchive.pipeline.sources import looked_into
from skyarchive.pipeline.workshop import Workshop

ROWS = 30
FIELDS = "#separator \\x09\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\n"
FIRST_DAY, DAYS_APART = 1_000_000_000, 10 * 86_400


@dataclass(frozen=True)
class Made:
    """A mutated file: how many rows it holds, None where nobody could tell, and what happened to it."""

    rows: int | None
    how: str


def prices(year: int) -> bytes:
    lines = (f'{year}-01-{n % 28 + 1:02},"T,{n}",10.{n},11,9,10.5,1000\n' for n in range(ROWS))
    return ("date,ticker,open,high,low,close,volume\n" + "".join(lines)).encode()


def connections(number: int) -> bytes:
    begin = FIRST_DAY + number * DAYS_APART
    lines = (f"{begin + n}.5\tC{n}\t10.0.0.1\t40000\t9.9.{n % 7}.9\t443\ttcp\n" for n in range(ROWS))
    return (FIELDS + "".join(lines)).encode()


def text_file(chance: Random, path: Path, content: bytes) -> Made:
    how = chance.choice([*CONTENT, *PACKED])
    if how in CONTENT:
        content = CONTENT[how](chance, content)
    else:
        content = PACKED[how](chance, gzip.compress(content, mtime=0))
    path.write_bytes(content)
    found = records(content, log=path.suffix == ".log")
    return Made(None if found is None else len(found), how)


def parquet_file(chance: Random, path: Path, season: int) -> Made:
    how, damage = chance.choice([*TABLES]), chance.choice(BYTES) if chance.random() < 0.5 else BYTES[0]
    table = TABLES[how](chance, box(ROWS, season))
    path.write_bytes(damaged(chance, packed(chance, table), damage))
    try:
        rows = pq.read_metadata(path).num_rows
    except Exception:
        return Made(None, f"{how}, {damage}")
    return Made(rows, f"{how}, {damage}")


def write_files(chance: Random, home: Home, count: int) -> dict[str, dict[str, Made]]:
    """By archive and name; each a period of its own, as far as its name or its rows still say so."""
    made: dict[str, dict[str, Made]] = {"stocks": {}, "nba": {}, "tcp": {}}
    for archive in made:
        (home.raw / archive).mkdir(parents=True)
    for n in range(count):
        name = f"prices_{1700 + n}.csv"
        made["stocks"][name] = text_file(chance, home.raw / "stocks" / name, prices(1700 + n))
        name = f"conn_{n:03}.log"
        made["tcp"][name] = text_file(chance, home.raw / "tcp" / name, connections(n))
        name = f"player_box_{1900 + n}.parquet"
        made["nba"][name] = parquet_file(chance, home.raw / "nba" / name, 1900 + n)
    return made


def ingest(home: Home, archive: str) -> tuple[Workshop, Outcome]:
    workshop = home.workshop(archive)
    workshop = replace(workshop, definition=workshop.definition.model_copy(update={"max_refused_share": 1.0}))
    return workshop, run_step(workshop, "ingest", looked_into(workshop).periods())


def assert_nothing_is_lost(workshop: Workshop, outcome: Outcome, made: dict[str, Made]) -> int:
    """How many of the files were refused as a whole."""
    archive = workshop.archive
    refused = "\n".join([*outcome.refused.values(), *outcome.left_out])
    both = " union all ".join(f"select file, row from {archive}.{table}" for table in ("raw", "quarantine"))
    found: dict[str, list[int]] = {}
    for file, row in workshop.lake.query(both).rows:
        found.setdefault(file, []).append(row)
    for name, it in made.items():
        there = sorted(row for row in found.get(name, []) if row is not None)
        copies = found.get(name) == [None]
        told = name in refused
        assert told or copies or it.rows is not None, f"{name} ({it.how}) cannot be read, and nobody says so"
        assert told or copies or there == list(range(1, (it.rows or 0) + 1)), f"{name} ({it.how}) lost rows"
    raw = workshop.tables.read("raw", workshop.lake.published_versions(archive)["raw"])
    whole = printed(workshop, "raw", raw)
    ledger = workshop.ledger().of("ingest")
    assert {period: (it.rows_out, it.output_fingerprints) for period, it in ledger.items()} == whole
    return sum(name in refused for name in made)


def trial(home: Home, seed: int, count: int) -> None:
    """Three times as many files as `count`."""
    for archive, made in write_files(Random(seed), home, count).items():
        workshop, outcome = ingest(home, archive)
        refused = assert_nothing_is_lost(workshop, outcome, made)
        print(f"seed {seed}, {archive}: {len(made)} files, {refused} refused, {len(outcome.published)} periods")
        assert 0 < refused < len(made)


@pytest.mark.slow
def test_no_row_of_a_hundred_files_is_lost(home: Home, spark: SparkSession) -> None:
    trial(home, 17, 34)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(2000, 2006))
def test_no_row_of_many_files_is_lost(home: Home, spark: SparkSession, seed: int) -> None:
    trial(home, seed, 34)

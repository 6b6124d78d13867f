"""Text files that something happened to: every line is a row with its own fields, a row with a fault, or the file is
refused. Read by us and by a second, plain reader."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from mutating_text import CONTENT, PACKED, records
from skyarchive.errors import InputError
from skyarchive.steps.ingest.reading.conn_log import read_conn_log
from skyarchive.steps.ingest.reading.text import Batch, csv_layout, read_text

PRICES = b"date,ticker,open,high,low,close,volume\n" + b"".join(
    b'2004-01-%02d,"T,%d",10.%d,11,9,10.5,1000\n' % (n % 28 + 1, n, n) for n in range(30)
)
FIELDS = ["ts", "uid", "id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p", "proto"]
LOG = ("#separator \\x09\n#fields\t" + "\t".join(FIELDS) + "\n").encode() + b"".join(
    b"17134849%02d.5\tC%d\t10.0.0.1\t40000\t9.9.%d.9\t443\ttcp\n" % (n, n, n % 7) for n in range(30)
)
PLAIN_LOG = LOG.split(b"\n", 1)[1].removeprefix(b"#fields\t")
FILES = {"prices.csv": PRICES, "conn.log": LOG, "plain.log": PLAIN_LOG}


def mutated(seed: int, how: str, name: str) -> bytes:
    chance = Random(f"{seed} {how} {name}")
    if how in CONTENT:
        content = CONTENT[how](chance, FILES[name])
        return gzip.compress(content, mtime=0) if chance.random() < 0.2 else content
    return PACKED[how](chance, gzip.compress(CONTENT[chance.choice([*CONTENT])](chance, FILES[name]), mtime=0))


def batches(path: Path) -> Iterator[Batch]:
    if path.suffix == ".csv":
        return read_text(path, csv_layout(path, ","))
    return read_conn_log(path, ["-", "?", ""])


def assert_nothing_is_lost(path: Path) -> bool:
    """Whether the file was read; every row of it is there once, then."""
    columns = {"prices.csv": 7}.get(path.name, len(FIELDS))
    try:
        read = list(batches(path))
    except (InputError, OSError, pa.ArrowException):
        return False
    rows: dict[int, list[str] | None] = {}
    for batch in read:
        names = [name for name in batch.columns if name not in ("remote", "log")]
        values = [batch.columns[name].to_pylist() for name in names]
        for at, (number, fault) in enumerate(zip(batch.rows.tolist(), batch.faults.to_pylist(), strict=True)):
            assert number not in rows
            rows[number] = [column[at] for column in values] if fault is None else None
    expected = records(path.read_bytes(), log=path.suffix == ".log")
    assert expected is not None, "a file that nobody can unpack"
    assert sorted(rows) == list(range(1, len(expected) + 1))
    for number, found in rows.items():
        if found is not None and len(found) == columns:
            assert [field.strip("\ufeff") for field in found] == [f.strip("\ufeff") for f in expected[number - 1]], (
                number
            )
    return True


def trial(folder: Path, seeds: range) -> None:
    read = total = 0
    for seed in seeds:
        for how in (*CONTENT, *PACKED):
            for name in FILES:
                (folder / name).write_bytes(mutated(seed, how, name))
                try:
                    read += assert_nothing_is_lost(folder / name)
                except Exception as error:
                    raise AssertionError(f"{name}, {how}, seed {seed}: {error}") from error
                total += 1
    print(f"{total} files, {total - read} refused as a whole")
    assert total / 2 < read < total


def test_nothing_is_lost(tmp_path: Path) -> None:
    trial(tmp_path, range(4))


@pytest.mark.thorough
def test_nothing_is_lost_in_many_files(tmp_path: Path) -> None:
    trial(tmp_path, range(100, 160))

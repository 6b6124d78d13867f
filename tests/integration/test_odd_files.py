"""One raw file that cannot be read, or is odd, never stops what has nothing to do with it."""

import gzip
from datetime import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from boxes import box
from conftest import Home

FIELDS = "#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto"
DAY = 86_400
FIRST = 1_713_484_800  # 2024-04-19


def log(day: int, rows: int = 40) -> str:
    """A connection log of one day."""
    begin = FIRST + day * DAY
    lines = [f"{begin + n}.5\tC{n}\t10.0.0.1\t40000\t9.9.{n % 7}.9\t443\ttcp" for n in range(rows)]
    return "\n".join([FIELDS, *lines, ""])


def damage(path: Path, column: str) -> None:
    """Make the header of the column's first page unreadable: nothing else of the file tells of it."""
    metadata = pq.read_metadata(path).row_group(0)
    at = metadata.column(pq.read_schema(path).names.index(column)).data_page_offset
    content = bytearray(path.read_bytes())
    content[at : at + 24] = b"\xff" * 24
    path.write_bytes(content)


def test_an_odd_parquet_file_stops_its_own_period_only(home: Home, spark: SparkSession) -> None:
    folder = home.raw / "nba"
    folder.mkdir(parents=True)
    nanos = pa.array([1_300_000_000_123_456_789] * 50, pa.timestamp("ns"))
    other = {
        "tip_off": pa.array([time(19, 30)] * 50, pa.time64("ns")),
        "half": pa.array(np.ones(50, np.float16)),
        "X": pa.array([1] * 50),
        "x": pa.array([2] * 50),
    }
    seasons = {
        2010: box(50),
        2011: box(50, 2011),
        2012: box(50, 2012, game_date_time=nanos),
        2013: box(50, 2013).append_column("POINTS", pa.array([1] * 50)),
        2014: box(50, 2014, **other),
        2015: box(50, 2015, minutes=pa.array(np.ones(50, np.float16))),
    }
    for season, table in seasons.items():
        pq.write_table(table, folder / f"player_box_{season}.parquet", use_dictionary=False)
    damage(folder / "player_box_2011.parquet", "points")
    answer = home.command("ingest", "nba")
    assert answer.code == 1
    told = dict(zip(("2013", "2015", "2011"), answer.err.strip().splitlines()[-3:], strict=True))
    assert "player_box_2013.parquet: the column points is there twice (points, POINTS" in told["2013"]
    assert "player_box_2015.parquet: the column minutes is halffloat, must be double" in told["2015"]
    assert "player_box_2011.parquet: cannot be read, it seems truncated or damaged" in told["2011"]
    assert "Traceback" not in answer.err and "An error occurred" not in answer.err
    found = home.sql("select period, count(*) n, min(game_date_time)::varchar t from nba.raw group by all order by 1")
    assert [(row["period"], row["n"]) for row in found] == [("2010", 50), ("2012", 50), ("2014", 50)]
    assert found[1]["t"].startswith("2011-03-13 07:06:40.123456")
    assert home.states("nba") == {
        "2010": "unfinished", "2011": "refused", "2012": "unfinished",
        "2013": "refused", "2014": "unfinished", "2015": "refused",
    }  # fmt: skip


UNREADABLE = {
    "empty.log": b"",
    "headless.log": "\n".join(log(6).splitlines()[1:]).encode() + b"\n",
    "utf16.log": log(7).encode("utf-16"),
    "cut.log.gz": gzip.compress(log(8, 5000).encode())[:-2000],
}


@pytest.mark.slow
def test_an_unreadable_log_blocks_only_what_it_held(home: Home, spark: SparkSession) -> None:
    folder = home.raw / "tcp"
    folder.mkdir(parents=True)
    for name, content in {"a.log": log(0).encode(), "b.log": log(1).encode(), **UNREADABLE}.items():
        (folder / name).write_bytes(content)
    answer = home.command("ingest", "tcp")
    assert answer.code == 1
    assert home.sql("select period, count(*) n from tcp.raw group by 1 order by 1") == [
        {"period": "2024-04-19", "n": 40}, {"period": "2024-04-20", "n": 40},
    ]  # fmt: skip
    status = home.command("status", "tcp")
    for name in UNREADABLE:
        for told in (answer.err, status.err):
            assert f"tcp, file {name}: " in told
    assert "utf16.log is UTF-16 text, must be UTF-8" in status.err

    (folder / "b.log").write_bytes(UNREADABLE["utf16.log"])
    (folder / "c.log").write_bytes(log(2).encode())
    (folder / "utf16.log").write_bytes(log(7).encode())
    for name in set(UNREADABLE) - {"utf16.log"}:
        (folder / name).unlink()
    answer = home.command("ingest", "tcp")
    assert answer.code == 1 and "tcp, file b.log: b.log is UTF-16" in answer.err and "c.log" not in answer.err
    assert home.states("tcp") == {
        "2024-04-19": "unfinished", "2024-04-20": "unfinished", "2024-04-21": "unfinished", "2024-04-26": "unfinished",
    }  # fmt: skip
    (refused,) = [row for row in home.command("status", "tcp", "--format", "json").rows if row["refusal"]]
    assert refused["period"] == "2024-04-20" and "b.log" in refused["refusal"]
    assert home.sql("select count(*) n from tcp.raw where period = '2024-04-20'") == [{"n": 40}]

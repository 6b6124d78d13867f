"""Times that no reader of the tables can tell: rows and periods are refused with a sentence, and the others go on."""

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from conftest import Home
from skyarchive.settings import schemas_folder

pytestmark = pytest.mark.spark

STEPS = """
name: far
title: Things
source: {format: csv}
period: {column: era}
columns: {era: {type: string}, step: {type: bigint}, who: {type: string}, x: {type: double}}
object: {column: who}
derive: {method: updates, order: {by: [step], step_seconds: 3e9}}
attributes: {x: {better: lower}}
"""
DAYS = """
name: far
title: Things
source: {format: parquet}
period: {column: day, by: year}
columns: {day: {type: date, required: true}, who: {type: string}, x: {type: double}}
object: {column: who}
derive: {method: updates, order: {by: [day]}}
attributes: {x: {better: lower}}
max_refused_share: 1
"""


def described(home: Home, archive: str, definition: str) -> None:
    (home.raw / archive).mkdir(parents=True)
    (home.raw / archive / "archive.yaml").write_text(definition)


@pytest.mark.parametrize("step", [100, 2**62])
def test_a_period_whose_times_are_too_far_away_is_refused_alone(home: Home, spark: SparkSession, step: int) -> None:
    described(home, "far", STEPS)
    (home.raw / "far" / "rows.csv").write_text(f"era,step,who,x\na,1,p,1\na,2,q,2\nb,3,p,1\nb,{step},p,2\n")
    answer = home.command("run", "far", "--steps", "ingest,derive")
    assert answer.code == 1 and "far: derive published a." in answer.err
    assert "far b: no time between the years 1 and 9999" in answer.err and "in 1 of 2 snapshots" in answer.err
    assert home.states("far") == {"a": "unfinished", "b": "refused"}


def test_rows_of_years_that_cannot_be_told_are_refused(home: Home, spark: SparkSession) -> None:
    described(home, "far", DAYS)
    days = [-800_000, -719_163, 0, 19_000, 2_932_897, 2_000_000_000]  # before the year 1, its eve, ..., after 9999
    columns = {"day": pa.array(days, pa.int32()).cast(pa.date32()), "who": ["p"] * 6, "x": [1.0] * 6}
    pa.parquet.write_table(pa.table(columns), home.raw / "far" / "rows.parquet")
    answer = home.command("run", "far", "--steps", "ingest,derive")
    assert answer.code == 0, answer.err
    assert home.states("far") == {"1970": "unfinished", "2022": "unfinished"}
    assert home.sql("select reason, count(*) as n from far.quarantine group by 1") == [
        {"reason": "day is not between the years 1 and 9999", "n": 4}
    ]


def test_the_last_day_of_connections_ends_in_a_year_that_cannot_be_told(home: Home, spark: SparkSession) -> None:
    tcp = (schemas_folder() / "archives" / "tcp.yaml").read_text("utf-8")
    lines = ["  ts: {type: double, required: true}" if line.startswith("  ts:") else line for line in tcp.splitlines()]
    described(home, "tcp", "\n".join(lines))
    header = "ts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\n"
    times = [253402300700, *range(1_700_000_000, 1_700_000_030)]
    rows = "".join(f"{time}\tC1\t10.0.0.1\t1\t8.8.8.8\t443\ttcp\n" for time in times)
    (home.raw / "tcp" / "conn.log").write_text(header + rows)
    answer = home.command("run", "tcp", "--steps", "ingest,derive")
    assert answer.code == 0 and "tcp: derive published 2023-11-14." in answer.err
    assert home.sql("select period, row, reason from tcp.quarantine") == [
        {"period": "2023-11-14", "row": 1, "reason": "ts gives no period"}
    ]

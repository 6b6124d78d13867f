"""Unbeaten rows on Spark: any plan, any partitions, groups, partial orders; from SQL and through Spark Connect."""

import os
import socket
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from deltalake import WriterProperties, write_deltalake
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from hotels import TRUE_WAYS, WAYS, frame, hotels, ids, true_ids
from skyarchive import register_sql, skyline
from skyarchive.dataframes import choosing
from skyarchive.dataframes import unbeaten as external
from skyarchive.dataframes.sizing import known_bytes
from skyarchive.dataframes.unbeaten import unbeaten_rows
from skyarchive.dataframes.workers import Question
from skyarchive.kernels.points import unbeaten
from skyarchive.kernels.points.preferences import checked_preferences
from skyarchive.orchestration.spark_server import new_token, start_server
from skyarchive.settings import Settings


@pytest.mark.parametrize("plan", ["tree", "passes"])
@pytest.mark.parametrize("group", [None, "city"])
def test_any_plan_gives_what_the_definition_says(spark: SparkSession, plan: Any, group: str | None) -> None:
    rows = hotels(1, 300)
    wanted = true_ids(rows, TRUE_WAYS, [group] if group else None)
    found = skyline(frame(spark, rows), WAYS, group, plan)
    assert found.columns == list(rows[0])
    kept = {row["id"]: row["note"] for row in found.collect()}
    assert sorted(kept) == wanted
    assert kept == {row["id"]: row["note"] for row in rows if row["id"] in kept}
    assert len(wanted) > len({tuple(rows[n][name] for name in WAYS) for n in wanted})  # there are duplicates


@pytest.mark.parametrize("plan", ["tree", "passes"])
def test_the_number_of_partitions_never_changes_the_answer(spark: SparkSession, plan: Any) -> None:
    rows = hotels(2, 400)
    ways = {"price": "lower", "stars": "higher"}
    for partitions in (1, 64):
        assert ids(skyline(frame(spark, rows, partitions), ways, plan=plan)) == true_ids(rows, ways)


@pytest.mark.parametrize("group", [None, "city"])
def test_tables_of_any_known_size(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str | None
) -> None:
    """One leaf, leaves that are merged at once, leaves that are merged in steps: by the size that files say."""
    rows = hotels(7, 120)
    for part in (rows[:70], rows[70:]):
        write_deltalake(tmp_path / "hotels", pa.Table.from_pylist(part), mode="append")
    table = spark.read.format("delta").load(str(tmp_path / "hotels")).where("id < 110")
    wanted = true_ids(rows[:110], TRUE_WAYS, [group] if group else None)
    size = known_bytes(table)
    assert size is not None and 0 < size < 100_000
    calls = []
    for leaf, merge in ((size, size), (size - 1, size), (0, 0)):
        monkeypatch.setattr(external, "ONE_LEAF_BYTES", leaf)
        monkeypatch.setattr(external, "ONE_MERGE_BYTES", merge)
        found = skyline(table, WAYS, group)
        assert ids(found) == wanted
        calls.append(str(found._jdf.queryExecution().optimizedPlan()).count("MapInArrow"))
    assert calls == ([1, 2, 2] if group else [1, 2, 3])


def test_only_what_comes_from_one_table_has_a_known_size(spark: SparkSession) -> None:
    few = spark.range(10)
    assert known_bytes(few.where("id > 3").select("id")) == 80
    assert known_bytes(few.join(few, "id")) is None
    assert known_bytes(few.groupBy("id").count()) is None
    assert known_bytes(spark.readStream.format("rate").load()) is None


@pytest.mark.parametrize("plan", ["tree", "passes"])
def test_numbers_that_no_double_tells_apart(spark: SparkSession, plan: Any) -> None:
    rows = [{"id": n, "start": 2**60 - n * 7 % 10, "share": Decimal(10**17 + n * 3 % 10) / 10**6} for n in range(40)]
    table = spark.createDataFrame([tuple(row.values()) for row in rows], "id int, start bigint, share decimal(18, 6)")
    ways = {"start": "higher", "share": "lower"}
    wanted = true_ids(rows, ways)
    assert 0 < len(wanted) < len(rows)
    assert ids(skyline(table, ways, plan=plan)) == wanted


def test_auto_is_not_fooled_by_the_order(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "PROBE", 500)
    monkeypatch.setattr(choosing, "MOST_BYTES", 50_000)
    weak_first = spark.range(0, 5000, 1, 2).selectExpr(
        "if(id < 2000, 1e6 + id, id) as x", "if(id < 2000, id, -id) as y"
    )
    question = Question(checked_preferences({"x": "lower", "y": "lower"}), grouped=False)
    assert choosing.chosen_plan(weak_first, question) == "passes"
    monkeypatch.setattr(choosing, "MOST_BYTES", 5_000_000)
    assert choosing.chosen_plan(weak_first, question) == "tree"


def test_rounds_with_the_smallest_window_end_with_the_same(spark: SparkSession) -> None:
    rows = hotels(3, 60)
    found = unbeaten_rows(frame(spark, rows, 2), WAYS, ["city", "medal"], "passes", window=12)
    assert ids(found) == true_ids(rows, TRUE_WAYS, ["city", "medal"])


@pytest.mark.parametrize("plan", ["tree", "passes", "auto"])
def test_no_row_one_row_equal_rows(spark: SparkSession, plan: Any) -> None:
    row = {"id": 1, "price": 1.0, "stars": 3, "medal": "gold", "city": None, "note": None}
    for rows in ([], [row], [row | {"id": n} for n in range(5)], [row | {"price": None}]):
        assert ids(skyline(frame(spark, rows, 2), WAYS, plan=plan)) == true_ids(rows, TRUE_WAYS)


BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"


def test_from_sql(spark: SparkSession) -> None:
    rows = hotels(4, 200)
    frame(spark, rows).createOrReplaceTempView("hotels")
    register_sql(spark)
    text = "price lower, stars higher, medal (gold > silver; gold > wood)"
    assert ids(spark.sql(f"select * from skyline(table(hotels), '{text}')")) == true_ids(rows, TRUE_WAYS)
    chosen = "table(select * from hotels), 'price lower', 'city, medal'"
    grouped = spark.sql(f"select id, note from skyline({chosen}) where id > 9")
    wanted = true_ids(rows, {"price": "lower"}, ["city", "medal"])
    assert ids(grouped) == [number for number in wanted if number > 9]
    odd = "select *, city as `the ``city``, or town` from hotels"
    named = "table(" + odd + "), '`PRICE` Lower', '`the ``city``, or town`, Medal'"
    assert ids(spark.sql(f"select * from skyline({named})")) == wanted
    for wrong, words in (
        ("price up", "'up' is no direction"), ("prize lower", "no column 'prize'"),
        ("price lower, price higher", "names price twice"),
    ):  # fmt: skip
        with pytest.raises(PySparkException, match=words):
            spark.sql(f"select * from skyline(table(hotels), '{wrong}')").collect()
    with pytest.raises(PySparkException, match="is no list of columns"):
        spark.sql("select * from skyline(table(hotels), 'price lower', 'city,, medal')").collect()


def test_sql_gives_columns_of_any_type_as_they_are(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    rows = spark.range(0, 3000, 1, 5).selectExpr(
        "id", "pmod(hash(id), 1000) as price", "'c' || id % 3 as `the city`",
        "cast(pmod(hash(id), 1000) + pmod(hash(id, 1), 100) as decimal(9, 2)) as stars",
        "if(id % 5 = 0, null, date_add(date'2020-01-01', cast(id as int))) as day", "timestamp_micros(id) as time",
        "timestamp_ntz'2020-01-01 10:00:00' as local", "array(id, null) as many", "map('a', id) as by_name",
        "named_struct('a', id, 'b', string(id)) as pair", "interval '1' day * id as lasts", "binary('x') as bits",
        "id % 2 = 0 as even", "null as nothing",
    )  # fmt: skip
    rows.createOrReplaceTempView("of_all_types")
    register_sql(spark)
    spark.conf.set(BATCH_ROWS, 100)  # many batches: what is unbeaten in its own may be beaten by one of another
    request.addfinalizer(lambda: spark.conf.unset(BATCH_ROWS))
    for group in (None, "the city"):
        asked = "table(of_all_types), 'price lower, stars higher'" + (f", '{group}'" if group else "")
        found = spark.sql(f"select * from skyline({asked})")
        assert found.schema == rows.schema
        wanted = skyline(rows, {"price": "lower", "stars": "higher"}, group).collect()
        assert 0 < len(wanted) < 3000
        assert sorted(found.collect(), key=lambda row: row.id) == sorted(wanted, key=lambda row: row.id)
    for none_takes_part in ("select * from of_all_types where id < 0", "select *, double(null) as x from of_all_types"):
        way = "x" if "as x" in none_takes_part else "price"
        assert spark.sql(f"select * from skyline(table({none_takes_part}), '{way} lower')").collect() == []
        assert spark.sql(f"select * from skyline(table({none_takes_part}), '{way} lower', 'the city')").collect() == []


CONNECTED = """
import sys
from pyspark.sql import SparkSession
from skyarchive import register_sql, skyline
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
assert "connect" in type(spark).__module__
rows = [(n, float(n * 7 % 50), n * 11 % 50, ("a", "b")[n % 2]) for n in range(1000)]
frame = spark.createDataFrame(rows, "id bigint, price double, stars int, city string").repartition(4)
ways = {"price": "lower", "stars": "higher"}
register_sql(spark)
frame.createOrReplaceTempView("hotels")
answers = [
    skyline(frame, ways), skyline(frame, ways, plan="passes"), skyline(frame, ways, "city", plan="auto"),
    spark.sql("select * from skyline(table(hotels), 'price lower, stars higher')"),
    spark.sql("select * from skyline(table(hotels), 'price lower, stars higher', 'city')"),
]
print([sorted(row.id for row in answer.collect()) for answer in answers])
spark.stop()
"""


def test_through_spark_connect(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = new_token()
    settings = Settings(warehouse=str(tmp_path), master="local[2]", driver_memory="1g")
    server = start_server(settings, port, token, tmp_path / "server.log")
    try:
        deadline = time.monotonic() + 90
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert server.poll() is None and time.monotonic() < deadline, (tmp_path / "server.log").read_text()[-2000:]
            time.sleep(0.3)
        # By this name only: with any other, even 127.0.0.1, a token means TLS.
        client = subprocess.run(
            [sys.executable, "-c", CONNECTED, f"sc://localhost:{port}/;token={token}"],
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
    finally:
        os.killpg(server.pid, 9)
        server.wait()
    rows = [{"id": n, "price": float(n * 7 % 50), "stars": n * 11 % 50, "city": "ab"[n % 2]} for n in range(1000)]
    ways = {"price": "lower", "stars": "higher"}
    whole, by_city = true_ids(rows, ways), true_ids(rows, ways, ["city"])
    assert client.stdout.strip() == str([whole, whole, by_city, whole, by_city]), client.stderr[-3000:]


HEAP_MB, LARGER = 160, 10
TIGHT = f"""
import resource, sys
import pyarrow as pa, pyarrow.compute
from skyarchive import skyline
from skyarchive.pipeline.session import build_session
from skyarchive.settings import load_settings

def peak(batches):
    for _ in batches:
        pass
    yield pa.RecordBatch.from_arrays([pa.array([resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024])], ["mb"])

spark = build_session(load_settings())
heap = spark._jvm.java.lang.Runtime.getRuntime().maxMemory() // 2**20
assert heap <= {HEAP_MB}, heap
table = spark.read.format("delta").option("versionAsOf", int(sys.argv[2])).load(sys.argv[1])
ways = dict(x0="lower", x1="higher", x2="lower")
answers = []
for plan in ("tree", "passes"):
    found = skyline(table, ways, plan=plan).toArrow().sort_by("id")
    assert set(pa.compute.binary_length(found["payload"]).to_pylist()) == {{1000}}
    answers.append(found["id"].to_pylist())
workers = max(row.mb for row in spark.range(8).repartition(8).mapInArrow(peak, "mb bigint").collect())
print(answers[0] == answers[1], workers, answers[0])
"""


SMALL_GROUPS = WriterProperties(max_row_group_size=4_000)
"""Parquet's readers hold a row group at once, here of about 4 MB."""


@pytest.mark.thorough
def test_a_table_ten_times_larger_than_the_memory(tmp_path: Path) -> None:
    rows, files = 100_000, 0
    chance = np.random.default_rng(8)
    written, kept = 0, []
    while written < LARGER * HEAP_MB * 2**20:
        columns = {f"x{axis}": chance.random(rows) for axis in range(3)}
        random = pa.py_buffer(chance.bytes(1000 * rows))
        payload = pa.FixedSizeBinaryArray.from_buffers(pa.binary(1000), rows, [None, random])
        part = pa.table({"id": np.arange(rows) + files * rows} | columns | {"payload": payload.cast(pa.binary())})
        write_deltalake(tmp_path / "table", part, mode="append", writer_properties=SMALL_GROUPS)
        member = unbeaten([columns["x0"], -columns["x1"], columns["x2"]])
        kept.append(part.drop("payload").filter(pa.array(member)))
        written += part.nbytes
        files += 1
    assert sum(file.stat().st_size for file in (tmp_path / "table").glob("*.parquet")) > LARGER * HEAP_MB * 2**20
    best = pa.concat_tables(kept)
    costs = [best.column(name).to_numpy() * sign for name, sign in (("x0", 1), ("x1", -1), ("x2", 1))]
    wanted = sorted(best.filter(pa.array(unbeaten(costs))).column("id").to_pylist())
    environment = os.environ | {
        "SKYARCHIVE_DRIVER_MEMORY": f"{HEAP_MB}m",
        "SKYARCHIVE_MASTER": "local[2]",
        "SKYARCHIVE_WAREHOUSE": str(tmp_path),
        "PYSPARK_SUBMIT_ARGS": "--conf spark.testing.reservedMemory=33554432 pyspark-shell",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", TIGHT, str(tmp_path / "table"), str(files - 1)],
        env=environment, capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    log = tmp_path / "skyarchive.log"
    assert done.returncode == 0, done.stderr[-3000:] + (log.read_text()[-2000:] if log.is_file() else "")
    same, workers, answer = done.stdout.strip().split(" ", 2)
    assert same == "True" and answer == str(wanted)
    assert int(workers) < 4 * HEAP_MB  # Python itself and the libraries take most of it

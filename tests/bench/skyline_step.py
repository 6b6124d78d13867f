"""What the skyline step costs on Spark, against the same job with a kernel that returns nothing."""

import shutil
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from deltalake import write_deltalake
from kernel_logs import synthetic
from pyspark.sql import SparkSession

from skyarchive.definition.model import Attribute
from skyarchive.pipeline.session import build_session
from skyarchive.settings import Settings
from skyarchive.steps.skyline.intervals import Compute, Log, Part, clipped, cut, membership, part_intervals

PERIOD = "00000"
PART = 2_000_000
REPEATS = 2
NO_INTERVALS = pa.schema({"period": pa.string(), "object": pa.string(), "first": pa.int64(), "last": pa.int64()})


def write_log(folder: Path, n_objects: int, n_snapshots: int) -> int:
    """SYN as `updates` and `snapshots`, in files of two million rows as derive writes them; the number of updates."""
    log = synthetic(n_objects, 3, n_snapshots)
    names = pa.array(np.arange(n_objects)).cast(pa.string())
    for begin in range(0, len(log.snapshot), PART):
        rows = slice(begin, begin + PART)
        item = log.object[rows]
        table = {
            "period": pa.repeat(pa.scalar(PERIOD), len(item)),
            "snapshot": log.snapshot[rows].astype(np.int64),
            "object": names.take(pa.array(item)),
        }
        columns = {f"x{axis}": column[rows] for axis, column in enumerate(log.attributes)}
        write_deltalake(folder / "updates", pa.table(table | columns), mode="append", partition_by=["period"])
    times = pa.array(np.arange(n_snapshots, dtype=np.int64) * 1_000_000, pa.timestamp("us", "UTC"))
    timeline = {"period": pa.repeat(pa.scalar(PERIOD), n_snapshots), "snapshot": np.arange(n_snapshots), "time": times}
    write_deltalake(folder / "snapshots", pa.table(timeline))
    return len(log.snapshot)


def run(spark: SparkSession, folder: Path, updates: int, compute: Compute) -> float:
    """Seconds from reading the log to the written table."""
    began = time.perf_counter()
    attributes = {f"x{axis}": Attribute(better="lower") for axis in range(3)}
    log = Log(
        updates=spark.read.format("delta").load(str(folder / "updates")),
        carry=spark.createDataFrame([], "period string, object string, x0 double, x1 double, x2 double"),
        snapshots=spark.read.format("delta").load(str(folder / "snapshots")).persist(),
        attributes=attributes,
    )
    parts = cut(log, {PERIOD: updates}, PART)
    found = clipped(membership(log, parts, compute), log)
    found.coalesce(1).write.format("delta").mode("overwrite").save(str(folder / "skyline"))
    return time.perf_counter() - began


def rows(quick: bool = False) -> list[dict[str, Any]]:
    """The step's time against the same job without a kernel, taken in turns."""

    def nothing(
        part: Part, updates: pa.Table, start: pa.Table
    ) -> pa.Table:  # here, so that it travels to the workers by value
        return NO_INTERVALS.empty_table()

    folder = Path(tempfile.mkdtemp(prefix="skyarchive-bench-"))
    try:
        updates = write_log(folder, 5_000 if quick else 50_000, 10_000)
        spark = build_session(Settings(warehouse=str(folder)))
        with_kernel, without = [], []
        for _ in range(REPEATS + 1):  # the first round warms up
            without.append(run(spark, folder, updates, nothing))
            with_kernel.append(run(spark, folder, updates, partial(part_intervals, method="witness")))
        intervals = spark.read.format("delta").load(str(folder / "skyline")).count()
    finally:
        shutil.rmtree(folder)
    ours, theirs = min(with_kernel[1:]), min(without[1:])
    return [
        {
            "data": f"SYN, {updates:,} updates, {intervals:,} intervals",
            "against": "the same Spark job without a kernel",
            "target": "<= 1.3",
            "ratio": round(ours / theirs, 2),
            "ours_s": round(ours, 2),
            "theirs_s": round(theirs, 2),
        }
    ]

"""Unbeaten rows of a large table against what a user would do instead, and one plan against the other.

All in one session on a Delta table; what is compared is taken in turns, after a round that warms up.
"""

import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import moocore
import numpy as np
import pyarrow as pa
from deltalake import write_deltalake
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from skyarchive import skyline
from skyarchive.session import build_session
from skyarchive.settings import Settings
from skyarchive.steps.external import Plan

REPEATS = 3
FILES = 4
LONGEST = 100.0
"""Seconds after which a comparison has shown enough."""
Row = dict[str, Any]


def points(kind: str, n: int, dimensions: int) -> np.ndarray:
    """Independent, correlated and anti-correlated points as the skyline papers make them."""
    chance = np.random.default_rng(7)
    uniform = chance.random((n, dimensions))
    if kind == "independent":
        return uniform
    if kind == "correlated":
        return np.clip(chance.normal(0.5, 0.2, (n, 1)) + 0.1 * (uniform - 0.5), 0, 1)
    return np.clip(chance.normal(0.5, 0.05, (n, 1)) + uniform - uniform.mean(axis=1, keepdims=True), 0, 1)


def written(spark: SparkSession, folder: Path, kind: str, n: int, dimensions: int) -> DataFrame:
    """The points as a Delta table at a version."""
    path = folder / f"{kind}{n}x{dimensions}"
    for part in np.array_split(points(kind, n, dimensions), FILES):
        write_deltalake(path, pa.table({f"x{axis}": part[:, axis] for axis in range(dimensions)}), mode="append")
    return spark.read.format("delta").option("versionAsOf", FILES - 1).load(str(path))


def ours(frame: DataFrame, plan: Plan = "tree") -> int:
    return skyline(frame, dict.fromkeys(frame.columns, "lower"), plan=plan).count()


def only_read(frame: DataFrame) -> int:
    """All columns through Arrow into Python, and nothing done with them."""

    def nothing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:  # travels to the workers by value
        for _ in batches:
            pass
        return iter(())

    return frame.mapInArrow(nothing, frame.schema).count()


def collected(frame: DataFrame) -> int:
    """All rows to the driver, and moocore there."""
    table = frame.toArrow()
    whole = np.column_stack([table.column(name).to_numpy() for name in table.column_names])
    return int(moocore.is_nondominated(whole, keep_weakly=True).sum())


def not_exists(frame: DataFrame) -> int:
    """What the definition says, in SQL."""
    frame.createOrReplaceTempView("points")
    at_least = " and ".join(f"b.{name} <= a.{name}" for name in frame.columns)
    better = " or ".join(f"b.{name} < a.{name}" for name in frame.columns)
    query = f"select count(*) from points a where not exists (select 1 from points b where {at_least} and ({better}))"
    return int(frame.sparkSession.sql(query).collect()[0][0])


def capped(frame: DataFrame, expected: int) -> tuple[float, str]:
    """Seconds that it takes in SQL; it is stopped when it takes too long."""
    spark = frame.sparkSession
    alarm = threading.Timer(LONGEST, spark.interruptAll)
    alarm.start()
    began = time.perf_counter()
    try:
        assert not_exists(frame) == expected
    except PySparkException:
        return time.perf_counter() - began, ", stopped"
    finally:
        alarm.cancel()
    return time.perf_counter() - began, ""


def seconds(work: Callable[[], int]) -> tuple[float, int]:
    began = time.perf_counter()
    answer = work()
    return time.perf_counter() - began, answer


def in_turns(one: Callable[[], int], other: Callable[[], int], repeats: int = REPEATS) -> tuple[float, float, int]:
    """Seconds of the best of each, and the first one's answer."""
    taken = [(seconds(one), seconds(other)) for _ in range(repeats + 1)][1:]
    return min(a[0] for a, _ in taken), min(b[0] for _, b in taken), taken[0][0][1]


def _row(data: str, found: int, against: str, target: str, own: float, theirs: float, slower: bool = False) -> Row:
    return {
        "data": data,
        "unbeaten": found,
        "against": against,
        "target": target,
        "ratio": round(own / theirs if slower else theirs / own, 2),
        "ours_s": round(own, 2),
        "theirs_s": round(theirs, 2),
    }


def rows(quick: bool = False) -> Iterator[Row]:
    """Ratios are 'how many times faster', but for reading alone, where they are 'how many times slower'."""
    folder = Path(tempfile.mkdtemp(prefix="skyarchive-bench-"))
    try:
        spark = build_session(Settings(warehouse=str(folder)))
        n = 100_000 if quick else 1_000_000
        million = written(spark, folder, "independent", n, 5)
        own, theirs, found = in_turns(lambda: ours(million), lambda: only_read(million))
        yield _row(f"{n:,} x 5 independent", found, "only reading them through Arrow", "<= 2", own, theirs, slower=True)
        own, theirs, found = in_turns(lambda: ours(million), lambda: collected(million), 1)
        yield _row(f"{n:,} x 5 independent", found, "collecting them and moocore", "> 1", own, theirs)
        for kind in ("anti-correlated", "independent"):
            small = written(spark, folder, kind, n // 10, 3)
            own, _, found = in_turns(lambda: ours(small), lambda: 0)  # noqa: B023
            theirs, note = capped(small, found)
            yield _row(f"{n // 10:,} x 3 {kind}", found, f"Spark SQL, not exists{note}", ">= 100", own, theirs)
        for kind in ("independent", "correlated", "anti-correlated"):
            frame = million if kind == "independent" else written(spark, folder, kind, n, 5)
            own, theirs, found = in_turns(lambda: ours(frame), lambda: ours(frame, "passes"), 1)  # noqa: B023
            yield _row(f"{n:,} x 5 {kind}", found, "the other plan, passes", "", own, theirs)
    finally:
        shutil.rmtree(folder)

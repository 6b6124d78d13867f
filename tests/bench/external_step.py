"""Unbeaten rows of a large table against what a user would do instead, and one plan against the other.

All in one session on a Delta table at a version; what is compared is taken in turns, after rounds that warm up. Every
run plans its query anew, as a user's does, and ends with the unbeaten rows in hand.

How long `NOT EXISTS` takes is a matter of luck: Spark stops at the first row that beats the one in question. In a
random order it meets one soon, and is then a few times slower than a query that finds no row at all: by so much, and by
no more, can anything on Spark be faster. Where nobody is beaten, or those that beat others come last (the two orders
that `external_kernels` tries, too), it compares everybody with everybody.
"""

import re
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
from external_kernels import ORDERS
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from skyarchive import register_sql, skyline
from skyarchive.dataframes.unbeaten import Plan
from skyarchive.pipeline.session import build_session
from skyarchive.settings import Settings

REPEATS = 3
"""Of each, after as many that do not count: the JVM compiles what it runs often."""
FILES = (0.26, 0.51, 0.76)
"""Where the rows are cut into files. Spark reads the largest first: so they come in the order they are in."""
SMALL_REPEATS = 10
"""Of what takes a fraction of a second, most of it Spark's own code: the JVM is longer at compiling it."""
LONGEST = 150.0
"""Seconds after which a comparison has shown enough."""
SHORT = 10.0
"""Seconds below which a comparison is repeated like ours."""
Row = dict[str, Any]
Answer = list[tuple[float, ...]]


def points(kind: str, n: int, dimensions: int) -> np.ndarray:
    """Independent, correlated and anti-correlated points as the skyline papers make them; points near a plane, of
    which many are unbeaten, and on it, where all are; and independent ones in orders that hurt."""
    chance = np.random.default_rng(7)
    uniform = chance.random((n, dimensions))
    data, _, order = kind.partition(": ")
    if data == "independent":
        return ORDERS[order or "as it is"](uniform)
    if kind in ("on a plane", "near a plane"):
        return chance.dirichlet(np.ones(dimensions), n) * (1 + (0.5 * uniform[:, :1] if kind == "near a plane" else 0))
    if kind == "correlated":
        return np.clip(chance.normal(0.5, 0.2, (n, 1)) + 0.1 * (uniform - 0.5), 0, 1)
    return np.clip(chance.normal(0.5, 0.05, (n, 1)) + uniform - uniform.mean(axis=1, keepdims=True), 0, 1)


def written(spark: SparkSession, folder: Path, kind: str, n: int, dimensions: int) -> DataFrame:
    """The points as a Delta table at a version."""
    path = folder / f"{re.sub('[^a-z]+', '-', kind)}-{n}x{dimensions}"
    for part in np.split(points(kind, n, dimensions), [int(share * n) for share in FILES]):
        write_deltalake(path, pa.table({f"x{axis}": part[:, axis] for axis in range(dimensions)}), mode="append")
    return spark.read.format("delta").option("versionAsOf", len(FILES)).load(str(path))


def rows_of(table: pa.Table) -> Answer:
    """The rows in an order that does not depend on how they were found."""
    return sorted(zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True))


def ours(frame: DataFrame, plan: Plan = "tree") -> pa.Table:
    return skyline(frame, dict.fromkeys(frame.columns, "lower"), plan=plan).toArrow()


def from_sql(frame: DataFrame) -> pa.Table:
    """The same by the table function."""
    frame.createOrReplaceTempView("points")
    ways = ", ".join(f"{name} lower" for name in frame.columns)
    return frame.sparkSession.sql(f"select * from skyline(table(points), '{ways}')").toArrow()


def only_read(frame: DataFrame) -> pa.Table:
    """All columns through Arrow into Python, and nothing done with them."""

    def nothing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:  # travels to the workers by value
        for _ in batches:
            pass
        return iter(())

    return frame.mapInArrow(nothing, frame.schema).toArrow()


def nothing_found(frame: DataFrame) -> pa.Table:
    """No row: what Spark takes to plan a query of the table, read it and answer."""
    return frame.where(f"{frame.columns[0]} < -1").toArrow()


def collected(frame: DataFrame) -> pa.Table:
    """All rows to the driver, and moocore there."""
    table = frame.select("*").toArrow()  # a new frame: this one may keep its plan from the last time
    whole = np.column_stack([table.column(name).to_numpy() for name in table.column_names])
    return table.filter(pa.array(moocore.is_nondominated(whole, keep_weakly=True)))


def not_exists(frame: DataFrame) -> pa.Table:
    """What the definition says, in SQL."""
    frame.createOrReplaceTempView("points")
    at_least = " and ".join(f"b.{name} <= a.{name}" for name in frame.columns)
    better = " or ".join(f"b.{name} < a.{name}" for name in frame.columns)
    query = f"select * from points a where not exists (select 1 from points b where {at_least} and ({better}))"
    return frame.sparkSession.sql(query).toArrow()


def capped(frame: DataFrame, expected: Answer) -> tuple[float, str]:
    """Seconds that it takes in SQL, the best of many where it is short; it is stopped when it takes too long."""
    spark = frame.sparkSession
    alarm = threading.Timer(LONGEST, spark.interruptAll)
    alarm.start()
    began = time.perf_counter()
    try:
        taken, found = seconds(lambda: not_exists(frame))
        assert rows_of(found) == expected, "NOT EXISTS gives other rows"
        again = 2 * SMALL_REPEATS if taken < SHORT else 0
        return min([taken, *(seconds(lambda: not_exists(frame))[0] for _ in range(again))]), ""
    except PySparkException:
        return time.perf_counter() - began, ", stopped: more than"
    finally:
        alarm.cancel()


def seconds(work: Callable[[], pa.Table]) -> tuple[float, pa.Table]:
    began = time.perf_counter()
    answer = work()
    return time.perf_counter() - began, answer


def in_turns(
    one: Callable[[], pa.Table], other: Callable[[], pa.Table], repeats: int = REPEATS
) -> tuple[float, float, pa.Table, pa.Table]:
    """Seconds of the best of each, and their answers."""
    taken = [(seconds(one), seconds(other)) for _ in range(2 * repeats)][repeats:]
    return min(a[0] for a, _ in taken), min(b[0] for _, b in taken), taken[0][0][1], taken[0][1][1]


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


def against_sql(spark: SparkSession, folder: Path, n: int) -> Iterator[Row]:
    """`NOT EXISTS` on rows in luckier and less lucky orders, and the least that any query of them costs."""
    unlucky = [f"independent: {order}" for order in list(ORDERS)[1:]]
    for kind in ("independent", "anti-correlated", "near a plane", *unlucky, "on a plane"):
        small = written(spark, folder, kind, n, 3)
        own, nothing, found, _ = in_turns(lambda: ours(small), lambda: nothing_found(small), SMALL_REPEATS)  # noqa: B023
        theirs, note = capped(small, rows_of(found))
        data = f"{n:,} x 3 {kind}"
        yield _row(data, found.num_rows, f"Spark SQL, not exists{note}", ">= 100", own, theirs)
        yield _row(data, found.num_rows, "a query that finds nothing", "", own, nothing, slower=True)
        own, theirs, found, same = in_turns(lambda: ours(small), lambda: from_sql(small))  # noqa: B023
        assert rows_of(found) == rows_of(same), "the table function gives other rows"
        yield _row(data, found.num_rows, "ours as a function in SQL", "", own, theirs)


def rows(quick: bool = False) -> Iterator[Row]:
    """Ratios are 'how many times faster'; against only reading and finding nothing they are 'how many times slower'."""
    folder = Path(tempfile.mkdtemp(prefix="skyarchive-bench-"))
    try:
        spark = build_session(Settings(warehouse=str(folder)))
        register_sql(spark)
        n = 100_000 if quick else 1_000_000
        million = written(spark, folder, "independent", n, 5)
        own, theirs, found, _ = in_turns(lambda: ours(million), lambda: only_read(million))
        data = f"{n:,} x 5 independent"
        yield _row(data, found.num_rows, "only reading them through Arrow", "<= 2", own, theirs, slower=True)
        own, theirs, found, same = in_turns(lambda: ours(million), lambda: collected(million))
        assert rows_of(found) == rows_of(same), "moocore gives other rows"
        yield _row(data, found.num_rows, "collecting them and moocore", "> 1", own, theirs)
        yield from against_sql(spark, folder, n // 10)
    finally:
        shutil.rmtree(folder)


def plans(quick: bool = False) -> Iterator[Row]:
    """One plan against the other, where more and more rows are unbeaten: what the rule between them stands on."""
    folder = Path(tempfile.mkdtemp(prefix="skyarchive-bench-"))
    try:
        spark = build_session(Settings(warehouse=str(folder)))
        n = 100_000 if quick else 1_000_000
        for kind, size in (("independent", n), ("correlated", n), ("anti-correlated", n), ("near a plane", n // 5)):
            frame = written(spark, folder, kind, size, 5)
            own, theirs, found, same = in_turns(lambda: ours(frame), lambda: ours(frame, "passes"), 1)  # noqa: B023
            assert rows_of(found) == rows_of(same), "the plans give other rows"
            yield _row(f"{size:,} x 5 {kind}", found.num_rows, "the other plan, passes", "", own, theirs)
    finally:
        shutil.rmtree(folder)

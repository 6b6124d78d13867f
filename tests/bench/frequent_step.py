"""What frequent objects of the NBA archive cost for four queries in one run.

Against a Spark window function that counts for every object and snapshot, and against the step that computed the
skylines; on the real seasons where they are at hand.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.answers.intervals import Span
from skyarchive.definition.catalog import Catalog
from skyarchive.definition.frequent import Query, asked_query
from skyarchive.definition.model import Definition
from skyarchive.definition.selection import Selection
from skyarchive.generators import GenerateOptions, generate
from skyarchive.pipeline.running import run_step, run_steps
from skyarchive.pipeline.workshop import Workshop
from skyarchive.progress import Progress
from skyarchive.settings import Settings
from skyarchive.steps.frequent.buckets import with_frequent_intervals

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "nba"
QUERIES = [asked_query("0.8", 1000), asked_query("1", 1000), asked_query("0.5", 2500), asked_query("0.9", 100)]
REPEATS = 2
STEP = "frequent"


def everywhere(members: DataFrame, snapshots: DataFrame) -> DataFrame:
    """Every object with every snapshot, and whether it is a member."""
    everybody = members.select("object").distinct().crossJoin(snapshots.select("snapshot"))
    present = members.select(
        "object", F.explode(F.sequence("first_snapshot", "last_snapshot")).alias("snapshot"), F.lit(1).alias("member")
    )
    return everybody.join(present, ["object", "snapshot"], "left").fillna(0, "member")


def counted_in_frames(rows: DataFrame, query: Query) -> DataFrame:
    """The frequent ones, counted in a frame of `window` rows: what one would write first. Spark adds up every frame
    anew, so its cost grows with the window."""
    frame = Window.partitionBy("object").orderBy("snapshot").rowsBetween(1 - query.window, 0)
    return _enough(rows.withColumn("count", F.sum("member").over(frame)), query)


def counted_by_sums(rows: DataFrame, query: Query) -> DataFrame:
    """The same as a difference of two running sums."""
    along = Window.partitionBy("object").orderBy("snapshot")
    so_far = rows.withColumn("so_far", F.sum("member").over(along.rowsBetween(Window.unboundedPreceding, 0)))
    counted = so_far.withColumn("count", F.col("so_far") - F.lag("so_far", query.window, 0).over(along))
    return _enough(counted, query)


def _enough(counted: DataFrame, query: Query) -> DataFrame:
    return counted.where((F.col("count") >= query.needed) & (F.col("snapshot") >= query.window - 1))


def timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def compare_steps(workshop: Workshop) -> Iterator[dict[str, Any]]:
    """The whole step with its checks and its commit, against that of the skylines."""
    periods = sorted(workshop.ledger().of("skyline"))
    seconds: dict[str, list[float]] = {"skyline": [], STEP: []}
    for _ in range(REPEATS + 1):  # the first round warms up
        for step in ("skyline", STEP):
            assert run_step(workshop, step, periods).published == periods
            seconds[step].append(workshop.ledger().of(step)[periods[0]].seconds)
    best = {name: min(values[1:]) for name, values in seconds.items()}
    yield _row("four queries", "the step that computed the skylines", "< 1", best[STEP], best["skyline"])


def compare_jobs(workshop: Workshop) -> Iterator[dict[str, Any]]:
    """From the rows of `skyline` to those of the answer, not written anywhere."""
    versions = workshop.ledger().versions
    snapshots = workshop.tables.read("snapshots", versions["snapshots"])
    members = workshop.tables.read("skyline", versions["skyline"])
    last = snapshots.count() - 1
    swept = with_frequent_intervals(members, QUERIES, [Span("all", 0, last)], 1)
    # A row per object and snapshot, made once for all queries and not counted in.
    grid = everywhere(members, snapshots).repartition("object").persist()
    counts = [counted_by_sums(grid, query) for query in QUERIES]
    rows = swept.groupBy("theta", "window_size").agg(F.sum(F.expr("last_snapshot - first_snapshot + 1"))).collect()
    assert sorted(row[2] for row in rows) == sorted(frame.count() for frame in counts), "they do not agree"
    ours = min(timed(lambda: _write_nowhere(swept)) for _ in range(REPEATS))
    theirs = min(timed(lambda: [_write_nowhere(frame) for frame in counts]) for _ in range(REPEATS))
    size = f"{last + 1:,} snapshots, {members.count():,} intervals, {grid.count():,} objects x snapshots"
    yield _row(f"four queries, {size}", "running sums per object and snapshot", "", ours, theirs)
    one = QUERIES[:1]
    single = with_frequent_intervals(members, one, [Span("all", 0, last)], 1)
    ours = min(timed(lambda: _write_nowhere(single)) for _ in range(REPEATS))
    theirs = timed(lambda: _write_nowhere(counted_in_frames(grid, one[0])))
    yield _row(f"one query ({one[0]})", "a window function per object and snapshot", "", ours, theirs)


def _row(data: str, against: str, target: str, ours: float, theirs: float) -> dict[str, Any]:
    return {"data": data, "against": against, "target": target, "ratio": round(ours / theirs, 3),
            "ours_s": round(ours, 2), "theirs_s": round(theirs, 2)}  # fmt: skip


def _write_nowhere(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def with_queries(definition: Definition) -> Definition:
    return definition.model_copy(update={STEP: QUERIES})


def rows(quick: bool = False) -> list[dict[str, Any]]:
    folder = Path(tempfile.mkdtemp(prefix="skyarchive-bench-"))
    try:
        settings = Settings(warehouse=str(folder / "warehouse"), raw=str(folder / "raw"))
        raw = settings.raw_folder / "nba"
        if REAL.is_dir() and not quick:
            raw.parent.mkdir(parents=True)
            raw.symlink_to(REAL)
        else:
            seasons = range(2013 if quick else 2005, 2015)
            generate("nba", raw, GenerateOptions(periods=[str(year) for year in seasons]))
        workshop = Workshop(settings, with_queries(Catalog(settings).get("nba")), Progress(quiet=True))
        run_steps(workshop, Selection(), ["ingest", "derive", "skyline"])
        return [*compare_steps(workshop), *compare_jobs(workshop)]
    finally:
        shutil.rmtree(folder)

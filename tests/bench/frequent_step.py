"""What frequent objects of the NBA archive cost for four queries in one run.

Against a Spark window function that counts for every object and snapshot, and against the step that computed the
skylines; on the real seasons where they are at hand.
"""

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.archives.generate import GenerateOptions, generate
from skyarchive.catalog import Catalog
from skyarchive.definition import Definition
from skyarchive.frequency import Query, asked_query
from skyarchive.frequenting import STEP, frequent_periods
from skyarchive.progress import Progress
from skyarchive.running import run_steps
from skyarchive.selection import Selection
from skyarchive.settings import Settings
from skyarchive.skylining import skyline_periods
from skyarchive.steps.frequent import Span, with_frequent_intervals
from skyarchive.workshop import Workshop

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "nba"
QUERIES = [asked_query("0.8", 1000), asked_query("1", 1000), asked_query("0.5", 2500), asked_query("0.9", 100)]
REPEATS = 2


def counted_everywhere(members: DataFrame, snapshots: DataFrame, query: Query) -> DataFrame:
    """Every object and snapshot with the count of its window, those that are frequent."""
    everybody = members.select("object").distinct().crossJoin(snapshots.select("snapshot"))
    present = members.select(
        "object", F.explode(F.sequence("first_snapshot", "last_snapshot")).alias("snapshot"), F.lit(1).alias("member")
    )
    window = Window.partitionBy("object").orderBy("snapshot").rowsBetween(1 - query.window, 0)
    counted = everybody.join(present, ["object", "snapshot"], "left").withColumn("count", F.sum("member").over(window))
    return counted.where((F.col("count") >= query.needed) & (F.col("snapshot") >= query.window - 1))


def timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def compare(workshop: Workshop) -> list[dict[str, Any]]:
    """The figures of an archive whose skylines are published."""
    ledger = workshop.ledger()
    periods = sorted(ledger.of("skyline"))
    steps = {"skyline": skyline_periods, STEP: frequent_periods}
    seconds: dict[str, list[float]] = {"skyline": [], STEP: [], "sweep": [], "window function": []}
    for _ in range(REPEATS + 1):  # the first round warms up
        for step, run in steps.items():
            assert run(workshop, periods).published == periods
            seconds[step].append(workshop.ledger().of(step)[periods[0]].seconds)
    versions = workshop.ledger().versions
    snapshots = workshop.tables.read("snapshots", versions["snapshots"]).persist()
    members = workshop.tables.read("skyline", versions["skyline"])
    last = snapshots.count() - 1
    for _ in range(REPEATS + 1):
        swept = with_frequent_intervals(members, QUERIES, [Span("all", 0, last)], 1)
        seconds["sweep"].append(timed(lambda swept=swept: _write_nowhere(swept)))
        counts = [counted_everywhere(members, snapshots, query) for query in QUERIES]
        seconds["window function"].append(timed(lambda counts=counts: [_write_nowhere(frame) for frame in counts]))
    length = swept.selectExpr("sum(last_snapshot - first_snapshot + 1) as n").first()
    assert length is not None and length["n"] == sum(frame.count() for frame in counts), "they do not agree"
    best = {name: min(values[1:]) for name, values in seconds.items()}
    data = f"NBA, {len(periods)} seasons, {last + 1:,} snapshots, {members.count():,} intervals, {len(QUERIES)} queries"
    return [
        _row(data, "the step that computed the skylines", "< 1", best[STEP], best["skyline"]),
        _row(data, "a window function per object and snapshot", "", best["sweep"], best["window function"]),
    ]


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
        return compare(workshop)
    finally:
        shutil.rmtree(folder)

"""From the update log to membership intervals: parts of the timeline, a kernel call for each, stitched again.

A part is a run of a period's snapshots with about as many updates as the others. It starts from a keyframe, the
positions just before its first snapshot, and so does the period itself: the keyframe of its first part is what the
period before ends with. A part's answer begins at its keyframe; an interval that does is the continuation of the
one that reached the end of the part before.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from skyarchive.definition import Attribute
from skyarchive.kernels.ordering import in_snapshot_order, last_rows
from skyarchive.kernels.timeline import Method, skyline_intervals

Compute = Callable[[pa.Table, pa.Table], pa.Table]
"""A part's intervals from its updates and its keyframe."""
_PART = ("period", "part")
_INTERVALS = "period string, object string, first bigint, last bigint"


@dataclass(frozen=True)
class Part:
    """Snapshots first..last of a period, computed apart."""

    period: str
    part: int
    first: int
    last: int


@dataclass(frozen=True)
class Log:
    """What the intervals are computed from."""

    updates: DataFrame
    carry: DataFrame
    """Positions that the periods start from: `period` is the one that starts."""
    snapshots: DataFrame
    attributes: dict[str, Attribute]


def cut(log: Log, sizes: dict[str, int], largest: int) -> list[Part]:
    """The parts of these periods (`sizes`: updates of each). Only a period with more than `largest` updates is cut,
    and only then are its updates counted."""
    spans = log.snapshots.groupBy("period").agg(F.min("snapshot"), F.max("snapshot")).collect()
    parts = [Part(period, 0, first, last) for period, first, last in spans if sizes[period] <= largest]
    long = [period for period, _, _ in spans if sizes[period] > largest]
    if long:
        parts += _cut_long(log, long, largest)
    return sorted(parts, key=lambda part: (part.period, part.part))


def _cut_long(log: Log, periods: list[str], largest: int) -> list[Part]:
    chosen = F.col("period").isin(periods)
    counted = log.updates.where(chosen).groupBy("period", "snapshot").agg(F.count("*").alias("updates"))
    along = Window.partitionBy("period").orderBy("snapshot").rowsBetween(Window.unboundedPreceding, -1)
    before = F.coalesce(F.sum("updates").over(along), F.lit(0))
    numbered = (
        log.snapshots.where(chosen)
        .join(counted, ["period", "snapshot"], "left")
        .select("period", "snapshot", F.floor(before / largest).cast("int").alias("part"))
    )
    cuts = numbered.groupBy(*_PART).agg(F.min("snapshot"), F.max("snapshot")).collect()
    return [Part(*cut) for cut in cuts]


def membership(log: Log, parts: list[Part], compute: Compute) -> DataFrame:
    """`period`, `object`, `first`, `last`: the intervals of each period in global snapshot numbers, stitched. One
    that continues from the period before begins at the last snapshot before the period. `compute` gives those of one
    part: see `part_intervals`."""
    spark = log.updates.sparkSession
    rows = log.updates.join(F.broadcast(_snapshot_parts(spark, log, parts)), ["period", "snapshot"])
    rows = rows.select(*_PART, "base", "length", _local(), "object", *_columns(log.attributes))
    starts = _at_part_start(spark, log.carry, log.attributes, [part for part in parts if part.part == 0])
    several = any(part.part > 0 for part in parts)
    if several:
        starts = starts.unionByName(_later_starts(rows, starts, parts))
    # Both sides of a part in one call; the updates' shuffle also serves the search for the starts.
    both = rows.groupBy(*_PART).cogroup(starts.groupBy(*_PART))
    found = both.applyInArrow(lambda updates, start: compute(updates, start), _INTERVALS)
    return stitched(found) if several else found


def _snapshot_parts(spark: SparkSession, log: Log, parts: list[Part]) -> DataFrame:
    """Every snapshot with its part; `base` is the part's keyframe, `length` counts it in."""
    frame = spark.createDataFrame(
        [(part.period, part.part, part.first, part.last) for part in parts],
        "period string, part int, first bigint, last bigint",
    )
    within = F.col("snapshot").between(F.col("first"), F.col("last"))
    placed = log.snapshots.select("period", "snapshot").join(F.broadcast(frame), "period").where(within)
    return placed.select(
        "period", "snapshot", "part",
        (F.col("first") - 1).alias("base"), (F.col("last") - F.col("first") + 2).cast("int").alias("length"),
    )  # fmt: skip


def _local() -> Column:
    return (F.col("snapshot") - F.col("base")).cast("int").alias("local")


def _columns(attributes: dict[str, Attribute]) -> list[Column]:
    """The attributes as kernels take them: smaller is better, NaN is gone, nothing is null."""
    signed = {name: -F.col(name) if a.better == "higher" else F.col(name) for name, a in attributes.items()}
    return [F.coalesce(value, F.lit(float("nan"))).alias(f"x{n}") for n, value in enumerate(signed.values())]


def _at_part_start(
    spark: SparkSession, positions: DataFrame, attributes: dict[str, Attribute], parts: list[Part]
) -> DataFrame:
    """The positions that each period's first part starts from, as rows of the kernel."""
    frame = spark.createDataFrame(
        [(part.period, part.part, part.first - 1, part.last - part.first + 2) for part in parts],
        "period string, part int, base bigint, length int",
    )
    alive = positions.where(" and ".join(f"{name} is not null" for name in attributes))
    placed = alive.join(F.broadcast(frame), "period")
    return placed.select(*_PART, "base", "length", F.lit(0).alias("local"), "object", *_columns(attributes))


def _later_starts(rows: DataFrame, starts: DataFrame, parts: list[Part]) -> DataFrame:
    """The keyframes of all parts but the first ones: an object stands where the last part that moved it left it."""
    values = [name for name in rows.columns if name.startswith("x")]
    moved = rows.groupBy(*_PART).applyInArrow(_last_positions, rows.select(*_PART, "object", *values).schema)
    # The first part's own start counts as left by the part before it.
    known = moved.unionByName(starts.select("period", (F.col("part") - 1).alias("part"), "object", *values))
    next_move = F.lead("part").over(Window.partitionBy("period", "object").orderBy("part"))
    spark = rows.sparkSession
    ends: dict[str, int] = {}
    for part in parts:
        ends[part.period] = max(part.part, ends.get(part.period, 0))
    last = spark.createDataFrame(list(ends.items()), "period string, last_part int")
    spans = spark.createDataFrame(
        [(part.period, part.part, part.first - 1, part.last - part.first + 2) for part in parts if part.part > 0],
        "period string, part int, base bigint, length int",
    )
    held = (
        known.withColumn("until", next_move)
        .where(~F.isnan(values[0]))
        .join(F.broadcast(last), "period")
        .withColumn("until", F.coalesce("until", "last_part"))
        .where(F.col("part") < F.col("until"))
        .withColumn("part", F.explode(F.sequence(F.col("part") + 1, F.col("until"))))
    )
    return held.join(F.broadcast(spans), list(_PART)).select(
        *_PART, "base", "length", F.lit(0).alias("local"), "object", *values
    )


def stitched(found: DataFrame) -> DataFrame:
    """Intervals of one object that meet at a keyframe as one."""
    # Two may begin at one keyframe, where the first ends: the order must say which comes first.
    along = Window.partitionBy("period", "object").orderBy("first", "last")
    opens = F.coalesce(F.col("first") > F.lag("last").over(along), F.lit(True)).cast("int")
    reign = F.sum("opens").over(along.rowsBetween(Window.unboundedPreceding, 0))
    joined = found.withColumn("opens", opens).withColumn("reign", reign)
    merged = joined.groupBy("period", "object", "reign").agg(F.min("first").alias("first"), F.max("last").alias("last"))
    return merged.drop("reign")


def clipped(found: DataFrame, log: Log) -> DataFrame:
    """The rows of the table: intervals within their period, with times and where they continue."""
    spans = log.snapshots.groupBy("period").agg(F.min("snapshot").alias("opening"), F.max("snapshot").alias("closing"))
    own = (
        found.join(F.broadcast(spans), "period")
        .where("last >= opening")
        .select(
            "period",
            "object",
            F.greatest("first", "opening").alias("first_snapshot"),
            F.col("last").alias("last_snapshot"),
            (F.col("first") < F.col("opening")).alias("continued_from"),
            (F.col("last") == F.col("closing")).alias("continues_into"),
        )
    )
    times = log.snapshots.select("period", "snapshot", "time")
    first = times.withColumnsRenamed({"snapshot": "first_snapshot", "time": "first_time"})
    last = times.withColumnsRenamed({"snapshot": "last_snapshot", "time": "last_time"})
    return own.join(F.broadcast(first), ["period", "first_snapshot"]).join(
        F.broadcast(last), ["period", "last_snapshot"]
    )


def part_intervals(updates: pa.Table, start: pa.Table, method: Method) -> pa.Table:
    """One call of the kernel, on the columns as Arrow hands them over."""
    table = pa.concat_tables([start, updates.select(start.column_names)]).combine_chunks()
    if table.num_rows == 0:
        return _INTERVALS_SCHEMA.empty_table()
    length, base = table["length"][0].as_py(), table["base"][0].as_py()
    objects = table["object"].chunk(0).dictionary_encode()
    local = _numpy(table["local"])
    order = in_snapshot_order(local, length)
    columns = [_numpy(table[name])[order] for name in table.column_names if name.startswith("x")]
    who, first, last = skyline_intervals(
        local[order], _numpy(pa.chunked_array([objects.indices]))[order], columns, length, method
    )
    return pa.table(
        {
            "period": pa.repeat(table["period"][0], len(who)),
            "object": objects.dictionary.take(pa.array(who)),
            "first": pa.array(first.astype(np.int64) + base),
            "last": pa.array(last.astype(np.int64) + base),
        }
    )


_INTERVALS_SCHEMA = pa.schema({"period": pa.string(), "object": pa.string(), "first": pa.int64(), "last": pa.int64()})


def _last_positions(updates: pa.Table) -> pa.Table:
    """Each object's last update of a part."""
    table = updates.combine_chunks()
    objects = table["object"].chunk(0).dictionary_encode()
    rows = last_rows(_numpy(table["local"]), objects.indices.to_numpy(), len(objects.dictionary))
    values = [name for name in table.column_names if name.startswith("x")]
    return table.select([*_PART, "object", *values]).take(pa.array(rows))


def _numpy(column: pa.ChunkedArray) -> np.ndarray:
    """A column of one chunk and without nulls, as it lies in memory."""
    return column.chunk(0).to_numpy(zero_copy_only=True)

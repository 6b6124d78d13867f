"""From the update log to membership intervals: parts of the timeline, a kernel call for each, stitched again.

A part is a run of a period's snapshots with about as many updates as the others. It starts from a keyframe, the
positions just before its first snapshot, and so does the period itself: the keyframe of its first part is what the
period before ends with. A part's answer begins at its keyframe; an interval that does is the continuation of the
one that reached the end of the part before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.answers.intervals import Span, spans_of, stitched, within_periods
from skyarchive.definition.model import Attribute
from skyarchive.kernels.ordering import in_snapshot_order
from skyarchive.kernels.timeline import Method, skyline_intervals

_PART = "part"
"""The number of a row's part in the list of all: one number is what Spark groups by most quickly (it sorts them without
comparing), and all else that a part is can be looked up."""
_INTERVALS = "period string, object string, first bigint, last bigint"


@dataclass(frozen=True)
class Part:
    """Snapshots first..last of a period, computed apart."""

    period: str
    place: int
    """Among the parts of the period, from 0."""
    first: int
    last: int

    @property
    def base(self) -> int:
        """The snapshot of its keyframe."""
        return self.first - 1

    @property
    def length(self) -> int:
        """In snapshots, the keyframe counted in."""
        return self.last - self.base + 1


Compute = Callable[[Part, pa.Table, pa.Table], pa.Table]
"""A part's intervals from its updates and its keyframe."""


@dataclass(frozen=True)
class Log:
    """What the intervals are computed from."""

    updates: DataFrame
    carry: DataFrame
    """Positions that the periods start from: `period` is the one that starts."""
    snapshots: DataFrame
    attributes: dict[str, Attribute]

    @cached_property
    def spans(self) -> list[Span]:
        """Of every period, in order."""
        return spans_of(self.snapshots)


def cut(log: Log, sizes: dict[str, int], largest: int) -> list[Part]:
    """The parts of these periods (`sizes`: updates of each). Only a period with more than `largest` updates is cut,
    and only then are its updates counted."""
    parts = [Part(span.period, 0, span.first, span.last) for span in log.spans if sizes[span.period] <= largest]
    long = [span.period for span in log.spans if sizes[span.period] > largest]
    if long:
        parts += _cut_long(log, long, largest)
    return sorted(parts, key=lambda part: (part.period, part.place))


def _cut_long(log: Log, periods: list[str], largest: int) -> list[Part]:
    chosen = F.col("period").isin(periods)
    counted = log.updates.where(chosen).groupBy("period", "snapshot").agg(F.count("*").alias("updates"))
    along = Window.partitionBy("period").orderBy("snapshot").rowsBetween(Window.unboundedPreceding, -1)
    before = F.coalesce(F.sum("updates").over(along), F.lit(0))
    numbered = (
        log.snapshots.where(chosen)
        .join(counted, ["period", "snapshot"], "left")
        .select("period", "snapshot", F.floor(before / largest).cast("int").alias("place"))
    )
    cuts = numbered.groupBy("period", "place").agg(F.min("snapshot"), F.max("snapshot")).collect()
    return [Part(*cut) for cut in cuts]


def membership(log: Log, parts: list[Part], compute: Compute) -> DataFrame:
    """`period`, `object`, `first`, `last`: the intervals of each period in global snapshot numbers, stitched. One
    that continues from the period before begins at the last snapshot before the period. `compute` gives those of one
    part: see `part_intervals`."""
    rows = log.updates.join(F.broadcast(_snapshot_parts(log, parts)), ["period", "snapshot"])
    rows = rows.select(_PART, "local", "object", *costs(log.attributes))
    starts = _first_starts(log, parts)
    several = any(part.place > 0 for part in parts)
    if several:
        starts = starts.unionByName(_later_starts(rows, starts, parts))
    # Both sides of a part in one call.
    both = rows.groupBy(_PART).cogroup(starts.groupBy(_PART))
    found = both.applyInArrow(lambda key, updates, start: compute(parts[key[0].as_py()], updates, start), _INTERVALS)
    return stitched(found, "period", "object") if several else found


def _snapshot_parts(log: Log, parts: list[Part]) -> DataFrame:
    """Every snapshot with its part, and its number from the part's keyframe on."""
    frame = log.snapshots.sparkSession.createDataFrame(
        [(part.period, number, part.first, part.last) for number, part in enumerate(parts)],
        "period string, part int, first bigint, last bigint",
    )
    within = F.col("snapshot").between(F.col("first"), F.col("last"))
    placed = log.snapshots.select("period", "snapshot").join(F.broadcast(frame), "period").where(within)
    return placed.select("period", "snapshot", _PART, (F.expr("snapshot - first") + 1).cast("int").alias("local"))


def costs(attributes: dict[str, Attribute]) -> list[Column]:
    """The attributes as kernels take them: smaller is better, NaN is gone, nothing is null."""
    signed = {name: -F.col(name) if a.better == "higher" else F.col(name) for name, a in attributes.items()}
    return [F.coalesce(value, F.lit(float("nan"))).alias(f"x{n}") for n, value in enumerate(signed.values())]


def _first_starts(log: Log, parts: list[Part]) -> DataFrame:
    """The positions that each period's first part starts from, as rows of the kernel."""
    frame = log.carry.sparkSession.createDataFrame(
        [(part.period, number) for number, part in enumerate(parts) if part.place == 0], "period string, part int"
    )
    alive = log.carry.where(" and ".join(f"{name} is not null" for name in log.attributes))
    placed = alive.join(F.broadcast(frame), "period")
    return placed.select(_PART, F.lit(0).alias("local"), "object", *costs(log.attributes))


def _later_starts(rows: DataFrame, starts: DataFrame, parts: list[Part]) -> DataFrame:
    """The keyframes of all parts but the first ones: an object stands where the last part that moved it left it."""
    values = [name for name in rows.columns if name.startswith("x")]
    # Column by column, so that Spark aggregates in a hash table and most rows never leave the task that reads them.
    moved = rows.groupBy(_PART, "object").agg(*(F.max_by(name, "local").alias(name) for name in values))
    first = {part.period: number for number, part in enumerate(parts) if part.place == 0}
    final = {part.period: number for number, part in enumerate(parts)}
    periods = rows.sparkSession.createDataFrame(
        [(number, part.period, first[part.period], final[part.period]) for number, part in enumerate(parts)],
        "part int, period string, first_part int, final_part int",
    )
    # The first part's own start counts as left by a part before it.
    known = moved.withColumn("left_by", F.col(_PART))
    known = known.unionByName(starts.drop("local").withColumn("left_by", F.col(_PART) - 1))
    next_move = F.lead("left_by").over(Window.partitionBy("period", "object").orderBy("left_by"))
    held = (
        known.join(F.broadcast(periods), _PART)
        .withColumn("until", F.coalesce(next_move, "final_part"))
        .where(~F.isnan(values[0]))
        .where("left_by < until")
        .withColumn(_PART, F.explode(F.sequence(F.col("left_by") + 1, F.col("until"))))
        .where(f"{_PART} <> first_part")
    )
    return held.select(_PART, F.lit(0).alias("local"), "object", *values)


def clipped(found: DataFrame, log: Log) -> DataFrame:
    """The rows of the table: intervals within their period, with times and where they continue."""
    own = within_periods(found, log.spans)
    times = log.snapshots.select("period", "snapshot", "time")
    first = times.withColumnsRenamed({"snapshot": "first_snapshot", "time": "first_time"})
    last = times.withColumnsRenamed({"snapshot": "last_snapshot", "time": "last_time"})
    return own.join(F.broadcast(first), ["period", "first_snapshot"]).join(
        F.broadcast(last), ["period", "last_snapshot"]
    )


def part_intervals(part: Part, updates: pa.Table, start: pa.Table, method: Method) -> pa.Table:
    """One call of the kernel, on the columns as Arrow hands them over."""
    table = pa.concat_tables([start, updates.select(start.column_names)]).combine_chunks()
    if table.num_rows == 0:
        return _INTERVALS_SCHEMA.empty_table()
    objects = table["object"].chunk(0).dictionary_encode()
    local = _numpy(table["local"])
    order = in_snapshot_order(local, part.length)
    columns = [_numpy(table[name])[order] for name in table.column_names if name.startswith("x")]
    who, first, last = skyline_intervals(
        local[order], _numpy(pa.chunked_array([objects.indices]))[order], columns, part.length, method
    )
    return pa.table(
        {
            "period": pa.repeat(part.period, len(who)),
            "object": objects.dictionary.take(pa.array(who)),
            "first": pa.array(first.astype(np.int64) + part.base),
            "last": pa.array(last.astype(np.int64) + part.base),
        }
    )


_INTERVALS_SCHEMA = pa.schema({"period": pa.string(), "object": pa.string(), "first": pa.int64(), "last": pa.int64()})


def _numpy(column: pa.ChunkedArray) -> np.ndarray:
    """A column of one chunk and without nulls, as it lies in memory."""
    return column.chunk(0).to_numpy(zero_copy_only=True)

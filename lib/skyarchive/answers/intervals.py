"""Interval tables: who has something from which snapshot to which, cut where periods begin and end.

`skyline` and `frequent` are such tables. Their rows lie within a period and say whether they go on beyond it; apart
from `period` and a key (of what the interval is) they have the same columns, follow the same rules, and break them in
the same ways.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


@dataclass(frozen=True)
class Span:
    """The snapshots of a period, first to last."""

    period: str
    first: int
    last: int


def spans_of(snapshots: DataFrame) -> list[Span]:
    """The first and last snapshot of every period, in order."""
    found = snapshots.groupBy("period").agg(F.min("snapshot"), F.max("snapshot")).collect()
    return sorted((Span(*row) for row in found), key=lambda span: span.first)


def spans_table(spans: Sequence[Span]) -> pa.Table:
    """`period`, `opening`, `closing`."""
    columns = [[getattr(span, name) for span in spans] for name in ("period", "first", "last")]
    kinds = {"period": pa.string(), "opening": pa.int64(), "closing": pa.int64()}
    return pa.table(columns, schema=pa.schema(kinds))


def stitched(found: DataFrame, *key: str) -> DataFrame:
    """Intervals `first`..`last` of one key of which one begins where another ends as one."""
    # Two may begin at one snapshot, where the first ends: the order must say which comes first.
    along = Window.partitionBy(*key).orderBy("first", "last")
    opens = F.coalesce(F.col("first") > F.lag("last").over(along), F.lit(True)).cast("int")
    reign = F.sum("opens").over(along.rowsBetween(Window.unboundedPreceding, 0))
    joined = found.withColumn("opens", opens).withColumn("reign", reign)
    merged = joined.groupBy(*key, "reign").agg(F.min("first").alias("first"), F.max("last").alias("last"))
    return merged.drop("reign")


def within_periods(found: DataFrame, spans: Sequence[Span]) -> DataFrame:
    """Intervals `first`..`last` of a period as rows of a table: clipped to the period; those that end before it are
    none of its."""
    # From Arrow, as from plain rows Spark would make a job of its own for them.
    borders = found.sparkSession.createDataFrame(spans_table(spans))
    columns = [name for name in found.columns if name not in ("first", "last")]
    return (
        found.join(F.broadcast(borders), "period")
        .where("last >= opening")
        .select(
            *columns,
            F.greatest("first", "opening").alias("first_snapshot"),
            F.least("last", "closing").alias("last_snapshot"),
            (F.col("first") < F.col("opening")).alias("continued_from"),
            (F.col("last") >= F.col("closing")).alias("continues_into"),
        )
    )


@dataclass(frozen=True)
class Pieces:
    """Intervals cut where periods begin: of each piece the numbers of its interval and its period, and columns."""

    interval: np.ndarray
    span: np.ndarray
    columns: dict[str, np.ndarray]


def cut_at_borders(first: np.ndarray, last: np.ndarray, spans: Sequence[Span]) -> Pieces:
    """The same for arrays of a worker whose intervals are of no period yet: a piece for every one that an interval
    meets. `spans` are in order."""
    openings, closings = (np.array([getattr(span, side) for span in spans], np.int64) for side in ("first", "last"))
    earliest, latest = np.searchsorted(closings, first, "left"), np.searchsorted(openings, last, "right")
    pieces = np.maximum(latest - earliest, 0)
    interval = np.repeat(np.arange(len(first)), pieces)
    nth = np.arange(len(interval)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    span = earliest[interval] + nth
    first, last, opening, closing = first[interval], last[interval], openings[span], closings[span]
    return Pieces(
        interval,
        span,
        {
            "first_snapshot": np.maximum(first, opening),
            "last_snapshot": np.minimum(last, closing),
            "continued_from": first < opening,
            "continues_into": last >= closing,
        },
    )

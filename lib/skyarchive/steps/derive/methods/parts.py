"""What every derivation is made of: the chain it works on, numbered snapshots, changes, states at period ends."""

from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.dataframes.records import order_time
from skyarchive.definition.derivation import YEARS, Order
from skyarchive.definition.model import Definition
from skyarchive.pipeline.keeping import Kept

BEFORE = -1
"""Snapshot number of the states that a chain starts from: before all of its own."""


@dataclass(frozen=True)
class Chain:
    """Consecutive periods of one archive, derived together, and what they start from."""

    definition: Definition
    periods: list[str]
    rows: DataFrame
    """Raw rows of these periods that count."""
    carry: DataFrame | None
    """Objects' states at the end of the period before; None for the archive's first period."""
    next_snapshot: int
    last_time: datetime | None
    """Time of the last snapshot before the chain."""
    kept: Kept
    """Holds what is used several times."""

    @property
    def attributes(self) -> list[str]:
        return self.definition.attribute_names

    def period_order(self) -> DataFrame:
        """The periods with their place in the chain."""
        spark = self.rows.sparkSession
        return spark.createDataFrame(list(enumerate(self.periods)), "place int, period string")


@dataclass(frozen=True)
class Derived:
    """A chain's results. `states`: per period and object what the next period starts from."""

    snapshots: DataFrame
    updates: DataFrame
    objects: DataFrame
    states: DataFrame
    rows_without_position: DataFrame | None = None
    """One number per period: rows whose missing attribute means 'not alive'."""


def numbered_snapshots(chain: Chain, order: Order) -> DataFrame:
    """The distinct values of the order columns as numbered snapshots, with time and label."""
    time = order_time(chain.definition, order)
    label = F.col(order.label or order.by[0]).cast("string")
    # One row a snapshot: few enough to be put in order in one place.
    along = Window.partitionBy(F.lit(0)).orderBy("period", *order.by)
    # Should the rows of one snapshot disagree on its time, the earliest counts.
    within = [F.min(column).alias(column) for column in order.by if column not in order.identity]
    distinct = chain.rows.groupBy("period", *order.identity).agg(
        F.min(time).alias("time"), F.min(label).alias("label"), *within
    )
    number = F.row_number().over(along).cast("bigint") + (chain.next_snapshot - 1)
    return distinct.select("period", number.alias("snapshot"), "time", "label", *order.identity)


def is_told(time: str) -> Column:
    """Whether whoever reads the tables can tell a snapshot's time: there are readers that know no other years."""
    return F.coalesce(F.year(time).between(*YEARS), F.lit(False))


def at_snapshots(chain: Chain, snapshots: DataFrame, order: Order) -> DataFrame:
    """The chain's rows with the number of their snapshot and their object as text."""
    keys = snapshots.select("period", "snapshot", *order.identity)
    rows = chain.rows.withColumnRenamed("object", "object_column") if "object" in chain.rows.columns else chain.rows
    column = chain.definition.object.column
    source = "object_column" if column == "object" else column
    return rows.join(keys, ["period", *order.identity]).withColumn("object", F.col(source).cast("string"))


def changed_positions(history: DataFrame, attributes: list[str]) -> DataFrame:
    """Of each object's states in time order (`object`, `snapshot`, attributes; all null: not alive) those
    that differ from the one before. States at `BEFORE` are what the object starts from."""
    along = Window.partitionBy("object").orderBy("snapshot")
    now = F.struct(*attributes)
    nowhere = F.struct(*(F.lit(None).cast("double").alias(a) for a in attributes))
    before = F.coalesce(F.lag(now).over(along), nowhere)
    return (
        history.withColumn("before", before)
        .where((F.col("snapshot") != BEFORE) & ~now.eqNullSafe(F.col("before")))
        .select("snapshot", "object", *attributes, F.col(attributes[0]).isNull().alias("gone"))
    )


def with_periods(updates: DataFrame, snapshots: DataFrame, attributes: list[str]) -> DataFrame:
    """The update rows with the period of their snapshot."""
    periods = snapshots.select("snapshot", "period")
    return updates.join(periods, "snapshot").select("period", "snapshot", "object", *attributes, "gone")


def states_at_ends(chain: Chain, history: DataFrame, columns: list[str]) -> DataFrame:
    """Per period of the chain the last state of every object known by its end. `history` has `object`,
    `snapshot`, `place` (of the state's period; BEFORE for what the chain started from) and `columns`."""
    latest = Window.partitionBy("object", "place").orderBy(F.col("snapshot").desc())
    last = history.withColumn("nth", F.row_number().over(latest)).where("nth = 1")
    until = F.lead("place", 1, len(chain.periods)).over(Window.partitionBy("object").orderBy("place"))
    spans = last.select("object", *columns, "place", until.alias("until"))
    ends = F.broadcast(chain.period_order().withColumnRenamed("place", "end"))
    return spans.join(ends, (F.col("end") >= F.col("place")) & (F.col("end") < F.col("until"))).select(
        "period", "object", *columns
    )


def with_place(frame: DataFrame, chain: Chain) -> DataFrame:
    """The frame with the place of its `period` in the chain."""
    return frame.join(F.broadcast(chain.period_order()), "period")

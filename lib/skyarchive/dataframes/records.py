"""An archive's records: the raw rows that count, with the time of each and the attributes they are compared by."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.dataframes.columns import is_finite
from skyarchive.definition.derivation import YEARS, MarketModel, Order, Traffic
from skyarchive.definition.groups import BETWEEN_GROUPS, EVERYTHING, NO_GROUP, READS_SO
from skyarchive.definition.model import Definition

MICROSECONDS = 1_000_000


class RecordValue(Protocol):
    """An attribute of a record as a definition gives it."""

    @property
    def value(self) -> str | None:
        """Spark SQL; None: the column of the attribute's name."""
        ...


def object_of(definition: Definition) -> Column:
    """What a record is of."""
    return F.col(definition.object.column).cast("string")


def group_key(group: Sequence[str]) -> Column:
    """One text for the values of these expressions together."""
    if not group:
        return F.lit(EVERYTHING)
    keys = [
        F.coalesce(F.regexp_replace(F.expr(text).cast("string"), READS_SO, "($1)"), F.lit(NO_GROUP)) for text in group
    ]
    if len(keys) > 1:
        keys = [F.replace(key, F.lit("/"), F.lit("//")) for key in keys]
    return F.concat_ws(BETWEEN_GROUPS, *keys)


def number_of(name: str, attribute: RecordValue) -> Column:
    """An attribute's value as a number."""
    # Adding zero makes -0.0 plain 0.0.
    return plain_value(name, attribute).cast("double") + 0.0


def plain_value(name: str, attribute: RecordValue) -> Column:
    """An attribute's value."""
    return F.col(name) if attribute.value is None else F.expr(attribute.value)


def all_of(conditions: Sequence[Column]) -> Column:
    """Whether all hold."""
    whole = F.lit(True)
    for condition in conditions:
        whole = whole & condition
    return whole


def are_finite(numbers: Mapping[str, Column]) -> Column:
    """Whether no attribute is missing, and each is a number."""
    return all_of([is_finite(number) for number in numbers.values()])


def order_time(definition: Definition, order: Order) -> Column:
    """The time that a row gives its snapshot."""
    spec = definition.columns[order.by[0]]
    if order.time:
        return F.col(order.time).try_cast("timestamp")
    if spec.type in ("date", "timestamp"):
        return F.col(order.by[0]).cast("timestamp")
    start = F.unix_micros(F.to_timestamp(F.lit(order.start)))
    step = F.round(F.col(order.by[0]) * F.lit(order.step_seconds * MICROSECONDS)).try_cast("bigint")
    return F.timestamp_micros(F.try_add(start, step))


def record_time(definition: Definition) -> Column:
    """A record's time: of its snapshot, or its own where snapshots are at fixed times; null where nobody can tell it.
    Of rows that count."""
    method = definition.derive
    if isinstance(method, Traffic):
        time = F.timestamp_micros(F.round(F.col("ts") * F.lit(float(MICROSECONDS))).try_cast("bigint"))
    else:
        time = order_time(definition, method.order)
        if method.order.time_column not in method.order.identity:
            # Should the rows of one snapshot disagree on its time, the earliest counts.
            time = F.min(time).over(Window.partitionBy("period", *method.order.identity))
    return F.when(F.year(time).between(*YEARS), time)


def with_what_is_looked_back_at(rows: DataFrame, definition: Definition, carry: DataFrame | None) -> DataFrame:
    """The rows with the columns that values of records may use beside their own. `carry`: the states that the first of
    these periods starts from."""
    if isinstance(definition.derive, MarketModel):
        return with_previous_close(rows, definition, definition.derive, carry)
    return rows


def with_previous_close(
    rows: DataFrame, definition: Definition, method: MarketModel, carry: DataFrame | None
) -> DataFrame:
    """The rows with the close of the object's row before, in these rows or in what they start from."""
    item = definition.object.column
    along = Window.partitionBy(item).orderBy(method.date)
    lagged = rows.withColumn("previous_close", F.lag(method.close).over(along).cast("double"))
    if carry is None:
        return lagged
    last = carry.select(F.col("object").alias("_object"), F.element_at("closes", -1).alias("_close"))
    joined = lagged.join(F.broadcast(last), F.col(item).cast("string") == F.col("_object"), "left")
    return joined.withColumn("previous_close", F.coalesce("previous_close", "_close")).drop("_object", "_close")

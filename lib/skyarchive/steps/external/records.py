"""An archive's records: the raw rows that count, with the attributes they are compared by."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.dataframes.columns import is_finite
from skyarchive.definition.derivation import MarketModel
from skyarchive.definition.external import External
from skyarchive.definition.model import Definition
from skyarchive.kernels.points.orders import PartialOrder
from skyarchive.kernels.points.preferences import checked_preferences

_BETWEEN_GROUPS = " / "
"""Slashes of the values themselves are doubled, so that no two groups are taken for one."""
EVERYTHING = "all"
"""The group of an archive without groups."""
NO_GROUP = "(none)"
"""Stands for a missing value in a group; brackets are put around a value that reads so itself."""


def records(rows: DataFrame, definition: Definition, carry: DataFrame | None) -> DataFrame:
    """`period`, `group_key`, `file`, `row`, `object` and the attributes of rows that miss none. `rows` are raw rows
    that count, `carry` the states that the first of them start from."""
    external = definition.external
    assert external is not None
    if isinstance(definition.derive, MarketModel):
        rows = with_previous_close(rows, definition, definition.derive, carry)
    read_so = r"^(\(+none\)+)$"
    groups = [
        F.coalesce(F.regexp_replace(F.expr(text).cast("string"), read_so, "($1)"), F.lit(NO_GROUP))
        for text in external.group
    ]
    if len(groups) > 1:
        groups = [F.replace(group, F.lit("/"), F.lit("//")) for group in groups]
    found = rows.select(
        "period",
        (F.concat_ws(_BETWEEN_GROUPS, *groups) if groups else F.lit(EVERYTHING)).alias("group_key"),
        "file",
        "row",
        F.col(definition.object.column).cast("string").alias("object"),
        *(_value(name, external).alias(name) for name in external.attributes),
    )
    return found.where(_whole(external)).where("object is not null")


def _value(name: str, external: External) -> Column:
    attribute = external.attributes[name]
    value = F.col(name) if attribute.value is None else F.expr(attribute.value)
    # Adding zero makes -0.0 plain 0.0.
    return value.cast("string") if attribute.is_ranked else value.cast("double") + 0.0


def unnamed_values(records: DataFrame, external: External) -> dict[str, str]:
    """By period, the first record with a value that the order of its attribute does not name, in words."""
    checks = [
        F.when(~F.col(preference.column).isin(list(preference.better.values)), F.lit(preference.column))
        for preference in checked_preferences(external.preferences())
        if isinstance(preference.better, PartialOrder)
    ]
    if not checks:
        return {}
    wrong = records.withColumn("_wrong", F.coalesce(*checks)).where("_wrong is not null")
    value = F.create_map(*(part for name in external.attributes for part in (F.lit(name), F.col(name).cast("string"))))
    first = F.min(F.struct("file", "row", "_wrong", value[F.col("_wrong")].alias("value")))
    return {
        period: f"{file}, row {row}: {name} is {value!r}, which its order in external.attributes does not name; "
        "name it there, or correct the file."
        for period, (file, row, name, value) in wrong.groupBy("period").agg(first).collect()
    }


def _whole(external: External) -> Column:
    """A record with a missing attribute takes no part; nor does one with a number that is none."""
    whole = F.lit(True)
    for name, attribute in external.attributes.items():
        whole = whole & (F.col(name).isNotNull() if attribute.is_ranked else is_finite(F.col(name)))
    return whole


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

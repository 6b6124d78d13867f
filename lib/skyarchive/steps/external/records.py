"""The records that are compared with all others: the raw rows that count, with the attributes of `external`."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from skyarchive.dataframes.columns import is_finite
from skyarchive.dataframes.records import (
    all_of,
    group_key,
    number_of,
    object_of,
    plain_value,
    with_what_is_looked_back_at,
)
from skyarchive.definition.external import External
from skyarchive.definition.model import Definition
from skyarchive.kernels.points.orders import PartialOrder
from skyarchive.kernels.points.preferences import checked_preferences


def records(rows: DataFrame, definition: Definition, carry: DataFrame | None) -> DataFrame:
    """`period`, `group_key`, `file`, `row`, `object` and the attributes of rows that miss none. `rows` are raw rows
    that count, `carry` the states that the first of them start from."""
    external = definition.external
    assert external is not None
    found = with_what_is_looked_back_at(rows, definition, carry).select(
        "period",
        group_key(external.group).alias("group_key"),
        "file",
        "row",
        object_of(definition).alias("object"),
        *(_value(name, external).alias(name) for name in external.attributes),
    )
    return found.where(_whole(external)).where("object is not null")


def _value(name: str, external: External) -> Column:
    attribute = external.attributes[name]
    return plain_value(name, attribute).cast("string") if attribute.is_ranked else number_of(name, attribute)


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
    return all_of(
        [
            F.col(name).isNotNull() if attribute.is_ranked else is_finite(F.col(name))
            for name, attribute in external.attributes.items()
        ]
    )

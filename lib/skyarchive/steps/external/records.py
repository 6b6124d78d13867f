"""An archive's records: the raw rows that count, with the attributes they are compared by."""

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.definition import Definition
from skyarchive.derivation import MarketModel
from skyarchive.errors import DefinitionError
from skyarchive.record_definition import External
from skyarchive.steps.derive.parts import is_finite

_BETWEEN_GROUPS = " / "
"""Slashes of the values themselves are doubled, so that no two groups are taken for one."""
EVERYTHING = "all"
"""The group of an archive without groups."""


def records(rows: DataFrame, definition: Definition, carry: DataFrame | None) -> DataFrame:
    """`period`, `group_key`, `file`, `row`, `object` and the attributes of rows that miss none. `rows` are raw rows
    that count, `carry` the states that the first of them start from."""
    external = definition.external
    assert external is not None
    if isinstance(definition.derive, MarketModel):
        rows = with_previous_close(rows, definition, definition.derive, carry)
    columns = {f"attributes.{name}": _value(name, external) for name in external.attributes}
    columns |= {f"group[{n}]": F.expr(text).cast("string") for n, text in enumerate(external.group)}
    for field, column in columns.items():
        try:
            rows.select(column).schema  # noqa: B018 - asks Spark whether it understands the expression
        except AnalysisException as error:
            why = str(error).partition("\n")[0]
            raise DefinitionError(f"{definition.name}: external.{field} cannot be computed: {why}") from error
    groups = [F.coalesce(columns[f"group[{n}]"], F.lit("")) for n in range(len(external.group))]
    if len(groups) > 1:
        groups = [F.replace(group, F.lit("/"), F.lit("//")) for group in groups]
    found = rows.select(
        "period",
        (F.concat_ws(_BETWEEN_GROUPS, *groups) if groups else F.lit(EVERYTHING)).alias("group_key"),
        "file",
        "row",
        F.col(definition.object.column).cast("string").alias("object"),
        *(columns[f"attributes.{name}"].alias(name) for name in external.attributes),
    )
    return found.where(_whole(external)).where("object is not null")


def _value(name: str, external: External) -> Column:
    attribute = external.attributes[name]
    value = F.expr(attribute.value) if attribute.value else F.col(name)
    # Adding zero makes -0.0 plain 0.0.
    return value.cast("string") if attribute.is_ranked else value.cast("double") + 0.0


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

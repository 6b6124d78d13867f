"""The skyline of all rows of a frame, however large, by one of two plans.

The *tree* reads the rows once: every partition gives the rows that nothing in it beats, those are merged, a few
partitions at a time where they may be many, and the last merge is exact. A small table is one leaf and no merge. The
*passes* are distributed RAND (see `passes`): the workers' and the driver's memory is bounded by the window, however
many rows are unbeaten, and rows are read three times or more.

Both give the same rows: those that no other row of their group beats, all duplicates, without rows that miss an
attribute.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal, get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from skyarchive.errors import SettingError
from skyarchive.kernels.orders import PartialOrder
from skyarchive.kernels.preferences import Better, Preference, checked_preferences
from skyarchive.steps.external.choosing import chosen_plan
from skyarchive.steps.external.passes import WINDOW, by_passes
from skyarchive.steps.external.sizing import known_bytes
from skyarchive.steps.external.workers import GROUP, IS_MEMBER, Question, reduced

Plan = Literal["auto", "tree", "passes"]
HELD_BYTES = 64 << 20
"""Bytes of rows that a worker holds before it gives them away."""
ONE_LEAF_BYTES = 8 << 20
"""A table of at most so many bytes is read by one worker, which takes about as long for them as Spark for a stage."""
ONE_MERGE_BYTES = 512 << 20
"""The leaves of a table of at most so many bytes are few: they are merged all at once."""
_COMPARABLE = frozenset(
    {"tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "date", "timestamp", "timestamp_ntz"}
)


def unbeaten_rows(
    rows: DataFrame,
    attributes: Mapping[str, Better],
    group: Sequence[str] = (),
    plan: Plan = "tree",
    window: int = WINDOW,
) -> DataFrame:
    """The rows that no other row of their group beats, with all their columns. `auto` looks at some rows first."""
    if plan not in get_args(Plan):
        raise SettingError(f"{plan!r} is no plan; plans are {', '.join(get_args(Plan))}.")
    preferences = checked_preferences(attributes)
    check_types(rows.schema, preferences, group)
    question = Question(preferences, bool(group))
    prepared = rows.withColumn(GROUP, group_text(group)) if group else rows
    if plan == "auto":
        plan = chosen_plan(prepared, question)
    found = by_tree(prepared, question) if plan == "tree" else by_passes(prepared, question, window)
    return found.select(*map(_column, rows.columns)) if group else found


def check_types(schema: StructType, preferences: Sequence[Preference], group: Sequence[str]) -> None:
    """Refuse columns that are not there or cannot be compared."""
    types = {field.name: field.dataType.simpleString() for field in schema.fields}
    names = schema.fieldNames()
    for name in [*(preference.column for preference in preferences), *group]:
        if name not in types:
            raise SettingError(f"There is no column {name!r}; columns are {', '.join(names)}.")
    unusable = [name for name in names if names.count(name) > 1 or name in (GROUP, IS_MEMBER)]
    if unusable:
        raise SettingError(f"The column {unusable[0]!r} is there twice, or its name is reserved: give it another name.")
    for preference in preferences:
        kind = types[preference.column]
        if isinstance(preference.better, PartialOrder) or kind in _COMPARABLE or kind.startswith("decimal"):
            continue
        raise SettingError(
            f"{preference.column} is a {kind}, which has no lower and higher: give it a partial order, such as "
            f"{{'{preference.column}': {{'order': [['best', 'good'], ['best', 'other']]}}}}."
        )


def group_text(group: Sequence[str]) -> Column:
    """A row's group as one text."""
    columns = [_column(name) for name in group]
    return columns[0].cast("string") if len(columns) == 1 else F.to_json(F.struct(*columns))


def _column(name: str) -> Column:
    """The column of exactly that name, whatever characters it has."""
    return F.col(f"`{name.replace('`', '``')}`")


def by_tree(rows: DataFrame, question: Question) -> DataFrame:
    """Local skylines, merged: by group, if there are groups, all at once or a few partitions at a time, as the size of
    the table asks for. Nothing runs yet."""
    local, exact = partial(reduced, question, HELD_BYTES), partial(reduced, question, None)
    size = known_bytes(rows)
    if size is not None and size <= ONE_LEAF_BYTES:
        return rows.coalesce(1).mapInArrow(exact, rows.schema)
    leaves = rows.mapInArrow(local, rows.schema)
    if question.grouped:
        return leaves.repartition(F.col(GROUP)).mapInArrow(exact, rows.schema)
    if size is None or size > ONE_MERGE_BYTES:
        # Spark makes as many partitions of the leaves as their size asks for: one, if they are few rows.
        leaves = leaves.hint("rebalance").mapInArrow(local, rows.schema)
    return leaves.repartition(1).mapInArrow(exact, rows.schema)

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

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.dataframes.asking import asked_of, group_text
from skyarchive.dataframes.choosing import chosen_plan
from skyarchive.dataframes.passes import WINDOW, by_passes
from skyarchive.dataframes.sizing import known_bytes
from skyarchive.dataframes.workers import GROUP, Question, reduced
from skyarchive.errors import SettingError
from skyarchive.kernels.points.preferences import Better
from skyarchive.pipeline.complaints import explained

Plan = Literal["auto", "tree", "passes"]
HELD_BYTES = 64 << 20
"""Bytes of rows that a worker holds before it gives them away."""
ONE_LEAF_BYTES = 8 << 20
"""A table of at most so many bytes is read by one worker, which takes about as long for them as Spark for a stage."""
ONE_MERGE_BYTES = 512 << 20
"""The leaves of a table of at most so many bytes are few: they are merged all at once."""


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
    if rows.isStreaming:
        raise SettingError(
            "These rows come as a stream, where a later one may always beat them: give a table, or ask for the skyline "
            "of every batch in foreachBatch."
        )
    asked = asked_of(rows.schema, attributes, group)
    # PySpark takes dots and backticks in a name for more than a name: within, columns are called by their place.
    names = [f"c{place}" for place in range(len(rows.columns))]
    question = Question(asked.preferences, bool(group), tuple(names[place] for place in asked.places))
    prepared = rows.toDF(*names)
    if group:
        kinds = [rows.schema[place].dataType for place in asked.group]
        prepared = prepared.withColumn(GROUP, group_text([F.col(names[place]) for place in asked.group], kinds))
    if plan == "tree":
        found = by_tree(prepared, question)
    else:
        with explained():
            if plan == "auto":
                plan = chosen_plan(prepared, question)
            found = by_tree(prepared, question) if plan == "tree" else by_passes(prepared, question, window)
    return (found.drop(GROUP) if group else found).toDF(*rows.columns)


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

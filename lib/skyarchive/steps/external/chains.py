"""Unbeaten records of consecutive periods: those up to a period are the unbeaten of those before it and its own.

So the records of all periods are reduced side by side, each period by itself, and what little is left is gone through
period by period.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.dataframes.unbeaten import HELD_BYTES, Plan, unbeaten_rows
from skyarchive.dataframes.workers import GROUP, Batches, Question, reduced
from skyarchive.kernels.points import unbeaten
from skyarchive.kernels.points.preferences import Better, checked_preferences

_BEFORE = ""
"""Period of what a chain starts from: it sorts before all."""


def unbeaten_so_far(
    records: DataFrame, start: DataFrame | None, periods: Sequence[str], attributes: Mapping[str, Better], plan: Plan
) -> DataFrame:
    """For each of the periods (consecutive, in order) the records up to its end that no other of their `group_key`
    beats. `start` are those up to the period before."""
    if plan == "passes":
        return _one_by_one(records, start, periods, attributes)
    question = Question(checked_preferences(attributes), grouped=True)
    # What stands between the two is in neither, or one period's group could be taken for another's.
    apart = records.withColumn(GROUP, F.concat_ws("\0", "period", "group_key"))
    left = apart.mapInArrow(partial(reduced, question, HELD_BYTES), apart.schema).drop(GROUP)
    if start is not None:
        left = left.unionByName(start.withColumn("period", F.lit(_BEFORE)))
    return left.repartition("group_key").mapInArrow(partial(_gone_through, question, list(periods)), records.schema)


def _gone_through(question: Question, periods: list[str], batches: Batches) -> Batches:
    """Runs on the workers, on all records of some groups."""
    gathered = list(batches)
    if not gathered:
        return
    table = pa.Table.from_batches(gathered).combine_chunks()
    groups = table.column("group_key").combine_chunks().dictionary_encode().indices.to_numpy()
    costs = question.costs(table)
    period = np.asarray(table.column("period").to_pylist(), object)
    held = np.flatnonzero(period == _BEFORE)
    for now in periods:
        rows = np.concatenate([held, np.flatnonzero(period == now)])
        held = rows[unbeaten([column[rows] for column in costs], groups[rows])]
        kept = table.take(pa.array(held))
        place = table.schema.get_field_index("period")
        yield from kept.set_column(place, "period", pa.repeat(pa.scalar(now), len(held))).to_batches()


def _one_by_one(
    records: DataFrame, start: DataFrame | None, periods: Sequence[str], attributes: Mapping[str, Better]
) -> DataFrame:
    """The same by passes: no worker holds the answer."""
    found: list[DataFrame] = []
    for now in periods:
        own = records.where(F.col("period") == now)
        rows = own if start is None else own.unionByName(start)
        start = unbeaten_rows(rows, attributes, ["group_key"], "passes").withColumn("period", F.lit(now))
        found.append(start)
    whole = found[0]
    for frame in found[1:]:
        whole = whole.unionByName(frame)
    return whole

"""The skyline by rounds over all rows: DISTRIBUTED-LEX-ELIMINATE-POINTS (Das Sarma et al., VLDB 2009, algorithm 3).

A round samples the rows that are not decided (a window of them, where the algorithm draws as many as its guess of the
skyline's size asks for), finds for each of the sample the lexicographically best row that is at least as good (a
skyline point, in whatever order the rows come), and sends those to all workers: what they beat disappears, what is
equal to them is in the skyline. Only a window of points is ever with the driver; decided rows stay with the workers,
on their disks where memory is short.
"""

from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.dataframes.workers import (
    GROUP,
    IS_MEMBER,
    KEY,
    TARGET,
    Points,
    Question,
    dominating,
    eliminated,
    sample_names,
    sampled,
)
from skyarchive.errors import SkyarchiveError

WINDOW = 4096
"""Points that go to every worker in a round."""
SEED = 20090824
_MOST_ROUNDS = 100_000


def by_passes(rows: DataFrame, question: Question, window: int = WINDOW) -> DataFrame:
    """The unbeaten rows. Runs at once; the answer is kept by the workers."""
    rest = rows.withColumn(IS_MEMBER, F.lit(None).cast("boolean"))
    for round_number in range(_MOST_ROUNDS):
        sample = _sample(rest, question, window, SEED + round_number)
        if not len(sample.costs):
            return rest.where(F.col(IS_MEMBER)).drop(IS_MEMBER)
        found = _skyline_points(rest, question, sample)
        rest = rest.mapInArrow(partial(eliminated, question, found), rest.schema).localCheckpoint()
    raise SkyarchiveError(
        f"After {_MOST_ROUNDS:,} rounds there are rows left: are they the same whenever they are read?"
    )


def _sample(rest: DataFrame, question: Question, count: int, seed: int) -> Points:
    """Random points of the rows that are not decided."""
    keyed = f"{KEY} double, {GROUP} string, " + _costs_schema(question)
    drawn = rest.mapInArrow(partial(sampled, question, count, seed), keyed).orderBy(KEY).limit(count).toArrow()
    table = drawn.select(sample_names(question)[1:])
    return _distinct(table, question)


def _skyline_points(rest: DataFrame, question: Question, sample: Points) -> Points:
    """For each of the sample the best row that is at least as good."""
    offered = rest.mapInArrow(partial(dominating, question, sample), f"{TARGET} bigint, " + _costs_schema(question))
    axes = [f"x{axis}" for axis in range(question.width)]
    best = offered.groupBy(TARGET).agg(F.min(F.struct(*axes)).alias("best")).select(TARGET, "best.*").toArrow()
    groups = sample.groups.take(best.column(TARGET).combine_chunks())
    return _distinct(pa.table([groups, *(best.column(axis) for axis in axes)], [GROUP, *axes]), question)


def _distinct(points: pa.Table, question: Question) -> Points:
    """Every point once."""
    once = points.group_by(points.column_names).aggregate([])
    axes = [once.column(f"x{axis}").to_numpy() for axis in range(question.width)]
    return Points(np.column_stack(axes) + 0.0, once.column(GROUP).combine_chunks())


def _costs_schema(question: Question) -> str:
    return ", ".join(f"x{axis} double" for axis in range(question.width))

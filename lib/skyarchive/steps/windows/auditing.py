"""Members found again at some moments, by another way: the records are read anew, in whatever order they come; those
alive are told by their places, and of them those that no other beats are found by comparing all with all."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.answers.positions import beaten_by
from skyarchive.arrivals.living import living
from skyarchive.arrivals.ordered import Asked
from skyarchive.arrivals.samples import Sample
from skyarchive.kernels.points import unbeaten

_SHOWN = 5
VERDICTS = "period string, wrong bigint, shown array<string>"
_CANDIDATES = "sample int, is_member boolean, group_key string, file string, row bigint, object string"
_COUNTS = "alive bigint, come bigint"


def verdicts(records: DataFrame, found: DataFrame, samples: Sequence[Sample], queries: Sequence[Asked]) -> DataFrame:
    """For every moment how many are in the answer and should not be, or the other way round, and some of their names.
    `records`: of all periods that were looked at; `found`: rows of the table."""
    attributes = list(dict.fromkeys(name for asked in queries for name in asked.signs))
    values = ", ".join(f"`{name}` double" for name in attributes)
    schema = f"{_CANDIDATES}, {values}, {_COUNTS}"
    alive = records.mapInArrow(partial(living, list(samples), list(queries), attributes, _unbeaten_only), schema)
    told = alive.unionByName(_members(found, samples, queries, attributes))
    compare = partial(_compared, list(samples), list(queries))
    return told.groupBy("sample").applyInArrow(lambda rows: compare(rows), VERDICTS)


def _members(
    found: DataFrame, samples: Sequence[Sample], queries: Sequence[Asked], attributes: Sequence[str]
) -> DataFrame:
    """Who is a member at these moments, as the table tells."""
    counts = {asked.name: asked.counts_records for asked in queries}
    moments = pa.table(
        {
            "sample": pa.array(range(len(samples)), pa.int32()),
            "period": [sample.period for sample in samples],
            "query": [sample.query for sample in samples],
            "moment": pa.array([sample.moment for sample in samples], pa.int64()),
            "counts": [counts[sample.query] for sample in samples],
        }
    )
    at = F.broadcast(found.sparkSession.createDataFrame(moments))
    entered = F.when(F.col("counts"), F.col("entered_at")).otherwise(F.unix_micros("entered"))
    left = F.when(F.col("counts"), F.col("left_at")).otherwise(F.unix_micros("left"))
    is_member = (entered <= F.col("moment")) & (left.isNull() | (left > F.col("moment")))
    return (
        found.join(at, ["period", "query"])
        .where(is_member)
        .select(
            "sample", F.lit(True).alias("is_member"), "group_key", "file", "row", "object", *attributes,
            F.lit(0).cast("bigint").alias("alive"), F.lit(0).cast("bigint").alias("come"),
        )
    )  # fmt: skip


def _unbeaten_only(
    costs: list[NDArray[np.float64]],
    groups: NDArray[np.int64] | None,
    chance: NDArray[np.float64] | None,
    asked: Asked,
) -> NDArray[np.bool_]:
    return unbeaten(costs, groups)


def _compared(samples: list[Sample], queries: list[Asked], rows: pa.Table) -> pa.Table:
    """What is wrong at one moment."""
    sample = samples[rows.column("sample")[0].as_py()]
    [asked] = [asked for asked in queries if asked.name == sample.query]
    claimed = rows.filter(rows.column("is_member"))
    living = rows.filter(pc.and_(pc.invert(rows.column("is_member")), pc.is_valid(rows.column("row"))))
    different = _named(claimed, asked).items() ^ _unbeaten(living, asked).items()
    wrong = [f"{file}, row {row} ({sample.name})" for _, file, row in sorted({key for key, _ in different})]
    for name in ("alive", "come"):
        seen = pc.sum(rows.column(name)).as_py()
        if seen != getattr(sample, name):
            wrong.append(f"{seen} instead of {getattr(sample, name)} records {name} ({sample.name})")
    kinds = {"period": pa.string(), "wrong": pa.int64(), "shown": pa.list_(pa.string())}
    return pa.table([[sample.period], [len(wrong)], [wrong[:_SHOWN]]], schema=pa.schema(kinds))


Known = dict[tuple[str, str, int], tuple[str, tuple[float, ...]]]
"""By group, file and row the object and the attributes."""


def _named(rows: pa.Table, asked: Asked) -> Known:
    values = zip(*(rows.column(name).to_pylist() for name in asked.signs), strict=True)
    keys = zip(*(rows.column(name).to_pylist() for name in ("group_key", "file", "row")), strict=True)
    return dict(zip(keys, zip(rows.column("object").to_pylist(), values, strict=True), strict=True))


def _unbeaten(rows: pa.Table, asked: Asked) -> Known:
    """By comparing all of a group with all of it."""
    found: Known = {}
    for group in rows.column("group_key").unique().to_pylist():
        own = rows.filter(pc.equal(rows.column("group_key"), group))
        costs = np.column_stack([own.column(name).to_numpy() * sign for name, sign in asked.signs.items()])
        is_beaten = np.zeros(len(costs), bool)
        for point in costs:
            is_beaten |= beaten_by(costs, point)
        found |= _named(own.filter(pa.array(~is_beaten)), asked)
    return found

"""Members found again at some moments, by another way: the records are read anew, in whatever order they come; those
alive are told by their places, and how probable each is comes from the product over all that beat it."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.arrivals.living import living
from skyarchive.arrivals.ordered import Asked
from skyarchive.arrivals.samples import Sample
from skyarchive.kernels.uncertain.checking import SLACK

_SHOWN = 5
_STRONGEST = (16, 64, 256, 1024)
"""Against so many of those that beat most a record is tried first."""
_AT_ONCE = 4_000_000
"""Pairs of records that are compared together."""
VERDICTS = "period string, wrong bigint, shown array<string>"
_CANDIDATES = "sample int, is_member boolean, group_key string, file string, row bigint, object string"
_COUNTS = "alive bigint, come bigint, chance double"
_UNSURE = 1e-12
"""Whoever is nearer to the least that counts as having reached a threshold may be a member or not: roundings decide."""
_SAME = 1e-9
"""Probabilities that differ by less are the same."""


def verdicts(records: DataFrame, found: DataFrame, samples: Sequence[Sample], queries: Sequence[Asked]) -> DataFrame:
    """For every moment how many are in the answer and should not be, or the other way round, and some of their names.
    `records`: of all periods that were looked at; `found`: rows of the table."""
    attributes = list(dict.fromkeys(name for asked in queries for name in asked.signs))
    values = "".join(f", `{name}` double" for name in attributes)
    schema = f"{_CANDIDATES}{values}, {_COUNTS}"
    alive = records.mapInArrow(partial(living, list(samples), list(queries), attributes, mattering), schema)
    members = _members(found, samples, queries, attributes)
    told = alive.withColumns({name: F.lit(None).cast("double") for name in ("threshold", "probability", "greatest")})
    compare = partial(_compared, list(samples), list(queries))
    return told.unionByName(members).groupBy("sample").applyInArrow(lambda rows: compare(rows), VERDICTS)


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
    began = F.when(entered == F.col("moment"), F.col("probability"))
    return (
        found.join(at, ["period", "query"])
        .where(is_member)
        .select(
            "sample", F.lit(True).alias("is_member"), "group_key", "file", "row", "object", *attributes,
            F.lit(0).cast("bigint").alias("alive"), F.lit(0).cast("bigint").alias("come"),
            F.lit(None).cast("double").alias("chance"), F.col("threshold").cast("double").alias("threshold"),
            began.alias("probability"), "greatest",
        )
    )  # fmt: skip


def mattering(
    costs: list[NDArray[np.float64]],
    groups: NDArray[np.int64] | None,
    chance: NDArray[np.float64] | None,
    asked: Asked,
) -> NDArray[np.bool_]:
    """Which of some living records may be members, or make others less probable than they are by those that beat them
    both: those that some of the strongest do not put below the lowest threshold."""
    assert chance is not None
    floor = float(min(asked.thresholds)) * (1 - _SAME) * (1 - SLACK)
    points = np.column_stack(costs)
    codes = np.zeros(len(points), np.int64) if groups is None else groups
    kept = np.arange(len(points))
    for count in _STRONGEST:
        ranks = sum(np.argsort(np.argsort(column)) for column in points[kept].T)
        strong = kept[np.argsort(ranks, kind="stable")[:count]]
        kept = kept[products(points, codes, chance, kept, strong) >= floor]
    found = np.zeros(len(points), bool)
    found[kept] = True
    return found


def products(
    points: NDArray[np.float64],
    groups: NDArray[np.int64],
    chance: NDArray[np.float64],
    rows: NDArray[np.int64],
    others: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Of each of these rows how probable it is that none of the others exists that beats it."""
    found = np.ones(len(rows))
    step = max(_AT_ONCE // max(len(others), 1), 1)
    for begin in range(0, len(rows), step):
        own = rows[begin : begin + step]
        beaten = groups[own][:, None] == groups[others]
        better = np.zeros(beaten.shape, bool)
        for column in points.T:
            mine, theirs = column[own][:, None], column[others]
            beaten &= theirs <= mine
            better |= theirs < mine
        found[begin : begin + step] = np.prod(np.where(beaten & better, 1 - chance[others], 1.0), axis=1)
    return found


def _compared(samples: list[Sample], queries: list[Asked], rows: pa.Table) -> pa.Table:
    """What is wrong at one moment."""
    sample = samples[rows.column("sample")[0].as_py()]
    [asked] = [asked for asked in queries if asked.name == sample.query]
    claimed = rows.filter(rows.column("is_member"))
    alive = rows.filter(pc.and_(pc.invert(rows.column("is_member")), pc.is_valid(rows.column("row"))))
    likely = _likely(alive, asked)
    wrong = []
    for threshold in map(float, asked.thresholds):
        own = claimed.filter(pc.equal(claimed.column("threshold"), threshold))
        misjudged = _misjudged(_named(own, asked, "probability", "greatest"), likely, threshold)
        wrong += [f"{file}, row {row} ({sample.name}, {threshold:g})" for _, file, row in misjudged]
    for name in ("alive", "come"):
        seen = pc.sum(rows.column(name)).as_py()
        if seen != getattr(sample, name):
            wrong.append(f"{seen} instead of {getattr(sample, name)} records {name} ({sample.name})")
    kinds = {"period": pa.string(), "wrong": pa.int64(), "shown": pa.list_(pa.string())}
    return pa.table([[sample.period], [len(wrong)], [wrong[:_SHOWN]]], schema=pa.schema(kinds))


Key = tuple[str, str, int]
Known = dict[Key, tuple[tuple[object, ...], tuple[float | None, ...]]]
"""By group, file and row the object and the attributes, and what is told beside them."""


def _named(rows: pa.Table, asked: Asked, *told: str) -> Known:
    def columns(*names: str) -> list[tuple[object, ...]]:
        return list(zip(*(rows.column(name).to_pylist() for name in names), strict=True))

    what, more = columns("object", *asked.signs), columns(*told)
    return dict(zip(columns("group_key", "file", "row"), zip(what, more, strict=True), strict=True))  # type: ignore[arg-type]


def _likely(rows: pa.Table, asked: Asked) -> Known:
    """The living with how probable each is in the skyline."""
    points = np.column_stack([rows.column(name).to_numpy() * sign for name, sign in asked.signs.items()])
    groups = rows.column("group_key").combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    chance, every = rows.column("chance").to_numpy(), np.arange(rows.num_rows)
    likely = chance * products(points, groups, chance, every, every)
    return _named(rows.append_column("likely", pa.array(likely)), asked, "likely")


def _misjudged(named: Known, likely: Known, threshold: float) -> list[Key]:
    """Who is a member and should not be, or the other way round, or is not what it is told to be."""
    least, most = threshold * (1 - SLACK - _UNSURE), threshold * (1 - SLACK + _UNSURE)
    wrong = [key for key, (_, [chance]) in likely.items() if key not in named and chance is not None and chance > most]
    for key, (what, told) in named.items():
        if key not in likely or likely[key][0] != what or not _fits(likely[key][1][0], told, least):
            wrong.append(key)
    return sorted(wrong)


def _fits(chance: float | None, told: tuple[float | None, ...], least: float) -> bool:
    began, greatest = told
    assert chance is not None and greatest is not None
    as_told = began is None or abs(began - chance) <= _SAME * chance
    return chance >= least and chance <= greatest * (1 + _SAME) and as_told

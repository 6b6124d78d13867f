"""Members found again at some moments, by another way: the records are read anew, in whatever order they come; those
alive are told by their places, and of them those that no other beats are found by comparing all with all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.answers.positions import beaten_by
from skyarchive.arrivals.ordered import TIME, Asked, group_column, part_column
from skyarchive.arrivals.records import Batches
from skyarchive.arrivals.samples import Place, Sample
from skyarchive.definition.groups import EVERYTHING
from skyarchive.kernels.points import unbeaten

_HELD_ROWS = 20_000
"""Candidates of a moment that a worker holds before it lets those go that others of them beat."""
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
    alive = records.mapInArrow(partial(_alive, list(samples), list(queries), attributes), schema)
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


@dataclass
class _Held:
    """The records of a moment that may be unbeaten, and how many were seen."""

    batches: list[pa.Table] = field(default_factory=list)
    rows: int = 0
    alive: int = 0
    come: int = 0


def _alive(
    samples: list[Sample], queries: list[Asked], attributes: list[str], batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Runs on the workers: of a part of the records those that live at each moment and that no other of the part
    beats."""
    held = [_Held() for _ in samples]
    asked_by = {asked.name: asked for asked in queries}
    for batch in batches:
        places = _Places.of(batch)
        for sample, own in zip(samples, held, strict=True):
            if places.time.min() <= sample.until[0]:
                _take(batch, places, sample, asked_by[sample.query], own)
    for number, own in enumerate(held):
        asked = asked_by[samples[number].query]
        yield from _candidates(number, own, asked, attributes)


@dataclass(frozen=True)
class _Places:
    """Where the records of a batch stand in their order."""

    time: NDArray[np.int64]
    file: NDArray[np.object_]
    row: NDArray[np.int64]

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> "_Places":
        time = pc.fill_null(batch.column(TIME), 0).to_numpy(zero_copy_only=False)
        return cls(time, batch.column("file").to_numpy(zero_copy_only=False), batch.column("row").to_numpy())

    def up_to(self, place: Place) -> NDArray[np.bool_]:
        time, file, row = place
        found = self.time < time
        for at in np.flatnonzero(self.time == time):
            found[at] = (self.file[at], self.row[at]) <= (file, row)
        return found


def _take(batch: pa.RecordBatch, places: _Places, sample: Sample, asked: Asked, held: _Held) -> None:
    part = batch.column(part_column(asked.number)).to_numpy(zero_copy_only=False)
    come = part & places.up_to(sample.until)
    held.come += int(come.sum())
    alive = come if sample.after is None else come & ~places.up_to(sample.after)
    if alive.any():
        held.alive += int(alive.sum())
        held.rows += int(alive.sum())
        held.batches.append(pa.Table.from_batches([batch.filter(pa.array(alive))]))
        if held.rows > _HELD_ROWS:
            _reduce(held, asked)


def _reduce(held: _Held, asked: Asked) -> None:
    rows = pa.concat_tables(held.batches).combine_chunks()
    costs = [rows.column(name).to_numpy() * sign for name, sign in asked.signs.items()]
    held.batches = [rows.filter(pa.array(unbeaten(costs, _groups(rows, asked))))]
    held.rows = held.batches[0].num_rows


def _groups(rows: pa.Table, asked: Asked) -> NDArray[np.int64] | None:
    if not asked.grouped:
        return None
    codes = rows.column(group_column(asked.number)).combine_chunks().dictionary_encode()
    return codes.indices.to_numpy().astype(np.int64)


def _candidates(number: int, held: _Held, asked: Asked, attributes: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """What a part knows of a moment: the unbeaten of its living, and a row with their number."""
    if held.batches:
        _reduce(held, asked)
        rows = held.batches[0]
        group = (
            rows.column(group_column(asked.number)).combine_chunks()
            if asked.grouped
            else pa.repeat(pa.scalar(EVERYTHING), rows.num_rows)
        )
        yield _told(number, rows, group, attributes, np.zeros((2, rows.num_rows), np.int64))
    if held.come:
        none = {name: pa.nulls(1, pa.string()) for name in ("file", "object")} | {"row": pa.nulls(1, pa.int64())}
        nobody = pa.table(none | {name: pa.nulls(1, pa.float64()) for name in attributes})
        yield _told(number, nobody, pa.nulls(1, pa.string()), attributes, np.array([[held.alive], [held.come]]))


def _told(
    number: int, rows: pa.Table, group: pa.Array, attributes: Sequence[str], counts: NDArray[np.int64]
) -> pa.RecordBatch:
    columns = {
        "sample": pa.repeat(pa.scalar(number, pa.int32()), rows.num_rows),
        "is_member": pa.repeat(pa.scalar(False), rows.num_rows),
        "group_key": group,
        **{name: rows.column(name).combine_chunks() for name in ("file", "row", "object", *attributes)},
        "alive": pa.array(counts[0]),
        "come": pa.array(counts[1]),
    }
    return pa.RecordBatch.from_pydict(columns)


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

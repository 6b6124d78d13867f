"""Who lives at some moments, told by another way than the steps take: the records are read anew, in whatever order they
come, and those alive are known by their places."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from skyarchive.arrivals.ordered import TIME, Asked, chance_column, group_column, part_column
from skyarchive.arrivals.records import Batches
from skyarchive.arrivals.samples import Place, Sample
from skyarchive.definition.groups import EVERYTHING

_HELD_ROWS = 20_000
"""Candidates of a moment that a worker holds before it lets those go that cannot matter."""
Keep = Callable[
    [list[NDArray[np.float64]], NDArray[np.int64] | None, NDArray[np.float64] | None, Asked], NDArray[np.bool_]
]
"""Which of some living records may be members or keep others out: of their costs, groups and probabilities."""


@dataclass
class _Held:
    """The records of a moment that may be unbeaten, and how many were seen."""

    batches: list[pa.Table] = field(default_factory=list)
    rows: int = 0
    alive: int = 0
    come: int = 0


def living(
    samples: Sequence[Sample], queries: Sequence[Asked], attributes: Sequence[str], keep: Keep, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Runs on the workers: of a part of the records those that live at each moment and may be members, and how many
    have come and are alive. With a column `chance` where that is asked."""
    held = [_Held() for _ in samples]
    asked_by = {asked.name: asked for asked in queries}
    for batch in batches:
        places = _Places.of(batch)
        for sample, own in zip(samples, held, strict=True):
            if places.time.min() <= sample.until[0]:
                _take(batch, places, sample, asked_by[sample.query], keep, own)
    for number, own in enumerate(held):
        asked = asked_by[samples[number].query]
        yield from _candidates(number, own, asked, attributes, keep)


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


def _take(batch: pa.RecordBatch, places: _Places, sample: Sample, asked: Asked, keep: Keep, held: _Held) -> None:
    part = batch.column(part_column(asked.number)).to_numpy(zero_copy_only=False)
    come = part & places.up_to(sample.until)
    held.come += int(come.sum())
    alive = come if sample.after is None else come & ~places.up_to(sample.after)
    if alive.any():
        held.alive += int(alive.sum())
        held.rows += int(alive.sum())
        held.batches.append(pa.Table.from_batches([batch.filter(pa.array(alive))]))
        if held.rows > _HELD_ROWS:
            _reduce(held, asked, keep)


def _reduce(held: _Held, asked: Asked, keep: Keep) -> None:
    rows = pa.concat_tables(held.batches).combine_chunks()
    costs = [rows.column(name).to_numpy() * sign for name, sign in asked.signs.items()]
    chance = rows.column(chance_column(asked.number)).to_numpy() if asked.thresholds else None
    held.batches = [rows.filter(pa.array(keep(costs, _groups(rows, asked), chance, asked)))]
    held.rows = held.batches[0].num_rows


def _groups(rows: pa.Table, asked: Asked) -> NDArray[np.int64] | None:
    if not asked.grouped:
        return None
    codes = rows.column(group_column(asked.number)).combine_chunks().dictionary_encode()
    return codes.indices.to_numpy().astype(np.int64)


def _candidates(
    number: int, held: _Held, asked: Asked, attributes: Sequence[str], keep: Keep
) -> Iterator[pa.RecordBatch]:
    """What a part knows of a moment: the unbeaten of its living, and a row with their number."""
    if held.batches:
        _reduce(held, asked, keep)
        rows = held.batches[0]
        group = (
            rows.column(group_column(asked.number)).combine_chunks()
            if asked.grouped
            else pa.repeat(pa.scalar(EVERYTHING), rows.num_rows)
        )
        yield _told(number, rows, group, attributes, asked, np.zeros((2, rows.num_rows), np.int64))
    if held.come:
        none = {name: pa.nulls(1, pa.string()) for name in ("file", "object")} | {"row": pa.nulls(1, pa.int64())}
        nobody = pa.table(none | {name: pa.nulls(1, pa.float64()) for name in attributes})
        yield _told(number, nobody, pa.nulls(1, pa.string()), attributes, asked, np.array([[held.alive], [held.come]]))


def _told(
    number: int,
    rows: pa.Table,
    group: pa.Array,
    attributes: Sequence[str],
    asked: Asked,
    counts: NDArray[np.int64],
) -> pa.RecordBatch:
    columns = {
        "sample": pa.repeat(pa.scalar(number, pa.int32()), rows.num_rows),
        "is_member": pa.repeat(pa.scalar(False), rows.num_rows),
        "group_key": group,
        **{name: rows.column(name).combine_chunks() for name in ("file", "row", "object", *attributes)},
        "alive": pa.array(counts[0]),
        "come": pa.array(counts[1]),
    }
    if asked.thresholds:
        chance = chance_column(asked.number)
        known = chance in rows.column_names
        columns["chance"] = rows.column(chance).combine_chunks() if known else pa.nulls(rows.num_rows, pa.float64())
    return pa.RecordBatch.from_pydict(columns)

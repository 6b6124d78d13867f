"""What runs in Spark's Python workers: record batches in, record batches out, in bounded memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from skyarchive.kernels.points import rounds, spared, strong_points, unbeaten
from skyarchive.kernels.points.preferences import Preference

Batches = Iterator[pa.RecordBatch]
GROUP = "_group"
"""Column with the group of a row as text, where there are groups."""
IS_MEMBER = "_is_member"
"""In the passes: true for rows that are known to be in the skyline, null for those that are not decided."""
KEY, TARGET = "_key", "_target"
_REDUCE_ROWS = 1 << 17
"""Rows that are gathered before they are compared with each other."""
_FEW_BATCHES, _SMALL_BATCH = 8, 1000


@dataclass(frozen=True)
class Question:
    """What makes a row better than another; travels to the workers."""

    preferences: tuple[Preference, ...]
    grouped: bool
    columns: tuple[str, ...] = ()
    """What the rows call the preferences' columns, where that is not by their names."""

    @property
    def width(self) -> int:
        return sum(preference.width for preference in self.preferences)

    def costs(self, rows: pa.RecordBatch | pa.Table) -> list[np.ndarray]:
        """The rows' costs, a column each; NaN where something is missing."""
        found: list[np.ndarray] = []
        names = self.columns or [preference.column for preference in self.preferences]
        for preference, name in zip(self.preferences, names, strict=True):
            values = rows.column(name)
            found += preference.costs(values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values)
        return found

    def groups(self, rows: pa.RecordBatch | pa.Table) -> np.ndarray | None:
        """The rows' groups as numbers."""
        return _codes(rows.column(GROUP)) if self.grouped else None


def _codes(groups: pa.Array | pa.ChunkedArray) -> np.ndarray:
    whole = groups.combine_chunks() if isinstance(groups, pa.ChunkedArray) else groups
    return whole.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)


def complete(costs: Sequence[np.ndarray]) -> np.ndarray:
    """Which rows miss nothing."""
    whole = ~np.isnan(costs[0])
    for column in costs[1:]:
        whole &= ~np.isnan(column)
    return whole


@dataclass
class Held:
    """Rows that nothing seen so far beats, or that were not compared yet."""

    question: Question
    rows: list[pa.RecordBatch] = field(default_factory=list)
    fresh: int = 0
    members: int = 0
    strong: np.ndarray | None = None
    """Points that beat many: whom they beat is not held at all."""

    @property
    def is_due(self) -> bool:
        return self.fresh >= max(_REDUCE_ROWS, self.members) or (self.strong is None and not self.question.grouped)

    @property
    def size(self) -> int:
        return sum(batch.nbytes for batch in self.rows)

    def take(self, batch: pa.RecordBatch) -> None:
        costs = self.question.costs(batch)
        kept = complete(costs)
        if self.strong is not None:
            kept &= spared(costs, self.strong)
        if not kept.all():
            batch = batch.filter(pa.array(kept))
        if batch.num_rows:
            self.rows.append(batch)
            self.fresh += batch.num_rows
        if self.is_due and self.fresh:
            self.reduce(costs)

    def reduce(self, judged: list[np.ndarray] | None = None) -> None:
        """Keeps only whom no other held row beats; `judged` are costs of rows as they come, to find strong points."""
        if not self.fresh:
            return
        table = pa.Table.from_batches(self.rows)
        costs = self.question.costs(table)
        member = unbeaten(costs, self.question.groups(table))
        del table
        self.rows, self.fresh, self.members = _members(self.rows, member), 0, int(member.sum())
        if judged is not None and not self.question.grouped and self.members:
            self.strong = strong_points([column[member] for column in costs], judged)

    def give(self) -> Batches:
        yield from self.rows
        self.rows, self.fresh, self.members = [], 0, 0


def _members(batches: list[pa.RecordBatch], member: np.ndarray) -> list[pa.RecordBatch]:
    """The members' rows. The batches are used up one by one, so that at no time everything is there twice."""
    kept: list[pa.RecordBatch] = []
    start = len(member)
    while batches:
        batch = batches.pop()
        start -= batch.num_rows
        stays = member[start : start + batch.num_rows]
        if stays.any():
            kept.append(batch if stays.all() else batch.filter(pa.array(stays)))
    kept.reverse()
    # Of many batches most may be nearly empty: together they are quicker to go through the next time.
    if len(kept) > _FEW_BATCHES and sum(batch.num_rows for batch in kept) < len(kept) * _SMALL_BATCH:
        return pa.Table.from_batches(kept).combine_chunks().to_batches()
    return kept


def reduced(question: Question, most_bytes: int | None, batches: Batches) -> Batches:
    """The rows without those that others of them beat. With `most_bytes` some of these may be left: whenever more is
    held than that, it is given away. Without it the answer is exact and is held as a whole."""
    held = Held(question)
    for batch in batches:
        held.take(batch)
        if most_bytes is not None and held.size > most_bytes:
            held.reduce()
            if held.size > most_bytes // 2:
                yield from held.give()
    held.reduce()
    yield from held.give()


@dataclass(frozen=True)
class Points:
    """Points that the driver sends to every worker."""

    costs: np.ndarray
    groups: pa.Array


def sampled(question: Question, count: int, seed: int, batches: Batches) -> Batches:
    """Up to `count` random points among the undecided rows, each with a random key: those with the least keys of all
    workers are a random sample of all."""
    from pyspark import TaskContext

    context = TaskContext.get()
    chance = np.random.default_rng([seed, context.partitionId() if context else 0])
    best: pa.Table | None = None
    for batch in batches:
        costs, rows = _undecided(question, batch)
        keys = chance.random(len(costs[0]))
        groups = batch.column(GROUP).filter(pa.array(rows)) if question.grouped else pa.nulls(len(keys), pa.string())
        table = pa.table([pa.array(keys), groups, *map(pa.array, costs)], sample_names(question))
        best = table if best is None else pa.concat_tables([best, table])
        if best.num_rows > count:
            first = np.argpartition(best.column(KEY).to_numpy(), count - 1)[:count]
            best = best.take(pa.array(first)).combine_chunks()
    if best is not None:
        yield from best.to_batches()


def sample_names(question: Question) -> list[str]:
    return [KEY, GROUP, *(f"x{axis}" for axis in range(question.width))]


def dominating(question: Question, targets: Points, batches: Batches) -> Batches:
    """For every target the best (lexicographically least) of this worker's rows that are at least as good."""
    best = targets.costs.copy()
    for batch in batches:
        costs, rows = _undecided(question, batch)
        group, target_group = _joint_groups(question, batch, rows, targets)
        # What is as good as the best so far is as good as the target.
        found = rounds.improved(costs, group, targets.costs, target_group)
        for axis in range(question.width):  # lexicographic minimum of both
            ahead = (found[:, :axis] == best[:, :axis]).all(axis=1) & (found[:, axis] < best[:, axis])
            best[ahead] = found[ahead]
    names = [TARGET, *(f"x{axis}" for axis in range(question.width))]
    yield pa.RecordBatch.from_arrays([pa.array(np.arange(len(best))), *map(pa.array, best.T.copy())], names)


def eliminated(question: Question, found: Points, batches: Batches) -> Batches:
    """The rows without those that a found point beats; rows equal to one are members."""
    for batch in batches:
        costs = question.costs(batch)
        known = batch.column(IS_MEMBER).is_valid().to_numpy(zero_copy_only=False)
        open_rows = complete(costs) & ~known
        group, found_group = _joint_groups(question, batch, open_rows, found)
        standing = rounds.standing([column[open_rows] for column in costs], group, found.costs, found_group)
        member = known.copy()
        member[np.flatnonzero(open_rows)[standing == rounds.EQUAL]] = True
        kept = known.copy()
        kept[np.flatnonzero(open_rows)[standing != rounds.BEATEN]] = True
        marks = pa.array(member, mask=~member)
        place = batch.schema.get_field_index(IS_MEMBER)
        columns = [marks if at == place else column for at, column in enumerate(batch.columns)]
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names).filter(pa.array(kept))


def _undecided(question: Question, batch: pa.RecordBatch) -> tuple[list[np.ndarray], np.ndarray]:
    """Costs of the rows that may still be sampled, and which rows these are."""
    costs = question.costs(batch)
    rows = complete(costs) & ~batch.column(IS_MEMBER).is_valid().to_numpy(zero_copy_only=False)
    return [column[rows] for column in costs], rows


def _joint_groups(
    question: Question, batch: pa.RecordBatch, rows: np.ndarray, points: Points
) -> tuple[np.ndarray, np.ndarray]:
    """Groups of the rows and of the points under the same numbers."""
    if not question.grouped:
        return np.zeros(int(rows.sum()), np.int64), np.zeros(len(points.costs), np.int64)
    own = batch.column(GROUP).filter(pa.array(rows))
    codes = _codes(pa.chunked_array([own, points.groups.cast(own.type)]))
    return codes[: len(own)], codes[len(own) :]

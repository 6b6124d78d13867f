"""The records of some periods in the order they came, and those of one query among them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from skyarchive.definition.windows import WindowQuery

Ints = NDArray[np.int64]
TIME = "_time"
"""A record's time in microseconds since 1970; null where nobody can tell it."""


def part_column(number: int) -> str:
    """Whether a record takes part in the query of this number."""
    return f"_part_{number}"


def group_column(number: int) -> str:
    """A record's group, where the query of this number has groups."""
    return f"_group_{number}"


def chance_column(number: int) -> str:
    """How probably a record exists, where the query of this number asks for it."""
    return f"_chance_{number}"


def left_out_column(number: int) -> str:
    """Whether it takes no part for want of a probability, and for nothing else."""
    return f"_left_out_{number}"


@dataclass(frozen=True)
class Asked:
    """A query as it travels to the workers."""

    number: int
    """Its place among the archive's queries."""
    name: str
    width: int
    counts_records: bool
    signs: dict[str, float]
    """Attributes, each with what makes smaller better: 1 or -1."""
    grouped: bool
    thresholds: tuple[Decimal, ...] = ()
    """How probable members are at least; none where records are certain."""

    @classmethod
    def of(cls, queries: Sequence[WindowQuery]) -> "tuple[Asked, ...]":
        return tuple(
            cls(number, query.name, query.width, query.counts_records, query.signs, bool(query.group), query.levels)
            for number, query in enumerate(queries)
        )


@dataclass(frozen=True)
class Texts:
    """A column of texts, each told once."""

    codes: Ints
    names: pa.Array

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> "Texts":
        whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if isinstance(whole, pa.ChunkedArray):
            whole = whole.chunk(0)
        if not pa.types.is_dictionary(whole.type):
            whole = whole.dictionary_encode()
        return cls(whole.indices.to_numpy(zero_copy_only=False).astype(np.int64), whole.dictionary)

    @property
    def ranks(self) -> Ints:
        """Numbers that are in order as the texts are."""
        place = np.empty(len(self.names), np.int64)
        place[pc.sort_indices(self.names).to_numpy()] = np.arange(len(self.names))
        return place[self.codes]

    @cached_property
    def _hashes(self) -> Ints:
        prints = [hashlib.blake2b(name.encode(), digest_size=8).digest() for name in self.names.to_pylist()]
        return np.frombuffer(b"".join(prints), np.int64)

    def hashes(self, rows: slice) -> Ints:
        """A number for each text, the same wherever it stands."""
        return self._hashes[self.codes[rows]]

    def at(self, rows: Ints) -> "Texts":
        return Texts(self.codes[rows], self.names)

    def take(self, rows: Ints, mask: NDArray[np.bool_] | None = None) -> pa.Array:
        """The texts of these rows; none where masked."""
        return self.names.take(pa.array(self.codes[rows], mask=mask))


@dataclass(frozen=True)
class Records:
    """Records of one query in the order they came: by period, time, file and row."""

    period: Ints
    """Place of a record's period among those that are asked about."""
    time: Ints
    file: Texts
    row: Ints
    object: Texts
    group: Texts | None
    values: dict[str, NDArray[np.float64]]
    chance: NDArray[np.float64] | None = None
    """How probably each exists; None where all do."""

    def __len__(self) -> int:
        return len(self.row)

    def at(self, rows: Ints) -> "Records":
        return Records(
            self.period[rows],
            self.time[rows],
            self.file.at(rows),
            self.row[rows],
            self.object.at(rows),
            None if self.group is None else self.group.at(rows),
            {name: values[rows] for name, values in self.values.items()},
            None if self.chance is None else self.chance[rows],
        )

    def moments(self, asked: Asked) -> Ints:
        """What windows of the query are measured in: times, or numbers of records."""
        return np.arange(len(self), dtype=np.int64) if asked.counts_records else self.time

    def costs(self, asked: Asked, rows: slice) -> list[NDArray[np.float64]]:
        """The attributes with smaller better."""
        return [np.ascontiguousarray(self.values[name][rows] * sign) for name, sign in asked.signs.items()]

    def group_codes(self, rows: slice) -> NDArray[np.int32] | None:
        return None if self.group is None else self.group.codes[rows].astype(np.int32)

    def print(self, rows: slice) -> str:
        """Of these records, which are all that they are: equal for equal ones."""
        digest = hashlib.blake2b(digest_size=10)
        texts = [self.file, self.object, *([] if self.group is None else [self.group])]
        chances = [] if self.chance is None else [self.chance]
        for column in (self.time, self.row, *self.values.values(), *chances):
            digest.update(column[rows].tobytes())
        for text in texts:
            digest.update(text.hashes(rows).tobytes())
        return digest.hexdigest()

    def name_of(self, at: int) -> tuple[str, int, int]:
        """File, row and time."""
        return self.file.names[int(self.file.codes[at])].as_py(), int(self.row[at]), int(self.time[at])


class Ordered:
    """The records of all queries in their order."""

    def __init__(self, table: pa.Table, periods: Sequence[str]) -> None:
        whole = {name: Texts.of(table.column(name)) for name in ("period", "file", "object")}
        place = np.array([periods.index(name) for name in whole["period"].names.to_pylist()], np.int64)
        period = place[whole["period"].codes]
        self._n_periods = len(periods)
        times = table.column(TIME).combine_chunks()
        self._is_told = pc.is_valid(times).to_numpy(zero_copy_only=False)
        time = pc.fill_null(times, 0).to_numpy(zero_copy_only=False)
        row = table.column("row").to_numpy()
        self._order = np.lexsort((row, whole["file"].ranks, time, period))
        self._table = table
        self._columns = Records(period, time, whole["file"], row, whole["object"], None, {})

    def of(self, asked: Asked) -> Records:
        """Those that take part in a query."""
        part = self._table.column(part_column(asked.number)).to_numpy(zero_copy_only=False)
        rows = self._order[part[self._order]]
        group = Texts.of(self._table.column(group_column(asked.number))).at(rows) if asked.grouped else None
        values = {name: self._table.column(name).to_numpy(zero_copy_only=False)[rows] for name in asked.signs}
        found = self._columns.at(rows)
        chance = None
        if asked.thresholds:
            chance = self._table.column(chance_column(asked.number)).to_numpy(zero_copy_only=False)[rows]
        return Records(found.period, found.time, found.file, found.row, found.object, group, values, chance)

    def left_out(self, asked: Asked) -> Ints:
        """By place of a period how many of its records take no part for want of a probability."""
        odd = self._table.column(left_out_column(asked.number)).to_numpy(zero_copy_only=False)
        return np.bincount(self._columns.period[odd], minlength=self._n_periods)

    @property
    def untold(self) -> tuple[int, str, int] | None:
        """The first record without a time: place of its period, file, row."""
        wrong = self._order[~self._is_told[self._order]]
        if not len(wrong):
            return None
        file, row, _ = self._columns.name_of(int(wrong[0]))
        return int(self._columns.period[wrong[0]]), file, row

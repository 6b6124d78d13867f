"""Fingerprints of content: equal for equal rows, whatever their order, partitions and files."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


@dataclass(frozen=True)
class Told:
    """The columns of a table that its content is told by."""

    columns: Sequence[str]
    row_key: Sequence[str] = ()
    """Columns that tell every row from all others: where there are some, each column is told alone, too."""

    def sums(self) -> list[Column]:
        """Aggregates over rows of which `Content` is made: their number, two independent sums of hashes, and for every
        column what its values are at their rows."""
        # A null and the place it stands at must count: xxhash64 alone skips nulls.
        nulls = F.concat(*(F.when(F.col(c).isNull(), "1").otherwise("0") for c in self.columns))
        first = F.xxhash64(*self.columns, nulls)
        second = F.xxhash64(F.lit("second"), nulls, *reversed(self.columns))
        key = F.xxhash64(*self.row_key) if self.row_key else None
        alone = [] if key is None else [F.bit_xor(F.xxhash64(key, column)) for column in self.columns]
        return [
            F.count("*").alias("content_rows"),
            F.sum(first.cast("decimal(38,0)")).alias("content_first"),
            F.sum(second.cast("decimal(38,0)")).alias("content_second"),
            *(value.alias(f"content_column_{n}") for n, value in enumerate(alone)),
        ]

    def content(self, rows: int, first: object, second: object, *alone: int | None) -> "Content":
        """Of what the aggregates found: numbers, or nulls where there are no rows."""
        if not rows:
            return Content()
        columns = {name: value or 0 for name, value in zip(self.columns, alone, strict=False)}
        return Content(rows, int(str(first)), int(str(second)), columns)


@dataclass(frozen=True)
class Content:
    """Rows, told by their number and the sums of their hashes. That of parts, added, is that of the whole."""

    rows: int = 0
    first: int = 0
    second: int = 0
    columns: dict[str, int] = field(default_factory=dict)
    """For every column told alone, the hashes of its values at their rows, all in one."""

    def __add__(self, other: Self) -> "Content":
        names = {**self.columns, **other.columns}
        columns = {name: self.columns.get(name, 0) ^ other.columns.get(name, 0) for name in names}
        return Content(self.rows + other.rows, self.first + other.first, self.second + other.second, columns)

    @property
    def fingerprint(self) -> str:
        sums = (self.first, self.second) if self.rows else (None, None)
        return _digest(self.rows, *sums)

    def column_print(self, column: str) -> str:
        return _digest(self.rows, self.columns.get(column, 0))


def contents_by_period(frame: DataFrame, told: Told) -> dict[str, Content]:
    """Per period what the frame holds."""
    found = frame.groupBy("period").agg(*told.sums()).collect()
    return {period: told.content(*sums) for period, *sums in found}


def column_key(output: str, column: str) -> str:
    """What the fingerprint of one column of an output is kept under."""
    return f"{output}.{column}"


def _digest(*values: object) -> str:
    return hashlib.sha256(" ".join(map(str, values)).encode()).hexdigest()[:16]

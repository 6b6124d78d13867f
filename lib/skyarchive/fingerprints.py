"""Fingerprints of content: equal for equal rows, whatever their order, partitions and files."""

import hashlib
from dataclasses import dataclass
from typing import Self

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def content_sums(columns: list[str]) -> list[Column]:
    """Aggregates over rows of which `Content` is made: their number and two independent sums of hashes."""
    # A null and the place it stands at must count: xxhash64 alone skips nulls.
    nulls = F.concat(*(F.when(F.col(c).isNull(), "1").otherwise("0") for c in columns))
    first = F.xxhash64(*columns, nulls)
    second = F.xxhash64(F.lit("second"), nulls, *reversed(columns))
    return [
        F.count("*").alias("content_rows"),
        F.sum(first.cast("decimal(38,0)")).alias("content_first"),
        F.sum(second.cast("decimal(38,0)")).alias("content_second"),
    ]


@dataclass(frozen=True)
class Content:
    """Rows, told by their number and the sums of their hashes. That of parts, added, is that of the whole."""

    rows: int = 0
    first: int = 0
    second: int = 0

    @classmethod
    def of(cls, rows: int, first: object, second: object) -> Self:
        """Of what `content_sums` found: decimals, or nulls where there are no rows."""
        return cls(rows, int(str(first)), int(str(second))) if rows else cls()

    def __add__(self, other: "Content") -> "Content":
        return Content(self.rows + other.rows, self.first + other.first, self.second + other.second)

    @property
    def fingerprint(self) -> str:
        sums = (self.first, self.second) if self.rows else (None, None)
        return hashlib.sha256(" ".join(map(str, (self.rows, *sums))).encode()).hexdigest()[:16]


EMPTY = Content().fingerprint


def fingerprints_by_period(frame: DataFrame, columns: list[str]) -> dict[str, tuple[int, str]]:
    """Per period the number of rows and the fingerprint of these columns."""
    sums = frame.groupBy("period").agg(*content_sums(columns)).collect()
    return {period: (rows, Content.of(rows, first, second).fingerprint) for period, rows, first, second in sums}

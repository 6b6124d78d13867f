"""Fingerprints of content: equal for equal rows, whatever their order, partitions and files."""

import hashlib

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def content_sums(columns: list[str]) -> list[Column]:
    """Aggregates over rows from which `fingerprint_of` makes a fingerprint: two independent sums of hashes."""
    # A null and the place it stands at must count: xxhash64 alone skips nulls.
    nulls = F.concat(*(F.when(F.col(c).isNull(), "1").otherwise("0") for c in columns))
    first = F.xxhash64(*columns, nulls)
    second = F.xxhash64(F.lit("second"), nulls, *reversed(columns))
    return [
        F.count("*").alias("content_rows"),
        F.sum(first.cast("decimal(38,0)")).alias("content_first"),
        F.sum(second.cast("decimal(38,0)")).alias("content_second"),
    ]


def fingerprint_of(rows: int, first: object, second: object) -> str:
    return hashlib.sha256(f"{rows} {first} {second}".encode()).hexdigest()[:16]


EMPTY = fingerprint_of(0, None, None)


def fingerprints_by_period(frame: DataFrame, columns: list[str]) -> dict[str, tuple[int, str]]:
    """Per period the number of rows and the fingerprint of these columns."""
    sums = frame.groupBy("period").agg(*content_sums(columns)).collect()
    return {period: (rows, fingerprint_of(rows, first, second)) for period, rows, first, second in sums}

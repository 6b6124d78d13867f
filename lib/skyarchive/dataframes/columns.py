"""Conditions on columns that several steps ask."""

from pyspark.sql import Column
from pyspark.sql import functions as F


def is_finite(column: Column) -> Column:
    """Neither missing nor NaN nor infinite."""
    return column.isNotNull() & ~F.isnan(column) & (F.abs(column) != float("inf"))

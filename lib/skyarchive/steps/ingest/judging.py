"""One column of raw rows: its values in the declared type, and what is wrong with those that are refused."""

from datetime import date, datetime

from pyspark.sql import Column
from pyspark.sql import functions as F

from skyarchive.definition.bounds import (
    NEXT_YEAR,
    NUMERIC_TYPES,
    TIME_TYPES,
    Bound,
    NextYear,
    following_year,
    seconds_past,
)
from skyarchive.definition.model import Column as ColumnSpec

_DATE_LENGTH = len("2014-06-15")
_YEAR_LENGTH = len("2014")
_FIRST_PRINTED = 32
_DELETE = 127
_CALENDAR = {
    "date": ("0001-01-01", "9999-12-31"),
    "timestamp": ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"),
}
"""Spark's times go further than any reader's."""


def judged_column(name: str, spec: ColumnSpec, found: str) -> tuple[Column, Column | None]:
    """The column's typed value, and the expression of what is wrong with it (None if nothing can be)."""
    value = F.col(name)
    if found == spec.type and not spec.checked and spec.type not in TIME_TYPES:
        return value, None
    readable = F.when(~_has_control_ends(value), value) if found == "string" and spec.type != "string" else value
    if spec.type in NUMERIC_TYPES:
        typed, reason = _judged_number(name, spec, value, readable, found)
    elif spec.type in TIME_TYPES:
        typed, reason = _judged_time(name, spec, value, readable, found)
    else:
        typed = readable.try_cast(spec.type)
        reason = F.when(value.isNotNull() & typed.isNull(), f"{name} is not a {spec.type}")
    if not spec.checked:
        return typed, None
    if spec.required:
        reason = F.when(value.isNull(), f"{name} is missing").otherwise(reason)
    return typed, reason


def _judged_number(name: str, spec: ColumnSpec, value: Column, readable: Column, found: str) -> tuple[Column, Column]:
    if found == "string":
        readable = F.when(~_is_java_number(value), readable)
    number = readable.try_cast("double")
    typed = number if spec.type == "double" else readable.try_cast(spec.type)
    reason = F.when(value.isNotNull() & number.isNull(), f"{name} is not a number")
    reason = reason.when(F.isnan(number), f"{name} is NaN")
    reason = reason.when(F.abs(number) == float("inf"), f"{name} is infinite")
    if spec.min is not None:
        below = f"{name} is negative" if spec.min == 0 else f"{name} is below {spec.min:g}"
        reason = reason.when(number < spec.min, below)
    if spec.max == NEXT_YEAR:
        year = following_year()
        reason = reason.when(number >= seconds_past(year), f"{name} is after {year}")
    elif spec.max is not None:
        reason = reason.when(number > spec.max, f"{name} is above {spec.max:g}")
    if spec.type != "double":
        whole = (number == F.floor(number)) & typed.isNotNull()
        reason = reason.when(number.isNotNull() & ~whole, f"{name} is not a whole number")
    return typed, reason


def _judged_time(name: str, spec: ColumnSpec, value: Column, readable: Column, found: str) -> tuple[Column, Column]:
    moment = readable.try_cast(spec.type)
    text = F.trim(value)
    if found == "string" and spec.type == "date":  # else '2014' would be New Year's Day
        moment = F.when(F.length(text) == _DATE_LENGTH, moment)
    elif found == "string":  # and '12:30' today
        moment = F.when((F.length(text) >= _DATE_LENGTH) & (F.substring(text, _YEAR_LENGTH + 1, 1) == "-"), moment)
    first, last = (F.lit(end).cast(spec.type) for end in _CALENDAR[spec.type])
    reason = F.when(value.isNotNull() & moment.isNull(), f"{name} is not a {spec.type}")
    if spec.min is not None:
        reason = reason.when(moment < _start(spec.min, spec.type), f"{name} is before {spec.min}")
    if spec.max == NEXT_YEAR:
        year = following_year()
        reason = reason.when(moment >= _start(date(year + 1, 1, 1), spec.type), f"{name} is after {year}")
    elif spec.max is not None:
        whole_day = spec.type == "timestamp" and not isinstance(spec.max, datetime)
        compared = moment.cast("date") if whole_day else moment
        limit = F.lit(str(spec.max)).cast("date" if whole_day else spec.type)
        reason = reason.when(compared > limit, f"{name} is after {spec.max}")
    known = (moment >= first) & (moment <= last)
    return F.when(known, moment), reason.when(~known, f"{name} is not between the years 1 and 9999")


def _start(bound: Bound | NextYear, kind: str) -> Column:
    return F.lit(str(bound)).cast(kind)


def _is_java_number(text: Column) -> Column:
    """Numbers only Java knows (12d, 12f, 0x1p3), which Spark's cast would take; plain functions, not a regular
    expression, because this runs on every value."""
    lower = F.lower(F.trim(text))
    suffix = lower.endswith("d") | (lower.endswith("f") & ~lower.endswith("inf"))
    return suffix | lower.contains("x")


def _has_control_ends(text: Column) -> Column:
    """Whether a text begins or ends with a control character, such as NUL. Spark's casts pass over them there, where
    they tell of a damaged file; those within it no cast takes."""
    trimmed = F.trim(text)
    first, last = F.ascii(trimmed), F.ascii(F.substring(trimmed, -1, 1))
    return (first < _FIRST_PRINTED) | (first == _DELETE) | (last < _FIRST_PRINTED) | (last == _DELETE)

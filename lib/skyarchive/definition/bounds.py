"""Bounds of a column's values: numbers, dates and times, or the end of the next calendar year."""

import math
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Literal

NextYear = Literal["next year"]
NEXT_YEAR: NextYear = "next year"
Bound = float | datetime | date
NUMERIC_TYPES = frozenset({"int", "bigint", "double"})
TIME_TYPES = frozenset({"date", "timestamp"})
_DATE_LENGTH = len("2014-06-15")


def read_bound(value: object) -> object:
    """A bound as YAML has it; a ValueError if it is none."""
    with suppress(ValueError):
        if isinstance(value, str) and value != NEXT_YEAR:
            value = date.fromisoformat(value) if len(value) == _DATE_LENGTH else datetime.fromisoformat(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    if value is None or value == NEXT_YEAR or isinstance(value, date):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise ValueError(
        "must be a number, a date such as 2014-06-15, a timestamp such as 2014-06-15 12:00:00, or next year"
    )


def assert_bounds_fit(kind: str, lowest: Bound | NextYear | None, highest: Bound | NextYear | None) -> None:
    """A ValueError unless these can be bounds of a column of this type."""
    if lowest == NEXT_YEAR:
        raise ValueError(f"{NEXT_YEAR!r} can be `max`, not `min`")
    given = [bound for bound in (lowest, highest) if bound is not None]
    if given and kind not in NUMERIC_TYPES | TIME_TYPES:
        raise ValueError("`min` and `max` are for numbers (int, bigint, double), dates and timestamps")
    for bound in given:
        if not _fits(kind, bound):
            allowed = {"date": "a date", "timestamp": "a date or a timestamp"}.get(kind, "a number")
            raise ValueError(f"{bound} is no bound of a {kind}: write {allowed}; `max` may be {NEXT_YEAR!r}, too")
    if lowest is not None and highest is not None and highest != NEXT_YEAR and _crossed(lowest, highest):
        raise ValueError("`min` is above `max`: every row would be refused")


def _fits(kind: str, bound: Bound | NextYear) -> bool:
    if bound == NEXT_YEAR:
        return True
    if kind in NUMERIC_TYPES:
        return isinstance(bound, float)
    return isinstance(bound, date) and (kind == "timestamp" or not isinstance(bound, datetime))


def _crossed(lowest: Bound | NextYear, highest: Bound | NextYear) -> bool:
    if isinstance(lowest, float) and isinstance(highest, float):
        return lowest > highest
    return str(lowest)[: len(str(highest))] > str(highest)  # a date stands for its whole day


def following_year() -> int:
    """The next calendar year, at the time of the run."""
    return datetime.now(UTC).year + 1


def seconds_past(year: int) -> float:
    """The first number of seconds since 1970 that is past the year."""
    return datetime(year + 1, 1, 1, tzinfo=UTC).timestamp()

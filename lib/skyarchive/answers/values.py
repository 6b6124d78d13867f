"""Values as text: in tables for eyes, in csv, in JSON."""

import json
import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

Row = Sequence[Any]

MOST_DIGITS = 7
"""Of a float in a table for eyes."""
_READABLE = 1e6
"""Floats from here on are shown whole: they may be counts."""
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def visible(value: str) -> str:
    """Text whose control characters are shown and not obeyed by the terminal; line breaks stay."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", value)


def shown(value: Any, digits: int = MOST_DIGITS) -> str:
    """A value in a table for eyes: of a long fraction the first digits, where csv and json give all."""
    if not isinstance(value, float) or not abs(value) < _READABLE:
        return text(value)
    return f"{value:.0f}" if abs(round(value)) >= 10**digits else f"{value:.{digits}g}"


def shown_time(value: datetime, with_clock: bool) -> str:
    """A time (UTC) as short as it can be without leaving out the year."""
    utc = value.astimezone(UTC) if value.tzinfo else value
    return f"{utc:%Y-%m-%d %H:%M}" if with_clock else f"{utc:%Y-%m-%d}"


def text(value: Any) -> str:
    """A value in a table cell or csv field: NULL is empty, nested values are JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    plain = json_value(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def json_value(value: Any) -> Any:
    """A value as JSON knows it: no NaN or infinity, decimals as numbers, times in ISO form, UTC as Z."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return json_value(int(value) if value == value.to_integral_value() else float(value))
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, dict):
        return {text(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    return str(value)

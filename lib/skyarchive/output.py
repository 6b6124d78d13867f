"""Answers on standard output as a table for eyes, csv or json; everything said beside them goes to stderr."""

import csv
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import chain, islice
from typing import Any, Literal

Format = Literal["table", "csv", "json"]
Row = Sequence[Any]

TABLE_ROWS = 1000
"""Rows that a table shows unless told otherwise; csv and json give all."""
_NARROWEST = 8
"""Columns of the terminal that a table column needs to be readable at all."""
_READABLE = 1e6
"""Floats from here on are shown whole: they may be counts."""
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def message(text: str) -> None:
    """A remark beside the answer."""
    print(text, file=sys.stderr)


def render(columns: Sequence[str], rows: Iterable[Row], format: Format, title: str | None = None) -> None:
    """Prints the rows; csv and json as they come, a table when all are there. `title` heads a table."""
    if format == "json":
        _print_json(columns, rows)
    elif format == "csv":
        _print_csv(columns, rows)
    else:
        _print_table(columns, list(rows), title)


def limited(rows: Iterable[Row], limit: int | None, format: Format) -> Iterator[Row]:
    """At most `limit` rows (by default all, or as many as a table shows), with a remark if there are more."""
    most = limit if limit is not None else TABLE_ROWS if format == "table" else None
    remaining = iter(rows)
    yield from islice(remaining, most)
    if next(remaining, None) is not None:
        message(f"There are more than the {most} rows shown; give a higher --limit.")


def _print_json(columns: Sequence[str], rows: Iterable[Row]) -> None:
    """One row object per line, so that a long answer streams and still is one JSON list."""
    names = _unique(columns)
    ascii_only = "utf" not in (sys.stdout.encoding or "utf-8").lower()
    separator = "[\n"
    for row in rows:
        values = {name: _json_value(value) for name, value in zip(names, row, strict=True)}
        sys.stdout.write(separator + json.dumps(values, ensure_ascii=ascii_only))
        separator = ",\n"
    sys.stdout.write("[]\n" if separator == "[\n" else "\n]\n")


def _print_csv(columns: Sequence[str], rows: Iterable[Row]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerows(chain([columns], ([_text(value) for value in row] for row in rows)))


def _print_table(columns: Sequence[str], rows: list[Row], title: str | None) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    if console.is_terminal and len(columns) * _NARROWEST > console.width:
        columns, rows = ["column", "value"], list(_records(columns, rows))
    for index, name in enumerate(columns):
        numeric = any(_is_number(row[index]) for row in rows)
        table.add_column(Text(_visible(name)), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_visible(_shown(value))) for value in row))
    if not console.is_terminal:
        # A pipe or file has no width to fit: every value stays whole and on its line.
        unbounded = console.options.update(width=sys.maxsize)
        console.width = max(console.width, console.measure(table, options=unbounded).maximum)
    console.print(table)


def _records(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[Row]:
    """One line per value, for rows with more columns than fit beside each other."""
    for number, row in enumerate(rows):
        if number:
            yield "", ""
        yield from ((name, _text(value)) for name, value in zip(columns, row, strict=True))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _visible(text: str) -> str:
    """Text whose control characters are shown and not obeyed by the terminal; line breaks stay."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _shown(value: Any) -> str:
    """A value in a table for eyes: of a long fraction the first digits, where csv and json give all."""
    return f"{value:.7g}" if isinstance(value, float) and abs(value) < _READABLE else _text(value)


def _text(value: Any) -> str:
    """A value in a table cell or csv field: NULL is empty, nested values are JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    plain = _json_value(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _json_value(value: Any) -> Any:
    """A value as JSON knows it: no NaN or infinity, decimals as numbers, times in ISO form, UTC as Z."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return _json_value(int(value) if value == value.to_integral_value() else float(value))
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, dict):
        return {_text(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def _unique(columns: Sequence[str]) -> list[str]:
    """Column names for row objects: a name that comes again gets a number, so no value is lost."""
    names: list[str] = []
    for column in columns:
        name, count = column, 1
        while name in names:
            name, count = f"{column}_{count}", count + 1
        names.append(name)
    return names

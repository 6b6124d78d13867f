"""Answers on standard output as a table for eyes, csv or json; everything said beside them goes to stderr."""

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Literal

from skyarchive.answers.fitting import fitted
from skyarchive.answers.values import Row, json_value, text
from skyarchive.progress import message

Format = Literal["table", "csv", "json"]

TABLE_ROWS = 1000
"""Rows that a table shows unless told otherwise; csv and json give all."""


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
        values = {name: json_value(value) for name, value in zip(names, row, strict=True)}
        sys.stdout.write(separator + json.dumps(values, ensure_ascii=ascii_only))
        separator = ",\n"
    sys.stdout.write("[]\n" if separator == "[\n" else "\n]\n")


def _print_csv(columns: Sequence[str], rows: Iterable[Row]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerows(chain([columns], ([text(value) for value in row] for row in rows)))


def _print_table(columns: Sequence[str], rows: list[Row], title: str | None) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    # A pipe or file has no width to fit: every value stays whole and on its line.
    layout = fitted(columns, rows, console.width if console.is_terminal else None)
    table = Table(
        title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, show_edge=layout.edges,
        padding=(0, layout.after, 0, layout.before),
    )  # fmt: skip
    for column in layout.columns:
        table.add_column(
            Text(column.header), justify="right" if column.is_number else "left", width=column.width,
            no_wrap=not column.wraps, overflow="fold",
        )  # fmt: skip
    for row in zip(*(column.cells for column in layout.columns), strict=True):
        table.add_row(*map(Text, row))
    if not console.is_terminal:
        console.width = max(console.width, layout.total)
    console.print(table)


def _unique(columns: Sequence[str]) -> list[str]:
    """Column names for row objects: a name that comes again gets a number, so no value is lost."""
    names: list[str] = []
    for column in columns:
        name, count = column, 1
        while name in names:
            name, count = f"{column}_{count}", count + 1
        names.append(name)
    return names

"""Tables that fit a terminal: no word, number or time is ever broken while there is another way.

What loses least comes first: headers in several lines, columns closer to each other, fewer digits of fractions, times
without seconds (days, where all are midnights), wide texts in several lines. When that is not enough, records stand one
below the other.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.cells import cell_len

from skyarchive.answers.values import MOST_DIGITS, Row, is_number, shown, shown_time, visible

_HEADER_LINES = 4
_WIDE = 32
"""Texts that are not wider stay on one line: names do."""
_TEXT_LINES = 8
"""Lines that a text may take before records are easier to read one below the other."""
_HEADER_WORD = re.compile(r"[^_ ]*[_ ]|[^_ ]+")
_RECORD = ("column", "value")


@dataclass(frozen=True)
class _Style:
    """What is done to make a table narrower."""

    digits: int = MOST_DIGITS
    short_times: bool = False
    wrapped_texts: bool = False
    before: int = 1
    after: int = 1
    edges: bool = True

    def around(self, count: int) -> int:
        """What so many columns need beside their own width: rich has a rule of one letter between two of them."""
        return (count - 1) * (self.before + self.after + 1) + 2 * self.edges


_STYLES = (
    _Style(),
    _Style(before=0, edges=False),
    _Style(5, before=0, edges=False),
    _Style(4, before=0, edges=False),
    _Style(4, True, before=0, edges=False),
    _Style(4, True, True, before=0, edges=False),
    _Style(4, True, True, before=0, after=0, edges=False),
)


@dataclass(frozen=True)
class Column:
    """A column as it is printed."""

    header: str
    cells: list[str]
    width: int
    is_number: bool = False
    wraps: bool = False


@dataclass(frozen=True)
class Layout:
    """A table as it is printed: its columns, and the blanks before and after each."""

    columns: list[Column]
    total: int
    before: int = 1
    after: int = 1
    edges: bool = True


def fitted(columns: Sequence[str], rows: Sequence[Row], width: int | None) -> Layout:
    """The rows as a table of at most that width; as wide as it wants to be, if none is given."""
    values = [[row[at] for row in rows] for at in range(len(columns))]
    for style in _STYLES:
        layout = _beside(columns, values, style, width)
        if layout is not None:
            return layout
    assert width is not None
    return _below(columns, rows, width)


def _beside(columns: Sequence[str], values: list[list[Any]], style: _Style, width: int | None) -> Layout | None:
    cells = [_cells(column, style) for column in values]
    free = math.inf if width is None else width - style.around(len(columns))
    needed = [_width(column) for column in cells]
    texts = [_least_width(column) if _is_text(own) and style.wrapped_texts else natural
             for own, column, natural in zip(values, cells, needed, strict=True)]  # fmt: skip
    for lines in range(1, _HEADER_LINES + 1):
        headers = [_header(visible(name), lines) for name in columns]
        least = [max(text, _width([header])) for text, header in zip(texts, headers, strict=True)]
        if sum(least) <= free:
            widths = _shared(least, needed, free)
            found = [
                Column(header, column, own, any(map(is_number, raw)), own < natural)
                for header, column, own, raw, natural in zip(headers, cells, widths, values, needed, strict=True)
            ]
            total = sum(widths) + style.around(len(columns))
            return Layout(found, total, style.before, style.after, style.edges)
    return None


def _shared(least: list[int], wanted: list[int], free: float) -> list[int]:
    """Widths of columns: the least of each, and of what remains evenly more for those that want it."""
    widths, spare = list(least), free - sum(least)
    hungry = sorted((at for at in range(len(least)) if wanted[at] > least[at]), key=lambda at: wanted[at] - least[at])
    for place, at in enumerate(hungry):
        more = int(min(wanted[at] - least[at], spare // (len(hungry) - place)))
        widths[at], spare = widths[at] + more, spare - more
    return widths


def _below(columns: Sequence[str], rows: Sequence[Row], width: int) -> Layout:
    """One line per value; what makes columns narrower makes values shorter if they need it."""
    free = width - _Style().around(len(_RECORD))
    for style in (_STYLES[0], _STYLES[-1]):
        records = [[cell for value in row for cell in _cells([value], style)] for row in rows]
        least = max((_longest_word(cell, _is_text([value])) for row, record in zip(rows, records, strict=True)
                     for value, cell in zip(row, record, strict=True)), default=0)  # fmt: skip
        for lines in range(1, _HEADER_LINES + 1):
            headers = [_header(visible(name), lines) for name in columns]
            beside = _width([*headers, _RECORD[0]])
            if beside + least <= free:
                return _paired(*_lines(headers, records), beside, free)
    return _paired(*_lines(headers, records), min(beside, free // 2), free)


def _paired(names: list[str], values: list[str], beside: int, free: int) -> Layout:
    wide = min(free - beside, _width([*values, _RECORD[1]]))
    found = [Column(_RECORD[0], names, beside, wraps=True), Column(_RECORD[1], values, wide, wraps=True)]
    return Layout(found, beside + wide + _Style().around(len(_RECORD)))


def _lines(names: list[str], records: list[list[str]]) -> tuple[list[str], list[str]]:
    """Names and values of all records, with an empty line between two; what is empty is left out."""
    found: list[tuple[str, str]] = []
    for record in records:
        if found:
            found.append(("", ""))
        found += [line for line in zip(names, record, strict=True) if line[1]] or [(names[0], "")]
    return [name for name, _ in found], [value for _, value in found]


def _cells(values: list[Any], style: _Style) -> list[str]:
    times = [value for value in values if isinstance(value, datetime)]
    if not (times and style.short_times):
        return [visible(shown(value, style.digits)) for value in values]
    with_clock = any((time.hour, time.minute, time.second, time.microsecond) != (0, 0, 0, 0) for time in times)
    return [
        shown_time(value, with_clock) if isinstance(value, datetime) else visible(shown(value, style.digits))
        for value in values
    ]


def _is_text(values: list[Any]) -> bool:
    return all(value is None or isinstance(value, str | list | tuple | dict) for value in values)


def _least_width(cells: list[str]) -> int:
    """What a column of texts needs at least: its longest word, and that no text has too many lines."""
    natural = _width(cells)
    longest_word = max((_longest_word(cell, True) for cell in cells), default=0)
    return min(natural, max(longest_word, _WIDE, natural // _TEXT_LINES))


def _longest_word(cell: str, is_text: bool) -> int:
    """Letters that stay together: a number or a time as a whole."""
    return max(map(cell_len, cell.split()), default=0) if is_text else cell_len(cell)


def _header(name: str, lines: int) -> str:
    """A column's name in at most so many lines, broken after underscores and blanks, as narrow as that can be."""
    words = _HEADER_WORD.findall(name) or [""]
    for width in range(max(map(cell_len, words)), cell_len(name) + 1):
        filled = [""]
        for word in words:
            if filled[-1] and cell_len(filled[-1] + word) > width:
                filled.append("")
            filled[-1] += word
        if len(filled) <= lines:
            return "\n".join(filled)
    return name


def _width(cells: Sequence[str]) -> int:
    return max((cell_len(line) for cell in cells for line in cell.split("\n")), default=0)

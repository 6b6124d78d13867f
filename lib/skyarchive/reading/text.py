"""Text files (csv, connection logs) as Arrow batches of strings, each row with its number and its fault."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from skyarchive.errors import InputError

_BLOCK_BYTES = 4 << 20
_GZIP_MAGIC = b"\x1f\x8b"
NOT_UTF8 = "the row is not UTF-8 text"


@dataclass(frozen=True)
class Layout:
    """How one text file is written, told from its first lines."""

    columns: list[str]
    delimiter: str
    skip_lines: int
    quote: str | bool = '"'
    comment: str | None = None


@dataclass
class Batch:
    """Rows of a text file: their numbers from 1, the text columns, and per row a fault or null."""

    rows: np.ndarray
    columns: dict[str, pa.Array]
    faults: pa.Array
    texts: pa.Array | None = None
    """The whole row's text, where its fields could not be told."""


@dataclass
class _Misshapen:
    """Rows with a wrong number of fields, as the parser meets them."""

    comment: str | None
    numbers: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    comments: list[int] = field(default_factory=list)

    def meet(self, row: pa.csv.InvalidRow) -> str:
        if self.comment and row.text.startswith(self.comment):
            self.comments.append(row.number)
        else:
            self.numbers.append(row.number)
            self.texts.append(row.text)
            self.reasons.append(f"{row.actual_columns} fields instead of {row.expected_columns}")
        return "skip"


def open_text(path: Path) -> pa.NativeFile:
    """The file's bytes, unpacked if it is gzip (told by its content, not its name)."""
    with path.open("rb") as head:
        packed = head.read(2) == _GZIP_MAGIC
    return pa.CompressedInputStream(pa.OSFile(str(path)), "gzip") if packed else pa.OSFile(str(path))


def first_lines(path: Path, at_most: int = 64) -> list[str]:
    """The first lines of a file, for telling its layout."""
    with open_text(path) as stream:
        head = stream.read(1 << 16)
    lines = head.decode("utf-8", errors="replace").splitlines()
    if not any(line.strip() for line in lines):
        raise InputError(f"{path.name} is empty; remove it or fetch it again.")
    return lines[:at_most]


def csv_layout(path: Path, delimiter: str) -> Layout:
    """A csv file with one header line."""
    header = next(csv.reader(first_lines(path), delimiter=delimiter))
    names = [name.strip().removeprefix("\ufeff") for name in header]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{path.name}: the header names the column {twice!r} twice.")
    return Layout(names, delimiter, skip_lines=1)


def read_text(path: Path, layout: Layout) -> Iterator[Batch]:
    """Batches of the well-shaped rows; last, one of the misshapen rows."""
    misshapen = _Misshapen(layout.comment)
    with open_text(path) as stream:
        try:
            reader = pa.csv.open_csv(
                stream,
                pa.csv.ReadOptions(
                    use_threads=False,
                    block_size=_BLOCK_BYTES,
                    column_names=layout.columns,
                    skip_rows=layout.skip_lines,
                ),
                pa.csv.ParseOptions(
                    delimiter=layout.delimiter,
                    quote_char=layout.quote,
                    newlines_in_values=bool(layout.quote),
                    invalid_row_handler=misshapen.meet,
                ),
                pa.csv.ConvertOptions(
                    column_types=dict.fromkeys(layout.columns, pa.binary()),
                    strings_can_be_null=False,
                    check_utf8=False,
                ),
            )
        except pa.ArrowInvalid:  # nothing after the header
            return
        passed = layout.skip_lines
        for block in reader:
            numbers = _numbers_after(passed, block.num_rows, misshapen)
            passed = int(numbers[-1]) if len(numbers) else passed
            yield _batch(layout, block, _record_numbers(numbers, layout, misshapen))
    if misshapen.numbers:
        numbers = _record_numbers(np.array(misshapen.numbers, np.int64), layout, misshapen)
        yield Batch(numbers, {}, pa.array(misshapen.reasons), pa.array(misshapen.texts))


def _numbers_after(passed: int, count: int, misshapen: _Misshapen) -> np.ndarray:
    """Physical numbers of the next `count` well-shaped rows: those the misshapen ones leave free."""
    skipped = np.array([n for n in (*misshapen.numbers, *misshapen.comments) if n > passed], np.int64)
    candidates = np.arange(passed + 1, passed + 1 + count + len(skipped), dtype=np.int64)
    return np.setdiff1d(candidates, skipped, assume_unique=True)[:count]


def _record_numbers(physical: np.ndarray, layout: Layout, misshapen: _Misshapen) -> np.ndarray:
    """Data rows counted from 1: header and comment lines do not count."""
    comments = np.sort(np.array(misshapen.comments, np.int64))
    return physical - layout.skip_lines - np.searchsorted(comments, physical)


def _batch(layout: Layout, block: pa.RecordBatch, numbers: np.ndarray) -> Batch:
    faults = pa.nulls(block.num_rows, pa.string())
    columns: dict[str, pa.Array] = {}
    for name, values in zip(layout.columns, block.columns, strict=True):
        try:
            columns[name] = values.cast(pa.string())
        except pa.ArrowInvalid:
            columns[name], readable = _repaired(values)
            faults = pc.if_else(readable, faults, NOT_UTF8)
    return Batch(numbers, columns, faults)


def _repaired(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Bytes as text with the unreadable ones replaced, and which values needed none of that."""
    texts = [value.decode("utf-8", errors="replace") for value in values.to_pylist()]
    readable = [text.encode() == value for text, value in zip(texts, values.to_pylist(), strict=True)]
    return pa.array(texts, pa.string()), pa.array(readable)

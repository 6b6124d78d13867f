"""Text files (csv, connection logs) as Arrow batches of strings, each row with its number and its fault."""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from skyarchive.errors import InputError

_BLOCK_BYTES = 4 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LINE_END = re.compile("\r\n|\n|\r")
"""As the parser ends lines: Python's own splitlines knows more, and would count others than it."""
_UNREADABLE = "\uffff"
"""Stands for bytes that are no text until the row is marked: a noncharacter, which no text holds."""
_SHOWN = 200
"""Characters of a header that an error shows."""
_NO_ROWS = ("Empty CSV file", "Could not skip initial")
"""What the parser says when nothing comes after the header."""
_MARKED = "skyarchive.marked"
codecs.register_error(_MARKED, lambda error: (_UNREADABLE, error.end))  # type: ignore[attr-defined]
NOT_UTF8 = "the row is not UTF-8 text"
HAS_NUL = "the row holds NUL characters, as files do that were damaged"
_NUL = "\0"
UNENDED = "the file does not end with a line end: this row may be cut off; add one if it is whole"
_LINE_ENDS = (b"\n", b"\r")


@dataclass(frozen=True)
class Layout:
    """How one text file is written, told from its first lines."""

    columns: list[str]
    delimiter: str
    skip_lines: int
    quote: str | bool = '"'
    comment: str | None = None
    header: str | None = None
    """How a comment line that names columns begins (Zeek's #fields)."""

    def is_other_header(self, line: str) -> bool:
        """Whether a comment line names other columns than this layout has."""
        if self.header is None or not line.startswith(self.header):
            return False
        return [name.removeprefix("id.") for name in line.split(self.delimiter)[1:]] != self.columns


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

    layout: Layout
    numbers: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    comments: list[int] = field(default_factory=list)
    other_headers: list[str] = field(default_factory=list)

    def meet(self, row: pa.csv.InvalidRow) -> str:
        if self.layout.comment and row.text.startswith(self.layout.comment):
            self.comments.append(row.number)
            if self.layout.is_other_header(row.text):
                self.other_headers.append(row.text)
        else:
            self.numbers.append(row.number)
            self.texts.append(row.text)
            self.reasons.append(f"{row.actual_columns} fields instead of {row.expected_columns}")
        return "skip"


class _Utf8(io.RawIOBase):
    """A stream of bytes as valid UTF-8: what is none becomes a mark, so that no row can stop the parser."""

    def __init__(self, stream: pa.NativeFile):
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(_MARKED)
        self._ready = b""
        self.last = b"\n"
        """The last byte so far."""
        self.has_nul = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            chunk = self._stream.read(_BLOCK_BYTES)
            self.last = chunk[-1:] or self.last
            self.has_nul |= _NUL.encode() in chunk
            self._ready = self._decoder.decode(chunk, final=not chunk).encode()
            if not chunk:
                break
        taken, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)


def open_text(path: Path) -> pa.NativeFile:
    """The file's bytes, unpacked if it is gzip (told by its content, not its name)."""
    with path.open("rb") as head:
        packed = head.read(2) == _GZIP_MAGIC
    return pa.CompressedInputStream(pa.OSFile(str(path)), "gzip") if packed else pa.OSFile(str(path))


def first_lines(path: Path, at_most: int = 64) -> list[str]:
    """The first lines of a file, for telling its layout."""
    with open_text(path) as stream:
        head = stream.read(1 << 16)
    if head.startswith(_UTF16):
        raise InputError(f"{path.name} is UTF-16 text, must be UTF-8; convert it (iconv -f UTF-16 -t UTF-8).")
    lines = _LINE_END.split(head.decode("utf-8-sig", errors="replace"))
    if not any(line.strip() for line in lines):
        raise InputError(f"{path.name} is empty; remove it or fetch it again.")
    return lines[:at_most]


def csv_layout(path: Path, delimiter: str) -> Layout:
    """A csv file with one header line."""
    lines = first_lines(path)
    blank = next(n for n, line in enumerate(lines) if line.strip())
    try:
        names = [name.strip() for name in next(csv.reader([lines[blank]], delimiter=delimiter, strict=True))]
    except csv.Error as error:
        raise InputError(f"{path.name}: the header cannot be read ({error}): {lines[blank][:_SHOWN]}") from error
    assert_named_once(path, names)
    return Layout(names, delimiter, skip_lines=blank + 1)


def assert_named_once(path: Path, columns: list[str]) -> None:
    """Refuse a header that names a column twice."""
    if len(set(columns)) != len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise InputError(f"{path.name}: the header names the column {twice!r} twice.")


def read_text(path: Path, layout: Layout) -> Iterator[Batch]:
    """Batches of the well-shaped rows; last, one of the misshapen rows."""
    misshapen = _Misshapen(layout)
    with open_text(path) as stream:
        bytes_read = _Utf8(stream)
        passed = layout.skip_lines
        # The last block is told from the others when the next one does not come.
        waiting: tuple[pa.RecordBatch, np.ndarray] | None = None
        for block in _blocks(bytes_read, layout, misshapen):
            if misshapen.other_headers:
                raise InputError(f"{path.name} holds a second header with other columns; split it into two files.")
            if waiting is not None:
                yield _batch(layout, *waiting, misshapen, bytes_read.has_nul)
            numbers = _numbers_after(passed, block.num_rows, misshapen)
            passed = int(numbers[-1]) if len(numbers) else passed
            waiting = _without_comments(layout, block, numbers, misshapen)
        unended = None if bytes_read.last in _LINE_ENDS else max((passed, *misshapen.numbers, *misshapen.comments))
        if waiting is not None:
            yield _batch(layout, *waiting, misshapen, bytes_read.has_nul, unended)
    if misshapen.numbers:
        numbers = _record_numbers(np.array(misshapen.numbers, np.int64), layout, misshapen)
        reasons = [
            UNENDED if n == unended else why for n, why in zip(misshapen.numbers, misshapen.reasons, strict=True)
        ]
        yield Batch(numbers, {}, pa.array(reasons), pa.array(misshapen.texts))


def _blocks(source: _Utf8, layout: Layout, misshapen: _Misshapen) -> Iterator[pa.RecordBatch]:
    """The parser's record batches. Its own words for a broken file tell a user nothing."""
    reading = pa.csv.ReadOptions(
        use_threads=False, block_size=_BLOCK_BYTES, column_names=layout.columns, skip_rows=layout.skip_lines
    )
    parsing = pa.csv.ParseOptions(
        delimiter=layout.delimiter,
        quote_char=layout.quote,
        newlines_in_values=bool(layout.quote),
        invalid_row_handler=misshapen.meet,
    )
    texts = dict.fromkeys(layout.columns, pa.string())
    converting = pa.csv.ConvertOptions(column_types=texts, strings_can_be_null=False, check_utf8=False)
    lines = pa.PythonFile(io.BufferedReader(source, _BLOCK_BYTES), mode="r")
    try:
        yield from pa.csv.open_csv(lines, reading, parsing, converting)
    except pa.ArrowInvalid as error:
        if any(words in str(error) for words in _NO_ROWS):
            return
        raise InputError(
            f"a quoted field is never closed, or a row is longer than {_BLOCK_BYTES >> 20} MB ({error})"
        ) from error


def _without_comments(
    layout: Layout, block: pa.RecordBatch, numbers: np.ndarray, misshapen: _Misshapen
) -> tuple[pa.RecordBatch, np.ndarray]:
    """The block without comment lines that happen to have as many fields as a row."""
    if layout.comment is None:
        return block, numbers
    comments = pc.starts_with(block.column(0), layout.comment)
    if not pc.any(comments).as_py():
        return block, numbers
    dropped = comments.to_numpy(zero_copy_only=False)
    misshapen.comments += numbers[dropped].tolist()
    return block.filter(pc.invert(comments)), numbers[~dropped]


def _numbers_after(passed: int, count: int, misshapen: _Misshapen) -> np.ndarray:
    """Physical numbers of the next `count` well-shaped rows: those the misshapen ones leave free."""
    skipped = np.array([n for n in (*misshapen.numbers, *misshapen.comments) if n > passed], np.int64)
    candidates = np.arange(passed + 1, passed + 1 + count + len(skipped), dtype=np.int64)
    return np.setdiff1d(candidates, skipped, assume_unique=True)[:count]


def _record_numbers(physical: np.ndarray, layout: Layout, misshapen: _Misshapen) -> np.ndarray:
    """Data rows counted from 1: header and comment lines do not count."""
    comments = np.sort(np.array(misshapen.comments, np.int64))
    return physical - layout.skip_lines - np.searchsorted(comments, physical)


def _batch(
    layout: Layout,
    block: pa.RecordBatch,
    numbers: np.ndarray,
    misshapen: _Misshapen,
    has_nul: bool,
    unended: int | None = None,
) -> Batch:
    faults = pa.nulls(block.num_rows, pa.string())
    columns = dict(zip(layout.columns, block.columns, strict=True))
    for name, values in columns.items():
        if has_nul:  # a text with them would be another object, or no row that is checked
            faults = pc.if_else(pc.match_substring(values, _NUL), HAS_NUL, faults)
        unreadable = pc.match_substring(values, _UNREADABLE)
        if pc.any(unreadable).as_py():
            faults = pc.if_else(unreadable, NOT_UTF8, faults)
            columns[name] = pc.replace_substring(values, _UNREADABLE, "\ufffd")
    if unended is not None:
        faults = pc.if_else(pa.array(numbers == unended), UNENDED, faults)
    return Batch(_record_numbers(numbers, layout, misshapen), columns, faults)

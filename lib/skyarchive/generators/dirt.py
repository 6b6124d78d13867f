"""Whole files gone bad: what a reader of raw files has to survive. Faulty rows are in the dirt_* modules."""

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from skyarchive.errors import SettingError
from skyarchive.generators.files import text, write_atomically, write_gzip, write_parquet

_DEFAULT_COLUMNS = ("minutes", "close", "ts", "x0")
"""A column that matters, for each format."""
_KEPT = 0.6
"""Share of a truncated file that is left."""


def spoil(path: Path, how: str, column: str | None = None) -> Path:
    """Spoil a raw file in place, or, for `copy`, beside it; `column` is the one renamed or retyped. Returns
    the path of the bad file."""
    if how not in SPOILS:
        raise SettingError(f"{how!r} is no way to spoil a file; there are {', '.join(SPOILS)}.")
    return SPOILS[how](path, column)


def _truncate(path: Path, column: str | None) -> Path:
    content = path.read_bytes()
    return _write_bytes(path, content[: int(len(content) * _KEPT)])


def _empty(path: Path, column: str | None) -> Path:
    return _write_bytes(path, b"")


def _copy(path: Path, column: str | None) -> Path:
    stem, dot, endings = path.name.partition(".")
    twin = path.with_name(f"{stem}_copy{dot}{endings}")
    return write_atomically(twin, lambda hidden: _copied(path, hidden))


def _header_only(path: Path, column: str | None) -> Path:
    if _is_parquet(path):
        return write_parquet(path, pq.read_schema(path).empty_table())
    head, _, foot = _parts(path)
    return _write_lines(path, [*head, *foot])


def _rename_column(path: Path, column: str | None) -> Path:
    if _is_parquet(path):
        table = pq.read_table(path)
        name = _column(path, table.column_names, column)
        return write_parquet(path, table.rename_columns({name: f"{name}_renamed"}))
    head, rows, foot = _parts(path)
    place, separator = _header(path, head)
    fields = head[place].split(separator)
    name = _column(path, fields, column)
    fields[fields.index(name)] = f"{name}_renamed"
    head[place] = separator.join(fields)
    return _write_lines(path, [*head, *rows, *foot])


def _retype_column(path: Path, column: str | None) -> Path:
    """Numbers become words, in parquet a text column."""
    if _is_parquet(path):
        table = pq.read_table(path)
        name = _column(path, table.column_names, column)
        words = pa.array([f"about {value}" for value in text(table[name].combine_chunks()).to_pylist()])
        place = table.column_names.index(name)
        return write_parquet(path, table.set_column(place, name, words))
    head, rows, foot = _parts(path)
    header, separator = _header(path, head)
    names = head[header].split(separator)
    # Zeek's line of names has one word more than its rows: #fields itself.
    place = names.index(_column(path, names, column)) - (names[0] == "#fields")
    split = [row.split(separator) for row in rows]
    for fields in split:
        if place < len(fields):
            fields[place] = f"about {fields[place]}"
    return _write_lines(path, [*head, *(separator.join(fields) for fields in split), *foot])


SPOILS: dict[str, Callable[[Path, str | None], Path]] = {
    "truncate": _truncate,
    "empty": _empty,
    "header_only": _header_only,
    "copy": _copy,
    "rename_column": _rename_column,
    "retype_column": _retype_column,
}


def _is_parquet(path: Path) -> bool:
    return path.suffix == ".parquet"


def _parts(path: Path) -> tuple[list[str], list[str], list[str]]:
    """The lines of a text file before its rows, its rows, and the lines after them."""
    lines = gzip.decompress(path.read_bytes()).decode().removesuffix("\n").split("\n")
    if lines[0].startswith("#"):
        head = [line for line in lines if line.startswith("#") and not line.startswith("#close")]
        return head, [line for line in lines if not line.startswith("#")], lines[-1:]
    has_names = not lines[0][:1].isdigit()  # rows start with a date or a time
    return (lines[:1], lines[1:], []) if has_names else ([], lines, [])


def _header(path: Path, head: list[str]) -> tuple[int, str]:
    """Which line names the columns, and what stands between the names."""
    if not head:
        raise SettingError(f"{path} has no line of column names, so none can be renamed or retyped.")
    place = next((i for i, line in enumerate(head) if line.startswith("#fields")), 0)
    return place, "\t" if "\t" in head[place] else ","


def _column(path: Path, names: list[str], column: str | None) -> str:
    found = [name for name in ((column,) if column else _DEFAULT_COLUMNS) if name in names]
    if not found:
        raise SettingError(f"{path} has no column {column or ' or '.join(_DEFAULT_COLUMNS)!r}.")
    return found[0]


def _write_lines(path: Path, lines: list[str]) -> Path:
    return write_gzip(path, "".join(f"{line}\n" for line in lines).encode())


def _write_bytes(path: Path, content: bytes) -> Path:
    return write_atomically(path, lambda hidden: _filled(hidden, content))


def _filled(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _copied(path: Path, twin: Path) -> None:
    shutil.copyfile(path, twin)

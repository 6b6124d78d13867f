"""Writing raw files: atomically, and byte-identical for identical content."""

import contextlib
import gzip
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from skyarchive.errors import InputError

ROW_GROUP = 1 << 20
GZIP_LEVEL = 6


def write_atomically(path: Path, write: Callable[[Path], None]) -> Path:
    """Let `write` fill a hidden file beside `path`, then rename it: readers see all of it or none."""
    hidden = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(hidden)
        hidden.replace(path)
    except OSError as error:
        raise InputError(
            f"{path} could not be written: {error.strerror or error}; check the folder and its space."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            hidden.unlink()
    return path


def write_parquet(path: Path, table: pa.Table, **how: Any) -> Path:
    """The table as a parquet file; `how` goes to pyarrow."""
    return write_atomically(path, lambda hidden: pq.write_table(table, hidden, row_group_size=ROW_GROUP, **how))


def write_gzip(path: Path, content: bytes) -> Path:
    """The bytes as a gzip file without a time or a name in its header."""
    return write_atomically(path, lambda hidden: _bytes_to(hidden, gzip.compress(content, GZIP_LEVEL, mtime=0)))


def _bytes_to(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def joined(columns: Iterable[pa.Array], separator: str) -> list[str]:
    """Text columns as one line of text per row."""
    return pc.binary_join_element_wise(*columns, separator).to_pylist()


def lines_as_bytes(*parts: Iterable[str]) -> bytes:
    """Lines, each ended by a newline, as UTF-8."""
    return "".join(f"{line}\n" for part in parts for line in part).encode()


def text(values: np.ndarray | pa.Array) -> pa.Array:
    """Numbers as their shortest text, whole floats with a trailing .0 as Python writes them."""
    array = values if isinstance(values, pa.Array) else pa.array(values)
    if pa.types.is_string(array.type):
        return array
    plain = pc.cast(array, pa.string())
    if not pa.types.is_floating(array.type):
        return plain
    whole = pc.binary_join_element_wise(plain, ".0", "")
    return pc.if_else(pc.match_substring(plain, "."), plain, whole)

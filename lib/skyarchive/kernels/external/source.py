"""Columns of Parquet or Arrow files as a stream of points: smaller is better in all of them, NaN rows left out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import ipc
from pyarrow import parquet as pq

from skyarchive.errors import InputError, SettingError
from skyarchive.kernels.external.counters import Counters
from skyarchive.kernels.external.scores import read_only
from skyarchive.kernels.external.streams import Batch, note_read
from skyarchive.kernels.points.costs import comparable
from skyarchive.kernels.points.orders import PartialOrder
from skyarchive.kernels.points.preferences import Better, Preference, checked_preferences

Paths = str | Path | Sequence[str | Path]
_SUFFIXES = (".parquet", ".arrow", ".feather", ".ipc")
_MAGIC = {b"PAR1": "parquet", b"ARRO": "arrow"}
_SPOTS = 16
"""So many places of the files are looked at for the range of their values."""


@dataclass(frozen=True)
class _File:
    path: Path
    format: str
    rows: int
    schema: pa.Schema
    blocks: int
    """Row groups or record batches: what can be read without what comes before it."""


class Source:
    """Files read in passes. A row's id is its position in all the files, one after the other, from 0."""

    def __init__(self, paths: Paths, columns: Mapping[str, Better] | Sequence[str], batch_rows: int) -> None:
        self._files = [_opened(path) for path in _expanded(paths)]
        self._preferences = _checked_columns(columns)
        self._names = [preference.column for preference in self._preferences]
        self._batch_rows = batch_rows
        for file in self._files:
            _check_columns(file, self._preferences)
        self.width = sum(preference.width for preference in self._preferences)

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self._files)

    def batches(self, counters: Counters) -> Iterator[Batch]:
        counters.passes += 1
        first = 0
        for number, batch in enumerate(self._record_batches()):
            note_read(counters, len(batch), follows=number > 0)
            yield self._points(batch, first)
            first += len(batch)

    def spots(self, counters: Counters) -> Iterator[np.ndarray]:
        """Points from places spread over the files: enough to see how large the values are."""
        places = [(file, block) for file in self._files for block in range(file.blocks)]
        for at in np.unique(np.linspace(0, len(places) - 1, min(len(places), _SPOTS)).astype(int)):
            file, block = places[at]
            batch = next(_blocks(file, self._names, self._batch_rows, [block]), None)
            if batch is not None:
                note_read(counters, len(batch), follows=False)
                yield self._points(batch, 0).points

    def close(self) -> None:
        """The files are the user's."""

    def _record_batches(self) -> Iterator[pa.RecordBatch]:
        for file in self._files:
            yield from _blocks(file, self._names, self._batch_rows, range(file.blocks))

    def _points(self, batch: pa.RecordBatch, first: int) -> Batch:
        columns = [cost for wish in self._preferences for cost in wish.costs(batch.column(wish.column))]
        points = np.column_stack(columns)
        ids = np.arange(first, first + len(batch))
        missing = np.isnan(points).any(axis=1)
        if missing.any():
            points, ids = points[~missing], ids[~missing]
        return Batch(read_only(ids), read_only(points))


def _expanded(paths: Paths) -> list[Path]:
    listed = [paths] if isinstance(paths, str | Path) else paths
    if not isinstance(listed, Sequence) or not all(isinstance(path, str | Path) for path in listed):
        raise SettingError(
            f"source must be the path of a file or folder, or a list of paths, not a {type(paths).__name__}"
        )
    given = [Path(path) for path in listed]
    found = []
    for path in given:
        if path.is_dir():
            found += sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
        else:
            found.append(path)
    if not found:
        raise InputError(f"no files to read: {', '.join(map(str, given)) or 'none given'}")
    return found


def _opened(path: Path) -> _File:
    try:
        with path.open("rb") as file:
            kind = _MAGIC.get(file.read(4))
        if kind == "parquet":
            metadata = pq.read_metadata(path)
            return _File(path, kind, metadata.num_rows, metadata.schema.to_arrow_schema(), metadata.num_row_groups)
        if kind == "arrow":
            with pa.memory_map(str(path)) as file, ipc.open_file(file) as reader:
                return _File(path, kind, reader.count_rows(), reader.schema, reader.num_record_batches)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    raise InputError(f"{path} is neither a Parquet nor an Arrow (IPC) file")


def _blocks(file: _File, names: list[str], batch_rows: int, blocks: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """Batches of at most so many rows, of these row groups or record batches."""
    if file.format == "parquet":
        with pq.ParquetFile(file.path) as reader:
            yield from reader.iter_batches(batch_rows, row_groups=list(blocks), columns=names, use_threads=False)
        return
    with pa.memory_map(str(file.path)) as mapped, ipc.open_file(mapped) as reader:
        for block in blocks:
            whole = reader.get_batch(block).select(names)
            for start in range(0, len(whole), batch_rows):
                yield whole.slice(start, batch_rows)


def _checked_columns(columns: Mapping[str, Better] | Sequence[str]) -> tuple[Preference, ...]:
    if isinstance(columns, str):
        raise SettingError(f"columns must be a list of names, or names with what is better, not {columns!r}")
    better: dict[str, Better] = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns, "lower")
    if not better:
        raise SettingError("columns must name at least one column to compare by")
    if not isinstance(columns, Mapping) and len(better) < len(columns):
        raise SettingError(f"columns must differ, not {', '.join(map(str, columns))}")
    return checked_preferences(better)


def _check_columns(file: _File, preferences: Sequence[Preference]) -> None:
    for preference in preferences:
        name = preference.column
        if file.schema.get_field_index(name) < 0:
            raise SettingError(f"{file.path} has no column {name}; it has {', '.join(file.schema.names)}")
        kind = file.schema.field(name).type
        if not isinstance(preference.better, PartialOrder) and not comparable(kind):
            raise SettingError(
                f"column {name} of {file.path} is {kind}, which has no lower and higher: give it a partial order"
            )

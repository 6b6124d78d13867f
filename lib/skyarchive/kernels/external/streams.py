"""Points that are read in passes: batch after batch, never all at once."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from skyarchive.kernels.external.counters import Counters


class Batch(NamedTuple):
    """Some rows of a stream: who they are and where they stand."""

    ids: np.ndarray
    """int64, read-only."""
    points: np.ndarray
    """float64, a row per point, read-only (with all of one kind, nothing is compiled twice); no NaN."""


class Stream(Protocol):
    """Something to read as often as one likes, always in the same order."""

    width: int

    @property
    def rows(self) -> int:
        """How many there are at most; exactly so many if it is no source."""
        ...

    def batches(self, counters: Counters) -> Iterator[Batch]:
        """One pass."""
        ...

    def close(self) -> None:
        """Nobody will read it again."""
        ...


class Spill:
    """Points on their way to a temporary file (an Arrow stream), to be read in later passes."""

    def __init__(self, path: Path, width: int, batch_rows: int, counters: Counters) -> None:
        self.width = width
        self._path = path
        self._counters = counters
        self._rows = 0
        self._waiting = 0
        self._ids = np.empty(batch_rows, np.int64)
        self._points = np.empty((batch_rows, width))
        self._schema = pa.schema([("id", pa.int64()), ("point", pa.list_(pa.float64(), width))])
        self._writer: ipc.RecordBatchStreamWriter | None = None

    @property
    def rows(self) -> int:
        return self._rows

    def write(self, ids: np.ndarray, points: np.ndarray) -> None:
        """Adds rows; they are written when a batch is full."""
        start = 0
        while start < len(ids):
            size = min(len(ids) - start, len(self._ids) - self._waiting)
            there, here = slice(self._waiting, self._waiting + size), slice(start, start + size)
            self._ids[there], self._points[there] = ids[here], points[here]
            self._waiting += size
            start += size
            if self._waiting == len(self._ids):
                self._flush()
        self._rows += len(ids)
        self._counters.rows_written += len(ids)

    def finish(self) -> "Spill":
        """Nothing more will be written."""
        if self._waiting:
            self._flush()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._ids, self._points = np.empty(0, np.int64), np.empty((0, self.width))
        return self

    def batches(self, counters: Counters) -> Iterator[Batch]:
        counters.passes += 1
        for number, batch in enumerate(self.read()):
            note_read(counters, len(batch.ids), follows=number > 0)
            yield batch

    def read(self) -> Iterator[Batch]:
        """Its batches, not counted."""
        if self._rows == 0:
            return
        with pa.OSFile(str(self._path)) as file, ipc.open_stream(file) as reader:
            for batch in reader:
                yield Batch(batch.column(0).to_numpy(), _rows_of(batch.column(1), self.width))

    def close(self) -> None:
        self._path.unlink(missing_ok=True)

    def _flush(self) -> None:
        if self._writer is None:
            self._writer = ipc.new_stream(str(self._path), self._schema)
        ids, points = self._ids[: self._waiting], self._points[: self._waiting]
        lists = pa.FixedSizeListArray.from_arrays(pa.array(points.reshape(-1)), self.width)
        self._writer.write_batch(pa.record_batch([pa.array(ids), lists], schema=self._schema))
        self._waiting = 0


def _rows_of(lists: pa.FixedSizeListArray, width: int) -> np.ndarray:
    return lists.flatten().to_numpy().reshape(-1, width)


def note_read(counters: Counters, rows: int, *, follows: bool) -> None:
    """One batch was read; `follows`: where the last read ended."""
    counters.sequential_reads += 1
    counters.random_reads += not follows
    counters.rows_read += rows


class Workspace:
    """What every method gets: its temporary folder, its counters, its chance."""

    def __init__(self, folder: Path, batch_rows: int, counters: Counters, seed: int) -> None:
        self.counters = counters
        self.chance = np.random.default_rng(seed)
        self.batch_rows = batch_rows
        self._folder = folder
        self._spills = 0

    def spill(self, width: int, batch_rows: int | None = None) -> Spill:
        """A new temporary file."""
        self._spills += 1
        return Spill(self._folder / f"{self._spills}.arrow", width, batch_rows or self.batch_rows, self.counters)

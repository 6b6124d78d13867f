"""The default method: a filter per chunk of snapshots, and behind it an engine that remembers witnesses."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from skyarchive.kernels.columns import Columns
from skyarchive.kernels.timeline.blocks import point_blocks
from skyarchive.kernels.timeline.chunk_filter import ChunkFilter
from skyarchive.kernels.timeline.engine import Engine, advance, new_engine
from skyarchive.kernels.timeline.intervals import Book, Intervals
from skyarchive.kernels.timeline.members import SIZE

UPDATES_PER_OBJECT = 64
"""A chunk's length in updates per object: longer and corners get too wide, shorter and choosing them costs more."""
SHORTEST_CHUNK = 1 << 14
FIRST_CHUNK = 1 << 12
"""In updates."""
SAMPLE = 512
CROWD_SHARE = 1 / 16
"""A position is a crowd when it is this share of a sample of the updates."""
_NO_FLAGS = np.empty(0, np.bool_)


def chunk_borders(snapshot: np.ndarray, n_objects: int) -> list[tuple[int, int]]:
    """First and one-past-last row of each chunk: whole snapshots. The first snapshot is one by itself, as there
    is nobody yet who could prune; after that no chunk is longer than all before it, as those who prune well may still
    have to come."""
    longest = max(UPDATES_PER_OBJECT * n_objects, SHORTEST_CHUNK)
    borders = [0, int(np.searchsorted(snapshot, snapshot[0], side="right"))]
    while borders[-1] < len(snapshot):
        size = min(max(borders[-1], FIRST_CHUNK), longest)
        last = snapshot[min(borders[-1] + size, len(snapshot)) - 1]
        borders.append(int(np.searchsorted(snapshot, last, side="right")))
    return list(pairwise(borders))


def sample_of(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Some positions of the log, a row each."""
    step = -(-len(columns[0]) // SAMPLE)
    # No -0.0, which would sort like 0.0 and look different.
    return np.column_stack([column[::step] for column in columns]) + 0.0


def crowd_of(sample: np.ndarray) -> np.ndarray:
    """The position where very many objects stand, or NaN."""
    sample = sample[np.lexsort(sample.T)]
    starts = np.flatnonzero(np.r_[True, (sample[1:] != sample[:-1]).any(axis=1)])
    lengths = np.diff(np.r_[starts, len(sample)])
    largest = int(np.argmax(lengths))
    if lengths[largest] < max(CROWD_SHARE * len(sample), 2):
        return np.full(sample.shape[1], np.nan)
    return sample[starts[largest]]


def _members(engine: Engine, n_objects: int) -> np.ndarray:
    nodes = engine.nodes[0, : engine.tally[SIZE]]
    return nodes[nodes < n_objects]


def _frozen(values: np.ndarray) -> np.ndarray:
    """Read-only like the log's own columns, so that the engine is compiled for one kind only."""
    values.flags.writeable = False
    return values


def intervals(snapshot: np.ndarray, item: np.ndarray, columns: Columns, n_snapshots: int, n_objects: int) -> Intervals:
    """The intervals of a checked log."""
    sample = sample_of(columns.arrays)
    engine = new_engine(n_objects, crowd_of(sample), sample)
    book = Book(n_objects)
    borders = chunk_borders(snapshot, n_objects)
    pruning = ChunkFilter(snapshot, item, columns, n_objects, max(end - begin for begin, end in borders))
    for begin, end in borders:
        back = pruning.open(begin, end, _members(engine, n_objects))
        if len(back):
            when = np.full(len(back), snapshot[begin])
            book.write(advance, engine, _frozen(when), _frozen(back), pruning.latest[back], _NO_FLAGS, False)
        is_last = end == len(snapshot)
        if pruning.is_on:
            when, who, rows, leaves = pruning.kept(begin, end)
            book.write(advance, engine, _frozen(when), _frozen(who), rows, leaves, is_last)
        else:
            for part, rows in point_blocks(columns, begin, end):
                last_part = is_last and part.stop == end
                book.write(advance, engine, snapshot[part], item[part], rows, _NO_FLAGS, last_part)
        pruning.close(begin, end)
    return book.finished(n_snapshots)

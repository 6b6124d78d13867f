"""Rows of the log as the kernels want them: point by point, in blocks that stay in the processor's cache.

The log's columns come apart, as Arrow keeps them. Only one block at a time is copied into rows.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from skyarchive.kernels.compiling import entry_point

BLOCK_BYTES = 1 << 18
"""A block of points of this size fits a second-level cache beside the tables of the kernels."""


@entry_point
def _spread(column, rows, axis):  # type: ignore[no-untyped-def]
    for row in range(len(column)):
        rows[row, axis] = column[row]


@entry_point
def _pick(column, wanted, rows, axis):  # type: ignore[no-untyped-def]
    """Column `axis` of `rows` from the wanted places of a column."""
    for row in range(len(wanted)):
        rows[row, axis] = column[wanted[row]]


def point_blocks(columns: Sequence[np.ndarray], begin: int, end: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows begin..end-1 of the log, block by block: which rows, and their points (valid until the next block)."""
    width = len(columns)
    size = max(BLOCK_BYTES // (8 * width), 1)
    room = np.empty((min(size, end - begin), width))
    for start in range(begin, end, size):
        part = slice(start, min(start + size, end))
        points = room[: part.stop - part.start]
        for axis, column in enumerate(columns):
            _spread(column[part], points, axis)
        yield part, points


def picked_points(columns: Sequence[np.ndarray], wanted: np.ndarray) -> np.ndarray:
    """The points of the wanted rows."""
    points = np.empty((len(wanted), len(columns)))
    for axis, column in enumerate(columns):
        _pick(column, wanted, points, axis)
    return points


def sampled_points(columns: Sequence[np.ndarray], size: int) -> np.ndarray:
    """At most `size` points, at even distances."""
    n_rows = len(columns[0])
    return picked_points(columns, np.arange(0, n_rows, -(-n_rows // size), dtype=np.int32))

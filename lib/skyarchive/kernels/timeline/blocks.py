"""Rows of the log as the kernels want them: point by point, in blocks that stay in the processor's cache.

The log's columns come apart, as Arrow keeps them. Only one block at a time is copied into rows.
"""

from collections.abc import Iterator

import numpy as np

from skyarchive.kernels.columns import Columns, column
from skyarchive.kernels.compiling import entry_point

BLOCK_BYTES = 1 << 18
"""A block of points of this size fits a second-level cache beside the tables of the kernels."""
_TILE = 64
"""So many points are written attribute by attribute without leaving the first-level cache."""


@entry_point
def _spread(addresses, begin, rows):  # type: ignore[no-untyped-def]
    """Points from row `begin` on."""
    for start in range(0, len(rows), _TILE):
        end = min(start + _TILE, len(rows))
        for axis in range(rows.shape[1]):
            values = column(addresses, axis)
            for row in range(start, end):
                rows[row, axis] = values[begin + row]


def point_blocks(columns: Columns, begin: int, end: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows begin..end-1 of the log, block by block: which rows, and their points (valid until the next block)."""
    width = len(columns)
    size = max(BLOCK_BYTES // (8 * width), 1)
    room = np.empty((min(size, end - begin), width))
    for start in range(begin, end, size):
        part = slice(start, min(start + size, end))
        points = room[: part.stop - part.start]
        _spread(columns.addresses, start, points)
        yield part, points

"""The tables that kept records stand in: blocks for the fresh ones, then those of the runs."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.windows.lanes import LANES
from skyarchive.kernels.windows.slots import KNOWN


class Tables(NamedTuple):
    """Of 64 records to a block and 64 blocks to a group."""

    codes: NDArray[np.uint8]
    """A block's, attribute by attribute."""
    alive: NDArray[np.int64]
    """A bit for each record of a block that is kept."""
    points: NDArray[np.float64]
    about: NDArray[np.int64]
    """What is known about a record."""
    best: NDArray[np.uint8]
    """A group's: the best codes of each of its blocks."""
    worst: NDArray[np.uint8]

    @property
    def room(self) -> int:
        """How many blocks there are."""
        return len(self.alive)

    def with_room(self, blocks: int) -> "Tables":
        """The same with so many blocks, whole groups of them."""
        longer = new_tables(self.points.shape[1], blocks)
        pairs: Iterable[tuple[NDArray[Any], NDArray[Any]]] = zip(longer, self, strict=True)
        for table, own in pairs:
            table[: len(own)] = own
        return longer

    def slide(self, first: int, end: int, target: int) -> None:
        """Moves whole groups of blocks to the front."""
        for table in self:
            size = len(table) * LANES // self.room  # rows to a group
            begin, stop, at = (block // LANES * size for block in (first, end, target))
            table[at : at + stop - begin] = table[begin:stop].copy()

    def slots(self) -> NDArray[np.intp]:
        """Where somebody is kept."""
        return np.flatnonzero(np.unpackbits(self.alive.view(np.uint8), bitorder="little"))

    def count(self, first: int, end: int | None = None) -> int:
        """How many are kept in some blocks."""
        return int(np.bitwise_count(self.alive[first:end].view(np.uint64)).sum())


def new_tables(axes: int, blocks: int) -> Tables:
    groups = blocks // LANES
    return Tables(
        np.empty((blocks, axes, LANES), np.uint8),
        np.zeros(blocks, np.int64),
        np.empty((blocks * LANES, axes)),
        np.empty((blocks * LANES, KNOWN), np.int64),
        np.empty((groups, axes, LANES), np.uint8),
        np.empty((groups, axes, LANES), np.uint8),
    )

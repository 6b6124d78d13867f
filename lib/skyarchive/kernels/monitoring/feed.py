"""What is replayed: records that are born, move and go, snapshot after snapshot, in blocks that memory can hold."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from skyarchive.kernels.timeline.log_check import check_log, check_no_repeats

BLOCK_ROWS = 1_000_000
"""Rows of a block, if a single snapshot has not more."""


class Block(NamedTuple):
    """Some snapshots in a row: rows start[s] to start[s + 1] say who is where from the s-th of them on; NaN: gone."""

    start: np.ndarray
    """int64[snapshots + 1]"""
    item: np.ndarray
    """int32[rows]: records, numbered from 0; each at most once a snapshot."""
    rows: np.ndarray
    """float64[rows, d]: positions, smaller is better."""


class Feed(Protocol):
    """Anything that can be replayed, from its beginning each time it is asked for its blocks."""

    @property
    def n_objects(self) -> int: ...

    @property
    def n_snapshots(self) -> int: ...

    @property
    def spread(self) -> np.ndarray:
        """Per attribute, how far apart its values are."""

    def blocks(self) -> Iterator[Block]: ...


class LogFeed:
    """An update log, as `skyline_intervals` takes it; an infinite value is no position, as anywhere in an archive."""

    def __init__(
        self,
        snapshot: np.ndarray,
        item: np.ndarray,
        attributes: Sequence[np.ndarray],
        n_snapshots: int,
        absent: Sequence[float] | None = None,
    ) -> None:
        """`absent`: where a record is while it is not there, so that everybody takes part all the time."""
        self.snapshot, self.item = np.asarray(snapshot, np.int32), np.asarray(item, np.int32)
        self.n_snapshots = n_snapshots
        if not attributes or any(len(column) != len(self.snapshot) for column in (self.item, *attributes)):
            raise ValueError("snapshot, item and at least one attribute must be columns of one length")
        self.rows = np.column_stack([np.asarray(column, np.float64) for column in attributes])
        self.rows[~np.isfinite(self.rows).all(axis=1)] = np.nan
        highest, may_repeat = check_log(self.snapshot, self.item, n_snapshots)
        self.n_objects = highest + 1
        if may_repeat:
            check_no_repeats(self.snapshot, self.item, self.n_objects)
        if absent is not None:
            self._fill(np.asarray(absent, np.float64))

    def _fill(self, absent: np.ndarray) -> None:
        """Puts everybody there from the first snapshot on, and who goes back to there."""
        self.rows[np.isnan(self.rows[:, 0])] = absent
        late = np.setdiff1d(np.arange(self.n_objects, dtype=np.int32), self.item[self.snapshot == 0])
        self.snapshot = np.concatenate([np.zeros(len(late), np.int32), self.snapshot])
        self.item = np.concatenate([late, self.item])
        self.rows = np.concatenate([np.tile(absent, (len(late), 1)), self.rows])

    @property
    def spread(self) -> np.ndarray:
        living = self.rows[~np.isnan(self.rows[:, 0])]
        return np.ptp(living, axis=0) if len(living) else np.zeros(self.rows.shape[1])

    def blocks(self) -> Iterator[Block]:
        start = np.searchsorted(self.snapshot, np.arange(self.n_snapshots + 1)).astype(np.int64)
        # Blocks are bounded in snapshots, too: what a method writes down of each has a place for every record.
        most = max(1, BLOCK_ROWS // max(self.n_objects, 1))
        first = 0
        while first < self.n_snapshots:
            last = int(np.searchsorted(start, start[first] + BLOCK_ROWS, "right")) - 1
            last = min(max(last, first + 1), first + most, self.n_snapshots)
            part = slice(start[first], start[last])
            yield Block(start[first : last + 1] - start[first], self.item[part], self.rows[part])
            first = last


def dense_feed(positions: np.ndarray) -> LogFeed:
    """The feed of positions[snapshot, record, attribute]; NaN: not alive."""
    n_snapshots, n_objects, width = positions.shape
    snapshot = np.repeat(np.arange(n_snapshots, dtype=np.int32), n_objects)
    item = np.tile(np.arange(n_objects, dtype=np.int32), n_snapshots)
    return LogFeed(snapshot, item, list(positions.reshape(-1, width).T), n_snapshots)

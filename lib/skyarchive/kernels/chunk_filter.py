"""Pruning a whole chunk of snapshots at once, before anything else looks at its updates.

A few strong objects are followed through the chunk: the worst value each has on every attribute, its upper corner,
is as bad as it gets. An update that is beaten by such a corner, strictly on one attribute fixed for the corner,
cannot matter in the chunk; strictness keeps equal points in. This is the paper's MBR pruning with the future known,
as it is in an archive.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from skyarchive.kernels.blocks import pick, picked_points

PRUNERS = 4
CANDIDATES = 256
SAMPLE = 512
WORTH_IT = 0.5
"""Share of the sample that must be pruned for the filter to pay."""
LONGEST_REST = 8
"""Chunks to wait, at most, before trying again where filters did not pay."""


@njit(cache=True)
def _rows_of(item, slot, rows, slots):  # type: ignore[no-untyped-def]
    """The rows of objects that have a slot; gives their number."""
    count = 0
    for row in range(len(item)):
        mine = slot[item[row]]
        if mine >= 0:
            rows[count] = row
            slots[count] = mine
            count += 1
    return count


@njit(cache=True)
def _raise_corners(column, rows, slots, corners, axis, fit):  # type: ignore[no-untyped-def]
    """The worst value of every slot on one attribute; who goes within the chunk is not fit to prune."""
    for index in range(len(rows)):
        value = column[rows[index]]
        slot = slots[index]
        if np.isnan(value):
            fit[slot] = False
        elif value > corners[slot, axis]:
            corners[slot, axis] = value


@njit(cache=True)
def _make_strict(corners, fit, sample):  # type: ignore[no-untyped-def]
    """Moves each corner up to the next number on the attribute where that keeps most of the sample pruned, so
    that 'not better than the corner' from now on means 'strictly beaten'."""
    for slot in range(len(corners)):
        best = -1
        most = -1
        for axis in range(corners.shape[1]):
            above = 0
            for row in range(len(sample)):
                above += sample[row, axis] > corners[slot, axis]
            if above > most and corners[slot, axis] < np.inf:
                most = above
                best = axis
        if best < 0:
            fit[slot] = False
        else:
            corners[slot, best] = np.nextafter(corners[slot, best], np.inf)


@njit(cache=True, forceinline=True)
def _is_beyond(points, row, corners, slot):  # type: ignore[no-untyped-def]
    for axis in range(points.shape[1]):
        if not points[row, axis] >= corners[slot, axis]:
            return False
    return True


@njit(cache=True)
def _choose(corners, fit, sample, pruners):  # type: ignore[no-untyped-def]
    """Greedily takes the corners that together prune most of the sample into `pruners` (NaN prunes nothing);
    gives how many of the sample they prune."""
    pruned = np.zeros(len(sample), np.bool_)
    total = 0
    pruners[:] = np.nan
    for pruner in range(len(pruners)):
        best = -1
        most = 0
        for slot in range(len(corners)):
            gain = 0
            if fit[slot]:
                for row in range(len(sample)):
                    if not pruned[row] and _is_beyond(sample, row, corners, slot):
                        gain += 1
            if gain > most:
                most = gain
                best = slot
        if best < 0:
            break
        pruners[pruner] = corners[best]
        for row in range(len(sample)):
            pruned[row] |= _is_beyond(sample, row, corners, best)
        total += most
    return total


@njit(cache=True)
def _narrow(mask, column, a, b, c, d):  # type: ignore[no-untyped-def]
    """Leaves in each row's mask the pruners whose corner it is beyond on this attribute too; NaN is beyond none."""
    for row in range(len(column)):
        value = column[row]
        mask[row] &= (
            np.uint8(value >= a)
            | np.uint8(np.uint8(value >= b) << 1)
            | np.uint8(np.uint8(value >= c) << 2)
            | np.uint8(np.uint8(value >= d) << 3)
        )


@njit(cache=True)
def _compact(item, mask, pruned, last_row, kept):  # type: ignore[no-untyped-def]
    """The rows the engine must see: all but those of objects that were pruned and stay so."""
    count = 0
    for row in range(len(item)):
        who = item[row]
        now = mask[row] != 0
        kept[count] = row
        count += not (now and pruned[who])
        pruned[who] = now
        last_row[who] = row
    return count


@njit(cache=True)
def _note_last(item, last_row):  # type: ignore[no-untyped-def]
    for row in range(len(item)):
        last_row[item[row]] = row


@njit(cache=True)
def _carry(column, last_row, latest, axis):  # type: ignore[no-untyped-def]
    """The value that each object's last row of the chunk leaves it with."""
    for who in range(len(last_row)):
        if last_row[who] >= 0:
            latest[who, axis] = column[last_row[who]]


@njit(cache=True)
def _review(latest, pruners, pruned, back):  # type: ignore[no-untyped-def]
    """Objects that were pruned and are not beyond any of the new corners come back; gives their number."""
    count = 0
    for who in range(len(pruned)):
        if pruned[who]:
            beyond = False
            for slot in range(len(pruners)):
                beyond = beyond or _is_beyond(latest, who, pruners, slot)
            if not beyond:
                pruned[who] = False
                back[count] = who
                count += 1
    return count


@dataclass(frozen=True)
class Chunk:
    """A run of whole snapshots of the log."""

    item: np.ndarray
    columns: Sequence[np.ndarray]


class ChunkFilter:
    """What pruning knows from one chunk to the next: everybody's position, and who is pruned."""

    def __init__(self, n_objects: int, width: int) -> None:
        self.latest = np.full((n_objects, width), np.nan)
        """Positions at the start of the chunk; NaN: not alive."""
        self.pruned = np.zeros(n_objects, np.bool_)
        self._pruners = np.full((PRUNERS, width), np.nan)
        self._last_row = np.empty(n_objects, np.int32)
        self._slot = np.full(n_objects, -1, np.int16)
        self._rest = 0
        self._resting = 0

    def open(self, chunk: Chunk, members: np.ndarray) -> np.ndarray:
        """Chooses the chunk's pruners among the skyline's members; gives the objects that must come back to the
        engine at the chunk's start, as nothing prunes them any more."""
        self._pruners[:] = np.nan
        if self._rest > 0:
            self._rest -= 1
        elif len(members):
            self._choose(chunk, members[:: -(-len(members) // CANDIDATES)])
        back = np.empty(len(self.pruned), np.int32)
        return back[: _review(self.latest, self._pruners, self.pruned, back)]

    @property
    def is_on(self) -> bool:
        """Whether anything is pruned in the open chunk."""
        return not np.isnan(self._pruners[0, 0])

    def kept(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The rows that the engine must see, and which of them only say that the object is pruned from there on."""
        mask = np.full(len(chunk.item), (1 << PRUNERS) - 1, np.uint8)
        for axis, column in enumerate(chunk.columns):
            _narrow(mask, column, *self._pruners[:, axis])
        rows = np.empty(len(chunk.item), np.int32)
        self._last_row[:] = -1
        rows = rows[: _compact(chunk.item, mask, self.pruned, self._last_row, rows)]
        return rows, mask[rows] != 0

    def close(self, chunk: Chunk) -> None:
        """Everybody's position at the chunk's end."""
        if not self.is_on:
            self._last_row[:] = -1
            _note_last(chunk.item, self._last_row)
        for axis, column in enumerate(chunk.columns):
            _carry(column, self._last_row, self.latest, axis)

    def _choose(self, chunk: Chunk, candidates: np.ndarray) -> None:
        corners, fit = self._corners(chunk, candidates)
        sample = picked_points(chunk.columns, np.arange(0, len(chunk.item), -(-len(chunk.item) // SAMPLE)))
        _make_strict(corners, fit, sample)
        if _choose(corners, fit, sample, self._pruners) < WORTH_IT * len(sample):
            self._pruners[:] = np.nan
            self._resting = min(2 * self._resting + 1, LONGEST_REST)
            self._rest = self._resting
        else:
            self._resting = 0

    def _corners(self, chunk: Chunk, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The candidates' upper corners over the chunk, and who of them lives through it."""
        corners = self.latest[candidates]
        fit = ~np.isnan(corners).any(axis=1)
        self._slot[candidates] = np.arange(len(candidates))
        rows = np.empty(len(chunk.item), np.int32)
        slots = np.empty(len(chunk.item), np.int16)
        count = _rows_of(chunk.item, self._slot, rows, slots)
        self._slot[candidates] = -1
        for axis, column in enumerate(chunk.columns):
            _raise_corners(column, rows[:count], slots[:count], corners, axis, fit)
        return corners, fit

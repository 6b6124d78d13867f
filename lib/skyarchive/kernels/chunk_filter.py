"""Pruning a whole chunk of snapshots at once, before anything else looks at its updates.

A few strong objects are followed through the chunk: the worst value each has on every attribute, its upper corner,
is as bad as it gets. An update that is beaten by such a corner, strictly on one attribute fixed for the corner,
cannot matter in the chunk; strictness keeps equal points in. This is the paper's MBR pruning with the future known,
as it is in an archive.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skyarchive.kernels.blocks import picked_points, sampled_points
from skyarchive.kernels.compiling import entry_point, inlined

PRUNERS = 4
CANDIDATES = 256
SAMPLE = 256
_WEAK = 4
"""A candidate that prunes less than the best by this factor is not looked at again."""
WORTH_IT = 0.5
"""Share of the sample that must be pruned for the filter to pay."""
LONGEST_REST = 8
"""Chunks to wait, at most, before trying again where filters did not pay."""


_NOT_PRUNED, _PRUNED = -2, -1
"""In `last`: no row in this chunk yet, with the lowest bit like those that have one."""


@inlined
def _collect(item, slot, begin, end, rows, slots, count):  # type: ignore[no-untyped-def]
    for row in range(begin, end):
        mine = slot[np.uint32(item[row])]
        if mine >= 0:
            rows[count] = row
            slots[count] = mine
            count += 1
    return count


@entry_point
def _rows_of(item, slot, rows, slots):  # type: ignore[no-untyped-def]
    """The rows of objects that have a slot; gives their number.

    Few have: four rows are looked at together, as -1 & -1 is -1 and nothing else is.
    """
    count = 0
    in_fours = len(item) & ~3
    for row in range(0, in_fours, 4):
        first = slot[np.uint32(item[row])] & slot[np.uint32(item[row + 1])]
        second = slot[np.uint32(item[row + 2])] & slot[np.uint32(item[row + 3])]
        if first & second != -1:
            count = _collect(item, slot, row, row + 4, rows, slots, count)
    return _collect(item, slot, in_fours, len(item), rows, slots, count)


@entry_point
def _raise_corners(column, rows, slots, corners, axis, fit):  # type: ignore[no-untyped-def]
    """The worst value of every slot on one attribute; who goes within the chunk is not fit to prune."""
    for index in range(len(rows)):
        value = column[rows[index]]
        slot = slots[index]
        if np.isnan(value):
            fit[slot] = False
        elif value > corners[slot, axis]:
            corners[slot, axis] = value


@entry_point
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


@inlined
def _is_beyond(points, row, corners, slot):  # type: ignore[no-untyped-def]
    for axis in range(points.shape[1]):  # noqa: SIM110 - numba is slow on generators
        if not points[row, axis] >= corners[slot, axis]:
            return False
    return True


@entry_point
def _choose(corners, fit, sample, pruned, chosen):  # type: ignore[no-untyped-def]
    """Greedily takes the corners that together prune most of the sample into `chosen` (-1: no more); gives how many
    of the sample they prune. `pruned` holds a False per point of the sample."""
    total = 0
    for pick in range(len(chosen)):
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
            fit[slot] = _WEAK * gain > most  # a weak one has little to add to those that will be taken
        chosen[pick] = best
        if best >= 0:
            total += most
            for row in range(len(sample)):
                pruned[row] |= _is_beyond(sample, row, corners, best)
    return total


@entry_point
def _narrow(  # type: ignore[no-untyped-def]
    mask, x, y, z, x0, y0, z0, x1, y1, z1, x2, y2, z2, x3, y3, z3
):
    """Leaves in each row's mask the pruners whose corners it is beyond on three attributes too (NaN is beyond none).

    Without a branch and with three columns at a time: it waits for memory and for nothing else.
    """
    for row in range(len(mask)):
        mask[row] &= (
            np.uint8((x[row] >= x0) & (y[row] >= y0) & (z[row] >= z0))
            | np.uint8(np.uint8((x[row] >= x1) & (y[row] >= y1) & (z[row] >= z1)) << 1)
            | np.uint8(np.uint8((x[row] >= x2) & (y[row] >= y2) & (z[row] >= z2)) << 2)
            | np.uint8(np.uint8((x[row] >= x3) & (y[row] >= y3) & (z[row] >= z3)) << 3)
        )


@entry_point
def _compact(item, mask, last, kept):  # type: ignore[no-untyped-def]
    """The rows the engine must see: all but those of objects that were pruned and stay so. Gives their number.

    `last` says of each object, in its lowest bit, whether it is pruned, and above that which was its last row.
    """
    count = 0
    for row in range(len(item)):
        who = np.uint32(item[row])  # unsigned: a signed index could count from the end, which takes time to rule out
        is_pruned = mask[row] != 0
        kept[count] = row
        count += 1 - (is_pruned & last[who])
        last[who] = (row << 1) | is_pruned
    return count


@entry_point
def _gather(kept, snapshot, item, mask, when, who, leaves):  # type: ignore[no-untyped-def]
    """What the engine is told of the kept rows beside their points."""
    for index in range(len(kept)):
        row = kept[index]
        when[index] = snapshot[row]
        who[index] = item[row]
        leaves[index] = mask[row] != 0


@entry_point
def _note_last(item, last):  # type: ignore[no-untyped-def]
    """Like _compact where nothing is pruned."""
    for row in range(len(item)):
        last[np.uint32(item[row])] = row << 1


@entry_point
def _carry(column, last, latest, axis):  # type: ignore[no-untyped-def]
    """The value that each object's last row of the chunk leaves it with."""
    for who in range(len(last)):
        if last[who] >= 0:
            latest[who, axis] = column[last[who] >> 1]


@entry_point
def _review(latest, pruners, last, back):  # type: ignore[no-untyped-def]
    """Objects that were pruned and are not beyond any of the new corners come back; gives their number."""
    count = 0
    for who in range(len(last)):
        beyond = False
        if last[who] & 1:
            for slot in range(len(pruners)):
                beyond = beyond or _is_beyond(latest, who, pruners, slot)
            if not beyond:
                back[count] = who
                count += 1
        last[who] = _PRUNED if beyond else _NOT_PRUNED
    return count


@dataclass(frozen=True)
class Chunk:
    """A run of whole snapshots of the log."""

    snapshot: np.ndarray
    item: np.ndarray
    columns: Sequence[np.ndarray]


class Kept(NamedTuple):
    """Rows that a filter lets pass."""

    snapshot: np.ndarray
    item: np.ndarray
    points: np.ndarray
    leaves: np.ndarray
    """Which of them only say that the object is pruned from there on."""


class ChunkFilter:
    """What pruning knows from one chunk to the next: everybody's position, and who is pruned."""

    def __init__(self, n_objects: int, width: int, longest_chunk: int) -> None:
        self.latest = np.full((n_objects, width), np.nan)
        """Positions at the start of the chunk; NaN: not alive."""
        self._pruners = np.full((PRUNERS, width), np.nan)
        """Their corners; NaN prunes nothing."""
        self._last = np.full(n_objects, _NOT_PRUNED, np.int32)
        self._slot = np.full(n_objects, -1, np.int16)
        self._mask = np.empty(longest_chunk, np.uint8)
        self._rows = np.empty(longest_chunk, np.int32)
        self._slots = np.empty(longest_chunk, np.int16)
        self._rest = 0
        self._longer_rest = 1

    def open(self, chunk: Chunk, members: np.ndarray) -> np.ndarray:
        """Chooses the chunk's pruners among the skyline's members; gives the objects that must come back to the
        engine at the chunk's start, as nothing prunes them any more."""
        self._pruners[:] = np.nan
        if self._rest > 0:
            self._rest -= 1
        elif len(members):
            self._choose(chunk, members[:: -(-len(members) // CANDIDATES)])
        back = np.empty(len(self._last), np.int32)
        return back[: _review(self.latest, self._pruners, self._last, back)]

    @property
    def is_on(self) -> bool:
        """Whether anything is pruned in the open chunk."""
        return not np.isnan(self._pruners[0, 0])

    def kept(self, chunk: Chunk) -> Kept:
        """The rows that the engine must see."""
        mask = self._mask[: len(chunk.item)]
        mask[:] = (1 << PRUNERS) - 1
        for first in range(0, len(chunk.columns), 3):
            axes = [min(first + i, len(chunk.columns) - 1) for i in range(3)]  # the last again where there is none
            _narrow(mask, *(chunk.columns[axis] for axis in axes), *self._pruners[:, axes].ravel())
        kept = self._rows[: _compact(chunk.item, mask, self._last, self._rows)]
        when, who = np.empty(len(kept), np.int32), np.empty(len(kept), np.int32)
        leaves = np.empty(len(kept), np.bool_)
        _gather(kept, chunk.snapshot, chunk.item, mask, when, who, leaves)
        return Kept(when, who, picked_points(chunk.columns, kept), leaves)

    def close(self, chunk: Chunk) -> None:
        """Everybody's position at the chunk's end."""
        if not self.is_on:
            _note_last(chunk.item, self._last)
        for axis, column in enumerate(chunk.columns):
            _carry(column, self._last, self.latest, axis)

    def _choose(self, chunk: Chunk, candidates: np.ndarray) -> None:
        corners, fit = self._corners(chunk, candidates)
        sample = sampled_points(chunk.columns, SAMPLE)
        _make_strict(corners, fit, sample)
        chosen = np.empty(PRUNERS, np.int64)
        if _choose(corners, fit, sample, np.zeros(len(sample), np.bool_), chosen) < WORTH_IT * len(sample):
            self._rest = self._longer_rest
            self._longer_rest = min(2 * self._longer_rest, LONGEST_REST)
        else:
            self._longer_rest = 1
            chosen = chosen[chosen >= 0]
            self._pruners[: len(chosen)] = corners[chosen]

    def _corners(self, chunk: Chunk, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The candidates' upper corners over the chunk, and who of them lives through it."""
        corners = self.latest[candidates]
        fit = ~np.isnan(corners).any(axis=1)
        self._slot[candidates] = np.arange(len(candidates))
        count = _rows_of(chunk.item, self._slot, self._rows, self._slots)
        self._slot[candidates] = -1
        for axis, column in enumerate(chunk.columns):
            _raise_corners(column, self._rows[:count], self._slots[:count], corners, axis, fit)
        return corners, fit

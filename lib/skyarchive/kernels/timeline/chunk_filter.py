"""Pruning a whole chunk of snapshots at once, before anything else looks at its updates.

A few strong objects are followed through the chunk: the worst value each has on every attribute, its upper corner,
is as bad as it gets. An update that is beaten by such a corner, strictly on one attribute fixed for the corner,
cannot matter in the chunk; strictness keeps equal points in. This is the paper's MBR pruning with the future known,
as it is in an archive.
"""

from typing import NamedTuple

import numpy as np

from skyarchive.kernels.columns import Columns, column, fill_sample
from skyarchive.kernels.compiling import entry_point, inlined, inner, keep_apart
from skyarchive.kernels.timeline.marking import PRUNERS, mark_pruned

CANDIDATES = 32
"""Members that are followed through the chunk: those that beat most at its start."""
SAMPLE = 128
_PICKED_BY = 64
"""Points of the sample that are enough to pick candidates by."""
WORTH_IT = 0.5
"""Share of the sample that must be pruned for the filter to pay."""
LONGEST_REST = 8
"""Chunks to wait, at most, before trying again where filters did not pay."""
_BLOCK = 2048
"""Rows that are looked at together: their columns are still in the cache when the kept ones are copied."""
_NOT_PRUNED, _PRUNED = -2, -1
"""In `last`: no row in this chunk yet, with the lowest bit like those that have one."""


@inlined
def _pick(members, latest, sample, strength, covered, candidates):  # type: ignore[no-untyped-def]
    """Takes as candidates the members that beat most of the sample where they are at the chunk's start; gives how
    many. `strength` and `covered` are room to work, a place per member and per point of the sample."""
    for at in range(len(members)):
        covered[:] = 1
        for axis in range(len(sample)):
            value = latest[members[at], axis]
            for row in range(len(covered)):
                covered[row] &= np.uint8(sample[axis, row] >= value)
        strength[at] = 0
        for row in range(len(covered)):
            strength[at] += covered[row]
    count = min(len(members), len(candidates))
    for pick in range(count):
        best = 0
        for at in range(len(members)):
            if strength[at] > strength[best]:
                best = at
        candidates[pick] = members[best]
        strength[best] = -1
    return count


@inlined
def _collect(item, slot, begin, end, rows, count):  # type: ignore[no-untyped-def]
    for row in range(begin, end):
        rows[count] = row
        count += slot[np.uint32(item[np.uintp(row)])] >= 0
    return count


@inlined
def _raise_corners(addresses, begin, item, slot, corners, fit, rows):  # type: ignore[no-untyped-def]
    """The worst values of the objects that have a slot, over the log's rows from `begin` on with these objects; who
    goes among them is not fit to prune. `rows` is room for their rows: first all are found, then they are read, so
    that the processor need not wait for one before it fetches the next.

    Few have a slot: four rows are looked at together, as -1 & -1 is -1 and nothing else is.
    """
    count = 0
    in_fours = len(item) & ~3
    for row in range(0, in_fours, 4):
        first = slot[np.uint32(item[row])] & slot[np.uint32(item[row + 1])]
        second = slot[np.uint32(item[row + 2])] & slot[np.uint32(item[row + 3])]
        if first & second != -1:
            count = _collect(item, slot, row, row + 4, rows, count)
    count = _collect(item, slot, in_fours, len(item), rows, count)
    for axis in range(corners.shape[1]):
        values = column(addresses, axis)
        for at in range(count):
            value = values[begin + rows[at]]
            mine = slot[np.uint32(item[np.uintp(rows[at])])]
            fit[mine] &= value == value
            corners[mine, axis] = max(corners[mine, axis], value)


@inlined
def _make_strict(corners, slot, sample):  # type: ignore[no-untyped-def]
    """Moves a corner up to the next number on the attribute where that keeps most of the sample pruned, so that 'not
    better than the corner' from now on means 'strictly beaten'. False if there is no next number on any."""
    best = -1
    most = -1
    for axis in range(corners.shape[1]):
        above = 0
        for row in range(sample.shape[1]):
            above += sample[axis, row] > corners[slot, axis]
        if above > most and corners[slot, axis] < np.inf:
            most = above
            best = axis
    if best >= 0:
        corners[slot, best] = np.nextafter(corners[slot, best], np.inf)
    return best >= 0


@inlined
def _choose(corners, fit, sample, covers, is_open, pruners):  # type: ignore[no-untyped-def]
    """Makes the corners strict and greedily takes those that together prune most of the sample; gives how many of it
    they prune. `covers` (a row per corner) and `is_open` are room to work, one place per point of the sample."""
    for slot in range(len(corners)):
        covers[slot] = fit[slot] and _make_strict(corners, slot, sample)
        for axis in range(corners.shape[1]):
            corner = corners[slot, axis]
            for row in range(sample.shape[1]):
                covers[slot, row] &= np.uint8(sample[axis, row] >= corner)
    is_open[:] = 1
    total = 0
    for pick in range(len(pruners)):
        best = -1
        most = 0
        for slot in range(len(corners)):
            gain = 0
            for row in range(len(is_open)):
                gain += covers[slot, row] & is_open[row]
            if gain > most:
                most = gain
                best = slot
        if best < 0:
            break
        total += most
        for axis in range(corners.shape[1]):
            pruners[pick, axis] = corners[best, axis]
        for row in range(len(is_open)):
            is_open[row] &= 1 - covers[best, row]
    return total


@entry_point
def _prepare(  # type: ignore[no-untyped-def]
    addresses,
    begin,
    item,
    members,
    latest,
    slot,
    strength,
    followed,
    corners,
    fit,
    rows,
    sample,
    covers,
    is_open,
    pruners,
):
    """Sets the pruners (NaN where there are no more) for the log's rows from `begin` on with these objects; gives
    whether pruning pays."""
    size = fill_sample(addresses, begin, len(item), sample)
    points = sample[:, :size]
    some = points[:, : min(size, _PICKED_BY)]
    candidates = followed[: _pick(members, latest, some, strength, is_open[: some.shape[1]], followed)]
    for at in range(len(candidates)):
        slot[candidates[at]] = at
        fit[at] = True
        for axis in range(corners.shape[1]):
            corners[at, axis] = latest[candidates[at], axis]
            fit[at] &= corners[at, axis] == corners[at, axis]
    pruners[:] = np.nan
    _raise_corners(addresses, begin, item, slot, corners, fit, rows)
    for at in range(len(candidates)):
        slot[candidates[at]] = -1
    pruned = _choose(corners[: len(candidates)], fit, points, covers[:, :size], is_open[:size], pruners)
    return pruned >= WORTH_IT * size


@inner
def _compact(item, mask, last, before, kept):  # type: ignore[no-untyped-def]
    """The rows of a block that the engine must see: all but those of objects that were pruned and stay so. Gives
    their number.

    `last` says of each object, in its lowest bit, whether it is pruned, and above that which was its last row in the
    chunk, where `before` rows come before the block.
    """
    keep_apart()  # type: ignore[call-arg]
    count = 0
    for row in range(len(mask)):
        who = np.uint32(item[row])  # unsigned: a signed index could count from the end, which takes time to rule out
        is_pruned = mask[row] != 0
        kept[count] = row
        count += 1 - (is_pruned & last[who])
        last[who] = ((before + row) << 1) | is_pruned
    return count


@entry_point
def _sift(  # type: ignore[no-untyped-def]
    addresses, begin, snapshot, item, corners, last, mask, kept, when, who, points, leaves
):
    """Copies what the engine must see of a chunk: the log's rows from `begin` on with these snapshots and objects.
    Gives the number of rows. `mask` and `kept` are room for a block."""
    total = 0
    for start in range(0, len(item), len(mask)):
        end = min(start + len(mask), len(item))
        block = mask[: end - start]
        mark_pruned(addresses, begin + start, corners, block)
        count = _compact(item[start:end], block, last, start, kept)
        for at in range(count):
            row = kept[at]
            when[total + at] = snapshot[start + row]
            who[total + at] = item[start + row]
            leaves[total + at] = block[row] != 0
        for axis in range(corners.shape[1]):
            values = column(addresses, axis)
            for at in range(count):
                points[total + at, axis] = values[begin + start + kept[at]]
        total += count
    return total


@entry_point
def _note_last(item, last):  # type: ignore[no-untyped-def]
    """Like _compact where nothing is pruned."""
    for row in range(len(item)):
        last[np.uint32(item[row])] = row << 1


@entry_point
def _carry(addresses, begin, last, latest):  # type: ignore[no-untyped-def]
    """Where each object's last row of the chunk leaves it."""
    for axis in range(latest.shape[1]):
        values = column(addresses, axis)
        for who in range(len(last)):
            if last[who] >= 0:
                latest[who, axis] = values[begin + (last[who] >> 1)]


@inlined
def _is_beyond(points, row, corners, slot):  # type: ignore[no-untyped-def]
    for axis in range(points.shape[1]):  # noqa: SIM110 - numba is slow on generators
        if not points[row, axis] >= corners[slot, axis]:
            return False
    return True


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


class Kept(NamedTuple):
    """Rows that a filter lets pass; valid until the next chunk's."""

    snapshot: np.ndarray
    item: np.ndarray
    points: np.ndarray
    leaves: np.ndarray
    """Which of them only say that the object is pruned from there on."""


class ChunkFilter:
    """What pruning knows from one chunk to the next: everybody's position, and who is pruned."""

    def __init__(
        self, snapshot: np.ndarray, item: np.ndarray, columns: Columns, n_objects: int, longest_chunk: int
    ) -> None:
        width = len(columns)
        self._snapshot, self._item, self._addresses = snapshot, item, columns.addresses
        self.latest = np.full((n_objects, width), np.nan)
        """Positions at the start of the chunk; NaN: not alive."""
        self._pruners = np.empty((PRUNERS, width))
        """Their corners; NaN prunes nothing."""
        self.is_on = False
        """Whether anything is pruned in the open chunk."""
        self._last = np.full(n_objects, _NOT_PRUNED, np.int32)
        self._slot = np.full(n_objects, -1, np.int16)
        self._back = np.empty(n_objects, np.int32)
        self._kept = Kept(
            np.empty(longest_chunk, np.int32),
            np.empty(longest_chunk, np.int32),
            np.empty((longest_chunk, width)),
            np.empty(longest_chunk, np.bool_),
        )
        self._corners = (
            np.empty(CANDIDATES, np.int32),
            np.empty((CANDIDATES, width)),
            np.empty(CANDIDATES, np.bool_),
        )
        self._sample = (
            np.empty((width, SAMPLE)),
            np.empty((CANDIDATES, SAMPLE), np.uint8),
            np.empty(SAMPLE, np.uint8),
        )
        self._block = (np.empty(_BLOCK, np.uint8), np.empty(_BLOCK, np.uint32))
        self._rest = 0
        self._longer_rest = 1

    def open(self, begin: int, end: int, members: np.ndarray) -> np.ndarray:
        """Chooses pruners for rows begin..end-1 among the skyline's members; gives the objects that must come back
        to the engine at the chunk's start, as nothing prunes them any more."""
        self.is_on = False
        if self._rest > 0:
            self._rest -= 1
        elif len(members):
            self._choose(begin, end, members)
        if not self.is_on:
            self._pruners[:] = np.nan
        return self._back[: _review(self.latest, self._pruners, self._last, self._back)]

    def kept(self, begin: int, end: int) -> Kept:
        """The rows that the engine must see."""
        rows = (self._snapshot[begin:end], self._item[begin:end])
        count = _sift(self._addresses, begin, *rows, self._pruners, self._last, *self._block, *self._kept)
        return Kept(*(part[:count] for part in self._kept))

    def close(self, begin: int, end: int) -> None:
        """Everybody's position at the chunk's end."""
        if not self.is_on:
            _note_last(self._item[begin:end], self._last)
        _carry(self._addresses, begin, self._last, self.latest)

    def _choose(self, begin: int, end: int, members: np.ndarray) -> None:
        rows = (self._addresses, begin, self._item[begin:end])
        tables = (self.latest, self._slot, self._back, *self._corners, self._kept.item, *self._sample, self._pruners)
        self.is_on = _prepare(*rows, members, *tables)
        if self.is_on:
            self._longer_rest = 1
        else:
            self._rest = self._longer_rest
            self._longer_rest = min(2 * self._longer_rest, LONGEST_REST)

"""Block nested loops (Börzsönyi, Kossmann, Stocker: The Skyline Operator, ICDE 2001), to measure RAND against.

Rows that nothing in the window beats join it; when it is full they go to a temporary file, the input of the next pass.
A point of the window is in the skyline once every row that was written before it came has been read again: the count
of rows written then is its time stamp.
"""

from collections.abc import Iterator

import numpy as np

from skyarchive.kernels.compiling import entry_point, inlined
from skyarchive.kernels.external.streams import Batch, Spill, Stream, Workspace
from skyarchive.kernels.external.window import (
    BEATEN,
    COMPARED,
    FOUND,
    KEPT,
    LANES,
    SIZE,
    Window,
    any_not_better_than,
    any_not_worse_than,
    clear,
    differs,
    put,
)

WRITTEN = 1
"""Place in the tally: rows that went to the temporary file in this pass."""
_CARRIED, _NEW = 0, 1
"""Whether a point of the window came in an earlier pass."""


@inlined
def _move(blocks, marks, slot, target):  # type: ignore[no-untyped-def]
    for axis in range(blocks.shape[1]):
        blocks[target // LANES, axis, target % LANES] = blocks[slot // LANES, axis, slot % LANES]
    for at in range(marks.shape[1]):
        marks[target, at] = marks[slot, at]


@inlined
def _swap(blocks, marks, slot, other):  # type: ignore[no-untyped-def]
    for axis in range(blocks.shape[1]):
        kept = blocks[other // LANES, axis, other % LANES]
        blocks[other // LANES, axis, other % LANES] = blocks[slot // LANES, axis, slot % LANES]
        blocks[slot // LANES, axis, slot % LANES] = kept
    for at in range(marks.shape[1]):
        marks[other, at], marks[slot, at] = marks[slot, at], marks[other, at]


@inlined
def _is_beaten(blocks, marks, block, points, row, lanes, tally):  # type: ignore[no-untyped-def]
    """Whether a point of the block beats the row. It moves half the way to the front: strong points meet the next
    rows first."""
    tally[COMPARED] += LANES
    if any_not_worse_than(blocks, block, points, row, lanes):
        for lane in range(LANES):
            if lanes[lane] and differs(blocks, block, lane, points, row):
                slot = block * LANES + lane
                _swap(blocks, marks, slot, slot // 2)
                return True
    return False


@inlined
def _drop_beaten(blocks, marks, block, points, row, lanes, tally):  # type: ignore[no-untyped-def]
    """Points of the block that the row beats make room for the last ones; whether there were any."""
    dropped = False
    if any_not_better_than(blocks, block, points, row, lanes):
        for at in range(LANES):
            lane = LANES - 1 - at  # from the end: what moves in is not in this block's part still to come
            if lanes[lane] and differs(blocks, block, lane, points, row):
                last = tally[SIZE] - 1
                _move(blocks, marks, last, block * LANES + lane)
                clear(blocks, last // LANES, last % LANES)
                tally[SIZE] = last
                dropped = True
    return dropped


@entry_point
def _nested_loop(blocks, marks, room, ids, points, lanes, tally, verdicts):  # type: ignore[no-untyped-def]
    """Rows of a batch against the window; KEPT ones go to the temporary file. `marks` of a slot: id, stamp, age."""
    for row in range(len(points)):
        beaten = False
        block = 0
        while block * LANES < tally[SIZE] and not beaten:
            beaten = _is_beaten(blocks, marks, block, points, row, lanes, tally)
            # After a removal others stand in this block: it is looked at again.
            if beaten or not _drop_beaten(blocks, marks, block, points, row, lanes, tally):
                block += 1
        if beaten:
            verdicts[row] = BEATEN
        elif tally[SIZE] < room:
            slot = tally[SIZE]
            put(blocks, slot // LANES, slot % LANES, points, row)
            marks[slot, 0], marks[slot, 1], marks[slot, 2] = ids[row], tally[WRITTEN], _NEW
            tally[SIZE] = slot + 1
            verdicts[row] = FOUND  # perhaps: it is in the window
        else:
            tally[WRITTEN] += 1
            verdicts[row] = KEPT


class _NestedLoop:
    """The window and its marks."""

    def __init__(self, room: int, width: int) -> None:
        self.window = Window(room, width)
        self.marks = np.zeros((self.window.blocks.shape[0] * LANES, 3), np.int64)

    def take(self, batch: Batch) -> np.ndarray:
        """The rows of a batch that neither are beaten nor find room."""
        verdicts = np.empty(len(batch.ids), np.int8)
        window = self.window
        _nested_loop(
            window.blocks, self.marks, window.room, batch.ids, batch.points, window.lanes, window.tally, verdicts
        )
        return verdicts == KEPT

    def release(self, done: np.ndarray) -> np.ndarray:
        """Ids of the points marked; the others stay."""
        size = self.window.size
        ids = self.marks[:size, 0][done]
        if len(ids):
            points, marks = self.window.points()[~done], self.marks[:size][~done]
            self.window.clear()
            self.window.fill(points, np.zeros(len(points)))
            self.marks[: len(marks)] = marks
        return ids

    def compared_with(self, rows_read: int) -> np.ndarray:
        """Carried points that have met everything written before them."""
        marks = self.marks[: self.window.size]
        return (marks[:, 2] == _CARRIED) & (marks[:, 1] <= rows_read)

    def end_of_pass(self) -> np.ndarray:
        """Ids of points that met everything; the others are carried into the next pass."""
        marks = self.marks[: self.window.size]
        ids = self.release((marks[:, 2] == _CARRIED) | (marks[:, 1] == 0))
        self.marks[: self.window.size, 2] = _CARRIED
        self.window.tally[WRITTEN] = 0
        return ids


def block_nested_loops(stream: Stream, window: int, work: Workspace) -> Iterator[np.ndarray]:
    """Gives ids as they are found."""
    loop = _NestedLoop(min(window, stream.rows), stream.width)
    while stream.rows:
        left = work.spill(stream.width)
        yield from _one_pass(loop, stream, left, work)
        stream.close()
        stream = left.finish()
    # Nothing was written in the last pass: the stamps of what came in it are zero, and nothing is left.


def _one_pass(loop: _NestedLoop, stream: Stream, left: Spill, work: Workspace) -> Iterator[np.ndarray]:
    rows_read = 0
    for batch in stream.batches(work.counters):
        stays = loop.take(batch)
        left.write(batch.ids[stays], batch.points[stays])
        work.counters.hold(loop.window.size)
        rows_read += len(batch.ids)
        yield loop.release(loop.compared_with(rows_read))
    yield loop.end_of_pass()
    work.counters.comparisons += loop.window.take_comparisons()

"""Points in memory, laid out so that one point is compared with a block of them at a time.

A block holds its points attribute by attribute: the processor tests several at once, without a branch for each pair.
Empty lanes hold NaN, which is neither better nor worse nor equal.
"""

import numpy as np

from skyarchive.kernels.compiling import entry_point, inlined
from skyarchive.kernels.external.scores import best_first, read_only

LANES = 64
"""Points of a block. With fewer the compiler unrolls the loops over them and does not use vectors."""
KEPT, BEATEN, FOUND = 0, 1, 2
"""Verdicts about a row: nothing known, beaten, in the skyline."""
COMPARED, CHANGED, SIZE = 0, 1, 2
"""Places in a tally."""


@inlined
def any_not_worse_than(blocks, block, points, row, lanes):  # type: ignore[no-untyped-def]
    """Marks the points of the block that are at least as good as the row everywhere; says whether there are any."""
    value = points[row, 0]
    for lane in range(LANES):
        lanes[lane] = blocks[block, 0, lane] <= value
    for axis in range(1, points.shape[1]):
        value = points[row, axis]
        for lane in range(LANES):
            lanes[lane] &= blocks[block, axis, lane] <= value
    marked = 0
    for lane in range(LANES):
        marked |= lanes[lane]
    return marked != 0


@inlined
def any_not_better_than(blocks, block, points, row, lanes):  # type: ignore[no-untyped-def]
    """Marks the points of the block that the row is at least as good as everywhere; says whether there are any."""
    value = points[row, 0]
    for lane in range(LANES):
        lanes[lane] = blocks[block, 0, lane] >= value
    for axis in range(1, points.shape[1]):
        value = points[row, axis]
        for lane in range(LANES):
            lanes[lane] &= blocks[block, axis, lane] >= value
    marked = 0
    for lane in range(LANES):
        marked |= lanes[lane]
    return marked != 0


@inlined
def differs(blocks, block, lane, points, row):  # type: ignore[no-untyped-def]
    """Whether a marked point is not the row's equal: then one beats the other."""
    for axis in range(points.shape[1]):  # noqa: SIM110 - numba is slow on generators
        if blocks[block, axis, lane] != points[row, axis]:
            return True
    return False


@inlined
def put(blocks, block, lane, points, row):  # type: ignore[no-untyped-def]
    for axis in range(points.shape[1]):
        blocks[block, axis, lane] = points[row, axis]


@inlined
def clear(blocks, block, lane):  # type: ignore[no-untyped-def]
    for axis in range(blocks.shape[1]):
        blocks[block, axis, lane] = np.nan


@inlined
def judge(blocks, n_blocks, lows, score, points, row, lanes, tally):  # type: ignore[no-untyped-def]
    """The verdict about a row, given blocks of skyline points, those of low scores first."""
    for block in range(n_blocks):
        if lows[block] > score:
            return KEPT
        tally[COMPARED] += LANES
        if any_not_worse_than(blocks, block, points, row, lanes):
            for lane in range(LANES):
                if lanes[lane]:
                    # One that is equal rules out that another beats the row: both are in the skyline.
                    return BEATEN if differs(blocks, block, lane, points, row) else FOUND
    return KEPT


@entry_point
def _judge_all(blocks, n_blocks, lows, points, scores, lanes, tally, verdicts):  # type: ignore[no-untyped-def]
    for row in range(len(points)):
        verdicts[row] = judge(blocks, n_blocks, lows, scores[row], points, row, lanes, tally)


@entry_point
def _filter_sorted(blocks, lows, room, points, scores, lanes, tally, verdicts):  # type: ignore[no-untyped-def]
    """Rows come best first: one that no point of the window beats is in the skyline, and joins it if there is room."""
    for row in range(len(points)):
        size = tally[SIZE]
        n_blocks = (size + LANES - 1) // LANES
        verdicts[row] = judge(blocks, n_blocks, lows, scores[row], points, row, lanes, tally)
        if verdicts[row] == KEPT and size < room:
            if size % LANES == 0:
                lows[size // LANES] = scores[row]
            put(blocks, size // LANES, size % LANES, points, row)
            tally[SIZE] = size + 1
            verdicts[row] = FOUND


class Window:
    """Room for so many points, in blocks; `bounds` has a score per block, `tally` what kernels count."""

    def __init__(self, room: int, width: int) -> None:
        n_blocks = -(-room // LANES)
        self.room = room
        self.blocks = np.full((n_blocks, width, LANES), np.nan)
        self.bounds = np.full(n_blocks, np.nan)
        self.lanes = np.zeros(LANES, np.int64)
        self.tally = np.zeros(3, np.int64)

    @property
    def size(self) -> int:
        return int(self.tally[SIZE])

    @property
    def n_blocks(self) -> int:
        """Blocks in use."""
        return -(-self.size // LANES)

    def fill(self, points: np.ndarray, bounds: np.ndarray) -> None:
        """These points instead; each block is bounded by the first of its `bounds`, a number per point."""
        width = points.shape[1]
        n_blocks = -(-len(points) // LANES)
        padded = np.full((n_blocks * LANES, width), np.nan)
        padded[: len(points)] = points
        self.blocks[:n_blocks] = padded.reshape(n_blocks, LANES, width).transpose(0, 2, 1)
        self.bounds[:n_blocks] = bounds[::LANES]
        self.tally[SIZE] = len(points)

    def points(self) -> np.ndarray:
        """What the lanes in use hold; NaN where a kernel cleared one."""
        rows = self.blocks[: self.n_blocks].transpose(0, 2, 1).reshape(-1, self.blocks.shape[1])
        return rows[: self.size]

    def clear(self) -> None:
        self.blocks[:] = np.nan
        self.tally[SIZE] = 0

    def judged(self, points: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """A verdict per row, by points that are all in the skyline, best scores first."""
        verdicts = np.empty(len(points), np.int8)
        _judge_all(self.blocks, self.n_blocks, self.bounds, points, scores, self.lanes, self.tally, verdicts)
        return verdicts

    def filtered(self, points: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """A verdict per row of a stream that is sorted best first; those in the skyline join while there is room."""
        verdicts = np.empty(len(points), np.int8)
        _filter_sorted(self.blocks, self.bounds, self.room, points, scores, self.lanes, self.tally, verdicts)
        return verdicts

    def take_comparisons(self) -> int:
        """How many there were since the last time."""
        taken = int(self.tally[COMPARED])
        self.tally[COMPARED] = 0
        return taken


def skyline_in_memory(points: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, int]:
    """The rows in the skyline, and the comparisons that took."""
    order = best_first(points, scores)
    window = Window(len(points), points.shape[1])
    verdicts = window.filtered(read_only(points[order]), scores[order])
    return order[verdicts == FOUND], window.take_comparisons()

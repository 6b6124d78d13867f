"""LESS, linear elimination sort for skylines (Godfrey, Shipley, Gryz: VLDB Journal 2007), to measure RAND against.

Rows are sorted on disk by entropy, so that none comes before one that beats it; then whatever the window does not beat
is in the skyline at once. While the runs are made, a small window of rows with the best entropy already drops most of
what is beaten; the last merge feeds the first pass of the filter.
"""

from collections.abc import Iterator

import numpy as np

from skyarchive.kernels.compiling import entry_point
from skyarchive.kernels.external.merging import merged
from skyarchive.kernels.external.rand import found_in_memory
from skyarchive.kernels.external.scores import Score, best_first
from skyarchive.kernels.external.source import Source
from skyarchive.kernels.external.streams import Batch, Spill, Workspace
from skyarchive.kernels.external.window import (
    BEATEN,
    COMPARED,
    FOUND,
    KEPT,
    LANES,
    SIZE,
    Window,
    any_not_worse_than,
    differs,
    put,
)

_SMALLEST_PAGE = 16
"""Rows of a page of a run. With fewer it would be all seeking; with more, few runs could be merged at a time."""
_ELIMINATION = 2 * LANES
"""Room of the elimination filter, where the window is not smaller."""


@entry_point
def _eliminate(blocks, kept_scores, room, points, scores, lanes, tally, verdicts):  # type: ignore[no-untyped-def]
    """Drops what the filter beats. Others stay, and a row of better entropy takes the place of the worst."""
    for row in range(len(points)):
        verdicts[row] = KEPT
        size = tally[SIZE]
        for block in range((size + LANES - 1) // LANES):
            tally[COMPARED] += LANES
            if any_not_worse_than(blocks, block, points, row, lanes):
                for lane in range(LANES):
                    if lanes[lane]:
                        # An equal one is no reason to drop the row, nor to hold it twice.
                        verdicts[row] = BEATEN if differs(blocks, block, lane, points, row) else FOUND
                        break
                break
        if verdicts[row] == KEPT:
            slot = size
            if size == room:
                slot = np.argmax(kept_scores[:room])
                if kept_scores[slot] <= scores[row]:
                    continue
            put(blocks, slot // LANES, slot % LANES, points, row)
            kept_scores[slot] = scores[row]
            tally[SIZE] = max(size, slot + 1)


class _Elimination:
    """The elimination filter."""

    def __init__(self, room: int, width: int) -> None:
        self.window = Window(room, width)
        self._scores = np.empty(room)

    def stays(self, batch: Batch, scores: np.ndarray) -> np.ndarray:
        verdicts = np.empty(len(batch.ids), np.int8)
        window = self.window
        _eliminate(window.blocks, self._scores, window.room, batch.points, scores, window.lanes, window.tally, verdicts)
        return verdicts != BEATEN


class _Runs:
    """Rows collected until there are as many as fit, then sorted and written."""

    def __init__(self, room: int, page: int, width: int, score: Score, work: Workspace) -> None:
        self._page, self._score, self._work = page, score, work
        self.ids, self.points = np.empty(room, np.int64), np.empty((room, width))
        self.waiting = 0
        self.written: list[Spill] = []

    def add(self, ids: np.ndarray, points: np.ndarray) -> None:
        start = 0
        while start < len(ids):
            if self.waiting == len(self.ids):
                self.write()
            size = min(len(ids) - start, len(self.ids) - self.waiting)
            there, here = slice(self.waiting, self.waiting + size), slice(start, start + size)
            self.ids[there], self.points[there] = ids[here], points[here]
            self.waiting += size
            start += size

    def write(self) -> None:
        """What waits, as a run."""
        points = self.points[: self.waiting]
        order = best_first(points, self._score(points))
        run = self._work.spill(points.shape[1], self._page)
        run.write(self.ids[: self.waiting][order], points[order])
        self.written.append(run.finish())
        self.waiting = 0


def sorted_elimination(source: Source, window: int, work: Workspace) -> Iterator[np.ndarray]:
    """Gives ids as they are found."""
    score = Score.of(source.spots(work.counters), source.width)
    room = min(_ELIMINATION, max(window // 2, 1))
    space = max(min(window - room, source.rows), 1)
    half = max(window // 2, 2)
    page = min(max(half // (source.rows // space + 2), _SMALLEST_PAGE), work.batch_rows)
    runs = _sorted_runs(source, room, _Runs(space, page, source.width, score, work), score, work)
    if not runs.written:
        yield found_in_memory(runs.ids[: runs.waiting], runs.points[: runs.waiting], work)
        return
    runs.write()
    at_once = max(half // page, 2)
    while len(runs.written) > at_once:
        work.counters.passes += 1
        runs.written = [
            _as_run(runs.written[first : first + at_once], page, score, work)
            for first in range(0, len(runs.written), at_once)
        ]
    work.counters.passes += 1
    work.counters.hold(len(runs.written) * page + max(window - half, 1))
    yield from _filtered(merged(runs.written, page, score, work), max(window - half, 1), window, score, work)


def _sorted_runs(source: Source, room: int, runs: _Runs, score: Score, work: Workspace) -> _Runs:
    elimination = _Elimination(room, source.width)
    for batch in source.batches(work.counters):
        stays = elimination.stays(batch, score(batch.points))
        runs.add(batch.ids[stays], batch.points[stays])
        work.counters.hold(elimination.window.size + runs.waiting)
    work.counters.comparisons += elimination.window.take_comparisons()
    return runs


def _as_run(runs: list[Spill], page: int, score: Score, work: Workspace) -> Spill:
    """Several runs merged into one."""
    run = work.spill(runs[0].width, page)
    for batch in merged(runs, page, score, work):
        run.write(batch.ids, batch.points)
    return run.finish()


def _filtered(
    batches: Iterator[Batch], first_room: int, room: int, score: Score, work: Workspace
) -> Iterator[np.ndarray]:
    """Passes over sorted rows until nothing is left that found no room; in the first one the merge needs some."""
    window: Window | None = None
    while True:
        left = None
        for batch in batches:
            window = window or Window(first_room, batch.points.shape[1])
            left = left or work.spill(batch.points.shape[1])
            verdicts = window.filtered(batch.points, score(batch.points))
            yield batch.ids[verdicts == FOUND]
            stays = verdicts == KEPT
            left.write(batch.ids[stays], batch.points[stays])
            work.counters.hold(window.size)
        if window is None or left is None:
            return
        work.counters.comparisons += window.take_comparisons()
        window = Window(room, left.width)
        batches = left.finish().batches(work.counters) if left.rows else iter(())

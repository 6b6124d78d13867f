"""Sorted runs on disk read as one sorted stream, a page of each in memory."""

from collections.abc import Iterator, Sequence

import numpy as np

from skyarchive.kernels.compiling import entry_point, inlined
from skyarchive.kernels.external.scores import Score, read_only
from skyarchive.kernels.external.streams import Batch, Spill, Workspace, note_read

TAKEN = 0
"""Place in the state: rows put out so far; a place per run follows, with the row its page is at."""
_NONE = -1


@inlined
def _is_before(scores, points, state, one, other):  # type: ignore[no-untyped-def]
    """Whether the next row of one run comes before that of another: by score, then lexicographically."""
    a, b = state[1 + one], state[1 + other]
    if scores[one, a] != scores[other, b]:
        return scores[one, a] < scores[other, b]
    for axis in range(points.shape[2]):
        if points[one, a, axis] != points[other, b, axis]:
            return points[one, a, axis] < points[other, b, axis]
    return False


@inlined
def _sink(heap, size, scores, points, state, at):  # type: ignore[no-untyped-def]
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and _is_before(scores, points, state, heap[child + 1], heap[child]):
            child += 1
        if not _is_before(scores, points, state, heap[child], heap[at]):
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@entry_point
def _order(heap, size, scores, points, state):  # type: ignore[no-untyped-def]
    """Makes a heap of the runs."""
    for at in range(size // 2 - 1, -1, -1):
        _sink(heap, size, scores, points, state, at)


@entry_point
def _merge(heap, size, sizes, ids, scores, points, state, out_ids, out_points):  # type: ignore[no-untyped-def]
    """Puts out rows until the page of a run is used up (gives the run, first in the heap) or there is no room."""
    while size > 0 and state[TAKEN] < len(out_ids):
        run = heap[0]
        at = state[1 + run]
        out = state[TAKEN]
        out_ids[out] = ids[run, at]
        for axis in range(points.shape[2]):
            out_points[out, axis] = points[run, at, axis]
        state[TAKEN] = out + 1
        state[1 + run] = at + 1
        if at + 1 == sizes[run]:
            return run
        _sink(heap, size, scores, points, state, 0)
    return _NONE


class _Pages:
    """The page of each run that is being read, and who comes next."""

    def __init__(self, runs: Sequence[Spill], page: int, score: Score, work: Workspace) -> None:
        width = runs[0].width
        self._score, self._work = score, work
        self._readers = [run.read() for run in runs]
        self._last_read = _NONE
        self.ids = np.empty((len(runs), page), np.int64)
        self.points = np.empty((len(runs), page, width))
        self.scores = np.empty((len(runs), page))
        self.sizes = np.zeros(len(runs), np.int64)
        self.state = np.zeros(1 + len(runs), np.int64)
        self.heap = np.array([run for run in range(len(runs)) if self._turn(run)], np.int64)
        self.size = len(self.heap)
        _order(self.heap, self.size, self.scores, self.points, self.state)

    def refill(self, run: int) -> None:
        """The run at the top of the heap gets its next page, or leaves."""
        if not self._turn(run):
            self.size -= 1
            self.heap[0] = self.heap[self.size]
        _order(self.heap, self.size, self.scores, self.points, self.state)

    def _turn(self, run: int) -> bool:
        batch = next(self._readers[run], None)
        if batch is None:
            return False
        note_read(self._work.counters, len(batch.ids), follows=run == self._last_read)
        self._last_read = run
        size = len(batch.ids)
        self.ids[run, :size], self.points[run, :size] = batch.ids, batch.points
        self.scores[run, :size] = self._score(batch.points)
        self.sizes[run], self.state[1 + run] = size, 0
        return True


def merged(runs: Sequence[Spill], page: int, score: Score, work: Workspace) -> Iterator[Batch]:
    """The rows of all the runs, whose batches have at most `page` rows, best first."""
    pages = _Pages(runs, page, score, work)
    width = runs[0].width
    while pages.size:
        ids, points = np.empty(work.batch_rows, np.int64), np.empty((work.batch_rows, width))
        pages.state[TAKEN] = 0
        while pages.size and pages.state[TAKEN] < len(ids):
            run = _merge(
                pages.heap, pages.size, pages.sizes, pages.ids, pages.scores, pages.points, pages.state, ids, points
            )
            if run != _NONE:
                pages.refill(run)
        size = int(pages.state[TAKEN])
        yield Batch(read_only(ids[:size]), read_only(points[:size]))
    for run in runs:
        run.close()

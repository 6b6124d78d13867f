"""RAND: the skyline in few passes and bounded memory, whatever the order of the input.

Das Sarma, Lall, Nanongkai, Xu: Randomized Multi-pass Streaming Skyline Algorithms (VLDB 2009). A random row is likely
to be beaten by a skyline point that beats many. So some rows are drawn (pass 1), each is replaced by what beats it
until it is a skyline point (pass 2), and these points and all they beat leave the stream (pass 3); again, until
nothing is left. Rows equal to a found point leave as found, too: a row is told by its id, not by its values.
"""

from collections.abc import Callable, Iterator
from math import ceil, log2

import numpy as np

from skyarchive.kernels.external.improving import improved_in_order, improved_lexicographically
from skyarchive.kernels.external.scores import Score, best_first
from skyarchive.kernels.external.streams import Spill, Stream, Workspace
from skyarchive.kernels.external.window import FOUND, KEPT, Window, skyline_in_memory

SAMPLES_PER_POINT = 24
"""So many rows are drawn for each point of the skyline's (assumed) size: then a quarter is left, on average."""

Improve = Callable[[Stream, np.ndarray, Score, Workspace], np.ndarray]


class Sample:
    """Rows drawn in one pass, each set of so many with the same chance (a reservoir)."""

    def __init__(self, stream: Stream, size: int, work: Workspace) -> None:
        room = min(size, stream.rows)
        self.ids, self.points = np.empty(room, np.int64), np.empty((room, stream.width))
        self.seen = 0
        """Rows of the stream."""
        for batch in stream.batches(work.counters):
            order = self.seen + np.arange(len(batch.ids))
            # The row numbered i takes a place with the chance room / (i + 1), each with the same; of two in one
            # batch that take the same place, the later one stays, as numpy assigns in order.
            place = np.where(order < room, order, (work.chance.random(len(order)) * (order + 1)).astype(np.int64))
            taken = place < room
            self.ids[place[taken]] = batch.ids[taken]
            self.points[place[taken]] = batch.points[taken]
            self.seen += len(order)
        # A reservoir is in no order, but in no random one either: the first rows of the stream stand first.
        order = work.chance.permutation(min(room, self.seen))
        self.ids, self.points = self.ids[order], self.points[order]
        work.counters.hold(len(order))

    @property
    def is_all(self) -> bool:
        return self.seen == len(self.ids)


def found_in_memory(ids: np.ndarray, points: np.ndarray, work: Workspace) -> np.ndarray:
    """The ids of the skyline of points that are all at hand."""
    work.counters.hold(len(ids))
    rows, comparisons = skyline_in_memory(points, Score.of([points], points.shape[1])(points))
    work.counters.comparisons += comparisons
    return ids[rows]


def without_beaten(stream: Stream, winners: np.ndarray, score: Score, work: Workspace) -> Iterator[np.ndarray | Spill]:
    """One pass that takes skyline points out of the stream, and what they beat: gives the ids of rows equal to them
    as they come by, and at last what is left."""
    scores = score(winners)
    order = best_first(winners, scores)
    window = Window(len(winners), stream.width)
    window.fill(winners[order], scores[order])
    left = work.spill(stream.width)
    for batch in stream.batches(work.counters):
        verdicts = window.judged(batch.points, score(batch.points))
        if (verdicts == FOUND).any():
            yield batch.ids[verdicts == FOUND]
        stays = verdicts == KEPT
        left.write(batch.ids[stays], batch.points[stays])
    work.counters.comparisons += window.take_comparisons()
    stream.close()
    yield left.finish()


def eliminate_points(
    stream: Stream, sample_size: int, work: Workspace, improve: Improve = improved_in_order
) -> Iterator[np.ndarray | Spill]:
    """Three passes. Gives ids of skyline rows, at last the stream of what neither is found nor beaten.

    A stream that the sample holds as a whole takes one pass: its skyline is found where it is.
    """
    sample = Sample(stream, sample_size, work)
    if sample.is_all:
        yield found_in_memory(sample.ids, sample.points, work)
        stream.close()
        yield work.spill(stream.width).finish()
        return
    score = Score.of([sample.points], stream.width)
    winners = improve(stream, sample.points, score, work)
    yield from without_beaten(stream, winners, score, work)


def fixed_window(
    stream: Stream, window: int, work: Workspace, improve: Improve = improved_in_order
) -> Iterator[np.ndarray]:
    """FIXEDWINDOW-RAND: never more than `window` points in memory. Gives ids as they are found."""
    while stream.rows:
        for part in eliminate_points(stream, window, work, improve):
            if isinstance(part, Spill):
                stream = part
            else:
                yield part


def streaming(stream: Stream, work: Workspace) -> Iterator[np.ndarray]:
    """STREAMING-RAND: no window is given. The size of the skyline is guessed, and the guess doubled whenever more
    than half of the stream stays."""
    n = max(stream.rows, 2)
    guess = 1
    factor = ceil(log2(n * max(log2(n), 1.0)))
    while stream.rows:
        before = stream.rows
        for part in eliminate_points(stream, SAMPLES_PER_POINT * guess * factor, work):
            if isinstance(part, Spill):
                stream = part
            else:
                yield part
        if stream.rows > before / 2:
            guess *= 2


def lexicographic(stream: Stream, window: int, work: Workspace) -> Iterator[np.ndarray]:
    """FIXEDWINDOW-RAND by LEX-ELIMINATE-POINTS: what a sampled row becomes does not depend on the order of the input.

    Half the window holds what was drawn, the other half the best that beats it.
    """
    yield from fixed_window(stream, max(window // 2, 1), work, improved_lexicographically)

"""Skylines of two attributes without chance: instead of a sample, the best point of each quantile of the first one."""

from collections.abc import Iterator

import numpy as np

from skyarchive.kernels.compiling import entry_point
from skyarchive.kernels.external.quantiles import QuantileSummary
from skyarchive.kernels.external.rand import found_in_memory, without_beaten
from skyarchive.kernels.external.scores import Score
from skyarchive.kernels.external.streams import Spill, Stream, Workspace
from skyarchive.kernels.external.window import (
    COMPARED,
    LANES,
    Window,
    any_not_better_than,
    any_not_worse_than,
    clear,
    differs,
    put,
)

_SHARE = 8
"""One bucket for so many points of the window: the summary needs the rest, at the error that buckets ask for."""
_ERRORS_PER_BUCKET = 4


@entry_point
def _keep_best(borders, best, points):  # type: ignore[no-untyped-def]
    """Of each bucket the point that is best in the second attribute, and of several the best in the first."""
    for row in range(len(points)):
        low, high = 0, len(borders)
        while low < high:
            middle = (low + high) // 2
            if borders[middle] <= points[row, 0]:
                low = middle + 1
            else:
                high = middle
        bucket = max(low - 1, 0)
        # Written so that a bucket that is still empty (NaN) takes the point.
        if not (best[bucket, 1] <= points[row, 1]) or (
            best[bucket, 1] == points[row, 1] and points[row, 0] < best[bucket, 0]
        ):
            best[bucket, 0] = points[row, 0]
            best[bucket, 1] = points[row, 1]


@entry_point
def _replace_beaten(blocks, n_blocks, tops, points, scores, lanes, tally):  # type: ignore[no-untyped-def]
    """A row that beats points of the window throws them out and, unless another one there beats it, joins it. `tops`
    as in RAND: a row can only beat what has no lower score."""
    for row in range(len(points)):
        free = -1
        for block in range(n_blocks):
            if tops[block] < scores[row]:
                break
            tally[COMPARED] += LANES
            if any_not_better_than(blocks, block, points, row, lanes):
                for lane in range(LANES):
                    if lanes[lane] and differs(blocks, block, lane, points, row):
                        clear(blocks, block, lane)
                        free = block * LANES + lane
        block = 0
        while free >= 0 and block < n_blocks:
            tally[COMPARED] += LANES
            if any_not_worse_than(blocks, block, points, row, lanes):
                free = -1  # beaten, or already there
            block += 1
        if free >= 0:
            put(blocks, free // LANES, free % LANES, points, row)


def deterministic(stream: Stream, window: int, work: Workspace) -> Iterator[np.ndarray]:
    """The paper's 2D-ELIMINATE-POINTS again and again: four passes each. Gives ids as they are found."""
    n_buckets = max(window // _SHARE, 1)
    while stream.rows > window:
        for part in eliminate_by_quantiles(stream, n_buckets, work):
            if isinstance(part, Spill):
                stream = part
            else:
                yield part
    if stream.rows:
        batches = list(stream.batches(work.counters))
        ids = np.concatenate([batch.ids for batch in batches])
        yield found_in_memory(ids, np.concatenate([batch.points for batch in batches]), work)
        stream.close()


def eliminate_by_quantiles(stream: Stream, n_buckets: int, work: Workspace) -> Iterator[np.ndarray | Spill]:
    """Four passes: the borders of the buckets, the best point of each, what these become, and all that they beat
    goes. Gives ids of skyline rows, at last the stream of what neither is found nor beaten."""
    summary = QuantileSummary(1 / (_ERRORS_PER_BUCKET * n_buckets))
    for batch in stream.batches(work.counters):
        summary.add(batch.points[:, 0])
        work.counters.hold(len(summary))
    if not summary.count:
        yield work.spill(stream.width).finish()
        return
    borders = np.unique(summary.quantiles(np.arange(n_buckets + 1) / n_buckets))
    best = best_of_buckets(stream, borders, work)
    score = Score.of([best], 2)
    yield from without_beaten(stream, _improved(stream, best, score, work), score, work)


def best_of_buckets(stream: Stream, borders: np.ndarray, work: Workspace) -> np.ndarray:
    """One point for each bucket with any: from a border to the next, in the first attribute."""
    best = np.full((len(borders), 2), np.nan)
    for batch in stream.batches(work.counters):
        _keep_best(borders, best, batch.points)
    best = best[~np.isnan(best[:, 0])]
    work.counters.hold(len(best))
    return best


def _improved(stream: Stream, best: np.ndarray, score: Score, work: Workspace) -> np.ndarray:
    """What the best points of the buckets become: skyline points."""
    scores = score(best)
    order = np.argsort(-scores)
    held = Window(len(best), 2)
    held.fill(best[order], scores[order])
    for batch in stream.batches(work.counters):
        _replace_beaten(
            held.blocks, held.n_blocks, held.bounds, batch.points, score(batch.points), held.lanes, held.tally
        )
    work.counters.comparisons += held.take_comparisons()
    winners = held.points()
    return winners[~np.isnan(winners[:, 0])]

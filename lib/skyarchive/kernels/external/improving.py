"""Pass 2 of RAND: points that were drawn become skyline points."""

from itertools import chain

import numpy as np

from skyarchive.kernels.compiling import entry_point, inlined
from skyarchive.kernels.external.scores import Score, read_only
from skyarchive.kernels.external.streams import Stream, Workspace
from skyarchive.kernels.external.window import (
    CHANGED,
    COMPARED,
    LANES,
    Window,
    any_not_better_than,
    clear,
    differs,
    put,
)

_SLICE = 1024
"""Rows after which points that changed may be brought into order again."""
_STALE = 8
"""It is done when one in so many changed."""
_SCOUTS = 4
"""One in so many of the points drawn comes by before the stream."""


@entry_point
def _replace_beaten(blocks, n_blocks, tops, points, scores, lanes, tally):  # type: ignore[no-untyped-def]
    """Every point that a row beats becomes that row. Equal points need no second place.

    `tops`: the highest score of a block when it was filled, descending; they only sink, and a row can only beat what
    has no lower score."""
    for row in range(len(points)):
        placed = False
        for block in range(n_blocks):
            if tops[block] < scores[row]:
                break
            tally[COMPARED] += LANES
            if not any_not_better_than(blocks, block, points, row, lanes):
                continue
            for lane in range(LANES):
                if lanes[lane] and differs(blocks, block, lane, points, row):
                    if placed:
                        clear(blocks, block, lane)
                    else:
                        put(blocks, block, lane, points, row)
                        placed = True
                    tally[CHANGED] += 1


@inlined
def _comes_before(points, row, blocks, block, lane):  # type: ignore[no-untyped-def]
    """Whether the row is lexicographically before the point."""
    for axis in range(points.shape[1]):
        if points[row, axis] != blocks[block, axis, lane]:
            return points[row, axis] < blocks[block, axis, lane]
    return False


@entry_point
def _keep_first(drawn, best, n_blocks, tops, points, lanes, tally):  # type: ignore[no-untyped-def]
    """For each point drawn, the lexicographically first row that beats it. `tops`: the largest first coordinate of
    the best ones of a block when it was filled, descending; they only sink."""
    for row in range(len(points)):
        for block in range(n_blocks):
            if tops[block] < points[row, 0]:
                break
            tally[COMPARED] += LANES
            if not any_not_better_than(drawn, block, points, row, lanes):
                continue
            for lane in range(LANES):
                if lanes[lane] and _comes_before(points, row, best, block, lane):
                    put(best, block, lane, points, row)
                    tally[CHANGED] += 1


def improved_in_order(stream: Stream, drawn: np.ndarray, score: Score, work: Workspace) -> np.ndarray:
    """Each point drawn is replaced by the first row that beats it, that one by the next, to the end of the stream:
    what comes out is beaten by nothing in it. Gives each point once.

    Some of the points drawn come by before the stream does. Which ones is chance that has nothing to do with the
    others, so what is known of the others, whatever the order of the stream, holds; but few rows can beat a point
    that is already good, and most need not be compared, even in a stream whose best rows come last.
    """
    window = Window(len(drawn), stream.width)
    _sort_by_score(window, drawn, score)
    scouts = read_only(drawn[: len(drawn) // _SCOUTS])
    for points in chain([scouts], (batch.points for batch in stream.batches(work.counters))):
        scores = score(points)
        for start in range(0, len(scores), _SLICE):
            part = slice(start, start + _SLICE)
            rows = (points[part], scores[part])
            _replace_beaten(window.blocks, window.n_blocks, window.bounds, *rows, window.lanes, window.tally)
            if window.tally[CHANGED] * _STALE > window.size:
                _sort_by_score(window, window.points(), score)
    work.counters.comparisons += window.take_comparisons()
    return _distinct(window.points())


def improved_lexicographically(stream: Stream, drawn: np.ndarray, score: Score, work: Workspace) -> np.ndarray:
    """Each point drawn is replaced by the lexicographically first row that beats it, which nothing beats: the same
    ones whatever the order of the stream. Gives each point once.

    The points drawn are in the stream, so they may come by first: then few rows come before what is known already.
    On the columns of a partial order all this is as right as on numbers.
    """
    del score  # the first coordinate does its work here
    drawn = _distinct(drawn)
    window, best = Window(len(drawn), stream.width), Window(len(drawn), stream.width)
    work.counters.hold(2 * len(drawn))
    _sort_by_first(window, best, drawn, drawn)
    for points in chain([read_only(drawn)], (batch.points for batch in stream.batches(work.counters))):
        for start in range(0, len(points), _SLICE):
            part = points[start : start + _SLICE]
            _keep_first(window.blocks, best.blocks, best.n_blocks, best.bounds, part, window.lanes, window.tally)
            if window.tally[CHANGED] * _STALE > window.size:
                _sort_by_first(window, best, window.points(), best.points())
    work.counters.comparisons += window.take_comparisons()
    return _distinct(best.points())


def _sort_by_score(window: Window, points: np.ndarray, score: Score) -> None:
    points = _distinct(points)
    scores = score(points)
    order = np.argsort(-scores)
    window.fill(points[order], scores[order])
    window.tally[CHANGED] = 0


def _sort_by_first(window: Window, best_window: Window, drawn: np.ndarray, best: np.ndarray) -> None:
    order = np.argsort(-best[:, 0])
    window.fill(drawn[order], best[order, 0])
    best_window.fill(best[order], best[order, 0])
    window.tally[CHANGED] = 0


def _distinct(points: np.ndarray) -> np.ndarray:
    """Each point once, and no cleared ones."""
    points = points[~np.isnan(points[:, 0])]
    points = points[np.lexsort(points.T[::-1])]
    same = (points[1:] == points[:-1]).all(axis=1)
    return points[np.append(True, ~same)] if len(points) else points

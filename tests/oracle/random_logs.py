"""Seeded random update logs with everything that makes a skyline hard: ties, duplicates, births, deaths, bulk moves,
empty snapshots, crowds at one position, -0.0 and infinities."""

import numpy as np

from oracle.skylines import Log

MOST_ATTRIBUTES = 8


def random_log(seed: int, width: int | None = None) -> Log:
    """A small log; its kind (how fine the grid, how many move, die or pause) is drawn too."""
    rng = np.random.default_rng(seed)
    width = width or int(rng.integers(1, MOST_ATTRIBUTES + 1))
    n_objects = int(rng.choice([1, 2, 8, 25, 60]))
    n_snapshots = int(rng.integers(1, 40))
    moving = rng.choice([0.03, 0.2, 0.9], n_snapshots, p=[0.5, 0.4, 0.1])
    moving[rng.random(n_snapshots) < rng.choice([0.0, 0.3])] = 0.0
    moving[0] = rng.choice([0.0, 0.5, 1.0])
    hits = rng.random((n_snapshots, n_objects)) < moving[:, None]
    snapshot, item = np.nonzero(hits)
    points = _points(rng, len(snapshot), width)
    gone = rng.random(len(snapshot)) < rng.choice([0.0, 0.1, 0.5])
    points[gone, rng.integers(0, width, gone.sum())] = np.nan
    return _log(snapshot, item, points, n_snapshots)


def _points(rng: np.random.Generator, count: int, width: int) -> np.ndarray:
    steps = int(rng.choice([1, 2, 4, 12, 10**6]))
    points = np.floor(rng.random((count, width)) * steps) - steps // 2
    if rng.random() < 0.3:  # most stand at one position
        points[rng.random(count) < 0.7] = rng.choice([0.0, float(steps)])
    if rng.random() < 0.2:  # everybody on one line, so that many are unbeaten
        points[:, -1] = -points[:, :-1].sum(axis=1)
    points[(points == 0) & (rng.random(points.shape) < 0.5)] = -0.0
    if rng.random() < 0.1:
        points[rng.random(points.shape) < 0.1] = rng.choice([np.inf, -np.inf])
    return points


def walking_log(
    seed: int, n_objects: int, n_snapshots: int, width: int, decimals: int = 1, scatter: float = 1.0
) -> Log:
    """Objects that walk in small steps, and now and then go and come back: the filter's home ground. The less they are
    scattered around the diagonal, the fewer beat most of the others, also on many attributes."""
    rng = np.random.default_rng(seed)
    along = np.random.default_rng([seed, n_objects]).random((n_objects, 1))
    point = (scatter * rng.random((n_objects, width)) + (1 - scatter) * along) * 100
    snapshot, item, points = [np.zeros(n_objects, np.int64)], [np.arange(n_objects)], [point.round(decimals)]
    for at in range(1, n_snapshots):
        moved = np.flatnonzero(rng.random(n_objects) < 0.1)
        point[moved] += rng.normal(0, 1, (len(moved), width))
        told = point[moved].round(decimals)
        told[rng.random(len(moved)) < 0.01] = np.nan
        snapshot.append(np.full(len(moved), at))
        item.append(moved)
        points.append(told)
    return _log(np.concatenate(snapshot), np.concatenate(item), np.concatenate(points), n_snapshots)


def _log(snapshot: np.ndarray, item: np.ndarray, points: np.ndarray, n_snapshots: int) -> Log:
    columns = [np.ascontiguousarray(points[:, axis]) for axis in range(points.shape[1])]
    return Log(snapshot.astype(np.int32), item.astype(np.int32), columns, n_snapshots)

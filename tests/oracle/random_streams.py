"""Seeded random streams with everything that makes probabilistic windows hard: ties, duplicates, many records at one
moment, jumps in time, certain and hopeless records, groups, chains in which each is beaten by all before it."""

import numpy as np

from oracle.uncertain import Records

THRESHOLDS = [0.01, 0.0625, 0.125, 0.25, 0.3, 0.5, 0.9, 1.0]


def random_stream(seed: int, size: int | None = None) -> tuple[Records, list[float]]:
    """A small stream, and thresholds in no order; its kind is drawn too."""
    chance = np.random.default_rng(seed)
    n = int(chance.choice([0, 1, 3, 10, 30, 60])) if size is None else size
    width = int(chance.choice([1, 2, 5, 12, 40]))
    spread = max(1, int(n * chance.choice([0.2, 1.0, 3.0])))
    by_number = chance.random() < 0.3
    moments = np.arange(n) if by_number else np.sort(chance.integers(-20, spread, n))
    groups = None if chance.random() < 0.6 else chance.integers(-2, 3, n).astype(np.int32)
    points = _points(chance, n, int(chance.choice([1, 2, 3, 4, 5, 8, 9, 16])))
    columns = [np.ascontiguousarray(column) for column in points.T]
    thresholds = chance.permutation(np.unique(chance.choice(THRESHOLDS, int(chance.integers(1, 5)))))
    return Records(moments.astype(np.int64), groups, columns, _probability(chance, n), width), thresholds.tolist()


def _points(chance: np.random.Generator, n: int, width: int) -> np.ndarray:
    points = np.floor(chance.random((n, width)) * chance.choice([2, 3, 8, 1000]))
    if chance.random() < 0.3:  # hardly anybody beats another
        points[:, -1] = -points[:, :-1].sum(axis=1)
    if chance.random() < 0.2:  # everybody is beaten by all before
        points = np.sort(points, axis=0)
    if chance.random() < 0.1:
        points[chance.random(points.shape) < 0.1] = chance.choice([1e308, -1e308, 5e-324])
    points[(points == 0) & (chance.random(points.shape) < 0.5)] = -0.0
    return points


def _probability(chance: np.random.Generator, n: int) -> np.ndarray:
    kind = chance.integers(5)
    if kind == 0:
        return 1 - chance.random(n)
    if kind == 1:
        return 0.1 - 0.1 * chance.random(n)
    choices = [[0.1, 0.5, 0.9, 1.0], [0.25, 0.5, 0.75], [0.3, 1.0]][kind - 2]
    return chance.choice(choices, n)


def anti_correlated(n: int, width: int, seed: int, spread: float = 0.042) -> list[np.ndarray]:
    """Around a plane, the nearer the harder: whoever is good in one attribute is bad in another."""
    chance = np.random.default_rng(seed)
    kept = np.empty((0, width))
    while len(kept) < n:
        level = chance.normal(0.5, spread, n)
        reach = np.minimum(level, 1 - level)
        points = np.repeat(level[:, None], width, axis=1)
        for axis in range(width):
            step = chance.uniform(-1, 1, n) * reach
            points[:, axis] += step
            points[:, (axis + 1) % width] -= step
        kept = np.concatenate([kept, points[((points >= 0) & (points <= 1)).all(axis=1)]])
    return [np.ascontiguousarray(kept[:n, axis]) for axis in range(width)]

"""The paper's synthetic data: points of the standard generator (Börzsönyi et al., ICDE 2001), each of which is
somewhere else within its box at every snapshot."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from skyarchive.kernels.monitoring.feed import BLOCK_ROWS, Block

Distribution = Literal["independent", "correlated", "anticorrelated"]
_BELL = 12
"""Uniform numbers whose mean passes for a normal one in the standard generator."""
_SPREAD_OF_PLANES = 0.25
"""How far from the middle the planes lie on which anti-correlated points are."""


@dataclass(frozen=True)
class Workload:
    """Uncertain points: boxes of edge 2u around `objects` centres, cut at the borders of the unit space."""

    distribution: Distribution = "independent"
    objects: int = 2500
    dimensions: int = 2
    uncertainty: float = 0.08
    snapshots: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.distribution not in get_args(Distribution):
            raise ValueError(f"distribution must be one of {', '.join(get_args(Distribution))}")
        if min(self.objects, self.dimensions, self.snapshots) < 1:
            raise ValueError("objects, dimensions and snapshots must be at least 1")
        if not 0 <= self.uncertainty <= 1:
            raise ValueError(f"uncertainty must be in 0..1, not {self.uncertainty}")

    @property
    def n_objects(self) -> int:
        return self.objects

    @property
    def n_snapshots(self) -> int:
        return self.snapshots

    @property
    def spread(self) -> np.ndarray:
        return np.ones(self.dimensions)

    def blocks(self) -> Iterator[Block]:
        chance = np.random.default_rng(self.seed)
        centre = centres(self.distribution, self.objects, self.dimensions, chance)
        low = np.maximum(centre - self.uncertainty, 0.0)
        edge = np.minimum(centre + self.uncertainty, 1.0) - low
        most = max(1, BLOCK_ROWS // self.objects)
        for first in range(0, self.snapshots, most):
            count = min(most, self.snapshots - first)
            rows = low + edge * chance.random((count, self.objects, self.dimensions))
            start = np.arange(count + 1, dtype=np.int64) * self.objects
            item = np.tile(np.arange(self.objects, dtype=np.int32), count)
            yield Block(start, item, rows.reshape(-1, self.dimensions))


def centres(distribution: Distribution, count: int, dimensions: int, chance: np.random.Generator) -> np.ndarray:
    """Points in the unit space."""
    draw = {"independent": _independent, "correlated": _correlated, "anticorrelated": _anticorrelated}[distribution]
    return _inside(lambda wanted: draw(wanted, dimensions, chance), count)


def _inside(draw: Callable[[int], np.ndarray], count: int) -> np.ndarray:
    """Points drawn until enough of them are in the unit space."""
    found = np.empty((0, 0))
    while len(found) < count:
        points = draw(count)
        points = points[((points >= 0) & (points <= 1)).all(axis=1)]
        found = np.concatenate([found, points]) if found.size else points
    return found[:count]


def _independent(count: int, dimensions: int, chance: np.random.Generator) -> np.ndarray:
    return chance.random((count, dimensions))


def _correlated(count: int, dimensions: int, chance: np.random.Generator) -> np.ndarray:
    """Near the diagonal, most of them in its middle."""
    level = chance.random((count, dimensions)).mean(axis=1)
    reach = np.minimum(level, 1 - level)[:, None]
    shift = (2 * chance.random((count, dimensions, _BELL)).mean(axis=2) - 1) * reach
    return level[:, None] + shift - np.roll(shift, 1, axis=1)


def _anticorrelated(count: int, dimensions: int, chance: np.random.Generator) -> np.ndarray:
    """Near the plane across the diagonal: good in one dimension, bad in another."""
    level = 0.5 + _SPREAD_OF_PLANES * (2 * chance.random((count, _BELL)).mean(axis=1) - 1)
    reach = np.minimum(level, 1 - level)[:, None]
    shift = (2 * chance.random((count, dimensions)) - 1) * reach
    return level[:, None] + shift - np.roll(shift, 1, axis=1)

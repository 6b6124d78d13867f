"""Skylines of the last while by definition: every record alive at a moment, each compared with each other. Slow, and
nothing to get wrong."""

from dataclasses import dataclass

import numpy as np

from oracle.skylines import skyline

Member = tuple[int, int, int]
"""A stay: record, the moment it entered, the moment it left."""


@dataclass(frozen=True)
class Stream:
    """Records in the order in which they came, and how long each counts."""

    moments: np.ndarray
    groups: np.ndarray | None
    columns: list[np.ndarray]
    width: int

    @property
    def arguments(self) -> tuple[np.ndarray, np.ndarray | None, list[np.ndarray], int]:
        return self.moments, self.groups, self.columns, self.width

    def part(self, begin: int, end: int) -> "Stream":
        groups = None if self.groups is None else self.groups[begin:end]
        return Stream(self.moments[begin:end], groups, [column[begin:end] for column in self.columns], self.width)


def members(stream: Stream, moment: int) -> set[int]:
    """Who is in the skyline once everything that happens at a moment has happened."""
    alive = np.flatnonzero((stream.moments <= moment) & (moment < stream.moments + stream.width))
    groups = np.zeros(len(stream.moments), int) if stream.groups is None else stream.groups
    found: set[int] = set()
    for group in set(groups[alive].tolist()):
        own = alive[groups[alive] == group].tolist()
        found |= skyline({record: tuple(float(column[record]) for column in stream.columns) for record in own})
    return found


def stays(stream: Stream) -> list[Member]:
    """Everybody's stay, by record; each must be one stretch of time. Members can only change when a record comes or
    its time is up."""
    moments = sorted({*stream.moments.tolist(), *(stream.moments + stream.width).tolist()})
    entered: dict[int, int] = {}
    left: dict[int, int] = {}
    before: set[int] = set()
    for moment in moments:
        now = members(stream, moment)
        for record in now - before:
            assert record not in entered, "nobody enters twice"
            entered[record] = moment
        left.update(dict.fromkeys(before - now, moment))
        before = now
    assert not before
    return [(record, entered[record], left[record]) for record in sorted(entered)]


def dominators(stream: Stream) -> tuple[list[int], list[int]]:
    """For each record the youngest older one that beats it and the first younger one that does, while both count;
    -1 if there is none."""
    points = np.column_stack(stream.columns)
    groups = np.zeros(len(points), int) if stream.groups is None else stream.groups
    older, younger = [], []
    for record, mine in enumerate(points):
        beats = (points <= mine).all(axis=1) & (points < mine).any(axis=1) & (groups == groups[record])
        meets = np.abs(stream.moments - stream.moments[record]) < stream.width
        rivals = np.flatnonzero(beats & meets)
        older.append(max(rivals[rivals < record].tolist(), default=-1))
        younger.append(min(rivals[rivals > record].tolist(), default=-1))
    return older, younger


def random_stream(seed: int, axes: int | None = None) -> Stream:
    """A small stream; its kind (how fine the grid, how crowded the moments, how long the window) is drawn too."""
    rng = np.random.default_rng(seed)
    axes = axes or int(rng.integers(1, 7))
    length = int(rng.choice([1, 2, 7, 30, 90]))
    steps = int(rng.choice([1, 2, 4, 12, 10**6]))
    points = np.floor(rng.random((length, axes)) * steps) - steps // 2
    kind = rng.random()
    if kind < 0.25:  # on one plane, so that many are unbeaten
        points[:, -1] = -points[:, :-1].sum(axis=1)
    elif kind < 0.4:  # most stand at one position
        points[rng.random(length) < 0.6] = 0.0
    elif kind < 0.6:  # some values far from the others
        points *= np.exp(rng.normal(0, 8, points.shape))
    elif kind < 0.8:  # the better, or the worse, the later
        points += rng.choice([-1, 1]) * np.arange(length)[:, None] * steps / 20
    points[(points == 0) & (rng.random(points.shape) < 0.5)] = -0.0
    if rng.random() < 0.4:
        moments = np.arange(length) + int(rng.integers(-5, 5))
    else:
        moments = np.cumsum(rng.choice([0, 0, 1, 2, 9], length, p=rng.dirichlet(np.ones(5)))) - int(rng.integers(50))
    groups = rng.integers(-1, int(rng.choice([1, 4])), length).astype(np.int32) if rng.random() < 0.4 else None
    width = int(rng.choice([1, 2, 3, 7, 20, 40, 1000]))
    return Stream(moments.astype(np.int64), groups, list(np.ascontiguousarray(points.T)), width)

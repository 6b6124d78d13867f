"""Skylines by definition: every snapshot's points, each compared with each other. Slow, and nothing to get wrong."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

Interval = tuple[int, int, int]


@dataclass(frozen=True)
class Log:
    """Updates of an archive, as the kernels take them."""

    snapshot: np.ndarray
    object: np.ndarray
    attributes: list[np.ndarray]
    n_snapshots: int

    @property
    def arguments(self) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], int]:
        return self.snapshot, self.object, self.attributes, self.n_snapshots


def positions(log: Log, at: int) -> dict[int, tuple[float, ...]]:
    """Who is alive at a snapshot, and where: the last row counts, and a NaN in it means gone."""
    where: dict[int, tuple[float, ...]] = {}
    for row in np.flatnonzero(log.snapshot <= at):
        where[int(log.object[row])] = tuple(float(column[row]) for column in log.attributes)
    return {item: point for item, point in where.items() if not np.isnan(point).any()}


def skyline(points: dict[int, tuple[float, ...]]) -> set[int]:
    """Everybody whom nobody beats: at least as good everywhere and better somewhere."""
    items = list(points)
    table = np.array([points[item] for item in items])
    beaten = [bool(((table <= mine).all(axis=1) & (table < mine).any(axis=1)).any()) for mine in table]
    return {item for item, is_beaten in zip(items, beaten, strict=True) if not is_beaten}


def skylines(log: Log) -> list[set[int]]:
    """The skyline of every snapshot."""
    where: dict[int, tuple[float, ...]] = {}
    answers = []
    for at in range(log.n_snapshots):
        for row in np.flatnonzero(log.snapshot == at):
            where[int(log.object[row])] = tuple(float(column[row]) for column in log.attributes)
        answers.append(skyline({item: point for item, point in where.items() if not np.isnan(point).any()}))
    return answers


def intervals(answers: Sequence[set[int]]) -> list[Interval]:
    """Runs of snapshots with the same object in the answer: object, first, last."""
    found = []
    for item in sorted(set().union(*answers)):
        first = None
        for at, members in enumerate([*answers, set[int]()]):
            if item in members and first is None:
                first = at
            elif item not in members and first is not None:
                found.append((item, first, at - 1))
                first = None
    return found


def part(log: Log, begin: int, end: int) -> Log:
    """Snapshots begin..end-1 as a log of their own: a keyframe at its snapshot 0, then the updates."""
    keyframe = positions(log, begin)
    rows = np.flatnonzero((log.snapshot > begin) & (log.snapshot < end))
    items = np.array(sorted(keyframe), np.int32)
    columns = [
        np.concatenate([np.array([keyframe[int(item)][axis] for item in items]), column[rows]])
        for axis, column in enumerate(log.attributes)
    ]
    when = np.concatenate([np.zeros(len(items), np.int32), log.snapshot[rows] - np.int32(begin)])
    return Log(when.astype(np.int32), np.concatenate([items, log.object[rows]]), columns, end - begin)


def stitched(parts: Iterable[tuple[int, Iterable[Interval]]]) -> list[Interval]:
    """Intervals of consecutive parts, each given with its first snapshot, as those of the whole."""
    whole: list[Interval] = []
    for begin, found in parts:
        whole += [(item, first + begin, last + begin) for item, first, last in found]
    joined: list[Interval] = []
    for item, first, last in sorted(whole):
        if joined and joined[-1][0] == item and joined[-1][2] == first - 1:
            joined[-1] = (item, joined[-1][1], last)
        else:
            joined.append((item, first, last))
    return joined

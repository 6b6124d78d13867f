"""Probabilistic skylines over sliding windows by definition. Slow, and nothing to get wrong."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

SLACK = 1e-9
Stay = tuple[int, int, int, int, float, float]
"""Threshold, entered, record, left, probability, greatest."""


@dataclass(frozen=True)
class Records:
    """A stream, as the kernels take it."""

    moments: np.ndarray
    groups: np.ndarray | None
    columns: list[np.ndarray]
    probability: np.ndarray
    width: int

    @property
    def arguments(self) -> tuple[np.ndarray, np.ndarray | None, list[np.ndarray], np.ndarray, int]:
        return self.moments, self.groups, self.columns, self.probability, self.width

    def some(self, rows: np.ndarray) -> "Records":
        groups = None if self.groups is None else self.groups[rows]
        columns = [column[rows] for column in self.columns]
        return Records(self.moments[rows], groups, columns, self.probability[rows], self.width)


def beaten_by(records: Records) -> np.ndarray:
    """Whether record a (row) is beaten by record b (column), were they alive together."""
    table = np.column_stack(records.columns)
    not_worse = (table[None, :, :] <= table[:, None, :]).all(axis=2)
    better = (table[None, :, :] < table[:, None, :]).any(axis=2)
    found = not_worse & better
    if records.groups is not None:
        found &= records.groups[:, None] == records.groups[None, :]
    return found


def alive(records: Records, moment: int) -> np.ndarray:
    return (records.moments <= moment) & (moment < records.moments + records.width)


def by_worlds(records: Records, moment: int) -> dict[int, float]:
    """Each living record's probability, as the sum over the possible worlds in whose skyline it is."""
    beaten = beaten_by(records)
    living = [int(row) for row in np.flatnonzero(alive(records, moment))]
    chance = dict.fromkeys(living, 0.0)
    for exists in product([False, True], repeat=len(living)):
        world = [row for row, is_there in zip(living, exists, strict=True) if is_there]
        weight = prod(
            float(records.probability[row]) if is_there else 1 - float(records.probability[row])
            for row, is_there in zip(living, exists, strict=True)
        )
        for row in world:
            if not beaten[row, world].any():
                chance[row] += weight
    return chance


def by_products(records: Records, moment: int, beaten: np.ndarray | None = None) -> dict[int, float]:
    """The same as direct products over the window."""
    beaten = beaten_by(records) if beaten is None else beaten
    living = alive(records, moment)
    chance = {}
    for row in np.flatnonzero(living):
        against = np.flatnonzero(beaten[row] & living)
        chance[int(row)] = float(records.probability[row] * np.prod(1 - records.probability[against]))
    return chance


def stays(
    records: Records, thresholds: Sequence[float], chances: Sequence[dict[int, float]] | None = None
) -> list[Stay]:
    """Every stay, from the probabilities at all moments at which something happens."""
    times = happenings(records)
    if chances is None:
        beaten = beaten_by(records)
        chances = [by_products(records, moment, beaten) for moment in times]
    found = []
    for number, threshold in enumerate(thresholds):
        open_stays: dict[int, tuple[int, float, float]] = {}
        for moment, chance in zip(times, chances, strict=True):
            members = {row: value for row, value in chance.items() if value >= threshold * (1 - SLACK)}
            for row in [row for row in open_stays if row not in members]:
                entered, first, greatest = open_stays.pop(row)
                found.append((number, entered, row, int(moment), first, greatest))
            for row, value in members.items():
                entered, first, greatest = open_stays.get(row, (int(moment), value, value))
                open_stays[row] = entered, first, max(greatest, value)
        assert not open_stays
    return sorted(found)


def happenings(records: Records) -> list[int]:
    """The moments at which a record arrives or expires."""
    return sorted({int(moment) for start in records.moments for moment in (start, start + records.width)})


def by_instances(records: Records, starts: np.ndarray, moment: int) -> dict[int, float]:
    """Each living object's probability; object i has the instances from starts[i] to starts[i + 1], and `records` has
    the objects' moments and groups but the instances' columns and probabilities."""
    living = [int(which) for which in np.flatnonzero(alive(records, moment))]
    table = np.column_stack(records.columns)
    chance = {}
    for which in living:
        total = 0.0
        for at in range(starts[which], starts[which + 1]):
            others = [
                sum(
                    float(records.probability[one])
                    for one in range(starts[other], starts[other + 1])
                    if (table[one] <= table[at]).all() and (table[one] < table[at]).any()
                )
                for other in living
                if other != which and (records.groups is None or records.groups[other] == records.groups[which])
            ]
            total += float(records.probability[at]) * prod(max(1 - mass, 0.0) for mass in others)
        chance[which] = total
    return chance


def instances_by_worlds(records: Records, starts: np.ndarray, moment: int) -> dict[int, float]:
    """The same as the sum over the possible worlds: of each object one instance exists, or none."""
    table = np.column_stack(records.columns)
    living = [int(which) for which in np.flatnonzero(alive(records, moment))]
    chance = dict.fromkeys(living, 0.0)
    choices = [[None, *range(starts[which], starts[which + 1])] for which in living]
    masses = [float(records.probability[starts[which] : starts[which + 1]].sum()) for which in living]
    for world in product(*choices):
        weight = prod(
            max(1 - mass, 0.0) if at is None else float(records.probability[at])
            for at, mass in zip(world, masses, strict=True)
        )
        there = [at for at in world if at is not None]
        for which, at in zip(living, world, strict=True):
            if at is not None and not any(
                (table[one] <= table[at]).all() and (table[one] < table[at]).any() for one in there
            ):
                chance[which] += weight
    return chance

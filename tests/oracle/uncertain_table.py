"""The table of probable stays by definition: at every moment the product over all who live and beat, for each record.

Nothing is remembered but who was a member at the moment before. Slow, and nothing to get wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oracle.windows_table import Query, Record, Telling

SLACK = 1e-9
Row = dict[str, Any]


@dataclass
class Stay:
    """A stay as far as it is known."""

    entered: int
    probability: float
    greatest: float
    continued: bool = False


def likely(told: Telling, chances: Sequence[float], moment: int) -> dict[int, float]:
    """By number how probably each of the living exists and nobody who beats it does."""
    alive = told.alive(moment)
    found = {}
    for number in alive:
        probability = chances[number]
        for other in alive:
            if told.beats(other, number):
                probability *= 1 - chances[other]
        found[number] = probability
    return found


def table(
    records: Sequence[tuple[Record, float]], query: Query, thresholds: Sequence[float], periods: Sequence[str]
) -> list[Row]:
    """The rows of all periods, of records with how probably they exist."""
    ordered = sorted(records, key=lambda it: (periods.index(it[0].period), it[0].time, it[0].file, it[0].row))
    told, chances = Telling(query, [record for record, _ in ordered]), [chance for _, chance in ordered]
    come = {told.moment_of(number) for number in range(len(ordered))}
    moments = sorted(come | {moment + query.width for moment in come})
    by_moment = {moment: likely(told, chances, moment) for moment in moments}
    rows: list[Row] = []
    for threshold in thresholds:
        stays: dict[int, Stay] = {}
        before: int | None = None
        for period in periods:
            own = [number for number, (record, _) in enumerate(ordered) if record.period == period]
            if not own:
                continue
            last = told.moment_of(own[-1])
            for stay in stays.values():
                stay.continued = True
            for moment in moments:
                if (before is None or moment > before) and moment <= last:
                    rows += _one_moment(told, period, threshold, stays, moment, by_moment[moment])
            rows += [_row(told, period, threshold, number, stay, None) for number, stay in stays.items()]
            before = last
    return rows


def _one_moment(
    told: Telling, period: str, threshold: float, stays: dict[int, Stay], moment: int, now: dict[int, float]
) -> list[Row]:
    members = {number: chance for number, chance in now.items() if chance >= threshold * (1 - SLACK)}
    ended = [
        _row(told, period, threshold, number, stay, moment) for number, stay in stays.items() if number not in members
    ]
    for number in [number for number in stays if number not in members]:
        del stays[number]
    for number, chance in members.items():
        if number in stays:
            stays[number].greatest = max(stays[number].greatest, chance)
        else:
            stays[number] = Stay(moment, chance, chance)
    return ended


def _row(told: Telling, period: str, threshold: float, number: int, stay: Stay, left: int | None) -> Row:
    record, own = told.records[number], told.moment_of(number)
    why = None if left is None else "expired" if left == own + told.query.width else "doubted"
    return {
        "period": period, "query": told.query.name, "threshold": threshold, "group_key": record.group,
        "file": record.file, "row": record.row, "object": record.object, "arrived": record.time,
        "entered": told.time_of(stay.entered), "left": None if left is None else told.time_of(left),
        "entered_at": told.last_come(stay.entered), "left_at": None if left is None else told.last_come(left),
        "probability": stay.probability, "greatest": stay.greatest,
        "entered_because": "arrived" if stay.entered == own else "freed", "left_because": why,
        "continued_from": stay.continued, "continues_into": left is None,
    }  # fmt: skip

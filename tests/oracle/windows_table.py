"""The table of stays by definition: the skyline of the living at every moment, and what changed from one to the next.

Nothing is remembered but who was a member at the moment before; who beats whom is asked of all pairs. Slow, and nothing
to get wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """One record of a query. Larger is worse on every cost."""

    period: str
    time: int
    file: str
    row: int
    object: str
    group: str
    costs: tuple[float, ...]


@dataclass
class Stay:
    """A stay as far as it is known."""

    entered: int
    entered_at: int
    because: str
    freed_by: Record | None


@dataclass(frozen=True)
class Query:
    """`width` in moments: times, or numbers of records."""

    name: str
    width: int
    counts_records: bool


@dataclass
class Telling:
    """What is known while the moments go by."""

    query: Query
    records: list[Record]
    rows: list[Row] = field(default_factory=list)
    stays: dict[int, Stay] = field(default_factory=dict)
    """Of the members, by number."""

    def moment_of(self, number: int) -> int:
        return number if self.query.counts_records else self.records[number].time

    def time_of(self, moment: int) -> int:
        return self.records[moment].time if self.query.counts_records else moment

    def beats(self, one: int, other: int) -> bool:
        a, b = self.records[one], self.records[other]
        return a.group == b.group and all(x <= y for x, y in zip(a.costs, b.costs, strict=True)) and a.costs != b.costs

    def alive(self, moment: int) -> list[int]:
        return [
            number for number in range(len(self.records))
            if self.moment_of(number) <= moment < self.moment_of(number) + self.query.width
        ]  # fmt: skip

    def members(self, moment: int) -> list[int]:
        alive = self.alive(moment)
        return [number for number in alive if not any(self.beats(other, number) for other in alive)]

    def last_come(self, moment: int) -> int:
        return max(number for number in range(len(self.records)) if self.moment_of(number) <= moment)


def table(records: Sequence[Record], query: Query, periods: Sequence[str]) -> list[Row]:
    """The rows of all periods."""
    ordered = sorted(records, key=lambda it: (periods.index(it.period), it.time, it.file, it.row))
    told = Telling(query, ordered)
    rows: list[Row] = []
    before: int | None = None
    for period in periods:
        own = [number for number, record in enumerate(ordered) if record.period == period]
        if own:
            rows += _of_period(told, period, before, told.moment_of(own[-1]))
            before = told.moment_of(own[-1])
    return sorted(rows, key=lambda row: (row["period"], row["file"], row["row"]))


def _of_period(told: Telling, period: str, before: int | None, last: int) -> list[Row]:
    """The rows of a period whose moments are those after `before` up to `last`."""
    continued = set(told.stays)
    stays = dict(told.stays)
    ended: dict[int, Row] = {}
    for moment in _moments(told, before, last):
        now = told.members(moment)
        for number in [number for number in told.stays if number not in now]:
            ended[number] = _end(told, number, moment)
            del told.stays[number]
        for number in now:
            if number not in told.stays:
                assert number not in ended, "a second stay"
                told.stays[number] = stays[number] = _begin(told, number, moment)
    still: Row = {"left": None, "left_at": None, "left_because": None, "by": None}
    return [
        _row(told, period, number, stay, ended.get(number, still), number in continued)
        for number, stay in stays.items()
    ]


def _moments(told: Telling, before: int | None, last: int) -> list[int]:
    """When anything can change: records come, and their time is up."""
    come = {told.moment_of(number) for number in range(len(told.records))}
    known = come | {moment + told.query.width for moment in come}
    return sorted(moment for moment in known if (before is None or moment > before) and moment <= last)


def _begin(told: Telling, number: int, moment: int) -> Stay:
    if told.moment_of(number) == moment:
        return Stay(moment, told.last_come(moment), "arrived", None)
    # Whoever kept it out and is gone now: of those whose time is up at this moment the last one by number.
    gone = [
        other for other in range(len(told.records))
        if told.moment_of(other) + told.query.width == moment and told.beats(other, number)
    ]  # fmt: skip
    return Stay(moment, told.last_come(moment), "freed", told.records[max(gone)])


def _end(told: Telling, number: int, moment: int) -> Row:
    told_so: Row = {"left": told.time_of(moment), "left_at": told.last_come(moment)}
    if told.moment_of(number) + told.query.width == moment:
        return told_so | {"left_because": "expired", "by": None}
    come = [
        other for other in range(len(told.records)) if told.moment_of(other) == moment and told.beats(other, number)
    ]
    return told_so | {"left_because": "beaten", "by": told.records[min(come)]}


def _row(told: Telling, period: str, number: int, stay: Stay, end: Mapping[str, Any], continued: bool) -> Row:
    record, by = told.records[number], end["by"]
    return {
        "period": period, "query": told.query.name, "group_key": record.group, "file": record.file, "row": record.row,
        "object": record.object, "arrived": record.time, "entered": told.time_of(stay.entered), "left": end["left"],
        "entered_at": stay.entered_at, "left_at": end["left_at"], "entered_because": stay.because,
        "freed_by_file": stay.freed_by and stay.freed_by.file, "freed_by_row": stay.freed_by and stay.freed_by.row,
        "left_because": end["left_because"], "by_file": by and by.file, "by_row": by and by.row,
        "continued_from": continued, "continues_into": end["left"] is None,
    }  # fmt: skip

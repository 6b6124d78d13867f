"""Moments at which members are found again, and what is known of them to find the living without their order."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from skyarchive.arrivals.borders import Borders
from skyarchive.arrivals.ordered import Asked, Records

SAMPLED = 4
"""Moments of every period and query."""
Place = tuple[int, str, int]
"""Time, file and row of a record: what they come in the order of."""


@dataclass(frozen=True)
class Sample:
    """One moment of a period."""

    period: str
    query: str
    moment: int
    """A time in microseconds, or the number of a record among all of the query."""
    after: Place | None
    """The last record that is not alive any more; None where all that came are."""
    until: Place
    """The last one that has come."""
    alive: int
    come: int
    """How many have come by then, and are alive, of those that were looked at."""

    def told(self) -> dict[str, Any]:
        """As it travels."""
        return asdict(self)

    @classmethod
    def of(cls, told: dict[str, Any]) -> "Sample":
        places = {"after": told["after"] and _place(told["after"]), "until": _place(told["until"])}
        return cls(**told | places)

    @property
    def name(self) -> str:
        """How people call it."""
        return f"{self.query} at {self.moment}"


def _place(told: Sequence[Any]) -> Place:
    time, file, row = told
    return time, file, row


def samples(records: Records, asked: Asked, periods: Sequence[str], first_period: int, base: int) -> list[Sample]:
    """Of every period from `first_period` (a place among `periods`) on the last record, where every fault before it may
    show, and other moments: of records, and for times those at which a record's time is up. Always the same ones, so
    that a failure can be seen again."""
    moments, borders = records.moments(asked), Borders.of(records)
    found = []
    for place, start, end in zip(borders.period.tolist(), borders.start.tolist(), borders.end.tolist(), strict=True):
        if place < first_period:
            continue
        last, before = int(moments[end - 1]), int(moments[start - 1]) if start else int(moments[0]) - 1
        chosen = {last}
        for n in range(SAMPLED - 1):
            draw = int(hashlib.sha256(f"{asked.name} {periods[place]} {n}".encode()).hexdigest(), 16)
            moment = int(moments[start + draw % (end - start)])
            up = int(moments[max(start - 1 - draw % (end - start), 0)]) + asked.width
            chosen.add(up if n % 2 and not asked.counts_records and before < up <= last else moment)
        for moment in sorted(chosen):
            come = int(np.searchsorted(moments, moment, "right"))
            gone = int(np.searchsorted(moments, moment - asked.width, "right"))
            after = _of(records, gone - 1) if gone else None
            told = moment + base if asked.counts_records else moment
            found.append(Sample(periods[place], asked.name, told, after, _of(records, come - 1), come - gone, come))
    return found


def _of(records: Records, at: int) -> Place:
    file, row, time = records.name_of(at)
    return time, file, row

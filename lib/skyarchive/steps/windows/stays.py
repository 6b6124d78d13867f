"""From the records of some periods, in order, to rows of `windows`: when each was a member, cut where periods begin.

A row of a period is a stay that touches it. What happens between the last record of one period and the first of the
next belongs to the later one; a period without records has no rows, and is passed over.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from skyarchive.kernels.windows import window_stays
from skyarchive.steps.windows.ordered import Asked, Ints, Records

_TIME = pa.timestamp("us", tz="UTC")
ARRIVED, FREED, EXPIRED, BEATEN = "arrived", "freed", "expired", "beaten"


@dataclass(frozen=True)
class Borders:
    """Where the periods begin and end in records that are in order: of those periods that have some."""

    period: Ints
    """Their places among the periods that are asked about."""
    start: Ints
    end: Ints

    @classmethod
    def of(cls, records: Records) -> "Borders":
        period, start = np.unique(records.period, return_index=True)
        return cls(period, start, np.append(start, len(records))[1:])

    def first_disorder(self, records: Records) -> tuple[int, int] | None:
        """The last record of a period and the first of the next one that has some, where it is not later."""
        before, after = self.end[:-1] - 1, self.start[1:]
        wrong = np.flatnonzero(records.time[after] <= records.time[before])
        return (int(before[wrong[0]]), int(after[wrong[0]])) if len(wrong) else None


def looked_back_from(moments: Ints, start: int, width: int) -> int:
    """The first of the records that what begins at `start` looks into: those of two windows before the last one
    before it."""
    if start == 0:
        return 0
    return int(np.searchsorted(moments[:start], moments[start - 1] - 2 * width, "right"))


@dataclass(frozen=True)
class _Cut:
    """Stays cut where periods begin: for each piece the record, the period, and what is known at its end."""

    record: Ints
    border: Ints
    """Of the borders, the one of the piece's period."""
    entered: Ints
    left: Ints
    freed_by: Ints
    beaten_by: Ints
    continued: NDArray[np.bool_]
    closed: NDArray[np.bool_]


def _cut(records: Records, asked: Asked, borders: Borders, first: int) -> _Cut:
    """The pieces in the periods from `first` (a number of `borders`) on."""
    moments = records.moments(asked)
    begin = looked_back_from(moments, int(borders.start[first]), asked.width)
    rows = slice(begin, len(records))
    own = np.ascontiguousarray(moments[rows])
    since = int(borders.start[first]) - begin
    stays = window_stays(own, records.group_codes(rows), records.costs(asked, rows), asked.width, begin=since)
    lasts = moments[borders.end - 1]
    enters, leaves = np.searchsorted(lasts, stays.entered, "left"), np.searchsorted(lasts, stays.left, "left")
    earliest, latest = np.maximum(enters, first), np.minimum(leaves, len(lasts) - 1)
    pieces = np.maximum(latest - earliest + 1, 0)
    stay = np.repeat(np.arange(len(stays.record)), pieces)
    border = earliest[stay] + np.arange(len(stay)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    freed, beaten = stays.freed_by[stay], stays.beaten_by[stay]
    return _Cut(
        stays.record[stay] + begin,
        border,
        stays.entered[stay],
        stays.left[stay],
        np.where(freed < 0, -1, freed + begin),
        np.where(beaten < 0, -1, beaten + begin),
        border > enters[stay],
        border == leaves[stay],
    )


def stay_rows(
    records: Records,
    asked: Asked,
    periods: Sequence[str],
    first_period: int,
    base: int,
    attributes: Sequence[str],
    everything: str,
) -> pa.Table | None:
    """The rows of the periods from `first_period` (a place among `periods`) on. `base`: how many records of the query
    came before these; `attributes`: of all queries; `everything`: the group of a query without groups."""
    borders = Borders.of(records)
    first = int(np.searchsorted(borders.period, first_period))
    if first == len(borders.period):
        return None
    cut = _cut(records, asked, borders, first)
    count, names = len(cut.record), pa.array(periods, pa.string())
    group = pa.repeat(pa.scalar(everything), count) if records.group is None else records.group.take(cut.record)
    columns = {
        "period": names.take(pa.array(borders.period[cut.border])),
        "query": pa.repeat(pa.scalar(asked.name), count),
        "group_key": group,
        **_record(records, cut.record, np.ones(count, bool), "file", "row"),
        "object": records.object.take(cut.record),
        **{name: _values(records, name, cut.record) for name in attributes},
        "arrived": pa.array(records.time[cut.record], _TIME),
        **_ends(records, asked, cut, base),
        "continued_from": pa.array(cut.continued),
        "continues_into": pa.array(~cut.closed),
    }
    return pa.table(columns)


def _ends(records: Records, asked: Asked, cut: _Cut, base: int) -> dict[str, Any]:
    """When pieces begin and end, and because of what."""
    closed, freed = cut.closed, cut.freed_by >= 0
    beaten = closed & (cut.beaten_by >= 0)
    entered, entered_at = _told(records, asked, cut.entered)
    left, left_at = _told(records, asked, np.where(closed, cut.left, 0))
    return {
        "entered": pa.array(entered, _TIME),
        "left": pa.array(left, _TIME, mask=~closed),
        "entered_at": pa.array(entered_at + base),
        "left_at": pa.array(left_at + base, mask=~closed),
        "entered_because": _either(freed, FREED, ARRIVED),
        **_record(records, cut.freed_by, freed, "freed_by_file", "freed_by_row"),
        "left_because": _either(beaten, BEATEN, EXPIRED, ~closed),
        **_record(records, cut.beaten_by, beaten, "by_file", "by_row"),
    }


def _told(records: Records, asked: Asked, moments: Ints) -> tuple[Ints, Ints]:
    """Times of moments, and the numbers of the last records that had come by then."""
    if asked.counts_records:
        return records.time[moments], moments
    return moments, np.searchsorted(records.time, moments, "right") - 1


def _record(records: Records, at: Ints, there: NDArray[np.bool_], file: str, row: str) -> Mapping[str, Any]:
    """File and row of records, where they are there."""
    place = np.where(there, at, 0)
    return {file: records.file.take(place, ~there), row: pa.array(records.row[place], mask=~there)}


def _values(records: Records, name: str, rows: Ints) -> pa.Array:
    values = records.values.get(name)
    return pa.nulls(len(rows), pa.float64()) if values is None else pa.array(values[rows])


def _either(which: NDArray[np.bool_], one: str, other: str, absent: NDArray[np.bool_] | None = None) -> pa.Array:
    return pa.array([other, one]).take(pa.array(which.astype(np.int8), mask=absent))

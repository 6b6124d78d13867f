"""From the records of some periods, in order, to rows of `windows`: when each was a member, cut where periods begin.

A row of a period is a stay that touches it. What happens between the last record of one period and the first of the
next belongs to the later one; a period without records has no rows, and is passed over.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from skyarchive.arrivals.borders import TIMES, Borders, either, looked_back_from, places_of, told_moments, values_of
from skyarchive.arrivals.ordered import Asked, Ints, Records
from skyarchive.kernels.windows import window_stays

ARRIVED, FREED, EXPIRED, BEATEN = "arrived", "freed", "expired", "beaten"


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
        **places_of(records, cut.record, np.ones(count, bool), "file", "row"),
        "object": records.object.take(cut.record),
        **{name: values_of(records, name, cut.record) for name in attributes},
        "arrived": pa.array(records.time[cut.record], TIMES),
        **_ends(records, asked, cut, base),
        "continued_from": pa.array(cut.continued),
        "continues_into": pa.array(~cut.closed),
    }
    return pa.table(columns)


def _ends(records: Records, asked: Asked, cut: _Cut, base: int) -> dict[str, Any]:
    """When pieces begin and end, and because of what."""
    closed, freed = cut.closed, cut.freed_by >= 0
    beaten = closed & (cut.beaten_by >= 0)
    entered, entered_at = told_moments(records, asked, cut.entered)
    left, left_at = told_moments(records, asked, np.where(closed, cut.left, 0))
    return {
        "entered": pa.array(entered, TIMES),
        "left": pa.array(left, TIMES, mask=~closed),
        "entered_at": pa.array(entered_at + base),
        "left_at": pa.array(left_at + base, mask=~closed),
        "entered_because": either(freed, FREED, ARRIVED),
        **places_of(records, cut.freed_by, freed, "freed_by_file", "freed_by_row"),
        "left_because": either(beaten, BEATEN, EXPIRED, ~closed),
        **places_of(records, cut.beaten_by, beaten, "by_file", "by_row"),
    }

"""From the records of some periods, in order, to rows of `uncertain`: when each was probable enough, period by period.

A period's rows are found by themselves, from the records of two windows before it on: those of one may still be
members, and those of one more say how probable these were. Nothing after its last record counts: one moment later
somebody certain comes and beats all, so that every stay ends there, and its greatest is the greatest up to there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from skyarchive.arrivals.borders import TIMES, Borders, either, looked_back_from, told_moments, values_of
from skyarchive.arrivals.ordered import Asked, Ints, Records
from skyarchive.kernels.uncertain import Likely, likely_stays

ARRIVED, FREED, EXPIRED, DOUBTED = "arrived", "freed", "expired", "doubted"
THRESHOLD = pa.decimal128(9, 6)


@dataclass(frozen=True)
class _Period:
    """The stays that touch a period."""

    place: int
    """Among the periods that are asked about."""
    record: Ints
    threshold: NDArray[np.int32]
    entered: Ints
    left: Ints
    probability: NDArray[np.float64]
    greatest: NDArray[np.float64]
    continued: NDArray[np.bool_]
    closed: NDArray[np.bool_]


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
    tables = [
        _rows(records, asked, periods, found, base, attributes, everything)
        for found in _periods(records, asked, first_period)
    ]
    return pa.concat_tables(tables) if tables else None


def _periods(records: Records, asked: Asked, first_period: int) -> Iterator[_Period]:
    """Those that have records, one after the other."""
    moments, borders = records.moments(asked), Borders.of(records)
    for place, start, end in zip(borders.period.tolist(), borders.start.tolist(), borders.end.tolist(), strict=True):
        if place < first_period:
            continue
        begin = looked_back_from(moments, start, asked.width)
        stays = _up_to_the_end(records, asked, slice(begin, end))
        before = int(moments[start - 1]) - _origin(asked, begin) if start else None
        last = int(moments[end - 1]) - _origin(asked, begin)
        touches = stays.entered <= last
        if before is not None:
            touches &= stays.left > before
        entered, left = stays.entered[touches], stays.left[touches]
        yield _Period(
            place,
            stays.record[touches] + begin,
            stays.threshold[touches],
            entered + _origin(asked, begin),
            left + _origin(asked, begin),
            stays.probability[touches],
            stays.greatest[touches],
            np.zeros(len(entered), bool) if before is None else entered <= before,
            left <= last,
        )


def _origin(asked: Asked, begin: int) -> int:
    """What moments of a slice are told from: numbers of records from its first one."""
    return begin if asked.counts_records else 0


def _up_to_the_end(records: Records, asked: Asked, rows: slice) -> Likely:
    """All stays of these records, which end at the latest one moment after the last of them has come."""
    assert records.chance is not None
    moments, codes = records.moments(asked)[rows] - _origin(asked, rows.start), records.group_codes(rows)
    groups = np.zeros(1, np.int32) if codes is None else np.unique(codes)
    costs = [np.append(own, np.repeat(_below(own), len(groups))) for own in records.costs(asked, rows)]
    stays = likely_stays(
        np.append(moments, np.repeat(moments[-1] + 1, len(groups))),
        None if codes is None else np.append(codes, groups),
        costs,
        np.append(records.chance[rows], np.ones(len(groups))),
        asked.width,
        [float(threshold) for threshold in asked.thresholds],
    )
    own = stays.record < len(moments)
    return Likely(*(values[own] for values in vars(stays).values()))


def _below(costs: NDArray[np.float64]) -> float:
    """What is better than all of these."""
    return float(max(np.nextafter(costs.min(), -np.inf), np.finfo(np.float64).min))


def _rows(
    records: Records,
    asked: Asked,
    periods: Sequence[str],
    found: _Period,
    base: int,
    attributes: Sequence[str],
    everything: str,
) -> pa.Table:
    count, at, closed = len(found.record), found.record, found.closed
    own = records.moments(asked)[at]
    entered, entered_at = told_moments(records, asked, found.entered)
    left, left_at = told_moments(records, asked, np.where(closed, found.left, found.entered))
    names = pa.array(asked.thresholds, THRESHOLD)
    group = pa.repeat(pa.scalar(everything), count) if records.group is None else records.group.take(at)
    columns = {
        "period": pa.repeat(pa.scalar(periods[found.place]), count),
        "query": pa.repeat(pa.scalar(asked.name), count),
        "threshold": names.take(pa.array(found.threshold)),
        "group_key": group,
        "file": records.file.take(at),
        "row": pa.array(records.row[at]),
        "object": records.object.take(at),
        **{name: values_of(records, name, at) for name in attributes},
        "arrived": pa.array(records.time[at], TIMES),
        "entered": pa.array(entered, TIMES),
        "left": pa.array(left, TIMES, mask=~closed),
        "entered_at": pa.array(entered_at + base),
        "left_at": pa.array(left_at + base, mask=~closed),
        "probability": pa.array(found.probability),
        "greatest": pa.array(found.greatest),
        "entered_because": either(found.entered == own, ARRIVED, FREED),
        "left_because": either(found.left == own + asked.width, EXPIRED, DOUBTED, ~closed),
        "continued_from": pa.array(found.continued),
        "continues_into": pa.array(~closed),
    }
    return pa.table(columns)

"""Where the periods begin and end in records that are in order, and how rows tell of records and moments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from skyarchive.arrivals.ordered import Asked, Ints, Records

TIMES = pa.timestamp("us", tz="UTC")


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


def told_moments(records: Records, asked: Asked, moments: Ints) -> tuple[Ints, Ints]:
    """Times of moments, and the numbers of the last records that had come by then."""
    if asked.counts_records:
        return records.time[moments], moments
    return moments, np.searchsorted(records.time, moments, "right") - 1


def places_of(records: Records, at: Ints, there: NDArray[np.bool_], file: str, row: str) -> Mapping[str, Any]:
    """File and row of records, where they are there."""
    place = np.where(there, at, 0)
    return {file: records.file.take(place, ~there), row: pa.array(records.row[place], mask=~there)}


def values_of(records: Records, name: str, rows: Ints) -> pa.Array:
    values = records.values.get(name)
    return pa.nulls(len(rows), pa.float64()) if values is None else pa.array(values[rows])


def either(which: NDArray[np.bool_], one: str, other: str, absent: NDArray[np.bool_] | None = None) -> pa.Array:
    return pa.array([other, one]).take(pa.array(which.astype(np.int8), mask=absent))

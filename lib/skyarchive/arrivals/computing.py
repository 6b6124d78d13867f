"""What the worker does that has all records of some periods: rows of the table, and what is told of the periods."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from skyarchive.arrivals.borders import Borders, looked_back_from
from skyarchive.arrivals.facts import NO_RECORDS, Fact
from skyarchive.arrivals.ordered import Asked, Ints, Ordered, Records
from skyarchive.arrivals.records import Batches, unpacked
from skyarchive.arrivals.samples import samples
from skyarchive.definition.groups import EVERYTHING

MakeRows = Callable[[Records, Asked, Sequence[str], int, int, Sequence[str], str], pa.Table | None]
"""Rows of the periods from one on: of records of some periods, a query, all these periods, the place of that one, how
many records came before, the attributes of all queries, and the group of a query without groups."""
SUMMARY = "_summary"
"""Column with what is told of the periods, on a row of its own."""


@dataclass(frozen=True)
class Later:
    """A period after those that are computed, which may look into them."""

    period: str
    records_between: dict[str, int]
    """By query, how many there are before it and after them."""
    last: dict[str, int | None]
    """By query, the time of the last of these."""


@dataclass(frozen=True)
class Assignment:
    """What a worker is to compute."""

    queries: tuple[Asked, ...]
    attributes: tuple[str, ...]
    context: tuple[str, ...]
    """The earlier periods whose records come with those of the periods."""
    periods: tuple[str, ...]
    """Whose rows are wanted; all in order."""
    base: dict[str, int]
    """By query, how many records there are before all these."""
    later: tuple[Later, ...]

    @property
    def all_periods(self) -> tuple[str, ...]:
        return self.context + self.periods


@dataclass
class Summary:
    """What is told of the computed periods."""

    facts: dict[str, dict[str, dict[str, Any]]]
    """By period and query."""
    parts: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    """By period, earlier period and query the print of what the one looks into of the other."""
    samples: list[dict[str, Any]] = field(default_factory=list)
    """Moments at which members are to be found again."""
    left_out: dict[str, dict[str, int]] = field(default_factory=dict)
    """By period and query how many records take no part for want of a probability."""
    faults: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The first period that cannot be computed, and why."""


def computed(make_rows: MakeRows, assignment: Assignment, columns: pa.Schema, batches: Batches) -> Batches:
    """Runs on the one worker that has all records of the periods: rows of `columns`, and a summary."""
    table = unpacked(batches)
    summary = Summary({period: _no_facts(assignment) for period in assignment.periods})
    if table is not None:
        ordered = Ordered(table, assignment.all_periods)
        summary.left_out = _left_out(assignment, ordered)
        of_query = [(asked, ordered.of(asked)) for asked in assignment.queries]
        del table
        good = _without_faults(assignment, ordered, of_query, summary)
        for asked, records in of_query:
            own = records.at(np.flatnonzero(records.period < good)) if summary.faults else records
            _tell(assignment, asked, own, summary)
            periods, first = assignment.all_periods, len(assignment.context)
            summary.samples += [it.told() for it in samples(own, asked, periods, first, assignment.base[asked.name])]
            yield from _rows(make_rows, assignment, asked, own, columns)
    told = {name: pa.nulls(1, columns.field(name).type) for name in columns.names}
    told[SUMMARY] = pa.array([json.dumps(vars(summary))])
    yield pa.RecordBatch.from_pydict(told, schema=columns)


def _no_facts(assignment: Assignment) -> dict[str, dict[str, Any]]:
    return {asked.name: Fact(0, None, None, NO_RECORDS).told() for asked in assignment.queries}


def _left_out(assignment: Assignment, ordered: Ordered) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for asked in assignment.queries:
        if asked.thresholds:
            counts = ordered.left_out(asked)
            for place, period in enumerate(assignment.all_periods):
                if period in assignment.periods:
                    found.setdefault(period, {})[asked.name] = int(counts[place])
    return found


def _without_faults(
    assignment: Assignment, ordered: Ordered, of_query: Sequence[tuple[Asked, Records]], summary: Summary
) -> int:
    """The place of the first period that cannot be computed, which is told; else that after all."""
    good = len(assignment.all_periods)
    if (untold := ordered.untold) is not None:
        good, file, row = untold
        summary.faults = {assignment.all_periods[good]: {"untold": [file, row]}}
    for asked, records in of_query:
        disorder = Borders.of(records).first_disorder(records)
        if disorder is not None and records.period[disorder[1]] < good:
            good = int(records.period[disorder[1]])
            rows = [records.name_of(at) for at in disorder]
            before = assignment.all_periods[int(records.period[disorder[0]])]
            fault = {"query": asked.name, "before": before, "rows": rows}
            summary.faults = {assignment.all_periods[good]: fault}
    return good


def _rows(make_rows: MakeRows, assignment: Assignment, asked: Asked, records: Records, columns: pa.Schema) -> Batches:
    base, first = assignment.base[asked.name], len(assignment.context)
    periods, names = assignment.all_periods, assignment.attributes
    rows = make_rows(records, asked, periods, first, base, names, EVERYTHING)
    if rows is not None:
        told = rows.append_column(SUMMARY, pa.nulls(rows.num_rows, pa.string()))
        yield from told.select(columns.names).cast(columns).to_batches(max_chunksize=100_000)


def _tell(assignment: Assignment, asked: Asked, records: Records, summary: Summary) -> None:
    """What is told of the query's records of every period, and of those that later periods look into."""
    borders, moments = Borders.of(records), records.moments(asked)
    names = [assignment.all_periods[place] for place in borders.period.tolist()]
    own = [n for n, period in enumerate(names) if period in assignment.periods]
    for n in own:
        start, end = int(borders.start[n]), int(borders.end[n])
        times = int(records.time[start]), int(records.time[end - 1])
        summary.facts[names[n]][asked.name] = Fact(end - start, *times, records.print(slice(start, end))).told()
    for place, period in enumerate(assignment.all_periods):
        if period in assignment.periods:  # what one without records would look into, it does, too
            start = int(np.searchsorted(records.period, place))
            begin, earlier = looked_back_from(moments, start, asked.width), int(np.searchsorted(borders.period, place))
            _tell_parts(asked, records, borders, names, period, begin, range(earlier), summary)
    for later in assignment.later if not summary.faults else ():
        if later.period not in assignment.periods:
            begin = _reached_by(later, asked, records, moments)
            _tell_parts(asked, records, borders, names, later.period, begin, own, summary)


def _tell_parts(
    asked: Asked,
    records: Records,
    borders: Borders,
    names: Sequence[str],
    period: str,
    begin: int,
    earlier: Sequence[int],
    summary: Summary,
) -> None:
    """The prints of what a period looks into, which are the records from `begin` on, of some earlier ones."""
    for n in earlier:
        start, end = max(int(borders.start[n]), begin), int(borders.end[n])
        if start < end:
            parts = summary.parts.setdefault(period, {}).setdefault(names[n], {})
            parts[asked.name] = records.print(slice(start, end))


def _reached_by(later: Later, asked: Asked, records: Records, moments: Ints) -> int:
    """The first record that a later period looks into."""
    if not len(records):
        return 0
    if asked.counts_records:
        return max(len(records) - max(2 * asked.width - later.records_between[asked.name], 0), 0)
    last = later.last[asked.name]
    border = (int(records.time[-1]) if last is None else last) - 2 * asked.width
    return int(np.searchsorted(moments, border, "right"))

"""Random records that may be wrong, what the worker makes of them without Spark, and what it must be."""

import json
import math
import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from oracle import uncertain_table as oracle
from oracle.windows_table import Query, Record
from skyarchive.arrivals.computing import SUMMARY, Assignment, Later, Summary, computed
from skyarchive.arrivals.facts import Fact, reached
from skyarchive.arrivals.ordered import TIME, Asked, chance_column, left_out_column, part_column
from skyarchive.arrivals.records import _packed
from skyarchive.definition.uncertain import UncertainQuery
from skyarchive.steps.uncertain.stays import THRESHOLD, stay_rows
from window_archives import ATTRIBUTES, as_table, cuts
from window_archives import archive as certain_archive
from window_archives import queries as certain_queries

_STAMP = pa.timestamp("us", tz="UTC")
SCHEMA = pa.schema({
    "period": pa.string(), "query": pa.string(), "threshold": THRESHOLD, "group_key": pa.string(), "file": pa.string(),
    "row": pa.int64(), "object": pa.string(), "x": pa.float64(), "y": pa.float64(), "arrived": _STAMP,
    "entered": _STAMP, "left": _STAMP, "entered_at": pa.int64(), "left_at": pa.int64(), "probability": pa.float64(),
    "greatest": pa.float64(), "entered_because": pa.string(), "left_because": pa.string(),
    "continued_from": pa.bool_(), "continues_into": pa.bool_(), SUMMARY: pa.string(),
})  # fmt: skip
Rows = list[dict[str, Any]]
_CHANCES = [0.25, 0.5, 0.5, 0.75, 0.9, 1.0, 1.0, 1e-9]
_NONE = [None, math.nan, 0.0, -0.5, 1.5, math.inf]


def archive(seed: int) -> tuple[Rows, list[str]]:
    """As for windows; each with a probability, which for some is none."""
    rows, periods = certain_archive(seed)
    chance = random.Random(f"chances {seed}")
    for row in rows:
        row["p"] = chance.choice(_NONE) if chance.random() < 0.1 else chance.choice([*_CHANCES, chance.random() or 1])
    return rows, periods


def queries(seed: int) -> list[UncertainQuery]:
    chance = random.Random(f"uncertain {seed}")
    found = []
    for query in certain_queries(seed):
        levels = chance.sample(["0.25", "0.5", "0.05", "1", "0.75", "0.000001"], chance.randint(1, 3))
        told = query.model_dump(exclude_unset=True)
        found.append(UncertainQuery.model_validate(told | {"probability": "p", "thresholds": levels}))
    return found


def takes_part(row: dict[str, Any], query: UncertainQuery) -> bool:
    return (row["even"] or query.where is None) and row["p"] is not None and 0 < row["p"] <= 1


def told_by_worker(
    rows: Rows, asked: Sequence[UncertainQuery], context: Sequence[str], periods: Sequence[str], base: dict[str, int],
    later: Sequence[Later] = (),
) -> tuple[Rows, Summary]:  # fmt: skip
    """What the worker makes of the records of these periods, in several packs."""
    own = [row for row in rows if row["period"] in (*context, *periods)]
    batches: list[pa.RecordBatch] = []
    for part in (own[::2], own[1::2]):
        if part:
            table = as_table(part, asked)
            for number, query in enumerate(asked):
                known = [takes_part(row, query) for row in part]
                table = table.drop_columns(part_column(number)).append_column(part_column(number), pa.array(known))
                odd = [not it and (row["even"] or query.where is None) for it, row in zip(known, part, strict=True)]
                table = table.append_column(left_out_column(number), pa.array(odd))
                chances = pa.array([row["p"] for row in part], pa.float64())
                table = table.append_column(chance_column(number), chances)
            batches += _packed(iter(table.to_batches()))
    task = Assignment(Asked.of(asked), ATTRIBUTES, tuple(context), tuple(periods), base, tuple(later))
    found = [row for batch in computed(stay_rows, task, SCHEMA, iter(batches)) for row in batch.to_pylist()]
    [summary] = [row[SUMMARY] for row in found if row[SUMMARY] is not None]
    return [row for row in found if row[SUMMARY] is None], Summary(**json.loads(summary))


def truth(rows: Rows, asked: Sequence[UncertainQuery], periods: Sequence[str]) -> Rows:
    found: Rows = []
    for query in asked:
        sign = 1 if query.attributes["y"].better == "lower" else -1
        records = [
            (Record(row["period"], row[TIME], row["file"], row["row"], row["object"],
                    row["g"] if query.group else "all", (row["x"], sign * row["y"])), row["p"])
            for row in rows if takes_part(row, query)
        ]  # fmt: skip
        levels = [float(threshold) for threshold in query.thresholds]
        found += oracle.table(records, Query(query.name, query.width, query.counts_records), levels, periods)
    return found


def plain(rows: Rows) -> Rows:
    """Rows of the table as the oracle tells them."""
    found = []
    for row in rows:
        times = {name: row[name] and round(row[name].timestamp() * 1e6) for name in ("arrived", "entered", "left")}
        told = row | times | {"threshold": float(row["threshold"])}
        found.append({name: value for name, value in told.items() if name not in (*ATTRIBUTES, SUMMARY)})
    return found


def assert_same(found: Rows, wanted: Rows) -> None:
    """Equal, but for the last digits of probabilities."""
    first, second = in_order(found), in_order(wanted)
    exact = [[{name: row[name] for name in row if name not in ("probability", "greatest")} for row in rows]
             for rows in (first, second)]  # fmt: skip
    assert exact[0] == exact[1]
    for row, other in zip(first, second, strict=True):
        for name in ("probability", "greatest"):
            assert math.isclose(row[name], other[name], rel_tol=1e-9), (name, row, other)


def in_order(rows: Rows) -> Rows:
    names = ("query", "threshold", "period", "file", "row", "entered_at", "entered")
    return sorted(rows, key=lambda row: tuple(row[name] for name in names))


def by_ranges(rows: Rows, asked: Sequence[UncertainQuery], periods: Sequence[str], seed: int) -> tuple[Rows, Any]:
    """All periods in ranges, one after the other, as the step does it; with how many were left out."""
    facts: dict[str, dict[str, Fact]] = {}
    found: Rows = []
    left_out: dict[str, dict[str, int]] = {}
    for together in cuts(periods, random.Random(f"cuts {seed}")):
        earlier = [period for period in periods if period < together[0]]
        context = reached(asked, earlier, facts)
        long_ago = [period for period in earlier if not context or period < context[0]]
        base = {query.name: sum(facts[period][query.name].records for period in long_ago) for query in asked}
        of_range, summary = told_by_worker(rows, asked, context, together, base)
        assert not summary.faults
        found += of_range
        left_out |= summary.left_out
        facts |= {p: {name: Fact.of(told) for name, told in of.items()} for p, of in summary.facts.items()}
    return found, left_out

"""Random records with queries over windows, what the worker makes of them without Spark, and what it must be."""

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from oracle import windows_table as oracle
from skyarchive.arrivals.computing import SUMMARY, Assignment, Later, Summary, computed
from skyarchive.arrivals.facts import Fact, reached
from skyarchive.arrivals.ordered import TIME, Asked, group_column, part_column
from skyarchive.arrivals.records import _packed
from skyarchive.definition.windows import WindowQuery
from skyarchive.steps.windows.stays import stay_rows

ATTRIBUTES = ("x", "y")
COLUMNS = {
    "period": pa.string(), "query": pa.string(), "group_key": pa.string(), "file": pa.string(), "row": pa.int64(),
    "object": pa.string(), "x": pa.float64(), "y": pa.float64(), "arrived": pa.timestamp("us", tz="UTC"),
    "entered": pa.timestamp("us", tz="UTC"), "left": pa.timestamp("us", tz="UTC"), "entered_at": pa.int64(),
    "left_at": pa.int64(), "entered_because": pa.string(), "freed_by_file": pa.string(), "freed_by_row": pa.int64(),
    "left_because": pa.string(), "by_file": pa.string(), "by_row": pa.int64(), "continued_from": pa.bool_(),
    "continues_into": pa.bool_(), SUMMARY: pa.string(),
}  # fmt: skip
SCHEMA = pa.schema(COLUMNS.items())
Rows = list[dict[str, Any]]


def archive(seed: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Raw records with ties, several at one time, periods that are empty or shorter than a window, files that are not
    in order."""
    chance = random.Random(seed)
    periods = [f"p{n}" for n in range(chance.randint(1, 7))]
    rows, time = [], chance.randint(0, 5)
    for period in periods:
        for number in range(chance.choice([0, 1, 2, 5, 12, 20])):
            x = chance.randint(0, 6)
            rows.append({
                "period": period, "file": f"{period}-{chance.choice('ab')}", "row": number + 1,
                "object": f"o{chance.randint(0, 4)}", TIME: time, "x": float(x), "y": float(chance.randint(0, 6) - x),
                "g": chance.choice("uv"), "even": chance.random() < 0.7,
            })  # fmt: skip
            time += chance.choice([0, 0, 1, 1, 2, 7])
        time += chance.choice([1, 1, 3, 30])
    chance.shuffle(rows)
    return rows, periods


def queries(seed: int) -> list[WindowQuery]:
    chance = random.Random(f"queries {seed}")
    found = []
    for number, (kind, width) in enumerate((("records", chance.randint(1, 25)), ("seconds", chance.randint(1, 25)))):
        told: dict[str, Any] = {"name": f"q{number}", "last": f"{width} {kind}"}
        if kind == "seconds":
            told["last"] = f"{width / 1e6:.6f} seconds"
        told["attributes"] = {"x": {"better": "lower"}, "y": {"better": chance.choice(["higher", "lower"])}}
        if chance.random() < 0.4:
            told["group"] = ["g"]
        if chance.random() < 0.4:
            told["where"] = "even"
        found.append(WindowQuery.model_validate(told))
    ways = found[0].attributes["y"]  # one name, one meaning
    return [query.model_copy(update={"attributes": query.attributes | {"y": ways}}) for query in found]


def as_table(rows: Rows, asked: Sequence[WindowQuery]) -> pa.Table:
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in ("period", "file", "row", "object", TIME)}
    columns |= {name: [row[name] for row in rows] for name in ATTRIBUTES}
    for number, query in enumerate(asked):
        columns[part_column(number)] = [row["even"] or query.where is None for row in rows]
        if query.group:
            columns[group_column(number)] = [row["g"] for row in rows]
    kinds = {"row": pa.int64(), TIME: pa.int64(), "x": pa.float64(), "y": pa.float64()}
    arrays = {
        name: pa.array(values, kinds.get(name, pa.bool_() if name.startswith("_part") else pa.string()))
        for name, values in columns.items()
    }
    return pa.table(arrays)


def told_by_worker(
    rows: Rows, asked: Sequence[WindowQuery], context: Sequence[str], periods: Sequence[str], base: dict[str, int],
    later: Sequence[Later] = (),
) -> tuple[Rows, Summary]:  # fmt: skip
    """What the worker makes of the records of these periods, in several packs."""
    own = [row for row in rows if row["period"] in (*context, *periods)]
    batches: list[pa.RecordBatch] = []
    for part in (own[::2], own[1::2]):
        if part:
            batches += _packed(iter(as_table(part, asked).to_batches()))
    task = Assignment(Asked.of(asked), ATTRIBUTES, tuple(context), tuple(periods), base, tuple(later))
    found = [row for batch in computed(stay_rows, task, SCHEMA, iter(batches)) for row in batch.to_pylist()]
    [summary] = [row[SUMMARY] for row in found if row[SUMMARY] is not None]
    return [row for row in found if row[SUMMARY] is None], Summary(**json.loads(summary))


def truth(rows: Rows, asked: Sequence[WindowQuery], periods: Sequence[str]) -> Rows:
    found: Rows = []
    for query in asked:
        sign = 1 if query.attributes["y"].better == "lower" else -1
        records = [
            oracle.Record(row["period"], row[TIME], row["file"], row["row"], row["object"],
                          row["g"] if query.group else "all", (row["x"], sign * row["y"]))
            for row in rows if row["even"] or query.where is None
        ]  # fmt: skip
        found += oracle.table(records, oracle.Query(query.name, query.width, query.counts_records), periods)
    return found


def plain(rows: Rows, values: Rows) -> Rows:
    """Rows of the worker as the oracle tells them, in one order."""
    known = {(row["file"], row["row"]): row for row in values}
    found = []
    for row in rows:
        assert all(row[name] == known[row["file"], row["row"]][name] for name in ATTRIBUTES)
        times = {name: row[name] and round(row[name].timestamp() * 1e6) for name in ("arrived", "entered", "left")}
        found.append({name: value for name, value in (row | times).items() if name not in (*ATTRIBUTES, SUMMARY)})
    return in_order(found)


def in_order(rows: Rows) -> Rows:
    return sorted(rows, key=lambda row: (row["query"], row["period"], row["file"], row["row"]))


def cuts(periods: Sequence[str], chance: random.Random) -> Iterator[list[str]]:
    """The periods in ranges of any length."""
    begin = 0
    while begin < len(periods):
        end = chance.randint(begin + 1, len(periods))
        yield list(periods[begin:end])
        begin = end


def by_ranges(rows: Rows, asked: Sequence[WindowQuery], periods: Sequence[str], seed: int) -> tuple[Rows, Any]:
    """All periods in ranges, one after the other, as the step does it; with what is told of them."""
    facts: dict[str, dict[str, Fact]] = {}
    found: Rows = []
    parts: dict[str, Any] = {}
    for together in cuts(periods, random.Random(f"cuts {seed}")):
        earlier = [period for period in periods if period < together[0]]
        context = reached(asked, earlier, facts)
        long_ago = [period for period in earlier if not context or period < context[0]]
        base = {query.name: sum(facts[period][query.name].records for period in long_ago) for query in asked}
        of_range, summary = told_by_worker(rows, asked, context, together, base)
        assert not summary.faults
        found += of_range
        facts |= {p: {name: Fact.of(told) for name, told in of.items()} for p, of in summary.facts.items()}
        parts |= summary.parts
    return found, (facts, parts)

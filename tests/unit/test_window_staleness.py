"""What a changed record concerns: told from what is published, and the table after a refresh is as computed anew."""

import hashlib
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml

from skyarchive.arrivals import facts
from skyarchive.arrivals.computing import Summary
from skyarchive.arrivals.facts import Fact
from skyarchive.arrivals.ordered import TIME
from skyarchive.arrivals.planning import Plan, Told, assignment, more_records
from skyarchive.definition.model import Definition
from skyarchive.definition.windows import WindowQuery
from skyarchive.pipeline.look import Look, changed
from skyarchive.steps.windows.facts import FACTS, published_facts
from skyarchive.steps.windows.step import WINDOWS
from skyarchive.store.fingerprints import column_key
from skyarchive.store.ledger import Ledger, Publication
from window_archives import Rows, archive, in_order, plain, queries, told_by_worker, truth

DEFINITION = """
name: ticks
title: Ticks
source: {format: csv, files: "*.csv"}
period: {column: season}
columns:
  season: {type: string}
  step: {type: bigint}
  o: {type: string}
  x: {type: double}
  y: {type: double}
  g: {type: string}
  even: {type: boolean}
object: {column: o}
derive: {method: updates, order: {by: [step], step_seconds: 0.000001}}
attributes: {x: {better: lower}}
"""


class Archive:
    """Periods that are published without Spark, as the step would publish them."""

    def __init__(self, rows: Rows, periods: Sequence[str], asked: Sequence[WindowQuery]) -> None:
        content = yaml.safe_load(DEFINITION)
        content["windows"] = [query.model_dump(exclude_unset=True) for query in asked]
        self.definition = Definition.model_validate(content)
        self.rows, self.periods, self.asked = rows, list(periods), asked
        self.look = Look(self.definition, Ledger("ticks", {}, {}))
        self.table: dict[str, Rows] = {}
        self.clock = datetime(2026, 1, 1, tzinfo=UTC)
        for period in periods:
            self.ingest(period)

    def ingest(self, period: str) -> None:
        own = sorted(str(sorted(row.items())) for row in self.rows if row["period"] == period)
        print_ = hashlib.sha256("\n".join(own).encode()).hexdigest()
        outputs = {column_key("raw", column): print_ for column in self.definition.columns}
        self.publish("ingest", period, len(own), {}, outputs, {})

    def publish(
        self,
        step: str,
        period: str,
        rows: int,
        inputs: dict[str, str],
        outputs: dict[str, str],
        details: Any,
    ) -> None:
        self.clock += timedelta(minutes=1)
        told = Publication(period, f"run {self.clock}", step, self.clock, 1.0, rows, rows, {}, {}, {}, "", inputs,
                           outputs, details)  # fmt: skip
        self.look = self.look.with_published(told)

    def run(self, periods: Sequence[str]) -> Plan:
        look, plan = self.look, Plan.of(FACTS, self.look, WINDOWS, periods)
        summary = Summary({})
        if plan.computed:
            task = assignment(FACTS, look, plan.computed)
            found, summary = told_by_worker(self.rows, self.asked, task.context, plan.computed, task.base, task.later)
            self.table |= {p: [row for row in found if row["period"] == p] for p in plan.computed}
        known: dict[str, Any] = {**published_facts(look)}
        known |= {p: {name: Fact.of(told) for name, told in of.items()} for p, of in summary.facts.items()}
        for period in plan.renumbered:
            more = more_records(FACTS, look, period, known)
            for row in self.table[period]:
                for name in ("entered_at", "left_at"):
                    row[name] = None if row[name] is None else row[name] + more[row["query"]]
        told = Told.of(FACTS, look, plan, summary, list(periods))
        for period in periods:
            inputs = self.look.inputs(WINDOWS, period) | told.inputs[period]
            self.publish("windows", period, len(self.table[period]), inputs, {}, told.details[period])
        return plan

    def stale(self) -> list[str]:
        found = []
        for period in self.periods:
            published = self.look.published("windows", period)
            if published is None or changed(published, self.look.inputs(WINDOWS, period)):
                found.append(period)
        return found

    def refresh(self) -> tuple[set[str], set[str]]:
        """What was computed, and what was only numbered anew."""
        computed: set[str] = set()
        renumbered: set[str] = set()
        for _ in range(5):
            stale = self.stale()
            if not stale:
                return computed, renumbered
            for together in self.look.chains(stale):
                plan = self.run(together)
                computed |= {*plan.computed}
                renumbered |= {*plan.renumbered}
        raise AssertionError(f"never current: {self.stale()}")

    def assert_right(self) -> None:
        found = [row for period in self.periods for row in self.table[period]]
        assert plain(found, self.rows) == in_order(truth(self.rows, self.asked, self.periods))


def begun(seed: int) -> Archive:
    rows, periods = archive(seed)
    it = Archive(rows, periods, queries(seed))
    chance = random.Random(f"begin {seed}")
    begin = 0
    while begin < len(periods):
        end = chance.randint(begin + 1, len(periods))
        it.run(periods[begin:end])
        begin = end
    return it


def change(it: Archive, chance: random.Random) -> dict[str, Any] | None:
    """One record becomes another, goes, or comes at the time of one; the changed one."""
    if not it.rows:
        return None
    row = chance.choice(it.rows)
    kind = chance.choice(["other", "other", "gone", "come"])
    if kind == "other":
        row[chance.choice(["x", "y"])] = float(chance.randint(0, 6))
    elif kind == "gone":
        it.rows.remove(row)
    else:
        it.rows.append(row | {"row": row["row"] + 1000, "x": float(chance.randint(0, 6))})
    it.ingest(row["period"])
    return row


def untouched(it: Archive, row: dict[str, Any], before: Rows, query: WindowQuery) -> set[str]:
    """The later periods that begin, for this query, more than two windows after a record, whatever it was."""
    found = set()
    for period in (period for period in it.periods if period > row["period"]):
        part = [[r for r in rows if r["period"] < period and (r["even"] or query.where is None)]
                for rows in (before, it.rows)]  # fmt: skip
        if query.counts_records:
            since = [sum((r["period"], r[TIME]) > (row["period"], row[TIME]) for r in rows) for rows in part]
            is_far = min(since) >= 2 * query.width
        else:
            lasts = [max((r[TIME] for r in rows), default=0) for rows in part]
            is_far = row[TIME] <= min(lasts) - 2 * query.width
        if is_far:
            found.add(period)
    return found


@pytest.mark.parametrize("seed", range(200))
def test_a_change_is_followed_exactly_as_far_as_it_matters(seed: int) -> None:
    it = begun(seed)
    assert it.stale() == []
    it.assert_right()
    chance = random.Random(f"changes {seed}")
    for _ in range(3):
        before = [dict(row) for row in it.rows]
        row = change(it, chance)
        computed, renumbered = it.refresh()
        it.assert_right()
        if row is None:
            continue
        far = set.intersection(*(untouched(it, row, before, query) for query in it.asked))
        assert computed & far == set()
        later = {period for period in it.periods if period > row["period"]}
        same_number = all(
            sum(r["even"] or query.where is None for r in before)
            == sum(r["even"] or query.where is None for r in it.rows)
            for query in it.asked
        )
        assert renumbered == (set() if same_number else later - computed)


def test_only_what_is_looked_into_is_told_apart_and_why_is_said() -> None:
    same = {"file": "f", "object": "o", "y": 0.0, "g": "u", "even": True}
    rows: Rows = [same | {"period": f"p{n // 10}", "row": n + 1, TIME: n * 10, "x": float(n % 3)} for n in range(60)]
    ways = {name: {"better": "lower"} for name in "xy"}
    asked = [WindowQuery.model_validate({"name": "recent", "last": "2 records", "attributes": ways})]
    it = Archive(rows, [f"p{n}" for n in range(6)], asked)
    it.run(it.periods)
    rows[9]["x"] = 7.0  # the last of p0: looked into by p1
    it.ingest("p0")
    assert it.refresh() == ({"p0", "p1"}, set())
    rows[2]["x"] = 7.0  # far from the end of p0
    it.ingest("p0")
    assert it.refresh() == ({"p0"}, set())
    rows += [rows[0] | {"row": 1000 + n} for n in range(3)]
    it.ingest("p0")
    it.run(["p0"])
    assert it.stale() == ["p1", "p2", "p3", "p4", "p5"]
    assert FACTS.more_or_fewer(it.look, "p3", "p2") == "3 more records before it"
    assert it.refresh() == (set(), {"p1", "p2", "p3", "p4", "p5"})
    it.assert_right()
    del rows[-1]
    it.ingest("p0")
    it.run(["p0"])
    assert FACTS.more_or_fewer(it.look, "p3", "p2") == "1 fewer record before it"


def test_how_far_back_a_period_looks() -> None:
    def query(last: str) -> WindowQuery:
        return WindowQuery.model_validate({"name": "q", "last": last, "attributes": {"x": {"better": "lower"}}})

    def reach_of(last: str, *told: tuple[int, int, int]) -> tuple[int, bool]:
        return facts.reach(
            query(last), [Fact(n, first if n else None, end if n else None, "") for n, first, end in told]
        )

    second = 10**6
    # What is alive at the last record, and what kept that out, came after 20 - 2 * 5.
    assert reach_of("5 seconds", (3, 0, 10 * second), (4, 11 * second, 20 * second)) == (1, True)
    assert reach_of("5 seconds", (3, 0, 10 * second + 1), (4, 11 * second, 20 * second)) == (2, True)
    assert reach_of("5 seconds", (3, 0, 10 * second), (4, 10 * second, 20 * second)) == (1, True)
    assert reach_of("5 records", (6, 0, 1), (0, 0, 0), (4, 2, 3)) == (3, True)
    assert reach_of("5 records", (6, 0, 1), (0, 0, 0), (10, 2, 3)) == (1, True)
    assert reach_of("5 records", (0, 0, 0), (5, 2, 3)) == (1, False)

"""What steps over records that count for a while compute: when the records of some periods were members, from their raw
rows and those of periods before."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from skyarchive.arrivals.checks import FIGURES, Stays
from skyarchive.arrivals.computing import SUMMARY, MakeRows, Summary, computed
from skyarchive.arrivals.facts import StepFacts
from skyarchive.arrivals.ordered import Asked
from skyarchive.arrivals.planning import Plan, Told, assignment, known_facts, more_records
from skyarchive.arrivals.records import packed, query_records
from skyarchive.arrivals.samples import Sample
from skyarchive.definition.derivation import YEARS
from skyarchive.definition.expressions import looks_back
from skyarchive.definition.model import Definition
from skyarchive.pipeline.execute import Check, Computed, Work
from skyarchive.quality.suites import load_suite

_LARGE_ROWS = 1_000_000
"""Raw rows that count as large."""
ARROW = {"string": pa.string(), "bigint": pa.int64(), "double": pa.float64(), "boolean": pa.bool_(),
          "timestamp": pa.timestamp("us", tz="UTC"), "decimal(9,6)": pa.decimal128(9, 6)}  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """What the steps differ in. Each writes a table of its own name."""

    facts: StepFacts
    make_rows: MakeRows
    judge: type[Stays]
    columns_read: Callable[[Definition], list[str]]
    """The columns of raw rows that records are made of."""

    @property
    def table(self) -> str:
        return self.facts.step


def stays_of(work: Work, kind: Kind) -> Computed | None:
    """The stays of neighbouring periods, in one go."""
    queries = kind.facts.queries(work.definition)
    work.parameters["queries"] = [f"{query.name}: {query.last}" for query in queries]
    plan = Plan.of(kind.facts, work.look, work.step, work.periods)
    frames, summary = [], Summary({})
    if plan.computed:
        found = work.kept.keep(_computed(work, kind, plan))
        [told_of_all] = found.where(F.col(SUMMARY).isNotNull()).select(SUMMARY).collect()
        summary = Summary(**json.loads(told_of_all[0]))
        if not work.refuse(_explained(work, summary)):
            return None
        frames.append(work.select(kind.table, found.where(F.col(SUMMARY).isNull())))
    if plan.renumbered:
        frames.append(_renumbered(work, kind, plan, summary))
    frame = frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1])
    told = Told.of(kind.facts, work.look, plan, summary, work.periods)
    return Computed(
        frames={kind.table: frame},
        judge=lambda: [_judged(work, kind, plan, summary, frame)],
        details=told.details,
        inputs=told.inputs,
    )


def _judged(work: Work, kind: Kind, plan: Plan, summary: Summary, frame: DataFrame) -> Check:
    judged = _stays(work, kind, plan, summary, frame).judged()
    figures = work.workshop.spark.createDataFrame(judged.rows, FIGURES)
    return Check(figures, load_suite(f"{kind.table}_periods"), kind.table, judged.told)


def _stays(work: Work, kind: Kind, plan: Plan, summary: Summary, frame: DataFrame) -> Stays:
    """The rows with all that they are judged by."""
    queries = kind.facts.queries(work.definition)
    facts = known_facts(kind.facts, work.look, summary)
    timeline = [period for period in work.look.timeline if period in facts and period <= work.periods[-1]]
    following: dict[tuple[str, str], str] = {}
    for query in queries:
        full = [period for period in timeline if facts[period][query.name].records]
        following |= {(period, query.name): after for period, after in pairwise(full)}
    before = sorted({period for (period, _), after in following.items() if after in work.periods} - {*work.periods})
    computed = [period for period in plan.computed if period in work.periods]
    # Of what is refused the records may stand anywhere.
    looked_at = [*assignment(kind.facts, work.look, plan.computed).context, *computed] if computed else []
    return kind.judge(
        frame.where(F.col("period").isin(work.periods)),
        work.read(kind.table, before) if before else None,
        records_of(work, kind, looked_at) if looked_at else None,
        following,
        [sample for sample in map(Sample.of, summary.samples) if sample.period in computed],
        Asked.of(queries),
        [(period, query.name) for period in computed for query in queries if facts[period][query.name].records],
        work.periods,
    )


def _computed(work: Work, kind: Kind, plan: Plan) -> DataFrame:
    """Rows of the periods whose records are looked at, and one with a summary."""
    asked = assignment(kind.facts, work.look, plan.computed)
    work.expect(large=work.rows_of("ingest", asked.all_periods) >= _LARGE_ROWS)
    columns = {**work.workshop.tables.contract(kind.table).columns, SUMMARY: "string"}
    schema = pa.schema([(name, ARROW[kind]) for name, kind in columns.items()])
    ddl = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    records = packed(records_of(work, kind, list(asked.all_periods))).repartition(1)
    return records.mapInArrow(partial(computed, kind.make_rows, asked, schema), ddl)


def records_of(work: Work, kind: Kind, periods: list[str]) -> DataFrame:
    """The records of neighbouring periods."""
    rows = work.read("raw", periods).where(work.definition.counts)
    rows = rows.select("period", "file", "row", *kind.columns_read(work.definition))
    before = work.look.before(periods[0])
    carry = None
    if before is not None and looks_back(work.definition):
        carry = work.read("carry", [before]).where("object is not null")
    return query_records(rows, work.definition, kind.facts.queries(work.definition), carry)


def _renumbered(work: Work, kind: Kind, plan: Plan, summary: Summary) -> DataFrame:
    """Published rows of periods of which only the numbers have changed."""
    facts = known_facts(kind.facts, work.look, summary)
    more = {
        f"{period} {name}": n
        for period in plan.renumbered
        for name, n in more_records(kind.facts, work.look, period, facts).items()
    }
    added = _by_key(more)
    rows = work.read(kind.table, list(plan.renumbered))
    return work.kept.keep(
        work.select(kind.table, rows.withColumns({name: F.col(name) + added for name in ("entered_at", "left_at")}))
    )


def _by_key(values: Mapping[str, int]) -> Column:
    pairs = F.create_map(*(F.lit(part) for pair in values.items() for part in pair))
    return F.coalesce(pairs[F.concat_ws(" ", "period", "query")], F.lit(0)).cast("bigint")


def _explained(work: Work, summary: Summary) -> dict[str, str]:
    """Why a period cannot be computed, in words."""
    return {
        period: f"{work.archive} {period}: {_fault(work.step.name, fault)}" for period, fault in summary.faults.items()
    }


def _fault(step: str, fault: Mapping[str, Any]) -> str:
    if "untold" in fault:
        file, row = fault["untold"]
        return (
            f"{file}, row {row} has no time between the years {YEARS[0]} and {YEARS[1]}; correct it, or give the "
            "column that the time comes from bounds in the definition, so that such rows are refused."
        )
    (file, row, time), (later_file, later_row, later_time) = fault["rows"]
    return (
        f"its records are not all later than those of {fault['before']}, which {step} needs (query {fault['query']}): "
        f"{later_file}, row {later_row} is of {_moment(later_time)}, and {file}, row {row} of {fault['before']} is of "
        f"{_moment(time)}."
    )


def _moment(microseconds: int) -> str:
    return f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds):%Y-%m-%d %H:%M:%S.%f} UTC"

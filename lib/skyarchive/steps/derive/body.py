"""What derive computes: the timeline and the update log of a chain of periods, and what the next one starts from."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.definition.derivation import YEARS
from skyarchive.definition.model import Definition
from skyarchive.names import sql_text
from skyarchive.pipeline.execute import Check, Computed, Work, told_by
from skyarchive.quality.suites import load_suite
from skyarchive.steps.derive.methods import Chain, Derived, derive_chain
from skyarchive.steps.derive.methods.parts import is_told
from skyarchive.steps.derive.step import columns_read
from skyarchive.store.fingerprints import contents_by_period
from skyarchive.wording import counted

_LARGE_ROWS = 1_000_000
"""Raw rows that count as large."""


def derive(work: Work) -> Computed:
    """The update log of neighbouring periods, in one go."""
    work.expect(large=work.rows_of("ingest", work.periods) >= _LARGE_ROWS)
    chain = _chain(work)
    derived = derive_chain(chain)
    derived = replace(derived, updates=work.kept.keep(derived.updates))
    summary = _summarised(chain, derived)
    states = work.kept.keep(_with_own_rows(chain, derived.states, summary, _carried_columns(work)))
    carried = contents_by_period(states, told_by(work.workshop, "carry", work.step.writes["carry"]))
    untold = [period for period in work.periods if summary[period]["untold"]]
    work.refuse({period: _untold(work.definition, period, summary[period]) for period in untold})
    timeline = work.workshop.spark.createDataFrame(
        [(p, *(summary[p][c] for c in ("snapshots", "out_of_order", "gaps"))) for p in chain.periods],
        "period string, snapshots bigint, out_of_order bigint, gaps bigint",
    )
    return Computed(
        frames={
            "updates": work.select("updates", derived.updates),
            "snapshots": work.select("snapshots", derived.snapshots),
            "objects": work.select("objects", derived.objects),
            "carry": states,
        },
        checks=[Check(timeline, load_suite("derive_periods"), "snapshots")],
        contents={"carry": carried},
        details={
            period: {
                "snapshots": summary[period]["snapshots"],
                "objects_carried": carried[period].rows - 1,
                "rows_without_position": summary[period]["rows_without_position"],
            }
            for period in chain.periods
        },
    )


def _chain(work: Work) -> Chain:
    """The raw rows, and what the period before ends with."""
    rows = work.read("raw", work.periods).where(work.definition.counts)
    rows = rows.select("period", "file", "row", *columns_read(work.definition))
    before = work.look.before(work.periods[0])
    if before is None:
        return Chain(work.definition, work.periods, rows, None, 0, None, work.kept)
    own = f"select next_snapshot, last_time from {work.archive}.carry where period = {sql_text(before)}"
    (next_snapshot, last_time), *_ = work.workshop.lake.query(f"{own} and object is null").rows
    carry = work.read("carry", [before]).where("object is not null")
    return Chain(work.definition, work.periods, rows, carry, next_snapshot, last_time, work.kept)


def _carried_columns(work: Work) -> dict[str, str]:
    columns = work.workshop.tables.contract("carry").columns
    return {name: kind for name, kind in columns.items() if name != work.step.writes["carry"].stamp}


def _summarised(chain: Chain, derived: Derived) -> dict[str, dict[str, Any]]:
    """Per period: snapshots, the next number and last time at its end, and faults of the timeline."""
    along = Window.partitionBy(F.lit(0)).orderBy("snapshot")
    before = F.coalesce(F.lag("time").over(along), F.lit(chain.last_time).cast("timestamp"))
    expected = F.coalesce(F.lag("snapshot").over(along) + 1, F.lit(chain.next_snapshot))
    steps = derived.snapshots.select(
        "period",
        "snapshot",
        "time",
        F.coalesce(F.col("time") < before, F.lit(False)).cast("bigint").alias("back"),
        (F.col("snapshot") != expected).cast("bigint").alias("gap"),
        is_told("time").alias("told"),
    )
    untold, last_told = F.count_if(~F.col("told")), F.max(F.when(F.col("told"), F.col("time")))
    found = steps.groupBy("period").agg(F.count("*"), F.max("snapshot"), last_told, F.sum("back"), F.sum("gap"), untold)
    of_period = {row[0]: row[1:] for row in found.collect()}
    missing = derived.rows_without_position
    without: dict[str, int] = dict(missing.collect()) if missing is not None else {}
    summary: dict[str, dict[str, Any]] = {}
    next_snapshot, last_time = chain.next_snapshot, chain.last_time
    for period in chain.periods:
        nothing = (0, next_snapshot - 1, last_time, 0, 0, 0)
        snapshots, last, time, back, gaps, not_told = of_period.get(period, nothing)
        next_snapshot, last_time = last + 1, time
        summary[period] = {
            "snapshots": snapshots,
            "next_snapshot": next_snapshot,
            "last_time": last_time,
            "out_of_order": back,
            "gaps": gaps,
            "untold": not_told,
            "rows_without_position": without.get(period, 0),
        }
    return summary


def _with_own_rows(
    chain: Chain, states: DataFrame, summary: dict[str, dict[str, Any]], columns: dict[str, str]
) -> DataFrame:
    """The states with the archive's own row for every period: the next number and the last time."""
    ends: list[tuple[str, int, datetime | None]] = [
        (period, summary[period]["next_snapshot"], summary[period]["last_time"]) for period in chain.periods
    ]
    own = states.sparkSession.createDataFrame(ends, "period string, next_snapshot bigint, last_time timestamp")
    objects = states.join(F.broadcast(own), "period")
    whole = objects.unionByName(own, allowMissingColumns=True)
    return whole.select(*(F.col(c).cast(kind).alias(c) for c, kind in columns.items()))


def _untold(definition: Definition, period: str, summary: dict[str, Any]) -> str:
    first, last = YEARS
    snapshots = counted(summary["snapshots"], "snapshot", "snapshots")
    return (
        f"{definition.name} {period}: no time between the years {first} and {last}, which are all that the tables can "
        f"tell, in {summary['untold']} of {snapshots}; correct the raw rows, or give the column "
        "that the times come from bounds in the definition, so that such rows are refused."
    )

"""The derive step: raw rows of some periods into `snapshots`, `updates`, `objects` and `carry`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.definition import Definition
from skyarchive.derivation import YEARS
from skyarchive.errors import NotPublishedError
from skyarchive.fingerprints import EMPTY, fingerprints_by_period
from skyarchive.keeping import Kept, keeping
from skyarchive.ledger import Ledger
from skyarchive.names import sql_text
from skyarchive.publishing import Outcome, PeriodRecord, Run
from skyarchive.quality import load_suite, preload
from skyarchive.session import fitting_work
from skyarchive.status import NOTHING
from skyarchive.steps.derive import Chain, Derived, derive_chain
from skyarchive.steps.derive.parts import is_told
from skyarchive.wording import counted
from skyarchive.workshop import Workshop

STEP = "derive"
_ROWS_PER_FILE = 2_000_000
_LARGE_ROWS = 1_000_000
"""Raw rows that count as large."""


def derive_periods(workshop: Workshop, periods: list[str]) -> Outcome:
    """Derive the periods; neighbours go together in one run. A period whose start is not there is refused."""
    preload(workshop.settings.master)
    outcome = Outcome(STEP)
    with workshop.computing():
        workshop.tables.discard_unpublished()
        for chain in chains(workshop.ledger(), periods):
            try:
                start = _start(workshop, workshop.ledger(), chain)
            except NotPublishedError as error:
                outcome.refuse(chain, str(error))
                continue
            rows = sum(start.ledger.of("ingest")[period].rows_out for period in chain)
            with fitting_work(workshop.spark, rows >= _LARGE_ROWS):
                _derive(Run(workshop, STEP, {}), start, chain, outcome)
    return outcome


def chains(ledger: Ledger, periods: list[str]) -> list[list[str]]:
    """The periods in order, cut wherever an ingested period that is not among them lies between."""
    found: list[list[str]] = []
    for period in sorted(periods):
        if found and ledger.period_before(period) == found[-1][-1]:
            found[-1].append(period)
        else:
            found.append([period])
    return found


@dataclass(frozen=True)
class _Start:
    """What a chain starts from."""

    fingerprint: str
    carry: DataFrame | None
    next_snapshot: int
    last_time: datetime | None
    ledger: Ledger


def _start(workshop: Workshop, ledger: Ledger, chain: list[str]) -> _Start:
    archive = workshop.archive
    for period in chain:
        if period not in ledger.of("ingest"):
            raise NotPublishedError(
                f"{archive} {period} is not ingested; run: skyarchive run {archive} --periods {period}"
            )
    before = ledger.period_before(chain[0])
    if before is None:
        return _Start(NOTHING, None, 0, None, ledger)
    if before not in ledger.of(STEP):
        raise NotPublishedError(
            f"{archive} {chain[0]} starts from what {before} ends with, and {before} is not derived; "
            f"run: skyarchive derive {archive} --periods {before}..{chain[-1]}"
        )
    own = f"select next_snapshot, last_time, fingerprint from {archive}.carry where period = {sql_text(before)}"
    (next_snapshot, last_time, fingerprint), *_ = workshop.lake.query(f"{own} and object is null").rows
    carry = workshop.tables.read("carry", ledger.versions["carry"], [before]).where("object is not null")
    return _Start(fingerprint, carry, next_snapshot, last_time, ledger)


def _derive(run: Run, start: _Start, periods: list[str], outcome: Outcome) -> None:
    run.input_versions = {"raw": start.ledger.versions["raw"]}
    if start.carry is not None:
        run.input_versions["carry"] = start.ledger.versions["carry"]
    with keeping() as kept:
        with run.phase("computing", periods):
            results = _Results.of(run, start, periods, kept)
        with run.phase("checking", periods):
            good = _checked(run, results, periods, outcome)
        if good:
            with run.phase("writing", good):
                _write(run, results, good)
        run.keep_quality(periods)
        if good:
            run.publish(_records(run, start, results, good))
            outcome.published += good


@dataclass
class _Results:
    """A chain's frames, and per period what was counted in them."""

    derived: Derived
    carry: DataFrame
    summary: dict[str, dict[str, Any]]
    fingerprints: dict[str, dict[str, tuple[int, str]]]
    """By table, then period: rows and fingerprint."""

    @classmethod
    def of(cls, run: Run, start: _Start, periods: list[str], kept: Kept) -> "_Results":
        tables, definition = run.workshop.tables, run.workshop.definition
        rows = tables.read("raw", start.ledger.versions["raw"], periods).where(definition.counts)
        chain = Chain(definition, periods, rows, start.carry, start.next_snapshot, start.last_time, kept)
        derived = derive_chain(chain)
        updates = kept.keep(derived.updates)
        derived = Derived(derived.snapshots, updates, derived.objects, derived.states, derived.rows_without_position)
        summary = _summarised(chain, derived)
        carry = kept.keep(_with_own_rows(chain, derived.states, summary, tables.contract("carry").columns))
        content = [c for c in carry.columns if c not in ("period", "fingerprint")]
        fingerprints = {
            "carry": fingerprints_by_period(carry, content),
            "updates": fingerprints_by_period(updates, list(updates.columns)),
            "snapshots": fingerprints_by_period(derived.snapshots, ["period", "snapshot", "time", "label"]),
        }
        carry = _with_fingerprints(carry, fingerprints["carry"])
        return cls(derived, carry, summary, fingerprints)


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
    counted = {row[0]: row[1:] for row in found.collect()}
    missing = derived.rows_without_position
    without: dict[str, int] = dict(missing.collect()) if missing is not None else {}
    summary: dict[str, dict[str, Any]] = {}
    next_snapshot, last_time = chain.next_snapshot, chain.last_time
    for period in chain.periods:
        snapshots, last, time, back, gaps, untold = counted.get(period, (0, next_snapshot - 1, last_time, 0, 0, 0))
        next_snapshot, last_time = last + 1, time
        summary[period] = {
            "snapshots": snapshots,
            "next_snapshot": next_snapshot,
            "last_time": last_time,
            "out_of_order": back,
            "gaps": gaps,
            "untold": untold,
            "rows_without_position": without.get(period, 0),
        }
    return summary


def _with_own_rows(
    chain: Chain, states: DataFrame, summary: dict[str, dict[str, Any]], columns: dict[str, str]
) -> DataFrame:
    """The states with the archive's own row for every period: the next number and the last time."""
    spark = states.sparkSession
    ends = [(p, summary[p]["next_snapshot"], summary[p]["last_time"]) for p in chain.periods]
    own = spark.createDataFrame(ends, "period string, next_snapshot bigint, last_time timestamp")
    objects = states.join(F.broadcast(own), "period")
    whole = objects.unionByName(own, allowMissingColumns=True)
    return whole.select(*(F.col(c).cast(kind).alias(c) for c, kind in columns.items() if c != "fingerprint"))


def _with_fingerprints(carry: DataFrame, found: dict[str, tuple[int, str]]) -> DataFrame:
    listed = [(period, fingerprint) for period, (_, fingerprint) in found.items()]
    frame = carry.sparkSession.createDataFrame(listed, "period string, fingerprint string")
    return carry.join(F.broadcast(frame), "period")


def _checked(run: Run, results: _Results, periods: list[str], outcome: Outcome) -> list[str]:
    """The periods up to the first that fails a check: what follows it would stand on it."""
    definition, spark = run.workshop.definition, run.workshop.spark
    for period in periods:
        if results.summary[period]["untold"]:
            outcome.refuse([period], _untold(definition, period, results.summary[period]))
    timeline = spark.createDataFrame(
        [(p, *(results.summary[p][c] for c in ("snapshots", "out_of_order", "gaps"))) for p in periods],
        "period string, snapshots bigint, out_of_order bigint, gaps bigint",
    )
    frames = [("derive_periods", "snapshots", timeline), ("updates", "updates", results.derived.updates)]
    good = _prefix(periods, [period for period in periods if period not in outcome.refused])
    for suite, table, frame in frames:
        if good:
            passed = run.check(frame, load_suite(suite, attributes=definition.attribute_names), table, good, outcome)
            good = _prefix(good, passed)
    for period in periods:
        if period not in good:
            outcome.refuse([period], f"{run.workshop.archive} {period} follows a period that was refused.")
    return good


def _untold(definition: Definition, period: str, summary: dict[str, Any]) -> str:
    first, last = YEARS
    snapshots = counted(summary["snapshots"], "snapshot", "snapshots")
    return (
        f"{definition.name} {period}: no time between the years {first} and {last}, which are all that the tables can "
        f"tell, in {summary['untold']} of {snapshots}; correct the raw rows, or give the column "
        "that the times come from bounds in the definition, so that such rows are refused."
    )


def _prefix(periods: list[str], passed: list[str]) -> list[str]:
    failed = [n for n, period in enumerate(periods) if period not in passed]
    return periods[: failed[0]] if failed else periods


def _write(run: Run, results: _Results, periods: list[str]) -> None:
    chosen = F.col("period").isin(periods)
    derived = results.derived
    count = sum(results.fingerprints["updates"].get(p, (0, EMPTY))[0] for p in periods)
    files = max(1, count // _ROWS_PER_FILE)
    updates = derived.updates.where(chosen)
    updates = updates.repartitionByRange(files, "period", "snapshot").sortWithinPartitions(
        "period", "snapshot", "object"
    )
    run.replace_all(
        {
            "snapshots": derived.snapshots.where(chosen).select("period", "snapshot", "time", "label").coalesce(1),
            "updates": updates,
            "objects": derived.objects.where(chosen).coalesce(1),
            "carry": results.carry.where(chosen).coalesce(1),
        },
        periods,
    )


def _records(run: Run, start: _Start, results: _Results, periods: list[str]) -> dict[str, PeriodRecord]:
    records = {}
    starts_from = start.fingerprint
    for period in periods:
        ingested = start.ledger.of("ingest")[period]
        updates, updates_print = results.fingerprints["updates"].get(period, (0, EMPTY))
        carry_print = results.fingerprints["carry"][period][1]
        summary = results.summary[period]
        records[period] = PeriodRecord(
            rows_in=ingested.rows_out,
            rows_out=updates,
            input_fingerprints={
                "raw": ingested.output_fingerprints["raw"],
                "carry": starts_from,
                "definition": run.workshop.definition.fingerprint(STEP),
            },
            output_fingerprints={
                "updates": updates_print,
                "snapshots": results.fingerprints["snapshots"].get(period, (0, EMPTY))[1],
                "carry": carry_print,
            },
            details={
                "snapshots": summary["snapshots"],
                "objects_carried": results.fingerprints["carry"][period][0] - 1,
                "rows_without_position": summary["rows_without_position"],
            },
        )
        starts_from = carry_print
    return records

"""The skyline step: the update log of some periods into `skyline`."""

from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.errors import NotPublishedError
from skyarchive.fingerprints import EMPTY, fingerprints_by_period
from skyarchive.keeping import Kept, keeping
from skyarchive.kernels.timeline import Method
from skyarchive.ledger import Ledger
from skyarchive.publishing import Outcome, PeriodRecord, Run
from skyarchive.quality import load_suite, preload
from skyarchive.session import fitting_work
from skyarchive.skyline_checks import FIGURES, Judged, judge
from skyarchive.status import skyline_inputs, starts_from
from skyarchive.steps.skyline import Log, Part, clipped, cut, membership, part_intervals
from skyarchive.workshop import Workshop

STEP = "skyline"
_LARGE_UPDATES = 1_000_000
"""Updates that count as large."""
_MOVES_PER_OBJECT = 4
"""A part has at least this many updates for every object, else its keyframe would be most of it."""


def skyline_periods(workshop: Workshop, periods: list[str], method: Method = "witness") -> Outcome:
    """Compute the periods' skylines, all in one run: they do not need each other. A period whose update log is not
    there or no longer fits what came before is refused."""
    preload(workshop.settings.master)
    outcome = Outcome(STEP)
    with workshop.computing():
        workshop.tables.discard_unpublished()
        ledger = workshop.ledger()
        ready = []
        for period in sorted(periods):
            try:
                _assert_ready(workshop.archive, ledger, period)
                ready.append(period)
            except NotPublishedError as error:
                outcome.refuse([period], str(error), too_early=True)
        if ready:
            updates = sum(ledger.of("derive")[period].rows_out for period in ready)
            with fitting_work(workshop.spark, updates >= _LARGE_UPDATES):
                run = Run(workshop, STEP, {"method": method, "part_updates": workshop.settings.part_updates})
                _compute(run, ledger, ready, method, outcome)
    return outcome


def _assert_ready(archive: str, ledger: Ledger, period: str) -> None:
    derived = ledger.of("derive").get(period)
    if derived is None:
        raise NotPublishedError(f"{archive} {period} is not derived; run: skyarchive run {archive} --periods {period}")
    if derived.input_fingerprints["carry"] != starts_from(ledger, period):
        raise NotPublishedError(
            f"{archive} {period} was derived from a start that has changed since; run: skyarchive refresh {archive}"
        )


@dataclass
class _Results:
    """The rows to be written and what was counted in them."""

    frame: DataFrame
    table: pa.Table
    parts: list[Part]
    fingerprints: dict[str, tuple[int, str]]
    judged: Judged


def _compute(run: Run, ledger: Ledger, periods: list[str], method: Method, outcome: Outcome) -> None:
    run.input_versions = {table: ledger.versions[table] for table in ("updates", "snapshots", "carry")}
    with keeping() as kept:
        with run.phase("computing", periods):
            results = _results(run, ledger, periods, method, kept)
        with run.phase("checking", periods):
            good = _checked(run, results, periods, outcome)
        if good:
            with run.phase("writing", good):
                chosen = results.frame.where(F.col("period").isin(good))
                run.replace("skyline", chosen.coalesce(1).sortWithinPartitions("period", "object"), good)
        run.keep_quality(periods)
        if good:
            run.publish({period: _record(run, ledger, results, period) for period in good})
            outcome.published += good


def _results(run: Run, ledger: Ledger, periods: list[str], method: Method, kept: Kept) -> _Results:
    workshop = run.workshop
    before = {period: ledger.period_before(period) for period in periods}
    log = _log(workshop, ledger, before, kept)
    parts = cut(log, {period: ledger.of("derive")[period].rows_out for period in periods}, _part_size(run, ledger))
    found_by = partial(part_intervals, method=method)
    columns = workshop.tables.contract("skyline").columns
    frame = kept.keep(clipped(membership(log, parts, found_by), log).select(*columns))
    found = frame.toArrow()
    judged = judge(workshop.lake, workshop.definition, run.input_versions, before, found)
    return _Results(frame, found, parts, fingerprints_by_period(frame, list(frame.columns)), judged)


def _part_size(run: Run, ledger: Ledger) -> int:
    objects = max((derived.details["objects_carried"] for derived in ledger.of("derive").values()), default=0)
    return max(run.workshop.settings.part_updates, _MOVES_PER_OBJECT * objects)


def _log(workshop: Workshop, ledger: Ledger, before: dict[str, str | None], kept: Kept) -> Log:
    tables, periods = workshop.tables, list(before)
    attributes = workshop.definition.attributes
    earlier = [(start, period) for period, start in before.items() if start is not None]
    carry = tables.read("carry", ledger.versions["carry"], [start for start, _ in earlier] or periods[:1])
    if not earlier:
        carry = carry.limit(0)
    starts = workshop.spark.createDataFrame(earlier, "before string, next_period string")
    carry = carry.where("object is not null").join(F.broadcast(starts), F.col("period") == F.col("before"))
    return Log(
        updates=tables.read("updates", ledger.versions["updates"], periods),
        carry=carry.select(F.col("next_period").alias("period"), "object", *attributes),
        snapshots=kept.keep(tables.read("snapshots", ledger.versions["snapshots"], periods)),
        attributes=attributes,
    )


def _checked(run: Run, results: _Results, periods: list[str], outcome: Outcome) -> list[str]:
    figures = run.workshop.spark.createDataFrame(results.judged.rows, FIGURES)
    good = run.check(figures, load_suite("skyline_periods"), "skyline", periods, outcome)
    for period in set(periods) - set(good):
        misjudged = results.judged.misjudged[period][:5]
        if misjudged:
            outcome.refused[period] += f"\n  misjudged: {', '.join(misjudged)}"
    return run.check(results.frame, load_suite("skyline"), "skyline", good, outcome) if good else []


def _record(run: Run, ledger: Ledger, results: _Results, period: str) -> PeriodRecord:
    derived = ledger.of("derive")[period]
    rows, fingerprint = results.fingerprints.get(period, (0, EMPTY))
    return PeriodRecord(
        rows_in=derived.rows_out,
        rows_out=rows,
        input_fingerprints=skyline_inputs(derived) | {"definition": run.workshop.definition.fingerprint(STEP)},
        output_fingerprints={"skyline": fingerprint},
        details={"parts": sum(part.period == period for part in results.parts)},
    )

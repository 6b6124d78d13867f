"""The frequent step: who was unbeaten often enough, from the `skyline` of some periods and those before, into
`frequent`."""

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.errors import NotPublishedError
from skyarchive.fingerprints import EMPTY, fingerprints_by_period
from skyarchive.frequent_checks import FIGURES, judge
from skyarchive.keeping import Kept, keeping
from skyarchive.ledger import Ledger
from skyarchive.looking_back import frequent_inputs, looked_into
from skyarchive.publishing import Outcome, PeriodRecord, Run
from skyarchive.quality import load_suite, preload
from skyarchive.session import fitting_work
from skyarchive.skyline_checks import Judged
from skyarchive.status import skyline_inputs, starts_from
from skyarchive.steps.frequent import Span, with_frequent_intervals
from skyarchive.workshop import Workshop

STEP = "frequent"
_BUCKET_ROWS = 500_000
"""Membership intervals that one call of the kernel takes, about."""
_SHOWN = 5


def frequent_periods(workshop: Workshop, periods: list[str]) -> Outcome:
    """Compute the periods' frequent objects for all queries of the definition, in one run: they need the skylines of
    the periods that their windows reach into, and not each other's results. A period that looks back into one whose
    skylines are not there, or no longer fit its updates, is refused."""
    preload(workshop.settings.master)
    outcome = Outcome(STEP)
    with workshop.computing():
        workshop.tables.discard_unpublished()
        ledger = workshop.ledger()
        back = {period: looked_into(workshop.definition, ledger, period) for period in sorted(periods)}
        for period, reached in back.items():
            try:
                _assert_ready(workshop.archive, ledger, period, reached)
            except NotPublishedError as error:
                outcome.refuse([period], str(error), too_early=True)
        ready = {period: reached for period, reached in back.items() if period not in outcome.refused}
        if ready:
            rows = sum(ledger.of("skyline")[name].rows_out for name in _all_reached(ready))
            with fitting_work(workshop.spark, rows >= _BUCKET_ROWS):
                queries = [f"{query.theta:f} of {query.window}" for query in workshop.definition.frequent]
                _compute(Run(workshop, STEP, {"queries": queries}), ledger, ready, rows // _BUCKET_ROWS + 1, outcome)
    return outcome


def _all_reached(back: dict[str, list[str]]) -> list[str]:
    """The periods themselves and all that they look back into."""
    return sorted({*back, *(name for reached in back.values() for name in reached)})


def _assert_ready(archive: str, ledger: Ledger, period: str, reached: list[str]) -> None:
    for name in [*reached, period]:
        what = f"{archive} {period}" if name == period else f"{archive} {period} looks back into {name}, which"
        derived, published = ledger.of("derive").get(name), ledger.of("skyline").get(name)
        if derived is None or published is None:
            raise NotPublishedError(f"{what} has no skylines yet; run: skyarchive run {archive} --periods {name}")
        known = {key: value for key, value in published.input_fingerprints.items() if key != "definition"}
        if known != skyline_inputs(derived) or known["carry"] != starts_from(ledger, name):
            raise NotPublishedError(
                f"{what} has skylines of updates that have changed since; run: skyarchive refresh {archive}"
            )


@dataclass
class _Results:
    """The rows to be written and what was counted in them."""

    frame: DataFrame
    fingerprints: dict[str, tuple[int, str]]
    judged: Judged


def _compute(run: Run, ledger: Ledger, back: dict[str, list[str]], buckets: int, outcome: Outcome) -> None:
    run.input_versions = {table: ledger.versions[table] for table in ("skyline", "snapshots")}
    periods = list(back)
    with keeping() as kept:
        with run.phase("computing", periods):
            results = _results(run, back, buckets, kept)
        with run.phase("checking", periods):
            good = _checked(run, results, periods, outcome)
        if good:
            with run.phase("writing", good):
                chosen = results.frame.where(F.col("period").isin(good)).coalesce(1)
                run.replace(STEP, chosen.sortWithinPartitions("period", "theta", "window_size", "object"), good)
        run.keep_quality(periods)
        if good:
            run.publish({period: _record(run, ledger, results, period, back[period]) for period in good})
            outcome.published += good


def _results(run: Run, back: dict[str, list[str]], buckets: int, kept: Kept) -> _Results:
    workshop, queries, reached = run.workshop, run.workshop.definition.frequent, _all_reached(back)
    spans = _spans(run, list(back))
    members = workshop.tables.read("skyline", run.input_versions["skyline"], reached)
    columns = list(workshop.tables.contract(STEP).columns)
    frame = kept.keep(with_frequent_intervals(members, queries, spans, buckets).select(*columns))
    found: pa.Table = frame.toArrow()
    judged = judge(workshop.lake, workshop.archive, run.input_versions, queries, spans, reached, found)
    return _Results(frame, fingerprints_by_period(frame, columns), judged)


def _spans(run: Run, periods: list[str]) -> list[Span]:
    """The first and last snapshot of every period, in order."""
    archive = run.workshop.archive
    pinned = {(archive, "snapshots"): run.input_versions["snapshots"]}
    with run.workshop.lake.connect(pinned, pinned) as session:
        found = session.execute(
            f"select period, min(snapshot), max(snapshot) from {archive}.snapshots "
            "where list_contains($periods, period) group by period order by period",
            {"periods": periods},
        ).fetchall()
    return [Span(*row) for row in found]


def _checked(run: Run, results: _Results, periods: list[str], outcome: Outcome) -> list[str]:
    figures = run.workshop.spark.createDataFrame(results.judged.rows, FIGURES)
    good = run.check(figures, load_suite("frequent_periods"), STEP, periods, outcome)
    for period in set(periods) - set(good):
        misjudged = results.judged.misjudged[period][:_SHOWN]
        if misjudged:
            outcome.refused[period] += f"\n  misjudged: {', '.join(misjudged)}"
    return run.check(results.frame, load_suite("frequent"), STEP, good, outcome) if good else []


def _record(run: Run, ledger: Ledger, results: _Results, period: str, back: list[str]) -> PeriodRecord:
    definition = run.workshop.definition
    rows, fingerprint = results.fingerprints.get(period, (0, EMPTY))
    return PeriodRecord(
        rows_in=sum(ledger.of("skyline")[name].rows_out for name in [*back, period]),
        rows_out=rows,
        input_fingerprints=frequent_inputs(definition, ledger, period) | {"definition": definition.fingerprint(STEP)},
        output_fingerprints={STEP: fingerprint},
        details={"looked_back_into": back},
    )

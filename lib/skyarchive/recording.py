"""The external step: raw rows of some periods, and the unbeaten records before them, into `external`."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.definition import Definition
from skyarchive.deriving import chains
from skyarchive.errors import NotPublishedError
from skyarchive.fingerprints import EMPTY, fingerprints_by_period
from skyarchive.keeping import Kept, keeping
from skyarchive.kernels.preferences import checked_preferences
from skyarchive.ledger import Ledger
from skyarchive.publishing import Outcome, PeriodRecord, Run
from skyarchive.quality import load_suite, preload
from skyarchive.record_checks import FIGURES, Answers, Judged, judge
from skyarchive.record_status import external_inputs, needs_carry
from skyarchive.session import fitting_work
from skyarchive.steps.external.chains import unbeaten_so_far
from skyarchive.steps.external.choosing import chosen_plan
from skyarchive.steps.external.failures import explained
from skyarchive.steps.external.records import records, unnamed_values
from skyarchive.steps.external.workers import GROUP, Question
from skyarchive.workshop import Workshop

STEP = "external"
_LARGE_ROWS = 1_000_000
"""Raw rows that count as large."""


def external_periods(workshop: Workshop, periods: list[str]) -> Outcome:
    """Find the periods' unbeaten records; neighbours go together in one run. Earlier periods that have none yet, or old
    ones, are computed, too: what is unbeaten up to a period cannot be known without them."""
    preload(workshop.settings.master)
    outcome = Outcome(STEP)
    with workshop.computing():
        workshop.tables.discard_unpublished()
        ledger = workshop.ledger()
        for chain in chains(ledger, _with_earlier(workshop.definition, ledger, periods)):
            ledger = workshop.ledger()
            try:
                _assert_ready(workshop, ledger, chain)
            except NotPublishedError as error:
                outcome.refuse(chain, str(error), too_early=True)
                continue
            rows = sum(ledger.of("ingest")[period].rows_out for period in chain)
            with fitting_work(workshop.spark, rows >= _LARGE_ROWS), explained(workshop.archive):
                _compute(workshop, ledger, chain, outcome)
    return outcome


def _with_earlier(definition: Definition, ledger: Ledger, periods: list[str]) -> list[str]:
    """The periods and, where an ingested one before the last of them is not as it would be computed now, all from
    there on."""
    earlier = [known for known in sorted(ledger.of("ingest")) if known < max(periods)]
    first = next((known for known in earlier if not _is_current(definition, ledger, known)), None)
    return sorted({*periods, *(known for known in earlier if first is not None and known >= first)})


def _is_current(definition: Definition, ledger: Ledger, period: str) -> bool:
    published = ledger.of(STEP).get(period)
    inputs = external_inputs(definition, ledger, period) | {"definition": definition.fingerprint(STEP)}
    return published is not None and published.input_fingerprints == inputs


def _assert_ready(workshop: Workshop, ledger: Ledger, chain: list[str]) -> None:
    archive = workshop.archive
    for period in chain:
        if period not in ledger.of("ingest"):
            raise NotPublishedError(
                f"{archive} {period} is not ingested; run: skyarchive run {archive} --periods {period}"
            )
        before = ledger.period_before(period)
        if needs_carry(workshop.definition) and before is not None and before not in ledger.of("derive"):
            raise NotPublishedError(
                f"{archive} {period} needs what {before} ends with, and {before} is not derived; "
                f"run: skyarchive derive {archive} --periods {before}"
            )
    before = ledger.period_before(chain[0])
    if before is not None and before not in ledger.of(STEP):
        raise NotPublishedError(
            f"{archive} {chain[0]} starts from the unbeaten records up to {before}, and they are not there; "
            f"run: skyarchive run {archive} --periods {before} --steps {STEP}"
        )


@dataclass
class _Results:
    """The rows to be written and what was counted in them."""

    frame: DataFrame
    fingerprints: dict[str, tuple[int, str]]
    records: dict[str, int]
    judged: Judged


def _compute(workshop: Workshop, ledger: Ledger, periods: list[str], outcome: Outcome) -> None:
    own, start = _records(workshop, ledger, periods)
    assert workshop.definition.external is not None
    faults = unnamed_values(own, workshop.definition.external)
    if faults:
        for period, why in faults.items():
            outcome.refuse([period], f"{workshop.archive} {period}: {why}")
        sound = _before_refused(workshop.archive, periods, set(periods) - set(faults), outcome)
        if sound:
            _compute(workshop, ledger, sound, outcome)
        return
    run = Run(workshop, STEP, {"plan": _plan(workshop.definition, ledger, periods, own)})
    run.input_versions = {"raw": ledger.versions["raw"]}
    if start is not None:
        run.input_versions[STEP] = ledger.versions[STEP]
        if needs_carry(workshop.definition):
            run.input_versions["carry"] = ledger.versions["carry"]
    with keeping() as kept:
        with run.phase("computing", periods):
            results = _results(run, ledger, periods, own, start, kept)
        with run.phase("checking", periods):
            good = _checked(run, results, periods, outcome)
        if good:
            with run.phase("writing", good):
                chosen = results.frame.where(F.col("period").isin(good))
                ordered = chosen.coalesce(1).sortWithinPartitions("period", "group_key", "object", "file", "row")
                run.replace(STEP, ordered, good)
        run.keep_quality(periods)
        if good:
            run.publish(_publication(run, ledger, results, good))
            outcome.published += good


def _records(workshop: Workshop, ledger: Ledger, periods: list[str]) -> tuple[DataFrame, DataFrame | None]:
    """The periods' records, and the unbeaten ones before them."""
    tables, definition = workshop.tables, workshop.definition
    rows = tables.read("raw", ledger.versions["raw"], periods).where(definition.counts)
    before = ledger.period_before(periods[0])
    carry = None
    if before is not None and needs_carry(definition):
        carry = tables.read("carry", ledger.versions["carry"], [before]).where("object is not null")
    own = records(rows, definition, carry)
    return own, None if before is None else tables.read(STEP, ledger.versions[STEP], [before])


def _plan(definition: Definition, ledger: Ledger, periods: list[str], own: DataFrame) -> Literal["tree", "passes"]:
    assert definition.external is not None
    question = Question(checked_preferences(definition.external.preferences()), grouped=True)
    rows = sum(ledger.of("ingest")[period].rows_out for period in periods)
    return chosen_plan(own.withColumn(GROUP, F.col("group_key")), question, rows, len(periods))


def _results(
    run: Run, ledger: Ledger, periods: list[str], own: DataFrame, start: DataFrame | None, kept: Kept
) -> _Results:
    workshop = run.workshop
    external = workshop.definition.external
    assert external is not None
    frame = unbeaten_so_far(own, start, periods, external.preferences(), run.parameters["plan"])
    columns = workshop.tables.contract(STEP).columns
    frame = kept.keep(frame.select(*columns))
    fingerprints = fingerprints_by_period(frame, [column for column in columns if column != "period"])
    raw = workshop.tables.read("raw", ledger.versions["raw"], periods)
    answers = Answers.of(frame, start, own, raw, periods)
    with ThreadPoolExecutor(1) as beside:
        counting = beside.submit(own.groupBy("period").count().collect)
        sizes = _sizes(ledger, periods, fingerprints)
        judged = judge(answers, checked_preferences(external.preferences()), periods, sizes)
    return _Results(frame, fingerprints, dict(counting.result()), judged)


def _sizes(
    ledger: Ledger, periods: list[str], fingerprints: dict[str, tuple[int, str]]
) -> dict[str, tuple[int, int, int]]:
    """How many records every period's answer has, the one before it, and at most the period itself."""
    before = ledger.period_before(periods[0])
    earlier = 0 if before is None else ledger.of(STEP)[before].rows_out
    sizes: dict[str, tuple[int, int, int]] = {}
    for period in periods:
        own = fingerprints.get(period, (0, EMPTY))[0]
        sizes[period] = (own, earlier, ledger.of("ingest")[period].rows_out)
        earlier = own
    return sizes


def _checked(run: Run, results: _Results, periods: list[str], outcome: Outcome) -> list[str]:
    """The periods up to the first that fails a check: what follows it would stand on it."""
    external = run.workshop.definition.external
    assert external is not None
    figures = run.workshop.spark.createDataFrame(results.judged.rows, FIGURES)
    good = run.check(figures, load_suite("external_periods"), STEP, periods, outcome)
    for period in set(periods) - set(good):
        misjudged = results.judged.misjudged[period][:5]
        if misjudged:
            outcome.refused[period] += f"\n  misjudged: {', '.join(misjudged)}"
    if good:
        good = run.check(results.frame, load_suite("external", attributes=external.numbers), STEP, good, outcome)
    return _before_refused(run.workshop.archive, periods, set(good), outcome)


def _before_refused(archive: str, periods: list[str], good: set[str], outcome: Outcome) -> list[str]:
    """The periods up to the first that is not good; those after it would stand on it and are refused, too."""
    failed = [n for n, period in enumerate(periods) if period not in good]
    for period in periods[failed[0] :] if failed else ():
        outcome.refuse([period], f"{archive} {period} follows a period that was refused.")
    return periods[: failed[0]] if failed else periods


def _publication(run: Run, ledger: Ledger, results: _Results, periods: list[str]) -> dict[str, PeriodRecord]:
    definition = run.workshop.definition
    published: dict[str, PeriodRecord] = {}
    inputs = external_inputs(definition, ledger, periods[0])
    for period in periods:
        rows, fingerprint = results.fingerprints.get(period, (0, EMPTY))
        own = external_inputs(definition, ledger, period) | {"external": inputs["external"]}
        published[period] = PeriodRecord(
            rows_in=ledger.of("ingest")[period].rows_out,
            rows_out=rows,
            input_fingerprints=own | {"definition": definition.fingerprint(STEP)},
            output_fingerprints={STEP: fingerprint},
            details={"records": results.records.get(period, 0)},
        )
        inputs = {"external": fingerprint}
    return published

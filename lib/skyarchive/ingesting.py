"""The ingest step: raw files of some periods into `raw` and `quarantine`."""

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.definition import Definition
from skyarchive.errors import InputError
from skyarchive.ingest_summary import Summary, summarised
from skyarchive.inventory import Inventory, looked_into
from skyarchive.keeping import Kept, keeping
from skyarchive.publishing import Outcome, PeriodRecord, Run
from skyarchive.quality import load_suite, preload, suite_exists
from skyarchive.reading.files import RawFile, files_fingerprint
from skyarchive.reading.raw import inspect, read_rows
from skyarchive.reading.unreadable import read_without
from skyarchive.selection import listed
from skyarchive.session import fitting_work
from skyarchive.steps.ingest import judged_rows, named_frame, placed_rows, repeated_records, with_repeats_refused
from skyarchive.workshop import Workshop

STEP = "ingest"
_ROWS_PER_FILE = 1_000_000
_LARGE_BYTES = 50_000_000
"""Raw files of this size count as large."""


def ingest_periods(workshop: Workshop, periods: list[str]) -> Outcome:
    """Ingest the periods in one run; those that cannot be are refused with a reason, the others published."""
    preload(workshop.settings.master)
    outcome = Outcome(STEP)
    with workshop.computing():
        workshop.tables.discard_unpublished()
        inventory = looked_into(workshop)
        outcome.left_out = inventory.untold()
        run = Run(workshop, STEP, {"max_refused_share": workshop.definition.max_refused_share})
        periods = _readable_periods(workshop, inventory, periods, outcome)
        if periods:
            size = sum(file.bytes for period in periods for file in inventory.files_of(period))
            with fitting_work(workshop.spark, size >= _LARGE_BYTES):
                _ingest(run, inventory, periods, outcome)
    return outcome


def _readable_periods(workshop: Workshop, inventory: Inventory, periods: list[str], outcome: Outcome) -> list[str]:
    """The periods that have files, all of them with the right columns."""
    for period in periods:
        files = inventory.files_of(period)
        if not files:
            folder = workshop.settings.raw_folder / workshop.archive
            others = f"; {listed(inventory.periods())}" if inventory.files else ""
            outcome.refuse([period], f"{workshop.archive} {period}: there is no raw file for it in {folder}{others}.")
        for file in files:
            if file in inventory.faulty:
                outcome.refuse([period], inventory.faulty[file])
                continue
            try:
                inspect(workshop.definition, file)
            except InputError as error:
                outcome.refuse([period], str(error))
    return [period for period in periods if period not in outcome.refused]


def _ingest(run: Run, inventory: Inventory, periods: list[str], outcome: Outcome) -> None:
    workshop = run.workshop
    with keeping() as kept:
        with run.phase("reading", periods):
            reading, unreadable = read_without(
                workshop,
                _files_of(inventory, periods),
                lambda files: _read(run, files, inventory, _periods_without(inventory, periods, files), kept),
            )
        for file, fault in unreadable.items():
            outcome.refuse([period for period in periods if file in inventory.files_of(period)], fault)
        if reading is None:
            return
        for period, summary in reading.summaries.items():
            for name, fault in summary.damaged.items():
                outcome.refuse([period], f"{workshop.archive}, file {name}: {fault}; fetch it again.")
        with run.phase("checking", periods):
            good = _checked(run, reading, inventory, outcome)
        if good:
            with run.phase("writing", good):
                _write(run, reading, inventory, good)
        run.keep_quality(periods)
        if good:
            run.publish({period: _record(run, reading.summaries[period], inventory, period) for period in good})
            outcome.published = good


def _files_of(inventory: Inventory, periods: list[str]) -> list[RawFile]:
    return sorted({file for period in periods for file in inventory.files_of(period)}, key=lambda file: file.name)


def _periods_without(inventory: Inventory, periods: list[str], files: list[RawFile]) -> list[str]:
    """The periods all of whose files are among these."""
    return [period for period in periods if set(inventory.files_of(period)) <= set(files)]


@dataclass
class _Reading:
    """The judged rows of some periods, and what was found in them."""

    rows: DataFrame
    summaries: dict[str, Summary]

    @property
    def accepted(self) -> DataFrame:
        return self.rows.where("_reason is null")


def _read(run: Run, files: list[RawFile], inventory: Inventory, periods: list[str], kept: Kept) -> _Reading | None:
    if not periods:
        return None
    rows = _rows_of(run, files, inventory, periods, kept)
    columns = list(run.workshop.tables.contract("raw").columns)
    return _Reading(rows, summarised(rows, columns, periods))


def _rows_of(run: Run, files: list[RawFile], inventory: Inventory, periods: list[str], kept: Kept) -> DataFrame:
    """The judged rows of the periods, persisted; what is refused says why."""
    spark, definition = run.workshop.spark, run.workshop.definition
    held = [(file.name, inventory.periods_of(file)) for file in files]
    holds = spark.createDataFrame(held, "_source string, _held array<string>")
    judged = judged_rows(read_rows(spark, definition, files), definition, named_frame(spark, files))
    rows = kept.keep(placed_rows(judged, definition, holds).where(F.col("period").isin(periods)))
    if definition.record_key:
        repeated = kept.keep(repeated_records(rows, definition))
        if not repeated.isEmpty():
            rows = kept.keep(with_repeats_refused(rows, repeated, definition))
    return rows


def _checked(run: Run, reading: _Reading, inventory: Inventory, outcome: Outcome) -> list[str]:
    """The periods that pass the checks of the table as a whole and of every row."""
    summaries = reading.summaries
    rows_of_file = {file.name: inventory.rows_of(file) for file in inventory.files}
    definition, spark = run.workshop.definition, run.workshop.spark
    periods = [period for period in summaries if period not in outcome.refused]
    if not periods:
        return []
    table = spark.createDataFrame(
        [(p, summaries[p].rows, summaries[p].refused_share(rows_of_file)) for p in periods],
        "period string, rows bigint, refused_share double",
    )
    suite = load_suite("ingest_periods", max_refused_share=definition.max_refused_share)
    good = run.check(table, suite, "raw", periods, outcome)
    for period in set(periods) - set(good):
        outcome.refused[period] += summaries[period].reasons
    if not good:
        return []
    required = [c for c, spec in definition.columns.items() if spec.required and not definition.check_only]
    suite = load_suite(_suite_of(definition), required=required)
    return run.check(reading.accepted.where(F.col("period").isin(good)), suite, "raw", good, outcome)


def _suite_of(definition: Definition) -> str:
    """Built-in archives have checks of their own, which know their columns; others of the same name have others."""
    own = f"raw_{definition.name}"
    return own if definition.is_built_in and suite_exists(own) else "raw"


def _write(run: Run, reading: _Reading, inventory: Inventory, periods: list[str]) -> None:
    tables, summaries = run.workshop.tables, reading.summaries
    chosen = reading.rows.where(F.col("period").isin(periods))
    count = sum(summaries[period].rows for period in periods)
    accepted = chosen.where("_reason is null").select(*tables.contract("raw").columns)
    run.replace("raw", accepted.coalesce(max(2, count // _ROWS_PER_FILE)), periods)
    copies = [
        {"period": period, "file": copy.name, "row": None, "record": None,
         "reason": f"the whole file is the same as {original.name}; it was left out"}
        for copy, original in inventory.copies.items()
        for period in inventory.periods_of(original)
        if period in periods
    ]  # fmt: skip
    if not copies and not any(summaries[period].refused for period in periods):
        run.clear("quarantine", periods)
        return
    refused = chosen.where("_reason is not null and row is not null")
    reason, record = F.col("_reason").alias("reason"), F.col("_record").alias("record")
    quarantine = refused.select("period", "file", "row", reason, record)
    if copies:
        quarantine = quarantine.unionByName(tables.rows_frame("quarantine", copies))
    run.replace("quarantine", quarantine.coalesce(1), periods)


def _record(run: Run, summary: Summary, inventory: Inventory, period: str) -> PeriodRecord:
    files = inventory.files_of(period)
    refused = summary.refused.total()
    return PeriodRecord(
        rows_in=summary.rows + refused,
        rows_out=summary.rows,
        input_fingerprints={
            "files": files_fingerprint(files),
            "definition": run.workshop.definition.fingerprint(STEP),
        },
        output_fingerprints={"raw": summary.content.fingerprint},
        details={"refused": summary.refused, "files": [file.name for file in files]},
    )

"""What ingest computes: the judged rows of raw files, period by period."""

from dataclasses import dataclass
from itertools import chain

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.definition.selection import listed
from skyarchive.errors import InputError
from skyarchive.pipeline.execute import Check, Computed, Work, told_by
from skyarchive.pipeline.look import FILES
from skyarchive.quality.suites import load_suite
from skyarchive.steps.ingest.inventory import Inventory, looked_into
from skyarchive.steps.ingest.reading.files import RawFile, files_fingerprint
from skyarchive.steps.ingest.reading.raw import inspect, read_rows
from skyarchive.steps.ingest.reading.unreadable import read_without
from skyarchive.steps.ingest.rows import (
    judged_rows,
    named_frame,
    placed_rows,
    repeated_records,
    with_repeats_refused,
)
from skyarchive.steps.ingest.summary import Summary, summarised

_LARGE_BYTES = 50_000_000
"""Raw files of this size count as large."""


def ingest(work: Work) -> Computed | None:
    """The rows of the periods' raw files, and those of them that are refused. A file that cannot be read stops the
    periods that it may hold."""
    workshop = work.workshop
    inventory = looked_into(workshop)
    work.outcome.left_out = inventory.untold()
    work.parameters["max_refused_share"] = work.definition.max_refused_share
    if not work.refuse(_faults(work, inventory)):
        return None
    files = sorted({*chain(*map(inventory.files_of, work.periods))}, key=lambda file: file.name)
    work.expect(large=sum(file.bytes for file in files) >= _LARGE_BYTES)
    reading, unreadable = read_without(workshop, files, lambda readable: _read(work, inventory, readable))
    for file, fault in unreadable.items():
        held = [period for period in work.periods if file in inventory.files_of(period)]
        work.refuse(held, inventory.with_copies(file.name, fault))
    if reading is None or not work.periods:
        return None
    for period in list(work.periods):
        for name, fault in reading.summaries[period].damaged.items():
            told = f"{workshop.archive}, file {name}: {fault}; fetch it again."
            work.refuse([period], inventory.with_copies(name, told))
    summaries = {period: reading.summaries[period] for period in work.periods}
    return Computed(
        frames={"raw": reading.accepted(work), "quarantine": _quarantine(work, reading, inventory)},
        checks=[_period_check(work, summaries, inventory)] if summaries else [],
        contents={"raw": {period: summary.content for period, summary in summaries.items()}},
        inputs={period: {FILES: files_fingerprint(inventory.files_of(period))} for period in summaries},
        details={
            period: {"refused": summary.refused, "files": [file.name for file in inventory.files_of(period)]}
            for period, summary in summaries.items()
        },
        rows_in={period: summary.rows + summary.refused.total() for period, summary in summaries.items()},
    )


def _faults(work: Work, inventory: Inventory) -> dict[str, str]:
    """The periods that have no files, or one that is not as the definition says, each with why."""
    faults: dict[str, str] = {}
    for period in work.periods:
        files = inventory.files_of(period)
        if not files:
            folder = work.workshop.settings.raw_folder / work.archive
            others = f"; {listed(inventory.periods())}" if inventory.files else ""
            faults[period] = f"{work.archive} {period}: there is no raw file for it in {folder}{others}."
        for file in files:
            if file in inventory.faulty:
                faults.setdefault(period, inventory.faulty[file])
                continue
            try:
                inspect(work.definition, file)
            except InputError as error:
                faults.setdefault(period, inventory.with_copies(file.name, str(error)))
    return faults


@dataclass
class _Reading:
    """The judged rows of some periods, and what was found in them."""

    rows: DataFrame
    summaries: dict[str, Summary]

    def accepted(self, work: Work) -> DataFrame:
        return work.select("raw", self.rows.where("_reason is null"))


def _read(work: Work, inventory: Inventory, files: list[RawFile]) -> _Reading | None:
    """Of the periods all of whose files are among these."""
    periods = [period for period in work.periods if set(inventory.files_of(period)) <= set(files)]
    if not periods:
        return None
    rows = _rows_of(work, files, inventory, periods)
    return _Reading(rows, summarised(rows, told_by(work.workshop, "raw", work.step.writes["raw"]), periods))


def _rows_of(work: Work, files: list[RawFile], inventory: Inventory, periods: list[str]) -> DataFrame:
    """The judged rows of the periods, kept; what is refused says why."""
    spark, definition = work.workshop.spark, work.definition
    held = [(file.name, inventory.periods_of(file)) for file in files]
    holds = spark.createDataFrame(held, "_source string, _held array<string>")
    judged = judged_rows(read_rows(spark, definition, files), definition, named_frame(spark, files))
    rows = work.kept.keep(placed_rows(judged, definition, holds).where(F.col("period").isin(periods)))
    if definition.record_key:
        repeated = work.kept.keep(repeated_records(rows, definition))
        if not repeated.isEmpty():
            rows = work.kept.keep(with_repeats_refused(rows, repeated, definition))
    return rows


def _period_check(work: Work, summaries: dict[str, Summary], inventory: Inventory) -> Check:
    """Whether every period has rows, and few refused ones."""
    rows_of_file = {file.name: inventory.rows_of(file) for file in inventory.files}
    figures = work.workshop.spark.createDataFrame(
        [(period, it.rows, it.refused_share(rows_of_file)) for period, it in summaries.items()],
        "period string, rows bigint, refused_share double",
    )
    suite = load_suite("ingest_periods", max_refused_share=work.definition.max_refused_share)
    return Check(figures, suite, "raw", lambda period: summaries[period].reasons)


def _quarantine(work: Work, reading: _Reading, inventory: Inventory) -> DataFrame | None:
    """The refused rows, and a row for every file that is a copy of another."""
    copies = [
        {"period": period, "file": copy.name, "row": None, "record": None,
         "reason": f"the whole file is the same as {original.name}; it was left out"}
        for copy, original in inventory.copies.items()
        for period in inventory.periods_of(original)
        if period in work.periods
    ]  # fmt: skip
    if not copies and not any(reading.summaries[period].refused for period in work.periods):
        return None
    refused = reading.rows.where("_reason is not null and row is not null")
    reason, record = F.col("_reason").alias("reason"), F.col("_record").alias("record")
    rows = work.select("quarantine", refused.select("period", "file", "row", reason, record))
    if not copies:
        return rows
    return rows.unionByName(work.workshop.tables.rows_frame("quarantine", copies))

"""The look into raw files whose names do not tell their period; what it finds is kept in the table `files`."""

from pyspark.sql import functions as F

from skyarchive.errors import InputError
from skyarchive.pipeline.publishing import Run
from skyarchive.pipeline.workshop import Workshop
from skyarchive.steps.ingest.inventory import Inventory
from skyarchive.steps.ingest.reading.files import RawFile
from skyarchive.steps.ingest.reading.raw import inspect, read_rows
from skyarchive.steps.ingest.reading.unreadable import read_without
from skyarchive.steps.ingest.rows import judged_rows, named_frame
from skyarchive.wording import counted

_Group = tuple[str | None, int, int, str | None]
"""Period, rows, accepted rows, what is wrong with the file as a whole."""


def scan(workshop: Workshop, inventory: Inventory, files: list[RawFile]) -> None:
    """Count the rows by period of these files, and remember it until they change; or why that cannot be done."""
    named = counted(len(files), "raw file", "raw files")
    with workshop.progress.phase(f"{workshop.archive}: looking into {named} for their periods"):
        for file, fault in _counted(workshop, inventory, files).items():
            inventory.keep_fault(file, fault)
    commit = Run(workshop, "scan", {}).commit(inventory.periods())
    workshop.tables.note("files", inventory.table_rows(), commit, anew=True)


def _counted(workshop: Workshop, inventory: Inventory, files: list[RawFile]) -> dict[RawFile, str]:
    """Keeps what the files hold; those that cannot be read, each with why."""
    faults: dict[RawFile, str] = {}
    for file in files:
        try:
            inspect(workshop.definition, file)
        except InputError as error:
            faults[file] = str(error)
    whole = [file for file in files if file not in faults]
    found, unreadable = read_without(workshop, whole, lambda readable: _groups(workshop, readable))
    faults |= unreadable
    for file in whole:
        if file not in faults:
            try:
                inventory.keep(file, _periods(workshop.archive, file.name, found.get(file.name, [])))
            except InputError as error:
                faults[file] = str(error)
    return faults


def _groups(workshop: Workshop, files: list[RawFile]) -> dict[str, list[_Group]]:
    if not files:
        return {}
    spark, definition = workshop.spark, workshop.definition
    rows = judged_rows(read_rows(spark, definition, files), definition, named_frame(spark, files))
    fault = F.max(F.when(F.col("row").isNull(), F.col("_reason")))
    accepted = F.count(F.when(F.col("_reason").isNull(), 1))
    groups: dict[str, list[_Group]] = {}
    for source, *group in rows.groupBy("_source", "period").agg(F.count("row"), accepted, fault).collect():
        groups.setdefault(source, []).append(tuple(group))
    return groups


def _periods(archive: str, file: str, found: list[_Group]) -> dict[str, int]:
    """Rows by period of one file. A period that only refused rows would give is none: one wrong time among a
    million rows must not make a period of its own."""
    for _, _, _, fault in found:
        if fault is not None:
            raise InputError(f"{archive}, file {file}: {fault}; fetch it again.")
    good = {period: accepted for period, _, accepted, _ in found if period is not None and accepted}
    any_row = {period: rows for period, rows, _, _ in found if period is not None}
    if not any_row and any(rows > 0 for _, rows, _, _ in found):
        raise InputError(f"{archive}, file {file}: no row of it tells its period; is it a file of this archive?")
    return good or any_row

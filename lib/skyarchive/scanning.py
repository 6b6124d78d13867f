"""The look into raw files whose names do not tell their period; what it finds is kept in the table `files`."""

from pyspark.sql import functions as F

from skyarchive.errors import InputError
from skyarchive.inventory import Inventory
from skyarchive.publishing import Run
from skyarchive.reading.raw import read_rows
from skyarchive.steps.ingest import judged_rows, named_frame
from skyarchive.wording import counted
from skyarchive.workshop import Workshop


def scan(workshop: Workshop, inventory: Inventory) -> None:
    """Count the rows by period of every unknown file, and remember it until the file changes."""
    files = inventory.unknown
    definition = workshop.definition
    with workshop.progress.phase(
        f"{workshop.archive}: looking into {counted(len(files), 'raw file', 'raw files')} for their periods"
    ):
        rows = judged_rows(read_rows(workshop.spark, definition, files), definition, named_frame(workshop.spark, files))
        fault = F.max(F.when(F.col("row").isNull(), F.col("_reason")))
        accepted = F.count(F.when(F.col("_reason").isNull(), 1))
        found = rows.groupBy("_source", "period").agg(F.count("row"), accepted, fault).collect()
    for file in files:
        inventory.held[file.state] = _periods(
            workshop.archive, file.name, [row[1:] for row in found if row[0] == file.name]
        )
    commit = Run(workshop, "scan", {}).commit(inventory.periods())
    workshop.tables.note("files", inventory.table_rows(), commit, anew=True)


def _periods(archive: str, file: str, found: list[tuple[str | None, int, int, str | None]]) -> dict[str, int]:
    """Rows by period of one file. A period that only refused rows would give is none: one wrong time among a
    million rows must not make a period of its own."""
    for _, _, _, fault in found:
        if fault is not None:
            raise InputError(
                f"{archive}, file {file}: {fault}. Its name does not say which periods it holds, so none can be "
                "ingested before it is fetched again or moved away."
            )
    good = {period: accepted for period, _, accepted, _ in found if period is not None and accepted}
    any_row = {period: rows for period, rows, _, _ in found if period is not None}
    if not any_row and any(rows > 0 for _, rows, _, _ in found):
        raise InputError(f"{archive}, file {file}: no row of it tells its period; is it a file of this archive?")
    return good or any_row

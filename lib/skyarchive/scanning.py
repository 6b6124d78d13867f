"""The look into raw files whose names do not tell their period; what it finds is kept in the table `files`."""

from pyspark.sql import functions as F

from skyarchive.errors import InputError
from skyarchive.inventory import Inventory
from skyarchive.publishing import Run
from skyarchive.reading.raw import read_rows
from skyarchive.steps.ingest import judged_rows, named_frame
from skyarchive.workshop import Workshop


def scan(workshop: Workshop, inventory: Inventory) -> None:
    """Count the rows by period of every unknown file, and remember it until the file changes."""
    files = inventory.unknown
    definition = workshop.definition
    with workshop.progress.phase(
        f"{workshop.archive}: looking into {len(files)} raw files for their periods"
    ):
        rows = judged_rows(
            read_rows(workshop.spark, definition, files), definition, named_frame(workshop.spark, files)
        )
        fault = F.max(F.when(F.col("row").isNull(), F.col("_reason")))
        found = (
            rows.groupBy("_source", "period")
            .agg(F.count("row").alias("rows"), fault.alias("_fault"))
            .collect()
        )
    for source, _, _, fault in found:
        if fault is not None:
            raise InputError(
                f"{workshop.archive}, file {source}: {fault}. Its name does not say which periods it holds, so none "
                "can be ingested before it is fetched again or moved away."
            )
    for file in files:
        inventory.held[file.state] = {
            p: n for source, p, n, _ in found if source == file.name and p is not None
        }
    commit = Run(workshop, "scan", {}).commit(inventory.periods())
    workshop.tables.overwrite("files", workshop.tables.rows_frame("files", inventory.table_rows()), commit)

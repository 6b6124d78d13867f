"""Fingerprints of a table as it is read, to be compared with those that were published with it."""

from pyspark.sql import DataFrame

from skyarchive.pipeline.execute import told_by
from skyarchive.pipeline.step import all_steps
from skyarchive.pipeline.workshop import Workshop
from skyarchive.store.fingerprints import column_key, contents_by_period


def printed(workshop: Workshop, table: str, frame: DataFrame) -> dict[str, tuple[int, dict[str, str]]]:
    """By period the rows and all fingerprints of the table."""
    layout = next(step.writes[table] for step in all_steps() if table in step.writes)
    told = told_by(workshop, table, layout)
    return {
        period: (
            content.rows,
            {table: content.fingerprint}
            | {column_key(table, column): content.column_print(column) for column in told.columns if layout.row_key},
        )
        for period, content in contents_by_period(frame, told).items()
    }

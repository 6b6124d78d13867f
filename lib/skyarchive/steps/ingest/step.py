"""Raw files into `raw` and `quarantine`."""

from typing import Any

from skyarchive.definition.model import Definition
from skyarchive.pipeline.step import Layout, Step
from skyarchive.steps.ingest.checks import raw_suite

_DOC = """\
Reads the period's raw files into `{archive}.raw`. Rows with a fault go to `{archive}.quarantine` with the reason;
too many of them stop the period.

**If it fails:** the log names the file, the rows and the expectation. Nothing was published and the last good
version stays. Correct the file and clear this task. `skyarchive docs {archive}` shows every check in the browser.

**If it is skipped:** there is no raw file for the period yet.
"""


def _uses(definition: Definition) -> Any:
    """What a row must be like; not how many may be refused, which changes nothing that is published."""
    fields = {"source", "period", "columns", "check_only", "refuse"}
    return {
        **definition.configured(fields),
        "record": definition.record_key,
        "read": sorted(definition.derive.reader_columns),
    }


INGEST = Step(
    name="ingest",
    doc=_DOC,
    body="skyarchive.steps.ingest.body:ingest",
    uses=_uses,
    writes={
        "raw": Layout(
            rows_per_file=1_000_000,
            fewest_files=2,
            is_output=True,
            row_key=("file", "row"),
            outlives=True,  # raw files may be cleared away once they are ingested
            suite=raw_suite,
        ),
        "quarantine": Layout(),
    },
    undone="is not ingested",
    outdated="has raw files that changed since it was ingested",
    sources="skyarchive.steps.ingest.inventory:Inventory",
    shows={"raw_rows": lambda it: it.rows_out, "refused": lambda it: it.rows_in - it.rows_out},
    shows_version_of="raw",
)

"""Raw rows into `windows`: when each record was in the skyline of the last while."""

from typing import Any

from skyarchive.arrivals.facts import BEFORE, RECORDS
from skyarchive.definition.expressions import columns_read_for_records, looks_back
from skyarchive.definition.model import Definition
from skyarchive.definition.windows import attribute_names
from skyarchive.pipeline.step import Layout, Need, Step, before
from skyarchive.quality.suites import Suite, load_suite
from skyarchive.steps.windows.facts import FACTS

_DOC = """\
Finds, for every query of the archive's definition, when each record was in the skyline of the records of the last while
(so many records, or so much time): `{archive}.windows`. It starts from the records of two windows before the period, in
as many earlier periods as they span. Members at some moments are found again by brute force before it is published.

**If it fails:** the log names the expectation, or two rows of two periods of which the later one is not later. Nothing
was published, and the last good version stays.

Look at it: `skyarchive window {archive} --query NAME --at TIME`
"""


def _uses(definition: Definition) -> Any:
    method = definition.derive
    lag = method.columns_used(definition.attributes) if looks_back(definition) else {}
    types = {name: definition.columns[name].type for name in method.time_columns}
    time = {"types": types, **method.model_dump(mode="json", include={"order"})}
    return {**definition.configured({"windows", "counts"}), "object": definition.object.column, "time": time, **lag}


def columns_read(definition: Definition) -> list[str]:
    """The columns of raw rows that records are made of."""
    return sorted(columns_read_for_records(definition, "windows") | {*definition.derive.time_columns})


def _suite(definition: Definition) -> Suite:
    return load_suite("windows", attributes=attribute_names(definition.windows))


WINDOWS = Step(
    name=FACTS.step,
    doc=_DOC,
    body="skyarchive.arrivals.body:windows",
    uses=_uses,
    needs=(
        Need("ingest", "raw", why="its raw rows changed", columns=columns_read),
        Need(
            FACTS.step,
            RECORDS,
            FACTS.looked_into,
            each=True,
            why="it looks back into {period}, whose records changed",
            link="looks back into {period}, which",
            fingerprint=FACTS.part_looked_into,
        ),
        Need(
            FACTS.step,
            BEFORE,
            FACTS.first_missing,
            why=FACTS.more_or_fewer,
            link="goes on from {period}, which",
            fingerprint=FACTS.records_before,
            waits=False,
        ),
        Need(
            "derive",
            "carry",
            before,
            why="{period} now ends with something else",
            link="needs what {period} ends with, and {period}",
            asked=looks_back,
        ),
    ),
    reads=("raw", "windows", "carry"),
    writes={
        "windows": Layout(("period", "query", "entered_at", "file", "row"), 2_000_000, is_output=True, suite=_suite)
    },
    asked=lambda definition: bool(definition.windows),
    undone="has no windows yet",
    chained=True,
    completes=True,
    asset="windows",
    shows={"windows": lambda it: it.rows_out},
    commands="skyarchive.steps.windows.commands",
)

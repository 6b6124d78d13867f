"""Raw rows into `windows`: when each record was in the skyline of the last while."""

from typing import Any

from skyarchive.arrivals import declaring
from skyarchive.definition.model import Definition
from skyarchive.definition.windows import attribute_names
from skyarchive.pipeline.step import Layout, Step
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
    return declaring.uses(definition, "windows")


def columns_read(definition: Definition) -> list[str]:
    """The columns of raw rows that records are made of."""
    return declaring.columns_read(definition, "windows")


def _suite(definition: Definition) -> Suite:
    return load_suite("windows", attributes=attribute_names(definition.windows))


WINDOWS = Step(
    name=FACTS.step,
    doc=_DOC,
    body="skyarchive.steps.windows.body:windows",
    uses=_uses,
    needs=declaring.needs(FACTS, columns_read),
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
    warm_up="skyarchive.kernels.windows.warming:warm",
)

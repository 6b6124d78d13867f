"""Raw rows into `uncertain`: when each record was in the skyline of the last while with at least a probability."""

from typing import Any

from skyarchive.arrivals import declaring
from skyarchive.definition.model import Definition
from skyarchive.definition.windows import attribute_names
from skyarchive.pipeline.step import Layout, Step
from skyarchive.quality.suites import Suite, load_suite
from skyarchive.steps.uncertain.facts import FACTS, left_out

_ORDER = ("period", "query", "threshold", "entered_at", "file", "row")
_DOC = """\
Finds, for every query and threshold of the archive's definition, when each record was in the skyline of the last while
with at least that probability: `{archive}.uncertain`. It starts from the records of two windows before the period, in
as many earlier periods as they span. Members at some moments are found again by direct products before it is published.

**If it fails:** the log names the expectation, or two rows of two periods of which the later one is not later. Nothing
was published, and the last good version stays.

Look at it: `skyarchive uncertain {archive} --query NAME --at TIME`
"""


def _uses(definition: Definition) -> Any:
    used = declaring.uses(definition, "uncertain")
    shown = [{name: value for name, value in query.items() if name != "top"} for query in used.get("uncertain", [])]
    return used | {"uncertain": shown}


def columns_read(definition: Definition) -> list[str]:
    """The columns of raw rows that records are made of."""
    return declaring.columns_read(definition, "uncertain")


def _suite(definition: Definition) -> Suite:
    return load_suite("uncertain", attributes=attribute_names(definition.uncertain))


UNCERTAIN = Step(
    name=FACTS.step,
    doc=_DOC,
    body="skyarchive.steps.uncertain.body:uncertain",
    uses=_uses,
    needs=declaring.needs(FACTS, columns_read),
    reads=("raw", "uncertain", "carry"),
    writes={"uncertain": Layout(_ORDER, 2_000_000, is_output=True, suite=_suite)},
    asked=lambda definition: bool(definition.uncertain),
    undone="has no probable skylines yet",
    chained=True,
    completes=True,
    asset="uncertain",
    shows={"uncertain": lambda it: it.rows_out, "no_probability": lambda it: left_out(it.details)},
    commands="skyarchive.steps.uncertain.commands",
    warm_up="skyarchive.kernels.uncertain.warming:warm",
)

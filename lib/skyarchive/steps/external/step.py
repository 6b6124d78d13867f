"""Raw rows into `external`: the records that no other record ever seen beats."""

from typing import Any

from skyarchive.definition.expressions import columns_read_for_records, looks_back
from skyarchive.definition.model import Definition
from skyarchive.pipeline.step import Layout, Need, Step, before
from skyarchive.quality.suites import Suite, load_suite

_DOC = """\
Finds the records that no other record ever seen up to the end of the period beats: `{archive}.external`. It starts from
those of the period before (which it computes first, if they are not there) and the period's raw rows. Samples of the
rows are compared by brute force before it is published.

**If it fails:** the log names the expectation or the expression of the definition that cannot be computed. Nothing was
published, and the last good version stays.

Look at it: `skyarchive external {archive}`
"""


def _uses(definition: Definition) -> Any:
    assert definition.external is not None
    lag = definition.derive.columns_used(definition.attributes) if looks_back(definition) else {}
    return {**definition.configured({"external", "counts"}), "object": definition.object.column, **lag}


def columns_read(definition: Definition) -> list[str]:
    """The columns of raw rows that records are made of."""
    return sorted(columns_read_for_records(definition, "external"))


def _suite(definition: Definition) -> Suite:
    assert definition.external is not None
    return load_suite("external", attributes=definition.external.numbers)


EXTERNAL = Step(
    name="external",
    doc=_DOC,
    body="skyarchive.steps.external.body:external",
    uses=_uses,
    needs=(
        Need("ingest", "raw", why="its raw rows changed", columns=columns_read),
        Need(
            "external",
            "external",
            before,
            why="{period} now ends with something else",
            link="starts from the unbeaten records up to {period}, and {period}",
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
    reads=("raw", "external", "carry"),
    writes={
        "external": Layout(("period", "group_key", "object", "file", "row"), 2_000_000, is_output=True, suite=_suite)
    },
    asked=lambda definition: definition.external is not None,
    undone="has no unbeaten records yet",
    chained=True,
    completes=True,
    asset="external",
    shows={"external": lambda it: it.rows_out},
    commands="skyarchive.steps.external.commands",
)

"""Raw rows into the update log: `snapshots`, `updates`, `objects`, and `carry`, which the next period starts from."""

from typing import Any

from skyarchive.definition.expressions import columns_counted_by
from skyarchive.definition.model import Definition
from skyarchive.pipeline.step import Layout, Need, Step, before
from skyarchive.quality.suites import Suite, load_suite

_DOC = """\
Makes the period's timeline from `{archive}.raw`: `snapshots`, `updates`, `objects`, and `carry`, which the next period
starts from.

**If it fails:** the log names the expectation and a sample of the rows. Nothing was published, and nothing that stands
on it runs.
"""


def _uses(definition: Definition) -> Any:
    """How positions come of raw rows; which way of an attribute is better is not asked yet."""
    ratios = {name: attribute.ratio for name, attribute in definition.attributes.items()}
    types = {name: definition.columns[name].type for name in columns_read(definition) if name in definition.columns}
    own = definition.configured({"counts", "object", "derive"})
    return {**own, "attributes": ratios, "types": types, "record": definition.record_key}


def columns_read(definition: Definition) -> list[str]:
    """The columns of raw rows that the log is made of."""
    method, item = definition.derive, definition.object
    used = {column for columns in method.columns_used(definition.attributes).values() for column in columns}
    used |= {item.column, *([item.name] if item.name else []), *columns_counted_by(definition), *method.reader_columns}
    return sorted(used - {"period", "file", "row"})


def _updates_suite(definition: Definition) -> Suite:
    return load_suite("updates", attributes=definition.attribute_names)


DERIVE = Step(
    name="derive",
    doc=_DOC,
    body="skyarchive.steps.derive.body:derive",
    uses=_uses,
    needs=(
        Need("ingest", "raw", why="its raw rows changed", columns=columns_read),
        Need(
            "derive",
            "carry",
            before,
            why="{period} now ends with something else",
            link="starts from what {period} ends with, and {period}",
        ),
    ),
    reads=("raw", "carry"),
    writes={
        "updates": Layout(("period", "snapshot", "object"), 2_000_000, is_output=True, suite=_updates_suite),
        "snapshots": Layout(is_output=True),
        "objects": Layout(),
        "carry": Layout(is_output=True, stamp="fingerprint"),
    },
    undone="is not derived",
    outdated="was derived from what has changed since",
    chained=True,
    waits=False,
    hands_over=True,
    asset="updates",
    shows={"snapshots": lambda it: it.details["snapshots"], "updates": lambda it: it.rows_out},
    shows_version_of="updates",
)

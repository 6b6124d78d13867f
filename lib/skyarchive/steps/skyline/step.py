"""The update log into `skyline`: when nobody beat an object."""

from typing import Any

from skyarchive.definition.model import Definition
from skyarchive.pipeline.step import Layout, Need, Step, before

_DOC = """\
Computes the intervals during which nobody beat an object, at every snapshot of the period: `{archive}.skyline`.
A sample of snapshots is checked by brute force before it is published.

**If it is skipped:** an earlier period was published in the meantime, so its updates start from something else now;
`refresh` computes both again.

Look at it: `skyarchive reigns {archive} --top 20`, `skyarchive skyline {archive} --at TIME`
"""


def _uses(definition: Definition) -> Any:
    return {name: attribute.better for name, attribute in definition.attributes.items()}


_CHANGED = "its updates changed, or what they start from"
SKYLINE = Step(
    name="skyline",
    doc=_DOC,
    body="skyarchive.steps.skyline.body:skyline",
    uses=_uses,
    needs=(
        Need("derive", "updates", why=_CHANGED),
        Need("derive", "snapshots", why=_CHANGED),
        Need("derive", "carry", before, why=_CHANGED, link="starts from what {period} ends with, and {period}"),
    ),
    reads=("updates", "snapshots", "carry"),
    writes={"skyline": Layout(("period", "object"), 2_000_000, is_output=True)},
    undone="has no skylines yet",
    outdated="has skylines of updates that have changed since",
    asset="skyline",
    shows={"intervals": lambda it: it.rows_out},
    shows_version_of="skyline",
    commands="skyarchive.steps.skyline.commands",
    warm_up="skyarchive.kernels.timeline.warming:warm",
    audit="skyarchive.steps.skyline.auditing:audit",
)

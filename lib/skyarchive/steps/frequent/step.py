"""Skylines into `frequent`: when an object was unbeaten in a share of the last snapshots."""

from typing import TYPE_CHECKING, Any

from skyarchive.definition.model import Definition
from skyarchive.pipeline.step import Layout, Need, Step

if TYPE_CHECKING:
    from skyarchive.pipeline.look import Look

_DOC = """\
Computes, for every query (theta, window) of the archive's definition, the intervals during which an object was
unbeaten in at least theta of the last snapshots: `{archive}.frequent`. Windows reach back into earlier periods, as many
as they span. A sample of snapshots is counted again in `{archive}.skyline` before it is published.

**If it is skipped:** the skylines of a period that it looks back into are not there yet, or no longer fit; `refresh`
computes it when they are.

Look at it: `skyarchive frequent {archive} --theta 0.8 --window 100 --at TIME`, for any theta and window
"""


def _uses(definition: Definition) -> Any:
    return [[str(query.theta), query.window] for query in definition.frequent]


def looked_into(look: "Look", period: str) -> list[str]:
    """The earlier periods that the longest window reaches into, in order. It ends at the last snapshot before the
    period: whether an object was frequent there tells whether its first interval goes on from it."""
    remaining = max((query.window for query in look.definition.frequent), default=0)
    found: list[str] = []
    before = look.before(period)
    while before is not None and remaining > 0:
        found.insert(0, before)
        derived = look.published("derive", before)
        if derived is None:
            break
        remaining -= derived.details["snapshots"]
        before = look.before(before)
    return found


FREQUENT = Step(
    name="frequent",
    doc=_DOC,
    body="skyarchive.steps.frequent.body:frequent",
    uses=_uses,
    needs=(
        Need("skyline", "skyline", why="its skylines changed"),
        Need(
            "skyline",
            "skyline",
            looked_into,
            each=True,
            why="it looks back into {period}, whose skylines changed",
            link="looks back into {period}, which",
        ),
        Need("derive", "snapshots", why="its skylines changed"),
    ),
    reads=("skyline", "snapshots"),
    writes={"frequent": Layout(("period", "theta", "window_size", "object"), 2_000_000, is_output=True)},
    asked=lambda definition: bool(definition.frequent),
    undone="has no frequent objects yet",
    asset="frequent",
    shows={"frequent": lambda it: it.rows_out},
    commands="skyarchive.steps.frequent.commands",
)

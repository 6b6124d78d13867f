"""Tables that have other columns than the definition gives them now: made anew; what was in them stays, by version.

Rows of other columns are answers to another question. So all periods of the step are computed again with the ones asked
for, and one that is refused is published no more. Only a table that `outlives` its columns keeps its other rows.
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame

from skyarchive.pipeline.look import Look
from skyarchive.pipeline.publishing import Run
from skyarchive.pipeline.step import Step
from skyarchive.pipeline.workshop import Workshop


def outgrown(step: Step, workshop: Workshop) -> list[str]:
    """The step's tables that have to be made anew; if one cannot keep its rows, all that cannot."""
    found = {table for table in step.writes if workshop.tables.is_outgrown(table)}
    if all(step.writes[table].outlives for table in found):
        return sorted(found)
    return [table for table, layout in step.writes.items() if table in found or not layout.outlives]


def with_all_published(step: Step, workshop: Workshop, look: Look, periods: Sequence[str]) -> list[str]:
    """The periods, and all that the step has published where its tables cannot keep them."""
    lost = [table for table in outgrown(step, workshop) if not step.writes[table].outlives]
    published = look.ledger.of(step.name) if lost else {}
    if {*published} - {*periods}:
        named = ", ".join(f"{workshop.archive}.{table}" for table in lost if workshop.tables.is_outgrown(table))
        workshop.progress.say(f"{named}: its columns are others now; all periods of {step.name} are computed again.")
    return sorted({*periods, *published})


def make_anew(step: Step, run: Run, look: Look, periods: Sequence[str]) -> tuple[dict[str, DataFrame], list[str]]:
    """Give the tables their columns of now: what must be written to each beside the rows of the periods, and the
    periods of which nothing is published any more."""
    anew = outgrown(step, run.workshop)
    others = sorted({*look.ledger.of(step.name)} - {*periods})
    tables, kept = run.workshop.tables, {}
    for table in anew:
        if step.writes[table].outlives and others:
            kept[table] = tables.read_as_now(table, look.ledger.versions[table], others)
        tables.make_anew(table, run.commit(list(periods)))
    is_lost = any(not step.writes[table].outlives for table in anew)
    return kept, others if is_lost else []

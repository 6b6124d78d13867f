"""Running steps over periods: a period that one refuses goes no further, and everything else does."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from skyarchive.definition.selection import Selection
from skyarchive.errors import InputError, LockError, MachineError, SkyarchiveError, SparkError
from skyarchive.pipeline.analysing import row_faults_told
from skyarchive.pipeline.execute import execute
from skyarchive.pipeline.mending import mend_damaged
from skyarchive.pipeline.publishing import Outcome
from skyarchive.pipeline.refusing import keep_failure, keep_refusals
from skyarchive.pipeline.sources import looked_into
from skyarchive.pipeline.step import first_step, step_named
from skyarchive.pipeline.workshop import Workshop


def run_step(workshop: Workshop, name: str, periods: Sequence[str], **parameters: Any) -> Outcome:
    """One step over some periods; why it did not publish one is kept."""
    began = datetime.now(UTC)
    try:
        with row_faults_told(workshop.definition):
            outcome = execute(step_named(name), workshop, list(periods), parameters)
    except (LockError, MachineError, SparkError):
        raise  # says nothing of the periods
    except Exception as error:
        keep_failure(workshop, name, periods, began, error)
        raise
    keep_refusals(workshop, outcome)
    return outcome


def run_steps(workshop: Workshop, selection: Selection, steps: Sequence[str] | None = None) -> list[Outcome]:
    """Each step over all selected periods, by default all of the archive's. What was refused stops those of its period
    that stand on it, and no other."""
    mend_damaged(workshop)
    steps = workshop.steps if steps is None else steps
    periods = _selected(workshop, selection, steps)
    outcomes: list[Outcome] = []
    stopped: set[tuple[str, str]] = set()
    for name in steps:
        own = [need.step for need in step_named(name).needs if need.is_own and need.asked(workshop.definition)]
        stopped |= {(name, period) for period in periods if any((step, period) in stopped for step in own)}
        going_on = [period for period in periods if (name, period) not in stopped]
        if going_on:
            outcomes.append(run_step(workshop, name, going_on))
            stopped |= {(name, period) for period in outcomes[-1].refused}
    return outcomes


def _selected(workshop: Workshop, selection: Selection, steps: Sequence[str]) -> list[str]:
    selection.check(workshop.definition)
    first = first_step().name
    if first not in steps:
        return selection.pick(list(workshop.ledger().of(first)), workshop.definition)
    began = datetime.now(UTC)
    try:
        sources = looked_into(workshop)
        if not sources.periods() and (untold := sources.untold()):
            raise InputError("\n".join(untold))
        return selection.pick(sources.periods(), workshop.definition)
    except InputError as error:
        keep_failure(workshop, first, selection.named, began, error)
        raise


def refusals(outcomes: Sequence[Outcome]) -> list[str]:
    """Every refusal once, in the order they came."""
    return list(dict.fromkeys(why for outcome in outcomes for why in outcome.refused.values()))


def left_out(outcomes: Sequence[Outcome]) -> list[str]:
    """Every raw file once that was left out, as a sentence."""
    return list(dict.fromkeys(why for outcome in outcomes for why in outcome.left_out))


def raise_refusals(outcomes: Sequence[Outcome], *, with_files: bool = True) -> None:
    """End as an error if anything was refused, or a raw file left out: what could be published is."""
    found = refusals(outcomes) + (left_out(outcomes) if with_files else [])
    if found:
        raise SkyarchiveError("\n".join(found))

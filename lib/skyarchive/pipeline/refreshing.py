"""Computing again what became stale, was left unfinished or has not run, and nothing else."""

from collections import Counter
from collections.abc import Collection

from skyarchive.pipeline.mending import mend_damaged
from skyarchive.pipeline.publishing import Outcome
from skyarchive.pipeline.running import run_step
from skyarchive.pipeline.sources import looked_into
from skyarchive.pipeline.status import PeriodStatus, Task, period_statuses
from skyarchive.pipeline.step import Step, first_step, steps_of
from skyarchive.pipeline.workshop import Workshop

_MOST_RUNS = 3
"""Of one step of one period: more often nothing can have changed under it, and something is wrong."""


def refresh(workshop: Workshop) -> list[Outcome]:
    """Step after step, each for all periods at once that wait for nothing. What stands on something that is computed
    again may come out as it was: after every run it is looked again what is still to be done."""
    mend_damaged(workshop)
    outcomes: list[Outcome] = []
    untold = looked_into(workshop).untold()
    if untold:
        outcomes.append(Outcome(first_step().name, left_out=untold))
    runs: Counter[Task] = Counter()
    while due := _due(workshop, {task for task, count in runs.items() if count >= _MOST_RUNS}):
        name, periods = due
        outcome = run_step(workshop, name, periods)
        runs.update((name, period) for period in outcome.published)
        runs |= Counter({(name, period): _MOST_RUNS for period in {*periods, *outcome.refused} - {*outcome.published}})
        outcomes.append(outcome)
    return outcomes


def _due(workshop: Workshop, done: Collection[Task]) -> tuple[str, list[str]] | None:
    """The first step that can run now, with its periods."""
    statuses = period_statuses(workshop.settings, workshop.definition)
    first = first_step().name
    begun = [status for status in statuses if status.steps[first].state != "absent"]  # the others are for `run`
    for step in steps_of(workshop.definition):
        if periods := _ready(step, begun, done):
            return step.name, periods
    return None


def _ready(step: Step, statuses: list[PeriodStatus], done: Collection[Task]) -> list[str]:
    """The periods for which the step has to run, whatever comes of others."""
    found: list[str] = []
    for status in statuses:
        state = status.steps[step.name]
        # Neighbours of a chained step go together: what one starts from, the one before it ends with.
        together = {(step.name, period) for period in found} if step.chained else set()
        is_due = state.is_due and (step.name, status.period) not in done
        if is_due and {*state.waits_for} <= together:
            found.append(status.period)
    return found

"""Running steps over periods, and refreshing what became stale."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from skyarchive.analysing import row_faults_told
from skyarchive.definition import Definition
from skyarchive.errors import InputError, LockError, MachineError, SettingError, SkyarchiveError, SparkError
from skyarchive.inventory import Inventory, looked_into
from skyarchive.mending import mend_damaged
from skyarchive.publishing import Outcome
from skyarchive.refusing import keep_failure, keep_refusals
from skyarchive.selection import Selection
from skyarchive.status import period_statuses
from skyarchive.workshop import Workshop


def _ingest(workshop: Workshop, periods: list[str]) -> Outcome:
    from skyarchive.ingesting import ingest_periods

    return ingest_periods(workshop, periods)


def _derive(workshop: Workshop, periods: list[str]) -> Outcome:
    from skyarchive.deriving import derive_periods

    return derive_periods(workshop, periods)


def _skyline(workshop: Workshop, periods: list[str]) -> Outcome:
    from skyarchive.skylining import skyline_periods

    return skyline_periods(workshop, periods)


def _frequent(workshop: Workshop, periods: list[str]) -> Outcome:
    from skyarchive.frequenting import frequent_periods

    return frequent_periods(workshop, periods)


def _external(workshop: Workshop, periods: list[str]) -> Outcome:
    from skyarchive.recording import external_periods

    return external_periods(workshop, periods)


_RUN: dict[str, Callable[[Workshop, list[str]], Outcome]] = {
    "ingest": _ingest,
    "derive": _derive,
    "skyline": _skyline,
    "frequent": _frequent,
    "external": _external,
}


def checked_steps(text: str | None, definition: Definition) -> list[str]:
    """The steps named in a comma-separated list, in their order; all of the archive's without one."""
    if text is None:
        return definition.steps
    named = [step.strip() for step in text.split(",")]
    unknown = [step for step in named if step not in definition.steps]
    if unknown:
        raise SettingError(
            f"{unknown[0]!r} is not a step of {definition.name}; its steps are {', '.join(definition.steps)}."
        )
    return [step for step in definition.steps if step in named]


def run_step(workshop: Workshop, step: str, periods: list[str]) -> Outcome:
    """One step over some periods; why it did not publish one is kept."""
    began = datetime.now(UTC)
    try:
        with row_faults_told(workshop.definition):
            outcome = _RUN[step](workshop, periods)
    except (LockError, MachineError, SparkError):
        raise  # says nothing of the periods
    except Exception as error:
        keep_failure(workshop, step, periods, began, error)
        raise
    keep_refusals(workshop, outcome)
    return outcome


def run_steps(workshop: Workshop, selection: Selection, steps: Sequence[str]) -> list[Outcome]:
    """Each step over all selected periods; a period that a step refused does not go on to the next."""
    mend_damaged(workshop)
    periods = _selected(workshop, selection, steps)
    outcomes: list[Outcome] = []
    for step in steps:
        outcome = run_step(workshop, step, periods)
        outcomes.append(outcome)
        periods = [period for period in periods if period not in outcome.refused]
        if not periods:
            break
    return outcomes


def _selected(workshop: Workshop, selection: Selection, steps: Sequence[str]) -> list[str]:
    if "ingest" not in steps:
        return selection.pick(list(workshop.ledger().of("ingest")), workshop.definition)
    began = datetime.now(UTC)
    try:
        return selection.pick(known_periods(workshop), workshop.definition)
    except InputError as error:
        keep_failure(workshop, "ingest", selection.named, began, error)
        raise


def known_periods(workshop: Workshop) -> list[str]:
    """Every period that has raw files."""
    return _whole_inventory(workshop).periods()


def _whole_inventory(workshop: Workshop) -> Inventory:
    """The inventory with every file looked into that has to be."""
    inventory = Inventory.read(workshop.lake, workshop.settings, workshop.definition)
    if inventory.unknown:
        with workshop.computing():
            inventory = looked_into(workshop)
    return inventory


def refresh(workshop: Workshop) -> list[Outcome]:
    """Recompute what is stale or unfinished, in order, one period after the other: a period whose start comes
    out unchanged is no longer stale, so the work stops there by itself."""
    mend_damaged(workshop)
    _whole_inventory(workshop)
    outcomes: list[Outcome] = []
    refused: set[tuple[str, str]] = set()
    while True:
        due = _first_due(workshop, refused)
        if due is None:
            return outcomes
        step, period = due
        outcome = run_step(workshop, step, [period])
        if period not in outcome.published:
            refused.add(due)
        outcomes.append(outcome)


def _first_due(workshop: Workshop, refused: set[tuple[str, str]]) -> tuple[str, str] | None:
    """The first step that has to run again, earliest period first; nothing past one that was refused."""
    for status in period_statuses(workshop.settings, workshop.definition):
        if status.state == "current" or status.steps["ingest"].state == "absent":
            continue
        for step in workshop.definition.steps:
            state = status.steps[step].state
            if state == "current":
                continue
            if (step, status.period) in refused:
                return None
            return step, status.period
    return None


def refusals(outcomes: Sequence[Outcome]) -> list[str]:
    """Every refusal once, in the order they came."""
    return list(dict.fromkeys(why for outcome in outcomes for why in outcome.refused.values()))


def raise_refusals(outcomes: Sequence[Outcome]) -> None:
    """End as an error if anything was refused: what could be published is."""
    found = refusals(outcomes)
    if found:
        raise SkyarchiveError("\n".join(found))

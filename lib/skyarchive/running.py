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
        inventory = whole_inventory(workshop)
        if not inventory.periods() and inventory.faulty:
            raise InputError("\n".join(inventory.untold()))
        return selection.pick(inventory.periods(), workshop.definition)
    except InputError as error:
        keep_failure(workshop, "ingest", selection.named, began, error)
        raise


def whole_inventory(workshop: Workshop) -> Inventory:
    """The inventory with every file looked into that has to be, and those again that could not be."""
    inventory = Inventory.read(workshop.lake, workshop.settings, workshop.definition)
    if inventory.unknown or inventory.faulty:
        with workshop.computing():
            inventory = looked_into(workshop, again=True)
    return inventory


def refresh(workshop: Workshop) -> list[Outcome]:
    """Recompute what is stale or unfinished, in order, one period after the other: a period whose start comes
    out unchanged is no longer stale, so the work stops there by itself."""
    mend_damaged(workshop)
    outcomes: list[Outcome] = []
    left_out = whole_inventory(workshop).untold()
    if left_out:
        outcomes.append(Outcome("ingest", left_out=left_out))
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
    """The first step that has to run again, earliest period first. What is past a refused one starts from it, and
    waits; but raw files are read for themselves."""
    waits = False
    for status in period_statuses(workshop.settings, workshop.definition):
        if status.state == "current" or status.steps["ingest"].state == "absent":
            continue
        for step in workshop.definition.steps:
            state = status.steps[step].state
            if state == "current":
                continue
            if (step, status.period) in refused:
                waits = True
                break
            if waits and step != "ingest":
                break
            return step, status.period
    return None


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

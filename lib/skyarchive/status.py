"""Every period's state: absent, current, stale (and why), unfinished or refused. Told without Spark."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from skyarchive.definition import Definition
from skyarchive.inventory import Inventory
from skyarchive.lake import Lake
from skyarchive.ledger import Ledger, Publication
from skyarchive.looking_back import frequent_inputs, looked_into
from skyarchive.names import FURTHER_STEPS, STEPS
from skyarchive.reading.files import files_fingerprint
from skyarchive.record_status import external_inputs
from skyarchive.refusals import Refusal, last_refusals, newest
from skyarchive.settings import Settings
from skyarchive.versions import UNVERSIONED

State = Literal["absent", "current", "stale", "unfinished", "refused"]
NOTHING = "none"
"""Fingerprint of what an archive's first period starts from."""
_SHOWN_FOR = timedelta(days=30)
"""How long a period is shown of which there is nothing but a refusal."""


@dataclass(frozen=True)
class StepState:
    """One step of one period."""

    state: State
    why: str = ""


@dataclass
class PeriodStatus:
    """One period of one archive, step by step and as a whole."""

    archive: str
    period: str
    steps: dict[str, StepState] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    files: int = 0
    """Its raw files."""
    refusal: Refusal | None = None
    """The last one, if the refused step was not published after it."""

    @property
    def state(self) -> State:
        """The period as a whole: what keeps it from being current first."""
        states = [step.state for step in self.steps.values()]
        if self.refusal and self.steps[self.refusal.step].state == "absent":
            return "refused"
        if all(state == "absent" for state in states):
            return "absent"
        if "unfinished" in states or "absent" in states:
            return "unfinished"
        return "stale" if "stale" in states else "current"

    @property
    def why(self) -> str:
        told = [str(self.refusal)] if self.refusal else []
        if self.state == "absent":
            told.append(next(iter(self.steps.values())).why)
        elif self.state != "refused":
            told += self._reasons
        return "; ".join(dict.fromkeys(filter(None, told)))

    @property
    def _reasons(self) -> list[str]:
        return [
            f"{name} has not run" if step.state == "absent" else step.why
            for name, step in self.steps.items()
            if step.state != "current"
        ]


def period_statuses(settings: Settings, definition: Definition) -> list[PeriodStatus]:
    """The archive's periods in order, those that only have raw files too."""
    lake = Lake(settings)
    ledger = Ledger.read(lake, definition.name)
    inventory = Inventory.read(lake, settings, definition)
    unfinished = _unfinished(lake, definition.name, ledger)
    touched = {period for periods in unfinished.values() for period in periods}
    refusals = last_refusals(lake, definition.name, ledger)
    lost = {period for step, period in ledger.lost if step in definition.steps}
    known = sorted(
        {*inventory.periods(), *ledger.of("ingest"), *ledger.of("derive"), *touched, *lost, *_recent(refusals.values())}
    )
    statuses: list[PeriodStatus] = []
    for period in known:
        status = PeriodStatus(definition.name, period)
        status.steps["ingest"] = _ingest_state(definition, ledger, inventory, period)
        for step in definition.steps[1:]:
            status.steps[step] = _STATES[step](definition, ledger, statuses, status)
        for step, periods in unfinished.items():
            if period in periods:
                why = f"{step} stopped in the middle; the last good version is read, run {step} again"
                status.steps[step] = StepState("unfinished", why)
        for step in definition.steps:
            if (step, period) in ledger.lost:
                status.steps[step] = StepState("unfinished", ledger.lost[step, period])
        status.counts = _counts(ledger, period)
        status.files = len(inventory.files_of(period))
        status.refusal = newest(refusals, period, definition.steps)
        statuses.append(status)
    return statuses


def _recent(refusals: Iterable[Refusal]) -> set[str]:
    """Their periods: where nothing else is known of one, it may have been a slip, and is not shown for ever."""
    since = datetime.now(UTC) - _SHOWN_FOR
    return {refusal.period for refusal in refusals if refusal.time > since}


def _unfinished(lake: Lake, archive: str, ledger: Ledger) -> dict[str, set[str]]:
    """By step, the periods of runs that made a commit and never published it."""
    found: dict[str, set[str]] = {}
    published = lake.publications(archive)
    for table in lake.tables(archive):
        if table in UNVERSIONED:
            continue
        version, metadata = lake.last_commit(archive, table)
        if metadata.get("run_id") and version not in published.get(table, ()):
            found.setdefault(metadata["step"], set()).update(metadata["periods"])
    return found


def _ingest_state(definition: Definition, ledger: Ledger, inventory: Inventory, period: str) -> StepState:
    published = ledger.of("ingest").get(period)
    files = inventory.files_of(period)
    if published is None:
        return StepState("absent", "raw files are there; nothing is ingested" if files else "")
    # Raw files may be cleared away after ingestion: only files that are there and differ tell of a change.
    changed = files and published.input_fingerprints["files"] != files_fingerprint(files)
    if changed or {file.name for file in inventory.unknown} & set(published.details["files"]):
        return StepState("stale", "raw files changed since it was ingested")
    emptied = {file.name for file in inventory.files} & set(published.details["files"])
    if emptied and not files:
        return StepState("stale", f"{min(emptied)} changed since it was ingested, and holds no rows of it any more")
    return _definition_state(definition, published)


def _definition_state(definition: Definition, published: Publication) -> StepState:
    if published.input_fingerprints["definition"] != definition.fingerprint(published.step):
        return StepState("stale", f"the archive's definition changed since {published.step}")
    return StepState("current")


def _derive_state(
    definition: Definition, ledger: Ledger, earlier: list[PeriodStatus], status: PeriodStatus
) -> StepState:
    period = status.period
    published = ledger.of("derive").get(period)
    if published is None:
        return StepState("absent")
    ingested = ledger.of("ingest").get(period)
    if ingested and published.input_fingerprints["raw"] != ingested.output_fingerprints["raw"]:
        return StepState("stale", "its raw rows changed")
    before = ledger.period_before(period)
    start = NOTHING
    if before is not None:
        derived = ledger.of("derive").get(before)
        if derived is None:
            return StepState("stale", f"it must start from {before}, which is not derived")
        start = derived.output_fingerprints["carry"]
    if published.input_fingerprints["carry"] != start:
        return StepState("stale", f"{before} now ends with something else" if before else "it is now the first period")
    own = _definition_state(definition, published)
    if own.state != "current":
        return own
    predecessor = next((status for status in reversed(earlier) if status.period == before), None)
    if predecessor and predecessor.steps["derive"].state == "stale":
        return StepState("stale", f"it follows {before}, which is stale")
    if predecessor and predecessor.steps["ingest"].state == "stale":
        return StepState("stale", f"it follows {before}, which is stale")
    return StepState("current")


def skyline_inputs(derived: Publication) -> dict[str, str]:
    """Fingerprints of what a period's skylines are computed from."""
    return {
        "updates": derived.output_fingerprints["updates"],
        "snapshots": derived.output_fingerprints["snapshots"],
        "carry": derived.input_fingerprints["carry"],
    }


def starts_from(ledger: Ledger, period: str) -> str:
    """Fingerprint of the positions that a period starts from now."""
    before = ledger.period_before(period)
    if before is None:
        return NOTHING
    derived = ledger.of("derive").get(before)
    return derived.output_fingerprints["carry"] if derived else "missing"


def _skyline_state(
    definition: Definition, ledger: Ledger, earlier: list[PeriodStatus], status: PeriodStatus
) -> StepState:
    period, derive = status.period, status.steps["derive"]
    published = ledger.of("skyline").get(period)
    if published is None:
        return StepState("absent")
    derived = ledger.of("derive").get(period)
    known = {key: value for key, value in published.input_fingerprints.items() if key != "definition"}
    if derived is None or known != skyline_inputs(derived):
        return StepState("stale", "its updates changed, or what they start from")
    if derive.state != "current":
        return StepState("stale", derive.why)
    return _definition_state(definition, published)


def _frequent_state(
    definition: Definition, ledger: Ledger, earlier: list[PeriodStatus], status: PeriodStatus
) -> StepState:
    period = status.period
    published = ledger.of("frequent").get(period)
    if published is None:
        return StepState("absent")
    own = _definition_state(definition, published)
    if own.state != "current":
        return own
    if status.steps["skyline"].state != "current":
        return StepState("stale", status.steps["skyline"].why)
    known = {key: value for key, value in published.input_fingerprints.items() if key != "definition"}
    inputs = frequent_inputs(definition, ledger, period)
    if known != inputs:
        changed = {key for key in known | inputs if known.get(key) != inputs.get(key)}
        if changed & {"snapshots", f"skyline {period}"}:
            return StepState("stale", "its skylines changed")
        return StepState("stale", f"it looks back into {min(changed).split()[-1]}, whose skylines changed")
    back = looked_into(definition, ledger, period)
    behind = [before for before in earlier if before.period in back and before.steps["skyline"].state == "stale"]
    if behind:
        return StepState("stale", f"it looks back into {behind[0].period}, which is stale")
    return StepState("current")


def _external_state(
    definition: Definition, ledger: Ledger, earlier: list[PeriodStatus], status: PeriodStatus
) -> StepState:
    published = ledger.of("external").get(status.period)
    if published is None:
        return StepState("absent")
    if status.steps["ingest"].state != "current":
        return StepState("stale", status.steps["ingest"].why)
    inputs = external_inputs(definition, ledger, status.period)
    changed = [name for name, value in inputs.items() if published.input_fingerprints.get(name) != value]
    before = ledger.period_before(status.period)
    if "raw" in changed:
        return StepState("stale", "its raw rows changed")
    if changed:
        return StepState("stale", f"{before} now ends with something else" if before else "it is now the first period")
    predecessor = next((state for state in reversed(earlier) if state.period == before), None)
    if predecessor and predecessor.steps["external"].state == "stale":
        return StepState("stale", f"it follows {before}, which is stale")
    return _definition_state(definition, published)


_STATES: dict[str, Callable[[Definition, Ledger, list[PeriodStatus], PeriodStatus], StepState]] = {
    "derive": _derive_state,
    "skyline": _skyline_state,
    "frequent": _frequent_state,
    "external": _external_state,
}
"""How every step after the first stands: from the ledger, the periods before, and the period's steps before it."""


def _counts(ledger: Ledger, period: str) -> dict[str, Any]:
    """Rows and versions of what is published."""
    ingested, derived, skyline = (ledger.of(step).get(period) for step in STEPS)
    further = {step: ledger.of(step).get(period) for step in FURTHER_STEPS}
    return {
        "raw_rows": ingested.rows_out if ingested else None,
        "refused": ingested.rows_in - ingested.rows_out if ingested else None,
        "snapshots": derived.details["snapshots"] if derived else None,
        "updates": derived.rows_out if derived else None,
        "intervals": skyline.rows_out if skyline else None,
        **{step: published.rows_out if published else None for step, published in further.items()},
        "raw_version": ingested.output_versions["raw"] if ingested else None,
        "updates_version": derived.output_versions["updates"] if derived else None,
        "skyline_version": skyline.output_versions["skyline"] if skyline else None,
    }

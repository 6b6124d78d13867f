"""Every period's state: absent, current, stale (and why), unfinished or refused. Told without Spark."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from skyarchive.definition.model import Definition
from skyarchive.pipeline.look import DEFINITION, MISSING, VERSION, Look, changed
from skyarchive.pipeline.sources import Sources, sources_of
from skyarchive.pipeline.step import Step, all_steps, step_named
from skyarchive.settings import Settings
from skyarchive.store.lake import Lake
from skyarchive.store.ledger import Ledger
from skyarchive.store.refusals import Refusal, last_refusals, newest
from skyarchive.store.versions import UNVERSIONED

State = Literal["absent", "current", "stale", "unfinished", "refused"]
_SHOWN_FOR = timedelta(days=30)
"""How long a period is shown of which there is nothing but a refusal."""
Task = tuple[str, str]
"""(step, period)."""


@dataclass(frozen=True)
class StepState:
    """One step of one period."""

    state: State
    why: str = ""
    waits_for: tuple[Task, ...] = ()
    """What it stands on that is not current itself: it may be current again once that is."""
    is_due: bool = False
    """Whether it has to run whatever comes of those."""

    @property
    def is_current(self) -> bool:
        return self.state == "current"

    @property
    def stands(self) -> bool:
        """Whether others can stand on it: of a run that stopped in the middle the last good version counts."""
        return self.state in ("current", "unfinished")


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
    lake = Lake(settings).at_rest()
    look, sources = Look.read(lake, definition), sources_of(lake, settings, definition)
    archive, ledger, names = definition.name, look.ledger, [step.name for step in look.steps]
    unfinished = _unfinished(lake, archive)
    refusals = last_refusals(lake, archive, ledger)
    touched = {period for periods in unfinished.values() for period in periods}
    lost = {period for step, period in ledger.lost if step in names}
    published = {period for step in names for period in ledger.of(step)}
    known = sorted({*sources.periods(), *published, *touched, *lost, *_recent(refusals.values())})
    states = _States(look, sources, unfinished)
    return [
        PeriodStatus(
            archive,
            period,
            {step.name: states.of(step, period) for step in look.steps},
            _counts(ledger, period),
            sources.count(period),
            newest(refusals, period, names),
        )
        for period in known
    ]


def _recent(refusals: Iterable[Refusal]) -> set[str]:
    """Their periods: where nothing else is known of one, it may have been a slip, and is not shown for ever."""
    since = datetime.now(UTC) - _SHOWN_FOR
    return {refusal.period for refusal in refusals if refusal.time > since}


def _unfinished(lake: Lake, archive: str) -> dict[str, set[str]]:
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


class _States:
    """The state of every step of every period. Periods are asked for in their order: what one stands on is known."""

    def __init__(self, look: Look, sources: Sources, unfinished: Mapping[str, set[str]]) -> None:
        self._look = look
        self._sources = sources
        self._unfinished = unfinished
        self._known: dict[Task, StepState] = {}

    def of(self, step: Step, period: str) -> StepState:
        if (step.name, period) not in self._known:
            self._known[step.name, period] = self._found(step, period)
        return self._known[step.name, period]

    def _found(self, step: Step, period: str) -> StepState:
        state = self._own(step, period)
        if period in self._unfinished.get(step.name, ()):
            why = f"{step.name} stopped in the middle; the last good version is read, run {step.name} again"
            return StepState("unfinished", why, state.waits_for, is_due=True)
        if why := self._look.ledger.lost.get((step.name, period), ""):
            return StepState("unfinished", why, state.waits_for, is_due=True)
        return state

    def _own(self, step: Step, period: str) -> StepState:
        """From what is published of the step and of those before it."""
        look = self._look
        # A step stands on earlier ones of its period, and on earlier periods: this ends.
        upstream = {
            (need.step, of): self.of(needed, of)
            for need, of in look.stands_on(step, period)
            for needed in look.steps
            if needed.name == need.step and need.waits
        }
        waits_for = tuple(task for task, state in upstream.items() if not state.is_current)
        published = look.published(step.name, period)
        if published is None:
            files = "raw files are there; nothing is ingested"
            return StepState("absent", files if step.sources and self._sources.count(period) else "", waits_for, True)
        reasons = self._reasons(step, period)
        # What waits for something may be mended by it.
        is_due = bool(reasons) and (not waits_for or any(certain for _, certain in reasons))
        told = next(
            (why for task, state in upstream.items() if (why := self._passed_on(step, period, task, state))), ""
        )
        own = reasons[0][0] if reasons else ""
        if reasons or told:
            is_below = any(task[1] == period for task, state in upstream.items() if not state.stands)
            return StepState("stale", told if is_below else own or told, waits_for, is_due)
        return StepState("current", "", waits_for)

    def _passed_on(self, step: Step, period: str, task: Task, state: StepState) -> str:
        """What the state of something that it stands on says of it."""
        name, of = task
        if state.stands or (of != period and state.state == "absent"):  # which its fingerprint tells
            return ""
        if of == period:
            return state.why or f"{name} has not run"
        each = any(need.each for need in self._look.needs(step) if need.step == name)
        return f"it {'looks back into' if each else 'follows'} {of}, which is stale"

    def _reasons(self, step: Step, period: str) -> list[tuple[str, bool]]:
        """Why what is published would come out otherwise now, each with whether that is certain."""
        look = self._look
        published = look.ledger.of(step.name)[period]
        inputs = look.inputs(step, period)
        different = changed(published, inputs)
        found = []
        if VERSION in different:
            found.append((f"{step.name} is computed in another way since", True))
        elif DEFINITION in different:
            found.append((f"the archive's definition changed since {step.name}", True))
        if step.sources and (why := self._sources.why_stale(published)):
            found.append((why, True))
        for need, of in look.stands_on(step, period):
            if need.key(of) in different:
                different.discard(need.key(of))
                missing = inputs[need.key(of)] == MISSING
                undone = f"it must start from {of}, which {step_named(need.step).undone}"
                why = undone if missing else need.told(look, period, of)
                found.append((why, not need.waits or self._known[need.step, of].is_current))
        if different - {DEFINITION, VERSION}:
            found.append((_FIRST if look.before(period) is None else _OTHERS, True))
        return found


_FIRST = "it is now the first period"
_OTHERS = "it looks back into other periods than before"


def _counts(ledger: Ledger, period: str) -> dict[str, Any]:
    """Rows and versions of what is published."""
    steps = all_steps()
    counts: dict[str, Any] = {}
    for step in steps:
        published = ledger.of(step.name).get(period)
        counts |= {column: show(published) if published else None for column, show in step.shows.items()}
    for step in steps:
        if table := step.shows_version_of:
            published = ledger.of(step.name).get(period)
            counts[f"{table}_version"] = published.output_versions[table] if published else None
    return counts

"""The friendly front to Airflow's backfills: periods instead of dates, progress, and an outcome.

It reads and writes Airflow's own database, as the `airflow` command does, with the settings of the environment.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from skyarchive.definition.model import Definition, Schedule
from skyarchive.definition.selection import EXAMPLE, check_look
from skyarchive.errors import SettingError, SkyarchiveError
from skyarchive.names import checked_period
from skyarchive.orchestration.airflow_cli import airflow
from skyarchive.orchestration.naming import compute_id, ingest_id
from skyarchive.progress import Phase, Progress
from skyarchive.store.lake import Lake
from skyarchive.store.refusals import last_refusals, newest

_LOOK_AGAIN = 2.0
_DOWNSTREAM_PATIENCE = 120.0
"""Seconds for the scheduler to start a compute run after its ingest run succeeded."""
_OPEN = ("queued", "running")
_DATABASE = "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"
_TOLD = ("running", "success", "failed", "skipped")
Reprocess = Literal["none", "failed", "completed"]


@dataclass(frozen=True)
class Request:
    """Which periods, in which order, and which of them again."""

    periods: str
    reprocess: Reprocess = "none"
    backwards: bool = False

    def stretches(self) -> list[tuple[str, str]]:
        """First and last period of each gapless part, in the order in which they are to run."""
        found = []
        for part in self.periods.split(","):
            first, dots, last = part.strip().partition("..")
            if dots and not (first and last):
                raise SettingError(f"{part.strip()!r}: a backfill needs the first and the last period, as 2010..2014.")
            stretch = (checked_period(first), checked_period(last or first))
            if stretch[0] > stretch[1]:
                raise SettingError(f"{part.strip()!r} goes from later to earlier; add --backwards for that order.")
            found.append(stretch)
        return sorted(found, reverse=self.backwards)

    def wants(self, period: str) -> bool:
        return any(first <= period <= last for first, last in self.stretches())


@dataclass
class Outcome:
    """How the runs of every period ended."""

    archive: str
    ingest: dict[str, str] = field(default_factory=dict)
    compute: dict[str, str] = field(default_factory=dict)
    began: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        return [(period, state, self.compute.get(period, "")) for period, state in sorted(self.ingest.items())]

    def raise_failures(self, lake: Lake) -> None:
        """End as an error if a period failed, with the reason that its step left in the tables."""
        failed = [period for period, ingest, compute in self.rows if "failed" in (ingest, compute)]
        if failed:
            raise SkyarchiveError(
                f"{self.archive}: {', '.join(failed)} failed; `skyarchive status {self.archive}` says what is "
                f"published. Mend it, then backfill with --reprocess failed.\n{self._reasons(lake, failed)}"
            )

    def _reasons(self, lake: Lake, failed: list[str]) -> str:
        """A line for each period; a task that was killed, say, left nothing but its log."""
        kept = {key: it for key, it in last_refusals(lake, self.archive).items() if it.time >= self.began}
        steps = {step for step, _ in kept}
        found = {period: newest(kept, period, steps) for period in failed}
        return "\n".join(
            f"  {period}: {refusal or 'the reason is in the log of the failed task'}"
            for period, refusal in found.items()
        )


def date_range(schedule: Schedule, first: str, last: str) -> tuple[datetime, datetime]:
    """The dates whose runs have these periods as their keys."""
    return _begin(schedule, first), _end(_begin(schedule, last), schedule)


def _begin(schedule: Schedule, period: str) -> datetime:
    try:
        return datetime.strptime(period, schedule.key).replace(tzinfo=UTC)
    except ValueError as error:
        raise SettingError(
            f"{period!r} is not a period of this archive: its periods look like {EXAMPLE.strftime(schedule.key)}."
        ) from error


def _end(begin: datetime, schedule: Schedule) -> datetime:
    """The last second of the period that begins then."""
    if "%d" in schedule.key:
        following = begin + timedelta(days=1)
    elif "%m" in schedule.key:
        following = (begin + timedelta(days=31)).replace(day=1)
    else:
        following = begin.replace(year=begin.year + 1)
    return following - timedelta(seconds=1)


def run_backfill(definition: Definition, request: Request, progress: Progress, *, wait: bool = True) -> Outcome:
    """Create the runs and, unless told otherwise, wait until they and what follows from them have ended."""
    stretches = request.stretches()
    for period in {end for stretch in stretches for end in stretch}:
        check_look(period, definition)
    _need_airflow(definition.name)
    outcome = Outcome(definition.name)
    for first, last in stretches:
        name = first if first == last else f"{first}..{last}"
        with progress.phase(f"{definition.name} {name}: creating the runs") as phase:
            _end_earlier(definition.name)
            _create(definition, first, last, request)
            if wait:
                _follow(outcome, request, phase, progress)
    if not wait:
        outcome.ingest = _states(ingest_id(definition.name), request, outcome.began)
    return outcome


def _need_airflow(archive: str) -> None:
    """Errors that tell what is missing, before anything is created."""
    home = Path(os.environ.get("AIRFLOW_HOME", "~/airflow")).expanduser()
    if not home.is_dir() and _DATABASE not in os.environ:  # importing Airflow would make it, empty
        raise SettingError(
            f"There is no Airflow in {home}: set AIRFLOW_HOME to that of the Airflow that runs the archives, or start "
            "a private one with `make airflow` and read its settings with `. .skyarchive/airflow/environment.sh`."
        )
    os.environ.setdefault("AIRFLOW__LOGGING__LOGGING_LEVEL", "WARNING")  # it tells of every run it creates
    try:
        from airflow.models.dag import DagModel
        from airflow.utils.session import create_session
        from sqlalchemy.exc import OperationalError
    except ImportError as error:
        raise SettingError("Airflow is not installed here: it comes with skyarchive[airflow].") from error
    try:
        with create_session() as session:
            found = {dag_id: session.get(DagModel, dag_id) for dag_id in (ingest_id(archive), compute_id(archive))}
            paused = [dag_id for dag_id, dag in found.items() if dag is not None and dag.is_paused]
    except OperationalError as error:
        raise SettingError(
            f"Airflow's database cannot be read: set AIRFLOW_HOME (and {_DATABASE}) to those "
            f"of the Airflow that runs the archives ({str(error.orig).strip()})."
        ) from error
    missing = [dag_id for dag_id, dag in found.items() if dag is None]
    if missing:
        raise SettingError(f"Airflow knows no DAG {missing[0]}: its dags_folder must be this project's dags/.")
    if paused:
        raise SettingError(f"{' and '.join(paused)} paused: unpause first, with `airflow dags unpause {paused[0]}`.")


def _end_earlier(archive: str) -> None:
    """Airflow allows one backfill per DAG, and sees only every half minute whether one has ended: it is seen here, as
    the scheduler would."""
    from airflow.models.backfill import Backfill, BackfillDagRun
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from sqlalchemy import exists, select

    with create_session() as session:
        is_earlier = (Backfill.dag_id == ingest_id(archive), Backfill.completed_at.is_(None))
        for earlier in session.scalars(select(Backfill).where(*is_earlier)):
            is_set_up = exists().where(BackfillDagRun.backfill_id == earlier.id)
            works = exists().where(DagRun.backfill_id == earlier.id, DagRun.state.in_(_OPEN))
            if session.scalar(select(works | ~is_set_up)):
                raise SkyarchiveError(f"A backfill of {archive} is running; wait for it, or cancel it in Airflow.")
            earlier.completed_at = datetime.now(UTC)


def _create(definition: Definition, first: str, last: str, request: Request) -> None:
    schedule, dag_id = definition.timing, ingest_id(definition.name)
    if schedule is None:  # no calendar, no backfill: periods are triggered one by one
        if first != last:
            raise SettingError(
                f"The periods of {definition.name} follow no calendar: name them one by one, as {first},{last}."
            )
        airflow("dags", "trigger", dag_id, "--conf", json.dumps({"period": first}), environment=os.environ)
        return
    # What `airflow backfill create` calls. The command itself takes seconds to start, and all is imported here.
    from airflow.exceptions import AirflowException
    from airflow.models.backfill import NoBackfillRunsToCreate, ReprocessBehavior, _create_backfill

    begin, end = date_range(schedule, first, last)
    try:
        _create_backfill(
            dag_id=dag_id,
            from_date=begin,
            to_date=end,
            max_active_runs=1,
            reverse=request.backwards,
            dag_run_conf=None,
            triggering_user_name=os.environ.get("USER"),
            reprocess_behavior=ReprocessBehavior(request.reprocess),
            run_on_latest_version=True,
        )
    except (AirflowException, NoBackfillRunsToCreate) as error:
        raise SkyarchiveError(f"Airflow creates no backfill of {definition.name}: {error}") from error


def _follow(outcome: Outcome, request: Request, phase: Phase, progress: Progress) -> None:
    """Tells of every run that begins or ends, and meanwhile what goes on, until all have ended."""
    archive = outcome.archive
    said = {("ingest", period): state for period, state in outcome.ingest.items()}
    said |= {("compute", period): state for period, state in outcome.compute.items()}
    last_change = time.monotonic()
    while True:
        outcome.ingest = _states(ingest_id(archive), request, outcome.began, _told_apart)
        outcome.compute = _states(compute_id(archive), request, outcome.began)
        for kind, states in (("ingest", outcome.ingest), ("compute", outcome.compute)):
            for period, state in states.items():
                if state in _TOLD and said.get((kind, period)) != state:
                    said[kind, period] = state
                    last_change = time.monotonic()
                    progress.say(f"{archive} {period}: {kind} {state}")
        open_runs = [s for s in (*outcome.ingest.values(), *outcome.compute.values()) if s in _OPEN]
        expected = [p for p, state in outcome.ingest.items() if state == "success" and p not in outcome.compute]
        if not open_runs and (not expected or time.monotonic() - last_change > _DOWNSTREAM_PATIENCE):
            for period in expected:
                outcome.compute[period] = "not started"
            return
        phase.turn_to(going_on(outcome, expected))
        time.sleep(_LOOK_AGAIN)


def going_on(outcome: Outcome, expected: list[str]) -> str:
    """What a backfill is at."""
    runs = {"ingest": outcome.ingest, "compute": outcome.compute}
    running = [f"{period} {kind}" for kind, of in runs.items() for period, state in of.items() if state == "running"]
    if running:
        return f"{outcome.archive}: {' and '.join(running)} running"
    waiting = [f"{period} {kind}" for kind, of in runs.items() for period, state in of.items() if state == "queued"]
    waiting += [f"{period} compute" for period in expected]
    return f"{outcome.archive}: waiting until Airflow starts {waiting[0] if waiting else 'a run'}"


def _state_of(run: Any) -> str:
    return str(run.state)


def _told_apart(run: Any) -> str:
    """A run that skipped its first task ended well in Airflow's eyes; here it is told apart."""
    state = _state_of(run)
    tasks = {str(task.state) for task in run.task_instances}
    return "skipped" if state == "success" and tasks == {"skipped"} else state


def _states(dag_id: str, request: Request, since: datetime, refine: Callable[[Any], str] = _state_of) -> dict[str, str]:
    """The state of the newest run of every wanted period that was created since then."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        runs = session.scalars(
            select(DagRun).where(DagRun.dag_id == dag_id, DagRun.queued_at >= since).order_by(DagRun.queued_at)
        )
        found = {run.partition_key or (run.conf or {}).get("period", ""): refine(run) for run in runs}
    return {period: state for period, state in found.items() if request.wants(period)}

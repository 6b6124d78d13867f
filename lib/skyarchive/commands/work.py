"""Working on archives: run, ingest, derive, refresh. These start Spark."""

from typing import TYPE_CHECKING, Annotated

import typer

from skyarchive.answers.options import ArchiveArgument, VerboseOption, workshop_for
from skyarchive.definition.catalog import Catalog
from skyarchive.progress import message
from skyarchive.settings import load_settings

if TYPE_CHECKING:
    from skyarchive.pipeline.publishing import Outcome

PeriodsOption = Annotated[
    str | None,
    typer.Option(
        "--periods",
        help="2014, 2010..2014, 2010.. (from), ..2014 (to) or 2010,2012; all that have raw files if left out.",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    for command in (run, ingest, derive, refresh):
        app.command()(command)


def run(
    archive: ArchiveArgument,
    periods: PeriodsOption = None,
    steps: Annotated[
        str | None, typer.Option("--steps", help="Comma-separated, such as ingest,derive; all if left out.")
    ] = None,
    verbose: VerboseOption = False,
) -> None:
    """Run an archive's steps over periods, from raw files to published tables.

    Running again changes nothing that a reader can see. A period that is refused is named with the reason,
    the others go on, and the exit code is 1.

    Example: skyarchive run nba --periods 2010..2014
    """
    from skyarchive.pipeline.step import checked_steps

    _run(archive, periods, checked_steps(steps, Catalog(load_settings()).get(archive)), verbose)


def ingest(archive: ArchiveArgument, periods: PeriodsOption = None, verbose: VerboseOption = False) -> None:
    """Read raw files into `raw`; rows with a fault go to `quarantine` with the reason.

    Example: skyarchive ingest stocks --periods 2004
    """
    _run(archive, periods, ["ingest"], verbose)


def derive(archive: ArchiveArgument, periods: PeriodsOption = None, verbose: VerboseOption = False) -> None:
    """Derive the update log (`snapshots`, `updates`, `objects`, `carry`) from ingested periods.

    Example: skyarchive derive stocks --periods 2004..2006
    """
    _run(archive, periods, ["derive"], verbose)


def _run(archive: str, periods: str | None, steps: list[str], verbose: bool) -> None:
    from skyarchive.definition.selection import Selection
    from skyarchive.pipeline.running import raise_refusals, run_steps

    outcomes = run_steps(workshop_for(archive, verbose), Selection(periods), steps)
    _say_published(archive, outcomes)
    raise_refusals(outcomes)


def refresh(
    archive: Annotated[
        str | None,
        typer.Argument(help="Only this archive; all that have tables if left out.", show_default=False),
    ] = None,
    verbose: VerboseOption = False,
) -> None:
    """Recompute what became stale or was left unfinished, in order, and nothing else.

    It stops as soon as a period ends with what it ended with before: what follows is current then.

    Example: skyarchive refresh nba
    """
    from skyarchive.errors import SettingError
    from skyarchive.pipeline.refreshing import refresh as refresh_archive
    from skyarchive.pipeline.running import raise_refusals
    from skyarchive.store.lake import Lake

    settings = load_settings()
    known = Lake(settings).archives()
    if archive is not None:
        Catalog(settings).get(archive)
        if archive not in known:
            raise SettingError(f"{archive} has no tables yet; run: skyarchive run {archive}")
    everything = []
    for name in [archive] if archive else known:
        outcomes = refresh_archive(workshop_for(name, verbose))
        if outcomes:
            _say_published(name, outcomes)
        else:
            message(f"{name}: nothing is stale.")
        _say_new(name)
        everything += outcomes
    raise_refusals(everything)


def _say_new(archive: str) -> None:
    """What has raw files and was never ingested is not refreshed: that is for `run`."""
    from skyarchive.pipeline.status import period_statuses
    from skyarchive.pipeline.step import first_step

    settings = load_settings()
    statuses = period_statuses(settings, Catalog(settings).get(archive))
    first = first_step().name
    new = [it.period for it in statuses if it.files and it.steps[first].state == "absent"]
    if new:
        periods = new[0] if len(new) == 1 else f"{new[0]}..{new[-1]}"
        message(f"{archive}: not ingested yet: {periods}; run: skyarchive run {archive} --periods {periods}")


def _say_published(archive: str, outcomes: "list[Outcome]") -> None:
    for outcome in outcomes:
        if outcome.published:
            message(f"{archive}: {outcome.step} published {', '.join(outcome.published)}.")

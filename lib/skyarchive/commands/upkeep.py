"""Looking after what is published: audit, maintain, backfill. Only a backfill starts Spark, through Airflow."""

from typing import Annotated, Literal

import typer

from skyarchive.answers.options import COUNT, DAYS, SEED, ArchiveArgument, FormatOption, VerboseOption, workshop_for
from skyarchive.answers.output import render
from skyarchive.progress import message

Reprocess = Literal["none", "failed", "completed"]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    for command in (audit, maintain, backfill):
        app.command()(command)


def audit(
    archive: ArchiveArgument,
    snapshots: Annotated[int, typer.Option(min=1, max=COUNT, help="How many to look at.")] = 20,
    seed: Annotated[
        int | None, typer.Option(min=0, max=SEED, help="Look at the same ones as an earlier audit.")
    ] = None,
    verbose: VerboseOption = False,
) -> None:
    """Compute random snapshots again by brute force and compare them with the published skylines.

    Example: skyarchive audit nba --snapshots 100
    """
    from skyarchive.pipeline.auditing import audits

    for report in audits(workshop_for(archive, verbose), snapshots, seed):
        report.raise_faults()
        message(report.summary)


def maintain(
    archive: ArchiveArgument,
    keep_days: Annotated[
        int | None,
        typer.Option(min=0, max=DAYS, help="Files that a version of so many days needs stay; ten years if left out."),
    ] = None,
    format: FormatOption = "table",
    verbose: VerboseOption = False,
) -> None:
    """Make small files of the tables into larger ones, and delete what no version within the retention needs.

    Readers notice nothing: the rows stay, and so do the versions.

    Example: skyarchive maintain nba
    """
    from skyarchive.pipeline.maintaining import maintain as maintain_archive
    from skyarchive.store.tables import RETENTION_DAYS

    kept = RETENTION_DAYS if keep_days is None else keep_days
    rows = [care.described() for care in maintain_archive(workshop_for(archive, verbose), kept)]
    render(list(rows[0]) if rows else ["table"], [tuple(row.values()) for row in rows], format)


def backfill(
    archive: ArchiveArgument,
    periods: Annotated[str, typer.Option(help="2014, 2010..2014 or 2010..2012,2014 (with gaps).", show_default=False)],
    reprocess: Annotated[
        Reprocess, typer.Option(help="Which of the periods that Airflow has run before are run again.")
    ] = "none",
    backwards: Annotated[bool, typer.Option("--backwards", help="The latest period first.")] = False,
    wait: Annotated[bool, typer.Option(help="Wait for the outcome.")] = True,
) -> None:
    """Run an archive's DAGs over a range of periods through Airflow, and show how it goes.

    Everything is computed that follows from them; periods without raw files are skipped. The exit code is 1 if a
    period failed. Airflow's settings are those of the environment (AIRFLOW_HOME and the like).

    Example: skyarchive backfill nba --periods 2010..2014
    """
    from skyarchive.orchestration.backfilling import Request, run_backfill

    workshop = workshop_for(archive)
    outcome = run_backfill(workshop.definition, Request(periods, reprocess, backwards), workshop.progress, wait=wait)
    render(["period", "ingest", "compute"], outcome.rows, "table")
    outcome.raise_failures(workshop.lake)

"""Asking for the records that were never beaten: external. It needs no Spark and answers in about a second."""

from typing import Annotated

import typer

from skyarchive.answers.options import ArchiveArgument, FormatOption, LimitOption
from skyarchive.answers.output import limited, render
from skyarchive.definition.catalog import Catalog
from skyarchive.progress import message
from skyarchive.settings import load_settings


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command()(external)


def external(
    archive: ArchiveArgument,
    period: Annotated[
        str | None,
        typer.Option("--period", help="Of all records up to its end; the last one if left out.", show_default=False),
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", help="Only this group, where records have groups.", show_default=False)
    ] = None,
    format: FormatOption = "table",
    limit: LimitOption = None,
) -> None:
    """Show the records (a game of a player, a day of a stock) that no other record ever seen beats.

    Which attributes of a record count, and within which groups, is the field `external` of the archive's definition.

    Example: skyarchive external nba --period 2010
    """
    from skyarchive.steps.external.questions import RecordQuestions

    settings = load_settings()
    answer = RecordQuestions(settings, Catalog(settings).get(archive)).unbeaten(period, group)
    message(answer.remark)
    render(answer.columns, limited(answer.rows, limit, format), format)

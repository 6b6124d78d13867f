"""Asking for the skyline of the last while: window. It needs no Spark and answers in about a second."""

from typing import Annotated

import typer

from skyarchive.answers.options import ArchiveArgument, FormatOption, LimitOption
from skyarchive.answers.output import limited, render
from skyarchive.definition.catalog import Catalog
from skyarchive.progress import message
from skyarchive.settings import load_settings


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command()(window)


def window(
    archive: ArchiveArgument,
    query: Annotated[
        str | None, typer.Option("--query", help="One of the archive's queries; the only one if left out.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            help="At this time (UTC), or when the record of this number came; the last if left out.",
            show_default=False,
        ),
    ] = None,
    format: FormatOption = "table",
    limit: LimitOption = None,
) -> None:
    """Show the records that no other record of the last while beats.

    Example: skyarchive window nba --query month --at 2010-06-17
    """
    from skyarchive.steps.windows.questions import WindowQuestions

    settings = load_settings()
    answer = WindowQuestions(settings, Catalog(settings).get(archive), query).members(at)
    message(answer.remark)
    render(answer.columns, limited(answer.rows, limit, format), format)

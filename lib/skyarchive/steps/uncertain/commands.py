"""Asking for the probable skyline of the last while: uncertain. It needs no Spark and answers in about a second."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skyarchive.answers.options import COUNT, ArchiveArgument, FormatOption, LimitOption
from skyarchive.answers.output import limited, render
from skyarchive.definition.catalog import Catalog
from skyarchive.errors import SettingError
from skyarchive.progress import message
from skyarchive.settings import load_settings

if TYPE_CHECKING:
    from skyarchive.answers.questions import Answer
    from skyarchive.steps.uncertain.questions import UncertainQuestions


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command()(uncertain)


def uncertain(
    archive: ArchiveArgument,
    query: Annotated[
        str | None,
        typer.Option("--query", help="One of the archive's queries; the only one if left out.", show_default=False),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            help="Who is a member at this time (UTC), or when the record of this number had come; if nothing is asked, "
            "at the last record.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            "--threshold",
            help="How probable members are at least; the lowest that is kept, if left out. With --at it may be any.",
            show_default=False,
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            min=1,
            max=COUNT,
            help="So many of the most probable; as the definition says, if left out.",
            show_default=False,
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(
            "--over",
            help="Who came and who went after A, up to B: A..B, times or numbers of records.",
            show_default=False,
        ),
    ] = None,
    why: Annotated[
        str | None,
        typer.Option(
            "--why",
            help="Why a record is as probable as it is at that time: FILE:ROW, an object or its name.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw how probable the best are over time, into this file (.svg, .png or .pdf).",
            show_default=False,
        ),
    ] = None,
    format: FormatOption = "table",
    limit: LimitOption = None,
) -> None:
    """Show the records of the last while that are probably there and beaten by no other one that is.

    Each record exists with a probability; times that nobody who counts and beats it exists, older or younger, that is
    how probable it is in the skyline. It is a member while that is at least the threshold.

    Example: skyarchive uncertain nba --query solid --at 2010-06-17
    """  # fmt: skip
    from skyarchive.steps.uncertain.questions import UncertainQuestions

    asked = [name for name, value in (("--over", over), ("--at", at)) if value is not None]
    if len(asked) > 1 or (over is not None and why is not None):
        raise SettingError(f"Give --over or {'--at' if at is not None else '--why'}, not both.")
    settings = load_settings()
    questions = UncertainQuestions(settings, Catalog(settings).get(archive), query)
    answer = _answer(questions, at, threshold, top, over, why)
    if plot is not None:
        from skyarchive.steps.uncertain.pictures import draw_uncertain

        draw_uncertain(questions, plot, over, top)
        message(f"Drawn into {plot}.")
    message(answer.remark)
    render(answer.columns, limited(answer.rows, limit, format), format)


def _answer(
    questions: "UncertainQuestions",
    at: str | None,
    threshold: str | None,
    top: int | None,
    over: str | None,
    why: str | None,
) -> "Answer":
    if why is not None:
        return questions.why(at, why)
    least = questions.threshold(threshold)
    if over is not None:
        return questions.changes(over, least)
    return questions.members(at, least, top)

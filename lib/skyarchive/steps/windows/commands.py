"""Asking for the skyline of the last while: window. It needs no Spark and answers in about a second."""

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
    from skyarchive.steps.windows.questions import WindowQuestions


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command()(window)


def window(
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
    over: Annotated[
        str | None,
        typer.Option(
            "--over",
            help="Who came and who went after A, up to B: A..B, times or numbers of records.",
            show_default=False,
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option("--top", min=1, max=COUNT, help="The longest stays.", show_default=False)
    ] = None,
    object: Annotated[
        str | None,
        typer.Option(
            "--object",
            help="What became of this object's records, and who kept out those that never were members.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw how many members there are, come and go, and each stay as a bar, of A..B or all the time, into "
            "this file (.svg, .png or .pdf).",
            show_default=False,
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Print changes as json lines as new periods are published; Ctrl-C ends it.")
    ] = False,
    format: FormatOption = "table",
    limit: LimitOption = None,
) -> None:
    """Show the records of the last while (so many records, or so much time) that no other one of it beats.

    Each record is a member during one time at most: `because` it arrived, or was freed by the end of the last one that
    beat it; until its own time is up, or another one beats it. Between records what has expired is out.

    Example: skyarchive window nba --query month --at 2010-06-17
    """  # fmt: skip
    from skyarchive.steps.windows.questions import WindowQuestions

    asked = [name for name, value in (("--at", at), ("--over", over), ("--top", top), ("--object", object),
                                      ("--follow", follow or None)) if value is not None]  # fmt: skip
    if len(asked) > 1:
        raise SettingError(f"Give {' or '.join(asked[:2])}, not both.")
    settings = load_settings()
    definition = Catalog(settings).get(archive)
    if follow:
        from skyarchive.steps.windows.following import follow as follow_changes

        return follow_changes(settings, definition, query)
    questions = WindowQuestions(settings, definition, query)
    answer = _answer(questions, at, over, top, object)
    if plot is not None:
        from skyarchive.steps.windows.pictures import draw_windows

        draw_windows(questions, over, plot)
        message(f"Drawn into {plot}.")
    message(answer.remark)
    render(answer.columns, limited(answer.rows, limit, format), format)


def _answer(
    questions: "WindowQuestions", at: str | None, over: str | None, top: int | None, item: str | None
) -> "Answer":
    if over is not None:
        return questions.changes(over)
    if top is not None:
        return questions.longest(top)
    if item is not None:
        from skyarchive.steps.windows.object_questions import of_object

        return of_object(questions, item)
    return questions.members(at)

"""Asking who was unbeaten: skyline, why, reigns, changes. They need no Spark and answer in about a second."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skyarchive.answers.options import COUNT, ArchiveArgument, FormatOption, LimitOption
from skyarchive.answers.output import Format, limited, render
from skyarchive.definition.catalog import Catalog
from skyarchive.progress import message
from skyarchive.settings import load_settings

if TYPE_CHECKING:
    from skyarchive.answers.questions import Answer
    from skyarchive.steps.skyline.questions import SkylineQuestions

AtOption = Annotated[
    str | None,
    typer.Option(
        "--at",
        help="A snapshot number, or a time (UTC): the last snapshot at or before it. A date alone is its midnight. If "
        "left out, the last that has a skyline.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    for command in (skyline, why, reigns, changes):
        app.command()(command)


def skyline(
    archive: ArchiveArgument, at: AtOption = None, format: FormatOption = "table", limit: LimitOption = None
) -> None:
    """Show who was unbeaten at a moment, with their attributes and since when.

    Example: skyarchive skyline nba --at 2010-06-17
    """
    _show(_questions(archive).skyline(at), format, limit)


def why(
    archive: ArchiveArgument,
    object: Annotated[str, typer.Argument(help="The object, or its name or a part of it.", show_default=False)],
    at: AtOption = None,
    format: FormatOption = "table",
    limit: LimitOption = None,
) -> None:
    """Show who beats an object at a moment and by how much on each attribute.

    If nobody does: since when it reigns and which rival comes nearest. A column ..._ahead says how much better the
    other one is there; negative is worse.

    Example: skyarchive why nba "Kobe Bryant" --at 2010-06-17
    """
    _show(_questions(archive).why(object, at), format, limit)


def reigns(
    archive: ArchiveArgument,
    top: Annotated[int, typer.Option("--top", min=1, max=COUNT, help="How many of the longest reigns.")] = 20,
    by: Annotated[
        Literal["time", "snapshots"], typer.Option("--by", help="What makes a reign long: its time or its snapshots.")
    ] = "time",
    start: Annotated[
        str | None,
        typer.Option(
            "--from", help="Only reigns that go on at this snapshot or time, or begin later.", show_default=False
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--to", help="Only reigns that have begun by this snapshot or time.", show_default=False),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw them into this file (.svg, .png or .pdf).", show_default=False)
    ] = None,
    format: FormatOption = "table",
) -> None:
    """Show the longest reigns: who was unbeaten without a break, since when and until when.

    A reign lasts until the snapshot that ends it; one without `until` goes on at the last snapshot that has a skyline.

    Example: skyarchive reigns nba --top 20 --plot reigns.svg

    Example: skyarchive reigns nba --by snapshots --from 2010-04-01 --to 2010-06-30
    """
    questions = _questions(archive)
    answer = questions.reigns(top, by, start, end)
    if plot is not None:
        from skyarchive.steps.skyline.pictures import draw_reigns

        draw_reigns(questions, answer, plot)
        message(f"Drawn into {plot}.")
    _show(answer, format, None)


def changes(
    archive: ArchiveArgument,
    start: Annotated[str, typer.Option("--from", help="After this snapshot or time.", show_default=False)],
    end: Annotated[str, typer.Option("--to", help="Up to this snapshot or time.", show_default=False)],
    format: FormatOption = "table",
    limit: LimitOption = None,
) -> None:
    """Show who entered and who left the skyline, and who replaced whom.

    Example: skyarchive changes nba --from 2010-04-01 --to 2010-06-30
    """
    _show(_questions(archive).changes(start, end), format, limit)


def _questions(archive: str) -> "SkylineQuestions":
    from skyarchive.steps.skyline.questions import SkylineQuestions

    settings = load_settings()
    return SkylineQuestions(settings, Catalog(settings).get(archive))


def _show(answer: "Answer", format: Format, limit: int | None) -> None:
    if answer.remark:
        message(answer.remark)
    render(answer.columns, limited(answer.rows, limit, format), format)

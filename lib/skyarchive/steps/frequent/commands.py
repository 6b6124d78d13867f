"""Asking who was unbeaten often enough: frequent. It needs no Spark and answers in about a second."""

from pathlib import Path
from typing import Annotated

import typer

from skyarchive.answers.options import COUNT, ArchiveArgument, FormatOption, LimitOption
from skyarchive.answers.output import limited, render
from skyarchive.definition.catalog import Catalog
from skyarchive.errors import SettingError
from skyarchive.progress import message
from skyarchive.settings import load_settings


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command()(frequent)


def frequent(
    archive: ArchiveArgument,
    theta: Annotated[
        str, typer.Option("--theta", help="In which share of the window, above 0, at most 1.", show_default=False)
    ],
    window: Annotated[
        int, typer.Option("--window", min=1, max=COUNT, help="Of how many snapshots.", show_default=False)
    ],
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            help="Up to this snapshot or time (UTC); if left out, the last that has a skyline.",
            show_default=False,
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option("--over", help="Instead: at every snapshot of A..B, as intervals.", show_default=False),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the most frequent objects over time, of A..B or the whole archive, into this file (.svg, .png "
            "or .pdf).",
            show_default=False,
        ),
    ] = None,
    format: FormatOption = "table",
    limit: LimitOption = None,
) -> None:
    """Show who was unbeaten in at least a share theta of the last snapshots, with each object's count.

    Any theta and window can be asked for; only full windows count. With --over: the intervals of snapshots during
    which each object is frequent, continued_from if it was at the snapshot before, continues_into if it is at the last,
    `until` the snapshot at which it no longer is.

    Example: skyarchive frequent nba --theta 0.8 --window 1000 --at 2010-06-17
    """
    from skyarchive.definition.frequent import asked_query
    from skyarchive.steps.frequent.questions import FrequentQuestions

    if at is not None and over is not None:
        raise SettingError("Give --at or --over, not both.")
    query = asked_query(theta, window)
    settings = load_settings()
    questions = FrequentQuestions(settings, Catalog(settings).get(archive))
    answer = questions.frequent_at(query, at) if over is None else questions.frequent_over(query, over)
    if plot is not None:
        from skyarchive.steps.frequent.pictures import draw_frequent

        draw_frequent(questions, query, over, plot)
        message(f"Drawn into {plot}.")
    message(answer.remark)
    render(answer.columns, limited(answer.rows, limit, format), format)

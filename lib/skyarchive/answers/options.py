"""Options and arguments that several commands share."""

from typing import TYPE_CHECKING, Annotated

import typer

from skyarchive.answers.output import Format
from skyarchive.definition.catalog import Catalog
from skyarchive.settings import load_settings

if TYPE_CHECKING:
    from skyarchive.pipeline.workshop import Workshop


COUNT = 2**31 - 1
"""The greatest count or version that a command takes: nobody has more, and not every part of us counts further."""
IN_MEMORY = 10_000_000
"""The greatest number of things that are held in memory together."""
SEED = 2**63 - 1
"""The greatest seed."""
DAYS = 36_500
"""The longest time that files are kept."""
PORT = 65_535


class Verbosity:
    """Whether stack traces and Spark's own lines are shown; set by -v."""

    on = False


def _set_verbose(value: bool) -> bool:
    Verbosity.on = Verbosity.on or value
    return Verbosity.on


ArchiveArgument = Annotated[
    str, typer.Argument(metavar="ARCHIVE", help="The archive, such as nba.", show_default=False)
]
FormatOption = Annotated[
    Format, typer.Option("--format", help="A table to read, or csv or json (one list of row objects).")
]
LimitOption = Annotated[
    int | None,
    typer.Option(
        "--limit", min=0, max=COUNT, help="Show at most this many rows; by default 1000 in a table, else all."
    ),
]
VerboseOption = Annotated[
    bool,
    typer.Option("--verbose", "-v", callback=_set_verbose, help="Show Spark's own lines and stack traces."),
]


def workshop_for(archive: str, verbose: bool = False) -> "Workshop":
    """The tools to work on an archive; a wrong name or definition is told before anything starts."""
    from skyarchive.pipeline.workshop import Workshop

    settings = load_settings()
    return Workshop(settings, Catalog(settings).get(archive), verbose=verbose)

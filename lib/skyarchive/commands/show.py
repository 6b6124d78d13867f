"""The demo: everything end to end on generated data."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command()(demo)


def demo(
    folder: Annotated[
        Path, typer.Option(help="Where its raw files and tables go; removed and made anew each time.")
    ] = Path(".skyarchive/demo"),
) -> None:
    """Generate three small archives with some dirt, run them, and show what came of it.

    Example: skyarchive demo
    """
    from skyarchive.demo import run_demo

    run_demo(folder)

"""Seeing it run: the demo, and a private Airflow."""

import signal
from pathlib import Path
from typing import Annotated, Any

import typer

from skyarchive.answers.options import PORT
from skyarchive.progress import message
from skyarchive.settings import load_settings


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    for command in (demo, airflow):
        app.command()(command)


def demo(
    folder: Annotated[
        Path, typer.Option(help="Where its raw files and tables go; removed and made anew each time.")
    ] = Path(".skyarchive/demo"),
) -> None:
    """Generate three small archives with some dirt, run them through a private Airflow, and show what came of it.

    Example: skyarchive demo
    """
    from skyarchive.demo import run_demo

    _end_as_if_interrupted()
    run_demo(folder)


def airflow(
    folder: Annotated[Path, typer.Option(help="Its AIRFLOW_HOME: what is there from before is used again.")] = Path(
        ".skyarchive/airflow"
    ),
    port: Annotated[int, typer.Option(min=0, max=PORT, help="Of the web pages; a free one if left out.")] = 0,
) -> None:
    """Run a private Airflow on this warehouse until Ctrl-C: scheduler, web pages, and a Spark that stays up.

    SQLite, this machine only, with a login. For production see docker/ in the README.

    Example: skyarchive airflow --port 8080
    """
    from skyarchive.orchestration.local_airflow import LocalAirflow
    from skyarchive.orchestration.passwords import USER
    from skyarchive.progress import Progress

    _end_as_if_interrupted()
    private = LocalAirflow(folder, load_settings(), port)
    progress = Progress()
    try:
        with progress.phase("starting Airflow and Spark (about a minute)"):
            private.start()
        message(f"Airflow runs at {private.url}: log in as {USER} with the password in {private.password_file}.")
        message(f"Its logs are in {private.folder / 'logs'}. For its commands, backfills among them, in a shell:")
        message(f"  . {private.write_environment()}")
        message("Ctrl-C ends it.")
        private.watch(progress.say)
    except KeyboardInterrupt:
        message("Ending Airflow and Spark ...")
    finally:
        private.stop()


def _end_as_if_interrupted() -> None:
    """A polite request to end is one like Ctrl-C: what was started is ended too."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGINT, interrupt)  # a shell starts background work deaf to it

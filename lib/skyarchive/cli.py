"""The command line. Answers go to stdout, everything else to stderr; exit 0 done, 1 refused, 2 wrong use."""

import os
import sys
from importlib import import_module

import typer

from skyarchive import __version__
from skyarchive.answers.options import VerboseOption, Verbosity
from skyarchive.commands import look, make, show, state, upkeep, work
from skyarchive.errors import SkyarchiveError
from skyarchive.pipeline.step import all_steps
from skyarchive.settings import load_settings
from skyarchive.studies import commands as studies

app = typer.Typer(
    help="The historical archive of who was unbeaten, when, and for how long.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_OF_STEPS = [import_module(step.commands) for step in all_steps() if step.commands]
for commands in (make, work, state, *_OF_STEPS, studies, look, show, upkeep):
    commands.register(app)


@app.callback(invoke_without_command=True)
def _every_command(
    version: bool = typer.Option(False, "--version", help="Show the version."), verbose: VerboseOption = False
) -> None:
    if version:
        print(f"skyarchive {__version__}")
        raise typer.Exit


_INTERRUPTED = 130
_PANIC = "PanicException"
"""What Python sees of a fault within delta-rs; it is no Exception."""


def main() -> None:
    """Run the command line; an error is one sentence, a stack trace only with -v."""
    os.environ["RUST_BACKTRACE"] = "0"  # delta-rs puts one into its errors
    try:
        app()
    except SkyarchiveError as error:
        _end(str(error), error)
    except SystemExit as ending:
        if ending.code == _INTERRUPTED:  # what Typer makes of Ctrl-C
            _end(
                "Interrupted; what was published before stays, what was not is discarded by the next run.",
                None,
                _INTERRUPTED,
            )
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader of our output went away
        sys.exit(1)
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != _PANIC:
            raise
        _end(_sentence(error), error)


def _sentence(error: BaseException) -> str:
    from skyarchive.pipeline.failures import meaning

    settings = load_settings()
    known = meaning(error, settings)
    if known is not None:
        return str(known)
    first = str(error).strip().split("\n")[0] or type(error).__name__
    return (
        f"This failed without a better explanation: {first} (Spark's own lines are in "
        f"{settings.log_file}; -v shows the stack trace)."
    )


def _end(text: str, error: BaseException | None, code: int = 1) -> None:
    if Verbosity.on and error is not None:
        import traceback

        traceback.print_exception(error)
    print(text, file=sys.stderr)
    sys.exit(code)

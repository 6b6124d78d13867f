"""What there is and how it stands: archives, status, docs, jars."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skyarchive.answers.options import FormatOption
from skyarchive.answers.output import render
from skyarchive.definition.catalog import Catalog
from skyarchive.definition.model import Definition
from skyarchive.errors import DefinitionError, SkyarchiveError
from skyarchive.progress import message
from skyarchive.settings import Settings, load_settings

if TYPE_CHECKING:
    from skyarchive.store.refusals import Refusal


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    for command in (archives, status, docs, jars):
        app.command()(command)


def archives(format: FormatOption = "table") -> None:
    """List the archives that are defined, with what each is about.

    Example: skyarchive archives
    """
    catalog = Catalog(load_settings())
    rows: list[tuple[str, str, str | None]] = []
    for name in catalog.names():
        try:
            definition = catalog.get(name)
            rows.append((name, definition.title, ", ".join(definition.attribute_names)))
        except DefinitionError as error:
            rows.append((name, f"broken: {error}", None))
    render(["archive", "title", "attributes"], rows, format)


def status(
    archive: Annotated[
        str | None, typer.Argument(help="Only this archive; all if left out.", show_default=False)
    ] = None,
    format: FormatOption = "table",
) -> None:
    """Show every period: absent, current, stale (and why), unfinished or refused, with rows and versions.

    absent: there are raw files, nothing is ingested. stale: its input changed; `refresh` mends it.
    unfinished: a step has not run or stopped in the middle; `run` or `refresh` finishes it.
    refused: a step refused it and has never published it; why says when, why, and what shows more.

    Example: skyarchive status nba
    """
    from skyarchive.pipeline.status import period_statuses

    settings = load_settings()
    catalog = Catalog(settings)
    rows = []
    broken = []
    waiting = False
    columns: list[str] = []
    for name in [archive] if archive else catalog.names():
        try:
            definition = catalog.get(name)
            statuses = period_statuses(settings, definition)
            waiting = _say_unknown(settings, definition) or waiting
        except DefinitionError as error:
            broken.append(str(error))
            continue
        for found in statuses:
            more = {} if format == "table" else _described(found.refusal)
            columns = ["archive", "period", "state", *found.counts, "why", *more]
            rows.append((name, found.period, found.state, *found.counts.values(), found.why, *more.values()))
    if not rows and format == "table" and not broken:
        if not waiting:
            _say_nothing_there(settings, archive, catalog)
    elif rows or not broken:
        render(columns or ["archive", "period", "state", "why"], rows, format)
    if broken:
        raise SkyarchiveError("\n".join(broken))


def _described(refusal: "Refusal | None") -> dict[str, Any]:
    """The last refusal in fields, for programs."""
    return {
        "refusal_step": refusal and refusal.step,
        "refusal_time": refusal and refusal.time,
        "refusal": refusal and refusal.sentence,
        "refusal_command": refusal and refusal.command,
    }


def _say_nothing_there(settings: Settings, archive: str | None, catalog: Catalog) -> None:
    from skyarchive.generators import ARCHIVES

    where = settings.raw_folder / archive if archive else settings.raw_folder
    has_example = archive is None or (archive in ARCHIVES and catalog.get(archive).is_built_in)
    hint = f"; for an example: skyarchive generate {archive or 'nba'}" if has_example else ""
    message(f"There are no raw files in {where} and no tables{hint}")


def _say_unknown(settings: Settings, definition: Definition) -> bool:
    """Tells of raw files of which it is not known what they hold, or that nobody can read; whether there are any."""
    from skyarchive.pipeline.sources import sources_of
    from skyarchive.store.lake import Lake

    sources = sources_of(Lake(settings), settings, definition)
    for sentence in sources.untold():
        message(sentence)
    unknown = sources.unknown_sentence()
    if unknown:
        message(f"{definition.name}: {unknown}")
    return bool(unknown or sources.untold())


def docs(
    archive: Annotated[str, typer.Argument(help="The archive.", show_default=False)],
    target: Annotated[
        Path | None,
        typer.Option("--to", help="Folder to write them to; <warehouse>/<archive>/_quality/docs if left out."),
    ] = None,
) -> None:
    """Build the Data Docs of every check an archive has been through, as pages to open in a browser.

    Example: skyarchive docs nba
    """
    from skyarchive.pipeline.publishing import docs_folder
    from skyarchive.quality.docs import build_docs
    from skyarchive.store.lake import Lake

    settings = load_settings()
    Catalog(settings).get(archive)
    kept = docs_folder(Lake(settings), archive)
    if not kept.is_dir():
        raise SkyarchiveError(f"{archive} has not been through any check yet; run: skyarchive run {archive}")
    message(f"{archive}: rendering the checks ...")
    print(build_docs(kept, target or kept / "docs"))


def jars() -> None:
    """Print the Delta jars as spark-submit's --jars wants them, fetching them first if they are not there.

    Example: spark-submit --jars "$(skyarchive jars)" jobs/ingest.py nba --periods 2014
    """
    from skyarchive.jars import delta_jars

    print(",".join(str(jar) for jar in delta_jars(load_settings())))

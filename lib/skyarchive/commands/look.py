"""Looking at the tables: tables, sql, history and diff. They need no Spark and answer in about a second."""

from collections.abc import Callable, Mapping
from dataclasses import astuple, fields
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skyarchive.answers.options import COUNT, FormatOption, LimitOption
from skyarchive.answers.output import limited, render
from skyarchive.errors import SettingError
from skyarchive.progress import message
from skyarchive.settings import Settings, load_settings
from skyarchive.store.contracts import split_table
from skyarchive.wording import counted

if TYPE_CHECKING:
    from skyarchive.store.lake import Lake, Result, TableName

TableArgument = Annotated[
    str, typer.Argument(metavar="ARCHIVE.TABLE", help="The table, such as nba.updates.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    for command in (tables, sql, history, diff):
        app.command()(command)


def tables(
    archive: Annotated[str | None, typer.Argument(help="Only this archive's.", show_default=False)] = None,
    format: FormatOption = "table",
) -> None:
    """List the tables with the version that queries read.

    A version that is not published is what an unfinished step left; queries do not see it.

    Example: skyarchive tables nba
    """
    lake = _lake().at_rest()
    archives = lake.archives()
    if archive is not None and archive not in archives:
        raise SettingError(f"There is no archive {archive!r} in {lake.root}: it has {', '.join(archives) or 'none'}.")
    rows = []
    for name in archives if archive is None else [archive]:
        published = lake.published_versions(name)
        for table in lake.tables(name):
            latest, run = lake.last_commit(name, table)
            rows.append((f"{name}.{table}", published.get(table), latest, run.get("step")))
    render(["table", "published_version", "latest_version", "latest_step"], rows, format)


def sql(
    statement: Annotated[str, typer.Argument(help="One query; tables are named ARCHIVE.TABLE.", show_default=False)],
    version: Annotated[
        list[str] | None,
        typer.Option(
            "--version",
            metavar="ARCHIVE.TABLE=N",
            help="Read this table as it was at version N (see history); may be given for several tables.",
        ),
    ] = None,
    format: FormatOption = "table",
    limit: LimitOption = None,
    engine: Annotated[
        Literal["duckdb", "spark"], typer.Option(help="duckdb answers at once; spark starts a Spark session.")
    ] = "duckdb",
    files: Annotated[
        bool, typer.Option("--files", help="The statement may read any file that you may, such as 'prices.csv'.")
    ] = False,
) -> None:
    """Ask the tables a question in SQL; each is read at its last published version. Times are in UTC.

    The statement reads the archives' tables and nothing else, unless --files is given.

    Example: skyarchive sql "select period, count(*) from nba.updates group by period order by period"

    Example: skyarchive sql "from nba.snapshots limit 5" --version nba.snapshots=3 --format json
    """
    answer = ENGINES[engine](load_settings(), statement, _versions(version or []), files)
    render(answer.columns, limited(answer.rows, limit, format), format)


def history(table: TableArgument, format: FormatOption = "table", limit: LimitOption = None) -> None:
    """Show a table's versions, newest first: which step of which run wrote which periods.

    `rows` is what the commit wrote. A version that is not published was left by a step that did not
    finish, or belongs to the table's upkeep; queries see the last published one.

    Example: skyarchive history nba.updates
    """
    from skyarchive.store.history import Commit

    commits = _lake().history(*split_table(table))
    rows = [astuple(commit) for commit in commits]
    if format != "json":
        rows = [tuple(", ".join(value) if isinstance(value, list) else value for value in row) for row in rows]
    render([field.name for field in fields(Commit)], limited(rows, limit, format), format, title=table)


def diff(
    table: TableArgument,
    old: Annotated[
        int | None,
        typer.Option("--from", min=0, max=COUNT, help="The older version; by default the published one before --to."),
    ] = None,
    new: Annotated[
        int | None, typer.Option("--to", min=0, max=COUNT, help="The newer version; by default the last published one.")
    ] = None,
    format: FormatOption = "table",
    limit: LimitOption = None,
) -> None:
    """Show the rows that differ between two versions of a table.

    The column _change says whether a row was removed or added; a changed row is both.

    Example: skyarchive diff nba.updates --from 3 --to 7
    """
    found = _lake().diff(*split_table(table), old, new)
    removed = counted(found.removed, "row", "rows")
    message(f"{table}, version {found.old} to {found.new}: {removed} removed, {found.added} added.")
    render(found.result.columns, limited(found.result.rows, limit, format), format)


def _lake() -> "Lake":
    # Imported late: the readers take a third of a second that other commands need not pay.
    from skyarchive.store.lake import Lake

    return Lake(load_settings())


def _versions(options: list[str]) -> "dict[TableName, int]":
    """`nba.skyline=12` options as {('nba', 'skyline'): 12}."""
    versions: dict[TableName, int] = {}
    for option in options:
        table, _, number = option.partition("=")
        if not (number.isascii() and number.isdigit()):
            raise SettingError(f"--version {option!r}: write ARCHIVE.TABLE=N, such as nba.skyline=12.")
        name = split_table(table)
        if name in versions:
            raise SettingError(f"--version names {table} twice; give one version.")
        versions[name] = int(number)
    return versions


def _with_duckdb(settings: Settings, statement: str, versions: "Mapping[TableName, int]", files: bool) -> "Result":
    from skyarchive.store.lake import Lake

    return Lake(settings).query(statement, versions, files=files)


def _with_spark(settings: Settings, statement: str, versions: "Mapping[TableName, int]", files: bool) -> "Result":
    from skyarchive.pipeline.spark_sql import query_with_spark

    return query_with_spark(settings, statement, versions, files=files)


ENGINES: "dict[str, Callable[[Settings, str, Mapping[TableName, int], bool], Result]]" = {
    "duckdb": _with_duckdb,
    "spark": _with_spark,
}
"""What answers `sql`, by the name that --engine takes."""

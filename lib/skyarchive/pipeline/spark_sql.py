"""`skyarchive sql --engine spark`: the same question through Spark, on the same published versions."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException

from skyarchive.errors import SettingError, SkyarchiveError
from skyarchive.names import sql_text
from skyarchive.pipeline.session import build_session
from skyarchive.settings import Settings
from skyarchive.store.lake import Lake, Result, TableName, tables_behind
from skyarchive.store.views import view_query, view_tables

_BY_PATH = "spark.sql.runSQLOnFiles"
_QUERY = re.compile(r"\s*(select|with|from|values|describe|explain|show)\b", re.IGNORECASE)
# Wherever these words stand, in texts too: what a text is to Spark only its own parser knows.
_WRITES = re.compile(r"\b(insert|merge|delete|update)\b", re.IGNORECASE)
_REACHES_OUT = re.compile(
    r"\b(java_method|reflect|try_reflect|identifier|\w+_by_path)\b"  # Java methods; names made of texts; tables by path
    r"|\busing\b(?!\s*\()"  # not of a join: a program that rows go through
    r"|^\s*describe\s+(history|detail)\b"
    r"|\$\{",  # variables of the environment and properties of the JVM, put in before anything is parsed
    re.IGNORECASE,
)


def check_statement(statement: str, *, files: bool) -> None:
    """Refuses what is no query, and, unless files may be read, what reaches beyond the tables."""
    if not _QUERY.match(statement):
        raise SettingError("Only a query can be run (SELECT, WITH, FROM, VALUES, DESCRIBE): steps write the tables.")
    if word := _WRITES.search(statement):
        raise SettingError(f"Only a query can be run, and none with the word {word[0]!r}: steps write the tables.")
    if not files and (word := _REACHES_OUT.search(statement)):
        raise SettingError(
            f"{word[0].strip()!r} may reach beyond the tables, which is all that `sql` reads. With --files it may."
        )


def query_with_spark(
    settings: Settings, statement: str, versions: Mapping[TableName, int], *, files: bool = False
) -> Result:
    """The answer to one query over `archive.table` names, by a Spark session."""
    check_statement(statement, files=files)
    lake = Lake(settings)
    if listed := lake.listed(statement):
        return listed
    spark = build_session(settings)
    named = lake.named_in(statement)
    _make_views(spark, lake, named, versions)
    answer = _answer(spark, statement, files)
    return Result(next(answer), answer)


def _make_views(spark: Any, lake: Lake, named: set[TableName], versions: Mapping[TableName, int]) -> None:
    views = {(archive, view) for archive, view in named if view in view_tables()}
    read: dict[str, dict[str, int]] = {}
    for archive, table in named - views | tables_behind(views):
        version = versions.get((archive, table), lake.published_versions(archive).get(table))
        if version is None:
            raise lake.unpublished(archive, table)
        read.setdefault(archive, {})[table] = version
        whole = _named_table(spark, lake.root / archive / table)
        spark.sql(f"create schema if not exists `{archive}`")
        spark.sql(f"drop view if exists `{archive}`.`{table}`")
        spark.sql(f"create view `{archive}`.`{table}` as select * from {whole} version as of {version}")
    for archive, view in views:
        spark.sql(f"create or replace view `{archive}`.`{view}` as {view_query(archive, view, read[archive])}")


def _named_table(spark: Any, folder: Path) -> str:
    """The name of a Delta table in Spark's catalog, which writes nothing to it. A view over its path would not be found
    where paths are not allowed: Delta asks the session, and not the view."""
    schema = f"folder_{hashlib.sha256(str(folder.parent).encode()).hexdigest()[:16]}"
    spark.sql(f"create schema if not exists `{schema}`")
    spark.sql(f"create table if not exists `{schema}`.`{folder.name}` using delta location {sql_text(str(folder))}")
    return f"`{schema}`.`{folder.name}`"


@contextmanager
def _tables_by_path(spark: Any, *, allowed: bool) -> Iterator[None]:
    """While open, a statement may, or may not, name a file in place of a table."""
    spark.conf.set(_BY_PATH, str(allowed).lower())
    try:
        yield
    finally:
        spark.conf.unset(_BY_PATH)


def _answer(spark: Any, statement: str, files: bool) -> Iterator[Any]:
    """The columns' names, then plain tuples; Spark's times are local to this process and become UTC ones."""
    with _tables_by_path(spark, allowed=files):
        try:
            frame = spark.sql(statement)
            yield frame.columns
            for row in frame.toLocalIterator():
                yield tuple(value.astimezone(UTC) if isinstance(value, datetime) else value for value in row)
        except PySparkException as error:
            first = str(error).strip().split("\n")[0]
            raise SkyarchiveError(f"The query fails: {first}") from error

"""`skyarchive sql --engine spark`: the same question through Spark, on the same published versions."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pyspark.errors import PySparkException

from skyarchive.errors import NotPublishedError, SettingError, SkyarchiveError
from skyarchive.lake import Lake, Result, TableName
from skyarchive.session import build_session
from skyarchive.settings import Settings
from skyarchive.views import SOURCES, view_query

_QUERY = re.compile(r"\s*(select|with|from|values|describe|explain|show)\b", re.IGNORECASE)


def query_with_spark(
    settings: Settings, statement: str, versions: Mapping[TableName, int], *, files: bool = False
) -> Result:
    """The answer to one query over `archive.table` names, by a Spark session."""
    if not _QUERY.match(statement):
        raise SettingError("Only a query can be run (SELECT, WITH, FROM, VALUES, DESCRIBE): steps write the tables.")
    spark = build_session(settings)
    lake = Lake(settings)
    named = lake.named_in(statement)
    views = {(archive, view) for archive, view in named if view in SOURCES}
    for archive, table in named - views | {(archive, SOURCES[view]) for archive, view in views}:
        version = versions.get((archive, table), lake.published_versions(archive).get(table))
        if version is None:
            raise NotPublishedError(f"{archive}.{table} has no published version yet: run the step that makes it.")
        path = lake.root / archive / table
        spark.sql(f"create schema if not exists `{archive}`")
        spark.sql(f"drop view if exists `{archive}`.`{table}`")
        spark.sql(f"create view `{archive}`.`{table}` as select * from delta.`{path}` version as of {version}")
    for archive, view in views:
        spark.sql(f"create or replace view `{archive}`.`{view}` as {view_query(archive, view)}")
    try:
        frame = spark.sql(statement)
        return Result(frame.columns, _rows(frame.toLocalIterator()))
    except PySparkException as error:
        first = str(error).strip().split("\n")[0]
        raise SkyarchiveError(f"The query fails: {first}") from error


def _rows(rows: Iterator[Any]) -> Iterator[tuple[Any, ...]]:
    """Plain tuples; Spark's times are local to this process and become UTC ones."""
    for row in rows:
        yield tuple(value.astimezone(UTC) if isinstance(value, datetime) else value for value in row)

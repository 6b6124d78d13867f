"""Reading the Delta tables without Spark: delta-rs reads the log, DuckDB the data.

A reader sees a table at its published version, the greatest one that a row of `runs` lists; a commit
that a crash left behind stays out of sight. `runs`, `quality`, `files` and `refusals` are read at their latest.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from skyarchive.duck import check_read_only, duckdb_type, new_session, quoted, select_files, spark_type
from skyarchive.errors import NotPublishedError, SettingError, SkyarchiveError
from skyarchive.names import IDENTIFIER, TABLES, periods_predicate
from skyarchive.settings import Settings
from skyarchive.views import SOURCES, view_query

TableName = tuple[str, str]
"""(archive, table)."""
UNVERSIONED = ("runs", "quality", "files", "refusals")
"""Tables that describe the runs themselves: no run publishes them, so their latest version counts."""

_BATCH = 10_000
_UNREADABLE = re.compile(r"[*?\[\]\\%]")  # DuckDB takes them for patterns, or delta-rs for escapes


@dataclass(frozen=True)
class Result:
    """Columns and rows of an answer; the rows come as they are read."""

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]


@dataclass(frozen=True)
class Commit:
    """One version of a table and the run that made it; `rows` is what the commit wrote."""

    version: int
    time: datetime
    operation: str
    step: str | None
    periods: list[str]
    rows: int | None
    run_id: str | None
    published: bool


@dataclass(frozen=True)
class Diff:
    """What changed from version `old` to `new`: counts, and the rows with `_change` in front."""

    old: int
    new: int
    removed: int
    added: int
    result: Result


class Lake:
    """The tables of a warehouse, as a reader sees them."""

    def __init__(self, settings: Settings) -> None:
        self.root = _local_folder(settings.warehouse)

    def archives(self) -> list[str]:
        """The archives that have a table."""
        if not self.root.is_dir():
            return []
        names = sorted(folder.name for folder in self.root.iterdir() if IDENTIFIER.fullmatch(folder.name))
        return [name for name in names if self.tables(name)]

    def tables(self, archive: str) -> list[str]:
        """The archive's tables that have a commit, published or not."""
        return [name for name in TABLES if self._log_versions(archive, name)]

    def publications(self, archive: str) -> dict[str, set[int]]:
        """Every version of every table that some run of the archive has published."""
        if "runs" not in self.tables(archive):
            return {}
        with new_session() as session, self._explained():
            found = session.execute(
                f"SELECT DISTINCT key, value::BIGINT FROM ({self._select(archive, 'runs')}), json_each(output_versions)"
            ).fetchall()
        published: dict[str, set[int]] = {}
        for table, version in found:
            published.setdefault(table, set()).add(version)
        return published

    def published_versions(self, archive: str) -> dict[str, int]:
        """The version to read of each of the archive's tables; one without any is not there."""
        published = {table: max(versions) for table, versions in self.publications(archive).items()}
        present = self.tables(archive)
        latest = {table: self.open(archive, table).version() for table in UNVERSIONED if table in present}
        return {table: version for table, version in published.items() if table in present} | latest

    def open(self, archive: str, table: str, version: int | None = None) -> DeltaTable:
        """The table's log at a version, or at its latest one, published or not."""
        if table not in self.tables(archive):
            raise SkyarchiveError(f"There is no table {archive}.{table}. {self._inventory()}")
        known = self._log_versions(archive, table)
        # Asked here, because delta-rs would count up to a version that is far away.
        if version is not None and not known[0] <= version <= known[-1]:
            raise SkyarchiveError(
                f"{archive}.{table} has no version {version}: its versions are {known[0]} to {known[-1]}."
            )
        try:
            return DeltaTable(str(self.root / archive / table), version=version)
        except DeltaError as error:
            raise SkyarchiveError(f"The log of {archive}.{table} cannot be read: {error}.") from error

    def column_types(self, archive: str, table: str) -> dict[str, str]:
        """The table's columns with their types in Spark SQL's words."""
        fields = json.loads(self.open(archive, table).schema().to_json())["fields"]
        return {field["name"]: spark_type(field["type"]) for field in fields}

    def connect(
        self,
        sql_tables: Collection[TableName],
        versions: Mapping[TableName, int] | None = None,
        earlier: Mapping[TableName, Mapping[str, int]] | None = None,
    ) -> duckdb.DuckDBPyConnection:
        """A DuckDB session with a view `archive.table` of each table, at the given or published version; single
        periods of it as they were at an `earlier` one."""
        session = new_session()
        published: dict[str, dict[str, int]] = {}
        read: dict[str, dict[str, int]] = {}
        views = {(archive, view) for archive, view in sql_tables if view in SOURCES}
        for archive, table in sorted(set(sql_tables) - views | tables_behind(views)):
            version = (versions or {}).get((archive, table))
            if version is None:
                if archive not in published:
                    published[archive] = self.published_versions(archive)
                version = published[archive].get(table)
            if version is None:
                raise NotPublishedError(f"{archive}.{table} has no published version yet: run the step that makes it.")
            read.setdefault(archive, {})[table] = version
            view = f"{quoted(archive)}.{quoted(table)}"
            select = self._select_mixed(archive, table, version, (earlier or {}).get((archive, table), {}))
            with self._explained():
                session.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(archive)}")
                session.execute(f"CREATE VIEW {view} AS {select}")
        for archive, name in views:
            query = view_query(archive, name, read[archive])
            session.execute(f"CREATE VIEW {quoted(archive)}.{quoted(name)} AS {query}")
        return session

    def query(self, sql: str, versions: Mapping[TableName, int] | None = None) -> Result:
        """The answer to one read-only statement over `archive.table` names."""
        with self._explained():
            check_read_only(sql)
        named = self.named_in(sql)
        read = named | tables_behind(named)
        for archive, table in versions or {}:
            if (archive, table) not in read:
                raise SettingError(f"A version is given for {archive}.{table}, which the statement does not read.")
        session = self.connect(named, versions)
        with self._explained():
            return self._result(session.execute(sql))

    def history(self, archive: str, table: str) -> list[Commit]:
        """The table's commits, newest first."""
        commits = self.open(archive, table).history()
        published = self.publications(archive).get(table, set())
        return [_commit(entry, table in UNVERSIONED or entry["version"] in published) for entry in commits]

    def last_commit(self, archive: str, table: str) -> tuple[int, dict[str, Any]]:
        """Version and run metadata of the latest commit, published or not."""
        entry = self.open(archive, table).history(limit=1)[0]
        return entry["version"], _metadata(entry)

    def diff(self, archive: str, table: str, old: int | None = None, new: int | None = None) -> Diff:
        """Rows removed and added between two versions, by default the last two published ones. Only
        the data files that are not in both are read, so the cost grows with the change."""
        old, new = self._compared_versions(archive, table, old, new)
        before, after = self.open(archive, table, old), self.open(archive, table, new)
        columns = _columns(before) | _columns(after)
        old_files, new_files = self._files(before, archive, table), self._files(after, archive, table)
        partitioned = bool(after.metadata().partition_columns)
        left = select_files(columns, sorted(set(old_files) - set(new_files)), partitioned)
        right = select_files(columns, sorted(set(new_files) - set(old_files)), partitioned)
        session = new_session()
        with self._explained():
            session.execute(
                "CREATE TEMP TABLE changes AS "
                f"SELECT 'removed' AS _change, * FROM ({left} EXCEPT ALL {right}) "
                f"UNION ALL SELECT 'added', * FROM ({right} EXCEPT ALL {left})"
            )
            counts = dict(session.execute("SELECT _change, count(*) FROM changes GROUP BY ALL").fetchall())
            order = ", ".join([*map(quoted, columns), "_change DESC"])
            result = self._result(session.execute(f"FROM changes ORDER BY {order}"))
        return Diff(old, new, counts.get("removed", 0), counts.get("added", 0), result)

    def _compared_versions(self, archive: str, table: str, old: int | None, new: int | None) -> tuple[int, int]:
        if old is not None and new is not None:
            return old, new
        known = sorted(commit.version for commit in self.history(archive, table) if commit.published)
        if new is None and known:
            new = known[-1]
        earlier = [version for version in known if new is not None and version < new]
        if old is None and earlier:
            old = earlier[-1]
        if old is None or new is None:
            raise SkyarchiveError(
                f"{archive}.{table} has no two published versions to compare; name two of its versions."
            )
        return old, new

    def named_in(self, sql: str) -> set[TableName]:
        """The tables whose qualified name stands in the text; one too many costs only an unused view."""
        names = [(archive, table) for archive in self.archives() for table in self._readable(archive)]
        return {
            (archive, table)
            for archive, table in names
            if re.search(rf'\b{archive}"?\s*\.\s*"?{table}\b', sql, re.IGNORECASE)
        }

    def _readable(self, archive: str) -> list[str]:
        """The archive's tables, and the views over them."""
        tables = self.tables(archive)
        return tables + [view for view, sources in SOURCES.items() if set(sources) <= set(tables)]

    def _log_versions(self, archive: str, table: str) -> list[int]:
        log = self.root / archive / table / "_delta_log"
        return sorted(int(file.stem) for file in log.glob("*.json") if file.stem.isdigit())

    def _select(self, archive: str, table: str, version: int | None = None) -> str:
        log = self.open(archive, table, version)
        return select_files(_columns(log), self._files(log, archive, table), bool(log.metadata().partition_columns))

    def _select_mixed(self, archive: str, table: str, version: int, earlier: Mapping[str, int]) -> str:
        """The table at a version, but some periods as they were at an earlier one."""
        select = self._select(archive, table, version)
        for before in sorted(set(earlier.values())):
            periods = periods_predicate([period for period in earlier if earlier[period] == before])
            old = self._select(archive, table, before)
            select = f"FROM ({select}) WHERE NOT {periods} UNION ALL BY NAME FROM ({old}) WHERE {periods}"
        return select

    def _files(self, log: DeltaTable, archive: str, table: str) -> list[str]:
        # delta-rs percent-encodes the folder's part of a local path, so only what follows it is taken.
        encoded = log.table_uri.removeprefix("file://")
        folder = self.root / archive / table
        return [str(folder / uri.removeprefix(encoded)) for uri in log.file_uris()]

    def _result(self, answer: duckdb.DuckDBPyConnection) -> Result:
        return Result([column[0] for column in answer.description or []], self._rows(answer))

    def _rows(self, answer: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
        with self._explained():
            while batch := answer.fetchmany(_BATCH):
                yield from batch

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """DuckDB's errors as one sentence, without its caret lines."""
        try:
            yield
        except duckdb.Error as error:
            text = re.sub(r"^[A-Za-z ]+ Error: ", "", str(error).split("\n\nLINE ")[0])
            missing = re.match(r'Table with name "?(.+?)"? does not exist', text)
            if missing:
                raise SkyarchiveError(f"There is no table {missing[1]}. {self._inventory()}") from error
            raise SkyarchiveError(f"The query fails: {' '.join(text.split()).rstrip('.!')}.") from error

    def _inventory(self) -> str:
        names = [f"{archive}.{table}" for archive in self.archives() for table in self._readable(archive)]
        if not names:
            return f"The warehouse {self.root} has no tables yet."
        return f"The tables are {', '.join(names)}."


def tables_behind(names: Collection[TableName]) -> set[TableName]:
    """What the views among these are made of."""
    return {(archive, table) for archive, name in names for table in SOURCES.get(name, ())}


def _local_folder(warehouse: str) -> Path:
    path = unquote(warehouse.removeprefix("file://")) if warehouse.startswith("file://") else warehouse
    if "://" in path:
        raise SettingError(f"warehouse {warehouse!r} is not a local folder: read it with --engine spark.")
    if _UNREADABLE.search(path):
        raise SettingError(f"warehouse {warehouse!r}: use a folder without any of * ? [ ] \\ % in its path.")
    return Path(path)


def _columns(log: DeltaTable) -> dict[str, str]:
    fields = json.loads(log.schema().to_json())["fields"]
    return {field["name"]: duckdb_type(field["type"]) for field in fields}


def _commit(entry: Mapping[str, Any], published: bool) -> Commit:
    metadata = _metadata(entry)
    rows = (entry.get("operationMetrics") or {}).get("numOutputRows")
    return Commit(
        version=entry["version"],
        time=datetime.fromtimestamp(entry["timestamp"] // 1000, UTC),
        operation=entry["operation"],
        step=metadata.get("step"),
        periods=metadata.get("periods") or [],
        rows=None if rows is None else int(rows),
        run_id=metadata.get("run_id"),
        published=published,
    )


def _metadata(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The run that a commit's userMetadata describes; nothing for a commit made by other hands."""
    try:
        metadata = json.loads(entry.get("userMetadata") or "{}")
    except json.JSONDecodeError:
        return {}
    return metadata if isinstance(metadata, dict) else {}

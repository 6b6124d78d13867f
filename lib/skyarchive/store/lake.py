"""Reading the Delta tables without Spark: delta-rs reads the log, DuckDB the data."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from skyarchive.errors import SettingError, SkyarchiveError
from skyarchive.names import periods_predicate
from skyarchive.store.contracts import table_names
from skyarchive.store.duck import add_view, check_read_only, new_session, quoted, select_files, shut_in
from skyarchive.store.history import Commit, commit_of, run_of
from skyarchive.store.log_files import commit_info
from skyarchive.store.versions import UNVERSIONED, Versions, columns_of
from skyarchive.store.views import view_query, view_tables

TableName = tuple[str, str]
"""(archive, table)."""

_BATCH = 10_000
_SHOW_TABLES = re.compile(r"\s*show\s+tables\s*;?\s*", re.IGNORECASE)
_ABOUT_TABLES = re.compile(
    r"^\s*show\b|\binformation_schema\b|\bpg_catalog\b|\bsqlite_master\b|\bduckdb_(tables|views|columns|schemas)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Result:
    """Columns and rows of an answer; the rows come as they are read."""

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]


@dataclass(frozen=True)
class Diff:
    """What changed from version `old` to `new`: counts, and the rows with `_change` in front."""

    old: int
    new: int
    removed: int
    added: int
    result: Result


class Lake(Versions):
    """The tables of a warehouse, as a reader sees them."""

    def connect(
        self,
        sql_tables: Collection[TableName],
        versions: Mapping[TableName, int] | None = None,
        earlier: Mapping[TableName, Mapping[str, int]] | None = None,
        *,
        shut: bool = False,
    ) -> duckdb.DuckDBPyConnection:
        """A DuckDB session with a view `archive.table` of each table, at the given or published version; single
        periods of it as they were at an `earlier` one. Shut, it reads the files of these tables and no other."""
        if not self.is_at_rest:
            return self.at_rest().connect(sql_tables, versions, earlier, shut=shut)
        session = new_session()
        files: list[str] = []
        published: dict[str, dict[str, int]] = {}
        read: dict[str, dict[str, int]] = {}
        views = {(archive, view) for archive, view in sql_tables if view in view_tables()}
        for archive, table in sorted(set(sql_tables) - views | tables_behind(views)):
            version = (versions or {}).get((archive, table))
            if version is None:
                if archive not in published:
                    published[archive] = self.published_versions(archive)
                version = published[archive].get(table)
            if version is None:
                raise self.unpublished(archive, table)
            read.setdefault(archive, {})[table] = version
            with self._explained():
                select, of_table = self._select_mixed(
                    archive, table, version, (earlier or {}).get((archive, table), {})
                )
                add_view(session, archive, table, select)
            files += of_table
        for archive, name in views:
            add_view(session, archive, name, view_query(archive, name, read[archive]))
        if shut:
            shut_in(session, files)
        return session

    def readings(self, archive: str, versions: Mapping[str, int], periods: Collection[str]) -> dict[TableName, str]:
        """Of each table at its version the query over its data files, for a session of DuckDB elsewhere that asks for
        these periods alone."""
        return {
            (archive, table): self._select(archive, table, self.open(archive, table, version), periods)
            for table, version in versions.items()
        }

    def query(self, sql: str, versions: Mapping[TableName, int] | None = None, *, files: bool = False) -> Result:
        """The answer to one read-only statement over `archive.table` names; over files, too, only if told so."""
        if not self.is_at_rest:
            return self.at_rest().query(sql, versions, files=files)
        with self._explained():
            check_read_only(sql)
        if listed := self.listed(sql):
            return listed
        named = self.named_in(sql)
        read = named | tables_behind(named)
        for archive, table in versions or {}:
            if (archive, table) not in read:
                raise SettingError(f"A version is given for {archive}.{table}, which the statement does not read.")
        session = self.connect(named, versions, shut=not files)
        with self._explained():
            return self._result(session.execute(sql))

    def listed(self, sql: str) -> Result | None:
        """What SHOW TABLES shows: every table and view that can be read. None for any other statement."""
        if not _SHOW_TABLES.fullmatch(sql):
            return None
        return Result(["name"], iter([(f"{archive}.{table}",) for archive, table in sorted(self._published())]))

    def _published(self) -> set[TableName]:
        """All tables that can be read, and the views over them."""
        read = {(archive, table) for archive in self.archives() for table in self.published_versions(archive)}
        return read | {
            (archive, view)
            for archive, _ in read
            for view, tables in view_tables().items()
            if all((archive, table) in read for table in tables)
        }

    def history(self, archive: str, table: str) -> list[Commit]:
        """The table's commits, newest first."""
        published = self.publications(archive).get(table, set())
        return [
            commit_of(version, entry, table in UNVERSIONED or version in published)
            for version, entry in sorted(self._existing_log(archive, table).entries.items(), reverse=True)
        ]

    def made_at(self, archive: str, table: str, version: int) -> datetime:
        """When the version as it is now was made."""
        self.open(archive, table, version)
        return commit_of(version, self.log(archive, table).entry(version), published=True).time

    def last_commit(self, archive: str, table: str) -> tuple[int, dict[str, Any]]:
        """Version and run metadata of the latest commit, published or not."""
        log = self._existing_log(archive, table)
        return log.last, run_of(commit_info(log.entry(log.last)))

    def diff(self, archive: str, table: str, old: int | None = None, new: int | None = None) -> Diff:
        """Rows removed and added between two versions, by default the last two published ones. Only
        the data files that are not in both are read, so the cost grows with the change."""
        old, new = self._compared_versions(archive, table, old, new)
        before, after = self.open(archive, table, old), self.open(archive, table, new)
        columns = columns_of(before) | columns_of(after)
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
        """The tables whose qualified name stands in the text; one too many costs only an unused view. A question about
        the tables that there are names all."""
        archives = [archive for archive in self._folders() if archive in sql.lower()]
        named = {
            (archive, table)
            for archive in archives
            for table in (*table_names(), *view_tables())
            if re.search(rf'\b{archive}"?\s*\.\s*"?{table}\b', sql, re.IGNORECASE)
            and (table in self._readable(archive) or self.lost_versions(archive, table))
        }
        return named | self._published() if _ABOUT_TABLES.search(sql) else named

    def _select_mixed(
        self, archive: str, table: str, version: int, earlier: Mapping[str, int]
    ) -> tuple[str, list[str]]:
        """The table at a version, but some periods as they were at an earlier one; and all files that are read."""
        log = self.open(archive, table, version)
        select, files = self._select(archive, table, log), self._files(log, archive, table)
        for before in sorted(set(earlier.values())):
            periods = periods_predicate([period for period in earlier if earlier[period] == before])
            log = self.open(archive, table, before)
            old = self._select(archive, table, log)
            files += self._files(log, archive, table)
            select = f"FROM ({select}) WHERE NOT {periods} UNION ALL BY NAME FROM ({old}) WHERE {periods}"
        return select, files

    def _result(self, answer: duckdb.DuckDBPyConnection) -> Result:
        return Result([column[0] for column in answer.description or []], self._rows(answer))

    def _rows(self, answer: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
        with self._explained():
            while batch := answer.fetchmany(_BATCH):
                yield from batch


def tables_behind(names: Collection[TableName]) -> set[TableName]:
    """What the views among these are made of."""
    return {(archive, table) for archive, name in names for table in view_tables().get(name, ())}

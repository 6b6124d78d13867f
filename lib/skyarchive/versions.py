"""Which versions there are of a warehouse's tables, and which of them count: told by their logs and by `runs`.

A reader sees a table at its published version, the greatest one that a row of `runs` lists; a commit
that a crash left behind stays out of sight. `runs`, `quality`, `files` and `refusals` are read at their latest.
Where that one is damaged, the last one before it that counts is read, and it is said.
"""

import json
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import duckdb
from deltalake import DeltaTable

from skyarchive.duck import duckdb_type, new_session, select_files, spark_type
from skyarchive.errors import DamagedError, NotPublishedError, SettingError, SkyarchiveError
from skyarchive.log_files import LogFiles
from skyarchive.losses import Listing, RowKey, lost_rows
from skyarchive.names import IDENTIFIER, TABLES
from skyarchive.output import message
from skyarchive.settings import Settings
from skyarchive.views import SOURCES

UNVERSIONED = ("runs", "quality", "files", "refusals")
"""Tables that describe the runs themselves: no run publishes them, so their latest version counts."""

_UNREADABLE = re.compile(r"[*?\[\]\\%]")  # DuckDB takes them for patterns, or delta-rs for escapes


class Versions:
    """The tables of a warehouse, their versions, and the data files of each."""

    def __init__(self, settings: Settings) -> None:
        self.root = _local_folder(settings.warehouse)
        self._listed: dict[str, tuple[int, list[Listing]]] = {}

    def archives(self) -> list[str]:
        """The archives that have a table."""
        if not self.root.is_dir():
            return []
        names = sorted(folder.name for folder in self.root.iterdir() if IDENTIFIER.fullmatch(folder.name))
        return [name for name in names if self.tables(name)]

    def tables(self, archive: str) -> list[str]:
        """The archive's tables that have a commit, published or not."""
        return [name for name in TABLES if self.log(archive, name).entries]

    def log(self, archive: str, table: str) -> LogFiles:
        """The table's log as it lies on disk."""
        return LogFiles.of(self.root / archive / table)

    def open(self, archive: str, table: str, version: int | None = None) -> DeltaTable:
        """The table's log at a version, or at its latest one, published or not."""
        log = self._existing_log(archive, table)
        # Asked here, because delta-rs would count up to a version that is far away.
        if version is not None and not min(log.entries) <= version <= log.last:
            raise SkyarchiveError(
                f"{archive}.{table} has no version {version}: its versions are {min(log.entries)} to {log.last}."
            )
        wanted = log.last if version is None else version
        if log.fault(wanted) is not None:
            raise self._damage(archive, table, wanted)
        try:
            return DeltaTable(str(self.root / archive / table), version=version)
        except Exception as error:  # delta-rs has errors of many kinds
            if "os error" in str(error):
                raise
            raise self._damage(archive, table, wanted) from error

    def column_types(self, archive: str, table: str) -> dict[str, str]:
        """The table's columns with their types in Spark SQL's words."""
        fields = json.loads(self.open(archive, table).schema().to_json())["fields"]
        return {field["name"]: spark_type(field["type"]) for field in fields}

    def _existing_log(self, archive: str, table: str) -> LogFiles:
        log = self.log(archive, table)
        if table not in TABLES or not log.entries:
            raise SkyarchiveError(f"There is no table {archive}.{table}. {self._inventory()}")
        return log

    def publications(self, archive: str) -> dict[str, set[int]]:
        """Every version of every table that some run of the archive has published."""
        lost = self.lost(archive)
        published: dict[str, set[int]] = {}
        for listing in self._listings(archive):
            if listing.key not in lost:
                published.setdefault(listing.table, set()).add(listing.version)
        return published

    def lost(self, archive: str) -> dict[RowKey, Listing]:
        """The rows of `runs` that do not count any more: each with what it lists and nobody can read."""
        listings = self._listings(archive)
        whole: dict[str, int] = {}
        for table in {listing.table for listing in listings}:
            last = next(self.log(archive, table).whole(), -1)
            if any(listing.table == table and listing.version > last for listing in listings):
                whole[table] = last
        return lost_rows(listings, whole)

    def _listings(self, archive: str) -> list[Listing]:
        """What the rows of `runs` list, in the order of the runs."""
        runs = self._last_readable(archive, "runs")
        if runs is None:
            return []
        if self._listed.get(archive, (None,))[0] != runs:
            select = self._select(archive, "runs", self.open(archive, "runs", runs))
            with new_session() as session, self._explained():
                found = session.execute(
                    "SELECT run_id, period, step, key, value::BIGINT "
                    f"FROM ({select}), json_each(output_versions) ORDER BY started, run_id"
                ).fetchall()
            self._listed[archive] = runs, [Listing(*row) for row in found]
        return self._listed[archive][1]

    def published_versions(self, archive: str) -> dict[str, int]:
        """The version to read of each of the archive's tables; one without any is not there. Where the last one that
        was published cannot be read, that is said, and the one before it counts."""
        lost = {listing.table: listing.version for listing in self.lost(archive).values()}
        found = {}
        for table, among in self._to_read(archive).items():
            version = self._last_readable(archive, table, among)
            if version is not None:
                found[table] = version
            if table in lost:
                _say_once(str(self._damage(archive, table, lost[table], version)))
        return found

    def _to_read(self, archive: str) -> dict[str, set[int]]:
        """The versions of every table that are good to read, if they can be."""
        present = self.tables(archive)
        published = {table: versions for table, versions in self.publications(archive).items() if table in present}
        return published | {table: set(self.log(archive, table).entries) for table in UNVERSIONED if table in present}

    def _last_readable(self, archive: str, table: str, among: Collection[int] | None = None) -> int | None:
        """The last of these versions, or of all, that can be read."""
        versions = sorted(self.log(archive, table).entries if among is None else among, reverse=True)
        for version in versions:
            try:
                self.open(archive, table, version)
            except DamagedError:
                continue
            if version != versions[0]:
                _say_once(str(self._damage(archive, table, versions[0], version)))
            return version
        return None

    def unpublished(self, archive: str, table: str) -> SkyarchiveError:
        """Why there is no version of a table to read."""
        unread = [*self._to_read(archive).get(table, ())]
        unread += [listing.version for listing in self.lost(archive).values() if listing.table == table]
        if unread:
            return self._damage(archive, table, max(unread))
        if "runs" in self.tables(archive) and self._last_readable(archive, "runs") is None:
            return self._damage(archive, "runs", self.log(archive, "runs").last)
        return NotPublishedError(f"{archive}.{table} has no published version yet: run the step that makes it.")

    def _damage(self, archive: str, table: str, version: int, read: int | None = None) -> DamagedError:
        """The error of a version that cannot be read, with the file that keeps everybody from it."""
        log = self.log(archive, table)
        fault = log.fault(version)
        if fault is None:
            why = f"a checkpoint in {log.folder} is damaged"
        else:
            why = f"{fault} is {'damaged' if fault.exists() else 'missing'}"
        return DamagedError(
            f"{archive}.{table} cannot be read at version {version}: {why}"
            f"{'' if read is None else f', so version {read} is read'}. To mend it, run: skyarchive refresh {archive}"
        )

    def _select(self, archive: str, table: str, log: DeltaTable) -> str:
        """The query over the table's data files as this log has it."""
        return select_files(columns_of(log), self._files(log, archive, table), bool(log.metadata().partition_columns))

    def _files(self, log: DeltaTable, archive: str, table: str) -> list[str]:
        """The data files of the table as this log has it."""
        # delta-rs percent-encodes the folder's part of a local path, so only what follows it is taken.
        encoded = log.table_uri.removeprefix("file://")
        folder = self.root / archive / table
        return [str(folder / uri.removeprefix(encoded)) for uri in log.file_uris()]

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """DuckDB's errors as one sentence, without its caret lines."""
        try:
            yield
        except duckdb.Error as error:
            text = re.sub(r"^[A-Za-z ]+ Error: ", "", str(error).split("\n\nLINE ")[0])
            if damaged := self.damaged_data(text):
                raise damaged from error
            if isinstance(error, duckdb.PermissionException):
                raise SettingError(
                    f"{text.split(' - ')[0]}: `sql` reads the archives' tables only; with --files, others, too."
                ) from error
            missing = re.match(r'Table with name "?(.+?)"? does not exist', text)
            if missing:
                raise SkyarchiveError(f"There is no table {missing[1]}. {self._inventory()}") from error
            raise SkyarchiveError(f"The query fails: {' '.join(text.split()).rstrip('.!')}.") from error

    def damaged_data(self, text: str) -> DamagedError | None:
        """The error for a data file that DuckDB names in its own, with what brings its rows back."""
        found = re.search(rf"{re.escape(str(self.root))}/(\w+)/(\w+)/([^\"']+\.parquet)", text)
        if found is None:
            return None
        archive, table, path = found.groups()
        why = "cannot be read" if Path(found[0]).exists() else "is missing"
        if "Permission denied" in text:
            return DamagedError(f"{found[0]}: permission denied. Give this user the right to read it.")
        period = re.match(r"period=([^/]+)/", path)
        again = "refresh" if table in UNVERSIONED or period is None else "run"
        only = f" --periods {period[1]}" if again == "run" and period else ""
        return DamagedError(
            f"A data file of {archive}.{table} {why}: {found[0]}. Put it back, or make its rows anew with: "
            f"skyarchive {again} {archive}{only}"
        )

    def _inventory(self) -> str:
        names = [f"{archive}.{table}" for archive in self.archives() for table in self._readable(archive)]
        if not names:
            return f"The warehouse {self.root} has no tables yet."
        return f"The tables are {', '.join(names)}."

    def _readable(self, archive: str) -> list[str]:
        """The archive's tables, and the views over them."""
        tables = self.tables(archive)
        return tables + [view for view, sources in SOURCES.items() if set(sources) <= set(tables)]


def _local_folder(warehouse: str) -> Path:
    path = unquote(warehouse.removeprefix("file://")) if warehouse.startswith("file://") else warehouse
    if "://" in path:
        raise SettingError(f"warehouse {warehouse!r} is not a local folder: read it with --engine spark.")
    if _UNREADABLE.search(path):
        raise SettingError(f"warehouse {warehouse!r}: use a folder without any of * ? [ ] \\ % in its path.")
    return Path(path)


@cache
def _say_once(text: str) -> None:
    message(text)


def columns_of(log: DeltaTable) -> dict[str, str]:
    """The table's columns with their types in DuckDB's words."""
    fields = json.loads(log.schema().to_json())["fields"]
    return {field["name"]: duckdb_type(field["type"]) for field in fields}

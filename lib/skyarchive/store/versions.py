"""Which versions there are of a warehouse's tables, and which of them count: told by their logs and by `runs`.

A reader sees a table at its published version, the greatest one that a row of `runs` lists; a commit
that a crash left behind stays out of sight. `runs`, `quality`, `files` and `refusals` are read at their latest.
Where that one is damaged, the last one before it that counts is read, and it is said.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
from deltalake import DeltaTable

from skyarchive.errors import DamagedError, NotPublishedError, SettingError, SkyarchiveError
from skyarchive.names import periods_predicate
from skyarchive.progress import message
from skyarchive.settings import Settings
from skyarchive.store.at_rest import once
from skyarchive.store.data_files import names_no_file, unreadable
from skyarchive.store.duck import duckdb_type, new_session, select_files
from skyarchive.store.log_files import LogFiles
from skyarchive.store.logs import RUNS, Logs
from skyarchive.store.losses import Listing, RowKey, lost_rows

UNVERSIONED = (RUNS, "quality", "files", "refusals")
"""Tables that describe the runs themselves: no run publishes them, so their latest version counts."""


class Versions(Logs):
    """Which versions of a warehouse's tables count, and the data files of each. At rest, `runs` is read once."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._listed: dict[str, tuple[int, list[Listing]]] = {}

    def _existing_log(self, archive: str, table: str) -> LogFiles:
        """A table that was published and is not there any more is damaged."""
        if not self.log(archive, table).has_entries and (gone := self.lost_versions(archive, table)):
            raise self._damage(archive, table, max(gone))
        return super()._existing_log(archive, table)

    @once
    def publications(self, archive: str) -> dict[str, set[int]]:
        """Every version of every table that some run of the archive has published."""
        lost = self.lost(archive)
        published: dict[str, set[int]] = {}
        for listing in self._listings(archive):
            if listing.key not in lost:
                published.setdefault(listing.table, set()).add(listing.version)
        return published

    @once
    def lost(self, archive: str) -> dict[RowKey, Listing]:
        """The rows of `runs` that do not count any more: each with what it lists and nobody can read."""
        listings = self._listings(archive)
        whole: dict[str, int] = {}
        for table in {listing.table for listing in listings}:
            last = next(self.log(archive, table).whole(), -1)
            if any(listing.table == table and listing.version > last for listing in listings):
                whole[table] = last
        return lost_rows(listings, whole)

    def lost_versions(self, archive: str, table: str) -> list[int]:
        """Versions of a table that a run has published and nobody can read."""
        return [listing.version for listing in self.lost(archive).values() if listing.table == table]

    def _listings(self, archive: str) -> list[Listing]:
        """What the rows of `runs` list, in the order of the runs."""
        runs = self._last_readable(archive, RUNS)
        if runs is None:
            return []
        if self._listed.get(archive, (None,))[0] != runs:
            found = self.told_by_runs(
                archive,
                "SELECT run_id, period, step, key, value::BIGINT "
                f"FROM {RUNS}, json_each(output_versions) ORDER BY started, run_id",
            )
            self._listed[archive] = runs, [Listing(*row) for row in found]
        return self._listed[archive][1]

    def told_by_runs(self, archive: str, query: str) -> list[tuple[Any, ...]]:
        """The answer to a query over `runs` alone, the table as it counts now."""
        version = self._last_readable(archive, RUNS)
        if version is None:
            raise self.unpublished(archive, RUNS)
        with self._explained():
            answer: list[tuple[Any, ...]] = self._rows_of_runs(archive, version).execute(query).fetchall()
        return answer

    @once
    def _rows_of_runs(self, archive: str, version: int) -> duckdb.DuckDBPyConnection:
        """A session over `runs`; at rest its rows are read here, for all queries to come."""
        select = self._select(archive, RUNS, self.open(archive, RUNS, version))
        session = new_session()
        session.execute(f"CREATE {'TABLE' if self.is_at_rest else 'VIEW'} {RUNS} AS {select}")
        return session

    @once
    def published_versions(self, archive: str) -> dict[str, int]:
        """The version to read of each of the archive's tables; one without any is not there. Where the last one that
        was published cannot be read, that is said, and the one before it counts."""
        lost = {listing.table: listing.version for listing in self.lost(archive).values()}
        found = {}
        for table in self.tables(archive):
            version = self._last_readable(archive, table)
            if version is not None:
                found[table] = version
            if table in lost:
                _say_once(str(self._damage(archive, table, lost[table], version)))
        return found

    def _to_read(self, archive: str, table: str) -> Iterable[int]:
        """The table's versions that are good to read, if they can be; the last one first."""
        log = self.log(archive, table)
        if table in UNVERSIONED:
            return log.backwards()
        return sorted(self.publications(archive).get(table, ()), reverse=True) if log.has_entries else ()

    def _last_readable(self, archive: str, table: str) -> int | None:
        """The last version that is good to read and can be."""
        last = None
        for version in self._to_read(archive, table):
            last = version if last is None else last
            if not self.log(archive, table).reaches(version):  # another run found it before its entry was lost
                continue
            try:
                self.open(archive, table, version)
            except DamagedError:
                continue
            if version != last:
                _say_once(str(self._damage(archive, table, last, version)))
            return version
        return None

    def unpublished(self, archive: str, table: str) -> SkyarchiveError:
        """Why there is no version of a table to read."""
        unread = [*islice(self._to_read(archive, table), 1), *self.lost_versions(archive, table)]
        if unread:
            return self._damage(archive, table, max(unread))
        if RUNS in self.tables(archive) and self._last_readable(archive, RUNS) is None:
            return self._damage(archive, RUNS, self.log(archive, RUNS).last)
        for lost in self.lost(archive).values():  # a run is lost with any of its tables
            return self._damage(archive, lost.table, lost.version)
        return NotPublishedError(f"{archive}.{table} has no published version yet: run the step that makes it.")

    def _select(self, archive: str, table: str, log: DeltaTable, periods: Collection[str] | None = None) -> str:
        """The query over the table's data files as this log has it; over those of some periods alone, if named."""
        partitioned = bool(log.metadata().partition_columns)
        files = self._files(log, archive, table, periods if partitioned else None)
        return select_files(columns_of(log), files, partitioned)

    def _files(self, log: DeltaTable, archive: str, table: str, periods: Collection[str] | None = None) -> list[str]:
        """The data files of the table as this log has it."""
        chosen = None if periods is None else periods_predicate(list(periods))
        # delta-rs percent-encodes the folder's part of a local path, so only what follows it is taken.
        encoded = log.table_uri.removeprefix("file://")
        folder = self.root / archive / table
        return [str(folder / uri.removeprefix(encoded)) for uri in log.file_uris(file_pruning_predicate=chosen)]

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """DuckDB's errors as one sentence, without its caret lines."""
        try:
            yield
        except duckdb.Error as error:
            text = re.sub(r"^[A-Za-z ]+ Error: ", "", str(error).split("\n\nLINE ")[0])
            if damaged := self.damaged_data(error):
                raise damaged from error
            if isinstance(error, duckdb.PermissionException):
                raise SettingError(
                    f"{text.split(' - ')[0]}: `sql` reads the archives' tables only; with --files, others, too."
                ) from error
            missing = re.match(r'Table with name "?(.+?)"? does not exist', text)
            if missing:
                raise SkyarchiveError(f"There is no table {missing[1]}. {self._inventory()}") from error
            raise SkyarchiveError(f"The query fails: {' '.join(text.split()).rstrip('.!')}.") from error

    def damaged_data(self, error: BaseException) -> DamagedError | None:
        """The error for the data file that DuckDB could not read, with what brings its rows back."""
        return self.damaged_file(str(error)) or (self._found_damage() if names_no_file(error) else None)

    def _found_damage(self) -> DamagedError | None:
        """The same, where all that is known is that there is such a file."""
        for archive in self.archives():
            for table in self.tables(archive):
                with suppress(SkyarchiveError):
                    for file in unreadable(self._files(self.open(archive, table), archive, table)):
                        return self.damaged_file(file)
        return None

    def damaged_file(self, text: str) -> DamagedError | None:
        """The same, of a text that names the file."""
        found = re.search(rf"{re.escape(str(self.root))}/(\w+)/(\w+)/([^\"'\s]+?\.parquet)", text)
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


@cache
def _say_once(text: str) -> None:
    message(text)


def columns_of(log: DeltaTable) -> dict[str, str]:
    """The table's columns with their types in DuckDB's words."""
    fields = json.loads(log.schema().to_json())["fields"]
    return {field["name"]: duckdb_type(field["type"]) for field in fields}

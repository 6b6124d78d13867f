"""The tables of a warehouse and their logs, whatever of them is published."""

import json
import re
from pathlib import Path
from urllib.parse import unquote

from deltalake import DeltaTable

from skyarchive.errors import DamagedError, SettingError, SkyarchiveError
from skyarchive.names import IDENTIFIER
from skyarchive.settings import Settings
from skyarchive.store.at_rest import Resting, once
from skyarchive.store.contracts import table_names
from skyarchive.store.duck import spark_type
from skyarchive.store.log_files import LogFiles
from skyarchive.store.views import view_tables

RUNS = "runs"
"""The table whose rows publish versions of the others."""
_LOOKS = 3
"""So often a look begins anew because something was published meanwhile."""
_UNREADABLE = re.compile(r"[*?\[\]\\%]")  # DuckDB takes them for patterns, or delta-rs for escapes


class Logs(Resting):
    """The logs of a warehouse's tables.

    At rest, every log is looked at once, and only at its end if that tells enough. Who writes is not at rest: for every
    question the whole log is listed anew.
    """

    def __init__(self, settings: Settings) -> None:
        self.root = _local_folder(settings.warehouse)

    def archives(self) -> list[str]:
        """The archives that have a table."""
        return [name for name in self._folders() if self.tables(name)]

    def _folders(self) -> list[str]:
        """What may be an archive, by name."""
        if not self.root.is_dir():
            return []
        return sorted(folder.name for folder in self.root.iterdir() if IDENTIFIER.fullmatch(folder.name))

    def tables(self, archive: str) -> list[str]:
        """The archive's tables that have a commit, published or not."""
        return [name for name in table_names() if self.log(archive, name).has_entries]

    def log(self, archive: str, table: str) -> LogFiles:
        """The table's log as it lies on disk."""
        log = self._logs(archive).get(table) if self.is_at_rest else None
        return LogFiles.of(self.root / archive / table) if log is None else log

    @once
    def _logs(self, archive: str) -> dict[str, LogFiles]:
        """Those of all tables at one moment. `runs` comes first: what it lists was there before. What comes after may
        be of a run that publishes it in between, and would be taken for one that stopped in the middle."""
        folder = self.root / archive
        for _ in range(_LOOKS):
            logs = {table: LogFiles.from_its_end(folder / table) for table in dict.fromkeys((RUNS, *table_names()))}
            if not logs[RUNS].goes_on():
                break
        return logs

    def open(self, archive: str, table: str, version: int | None = None) -> DeltaTable:
        """The table's log at a version, or at its latest one, published or not."""
        log = self._existing_log(archive, table)
        # Asked here, because delta-rs would count up to a version that is far away.
        if version is not None and not log.reaches(version):
            raise SkyarchiveError(
                f"{archive}.{table} has no version {version}: its versions are {min(log.entries)} to {log.last}."
            )
        wanted = log.last if version is None else version
        if log.fault(wanted) is not None:
            raise self._damage(archive, table, wanted)
        return self._opened(archive, table, wanted if self.is_at_rest else version)

    @once
    def _opened(self, archive: str, table: str, version: int | None) -> DeltaTable:
        try:
            return DeltaTable(str(self.root / archive / table), version=version)
        except Exception as error:  # delta-rs has errors of many kinds
            if "os error" in str(error):
                raise
            raise self._damage(archive, table, self.log(archive, table).last if version is None else version) from error

    def column_types(self, archive: str, table: str) -> dict[str, str]:
        """The table's columns with their types in Spark SQL's words."""
        fields = json.loads(self.open(archive, table).schema().to_json())["fields"]
        return {field["name"]: spark_type(field["type"]) for field in fields}

    def _existing_log(self, archive: str, table: str) -> LogFiles:
        log = self.log(archive, table)
        if table not in table_names() or not log.has_entries:
            raise SkyarchiveError(f"There is no table {archive}.{table}. {self._inventory()}")
        return log

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

    def _inventory(self) -> str:
        names = [f"{archive}.{table}" for archive in self.archives() for table in self._readable(archive)]
        if not names:
            return f"The warehouse {self.root} has no tables yet."
        return f"The tables are {', '.join(names)}."

    def _readable(self, archive: str) -> list[str]:
        """The archive's tables, and the views over them."""
        tables = self.tables(archive)
        return tables + [view for view, sources in view_tables().items() if set(sources) <= set(tables)]


def _local_folder(warehouse: str) -> Path:
    path = unquote(warehouse.removeprefix("file://")) if warehouse.startswith("file://") else warehouse
    if "://" in path:
        raise SettingError(f"warehouse {warehouse!r} is not a local folder: read it with --engine spark.")
    if _UNREADABLE.search(path):
        raise SettingError(f"warehouse {warehouse!r}: use a folder without any of * ? [ ] \\ % in its path.")
    return Path(path)

"""Which raw files hold which periods: told by a file's name, or by one look into it that is remembered."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skyarchive.definition import Definition
from skyarchive.lake import Lake
from skyarchive.reading.files import RawFile, raw_files, without_copies
from skyarchive.settings import Settings

if TYPE_CHECKING:
    from skyarchive.workshop import Workshop

FileState = tuple[str, int, int]


@dataclass
class Inventory:
    """The raw files of an archive and, for those not named for one period, the periods found in them."""

    files: list[RawFile]
    copies: dict[RawFile, RawFile]
    """Files left out, each with the one it equals byte for byte."""
    held: dict[FileState, dict[str, int]]
    """Rows by period of the files that were looked into."""

    @classmethod
    def read(cls, lake: Lake, settings: Settings, definition: Definition) -> "Inventory":
        """The files that are there now, with what is remembered of those that have not changed."""
        held: dict[FileState, dict[str, int]] = {}
        if "files" in lake.tables(definition.name):
            known = f"select file, bytes, modified, period, rows from {definition.name}.files"
            for file, size, modified, period, rows in lake.query(known).rows:
                periods = held.setdefault((file, size, modified), {})
                if period is not None:
                    periods[period] = rows
        files, copies = without_copies(raw_files(settings, definition))
        present = {file.state for file in files}
        return cls(files, copies, {state: rows for state, rows in held.items() if state in present})

    @property
    def unknown(self) -> list[RawFile]:
        """Files that have to be looked into before it is known which periods they hold."""
        return [file for file in self.files if file.period is None and file.state not in self.held]

    def periods_of(self, file: RawFile) -> list[str]:
        return [file.period] if file.period else sorted(self.held.get(file.state, {}))

    def periods(self) -> list[str]:
        """Every period that some file is known to hold."""
        return sorted({period for file in self.files for period in self.periods_of(file)})

    def files_of(self, period: str) -> list[RawFile]:
        return [file for file in self.files if period in self.periods_of(file)]

    def table_rows(self) -> list[dict[str, Any]]:
        """The content of the table `files`; a file without any period has one row without one."""
        nothing: dict[str | None, int] = {None: 0}
        return [
            {"file": name, "bytes": size, "modified": modified, "period": period, "rows": rows}
            for (name, size, modified), periods in sorted(self.held.items())
            for period, rows in (periods or nothing).items()
        ]


def looked_into(workshop: "Workshop") -> Inventory:
    """The inventory after every file that was new or changed has been looked into. Caller holds the archive."""
    inventory = Inventory.read(workshop.lake, workshop.settings, workshop.definition)
    if inventory.unknown:
        from skyarchive.scanning import scan

        scan(workshop, inventory)
    return inventory

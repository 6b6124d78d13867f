"""Which raw files hold which periods: told by a file's name, or by one look into it that is remembered.

A file that cannot be looked into blocks the periods that it may hold: those it held when it was last looked into.
One of which nothing is known blocks nobody; it is told by name until it is mended or gone."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from skyarchive.definition.model import Definition
from skyarchive.pipeline.look import FILES
from skyarchive.settings import Settings
from skyarchive.steps.ingest.reading.files import RawFile, files_fingerprint, raw_files, without_copies
from skyarchive.steps.ingest.step import INGEST
from skyarchive.store.lake import Lake
from skyarchive.wording import counted

if TYPE_CHECKING:
    from skyarchive.pipeline.workshop import Workshop
    from skyarchive.store.ledger import Publication

FileState = tuple[str, int, int]


@dataclass(frozen=True)
class Found:
    """What one look into a file found."""

    periods: dict[str, int]
    """Rows by period."""
    fault: str | None = None
    """Why the look failed; the periods are those that the file held before, then."""


@dataclass
class Inventory:
    """The raw files of an archive and, for those not named for one period, the periods found in them."""

    files: list[RawFile]
    copies: dict[RawFile, RawFile]
    """Files left out, each with the one it equals byte for byte."""
    definition: str
    """Fingerprint of the definition: under another one a file may hold other periods."""
    found: dict[FileState, Found] = field(default_factory=dict)
    """Of the files that were looked into as they are now."""
    before: dict[str, dict[str, int]] = field(default_factory=dict)
    """By file, the periods it held when it could last be looked into."""

    @classmethod
    def read(cls, lake: Lake, settings: Settings, definition: Definition) -> Self:
        """The files that are there now, with what is remembered of those that have not changed."""
        files, copies = without_copies(raw_files(settings, definition))
        inventory = cls(files, copies, INGEST.definition_print(definition))
        if "files" in lake.tables(definition.name):
            known = lake.query(f"select * from {definition.name}.files")
            inventory._remember([dict(zip(known.columns, row, strict=True)) for row in known.rows])
        return inventory

    @classmethod
    def looked_into(cls, workshop: "Workshop") -> "Inventory":
        """With every file looked into that has to be, and those again that could not be."""
        inventory = cls.read(workshop.lake, workshop.settings, workshop.definition)
        if not inventory.unknown and not inventory.faulty:
            return inventory
        with workshop.computing():
            return looked_into(workshop, again=True)

    def _remember(self, rows: list[dict[str, Any]]) -> None:
        present = {file.state for file in self.files}
        for row in rows:
            # A table made before these columns came says nothing of them.
            fault, definition = row.get("fault"), row.get("definition")
            periods = {} if row["period"] is None else {row["period"]: row["rows"]}
            self.before.setdefault(row["file"], {}).update(periods)
            state = (row["file"], row["bytes"], row["modified"])
            if state in present and definition == self.definition:
                known = self.found.setdefault(state, Found({}, fault))
                known.periods.update(periods)

    def keep(self, file: RawFile, periods: dict[str, int]) -> None:
        """What a look into the file found."""
        self.found[file.state] = Found(periods)

    def keep_fault(self, file: RawFile, fault: str) -> None:
        """That a look into the file failed."""
        self.found[file.state] = Found(dict(self.before.get(file.name, {})), fault)

    @property
    def unknown(self) -> list[RawFile]:
        """Files that have to be looked into before it is known which periods they hold."""
        return [file for file in self.files if file.period is None and file.state not in self.found]

    @property
    def faulty(self) -> dict[RawFile, str]:
        """Files that could not be looked into, each with why."""
        looked = {file: self.found.get(file.state) for file in self.files}
        faults = {file: it.fault for file, it in looked.items() if it is not None and it.fault is not None}
        return {file: self.with_copies(file.name, fault) for file, fault in faults.items()}

    def with_copies(self, file: str, fault: str) -> str:
        """What is wrong with a file, and which others are the same: nobody else tells of them."""
        alike = [copy.name for copy, original in self.copies.items() if original.name == file]
        return f"{fault} The same, byte for byte: {', '.join(alike)}." if alike else fault

    def untold(self) -> list[str]:
        """A sentence for each file that cannot be looked into and blocks nobody: no period's refusal tells of it."""
        left_out = "It is not known which periods it holds: it is left out until it is mended or moved away."
        return [f"{fault} {left_out}" for file, fault in self.faulty.items() if not self.periods_of(file)]

    def rows_of(self, file: RawFile) -> int:
        """Of all periods; 0 where it was not looked into."""
        return sum(self._held(file).values())

    def periods_of(self, file: RawFile) -> list[str]:
        return [file.period] if file.period else sorted(self._held(file))

    def _held(self, file: RawFile) -> dict[str, int]:
        known = self.found.get(file.state)
        return known.periods if known else {}

    def periods(self) -> list[str]:
        """Every period that some file is known to hold."""
        return sorted({period for file in self.files for period in self.periods_of(file)})

    def files_of(self, period: str) -> list[RawFile]:
        return [file for file in self.files if period in self.periods_of(file)]

    def count(self, period: str) -> int:
        """How many files hold rows of it."""
        return len(self.files_of(period))

    def unknown_sentence(self) -> str:
        """That there are files that nobody has looked into yet."""
        if not self.unknown:
            return ""
        named = counted(len(self.unknown), "raw file is", "raw files are")
        first = f"{self.unknown[0].name}{' ...' if len(self.unknown) > 1 else ''}"
        return f"{named} new or changed and not looked into yet ({first}); run or refresh does."

    def why_stale(self, published: "Publication") -> str:
        """What changed in a period's files since it was ingested. They may be cleared away after it: only files that
        are there and differ tell of a change."""
        files, were = self.files_of(published.period), set(published.details["files"])
        changed = files and published.input_fingerprints[FILES] != files_fingerprint(files)
        if changed or {file.name for file in self.unknown} & were:
            return "raw files changed since it was ingested"
        emptied = {file.name for file in self.files} & were
        if emptied and not files:
            return f"{min(emptied)} changed since it was ingested, and holds no rows of it any more"
        return ""

    def table_rows(self) -> list[dict[str, Any]]:
        """The content of the table `files`; a file without any period has one row without one."""
        nothing: dict[str | None, int] = {None: 0}
        return [
            {"file": name, "bytes": size, "modified": modified, "period": period, "rows": rows,
             "fault": it.fault, "definition": self.definition}
            for (name, size, modified), it in sorted(self.found.items(), key=lambda item: item[0])
            for period, rows in (it.periods or nothing).items()
        ]  # fmt: skip


def looked_into(workshop: "Workshop", *, again: bool = False) -> Inventory:
    """The inventory after every file that was new or changed has been looked into; with `again` those, too, that could
    not be looked into before: what keeps a file from being read is not always in the file. Caller holds the archive."""
    inventory = Inventory.read(workshop.lake, workshop.settings, workshop.definition)
    files = [*inventory.unknown, *(inventory.faulty if again else ())]
    if files:
        from skyarchive.steps.ingest.scanning import scan

        scan(workshop, inventory, files)
    return inventory

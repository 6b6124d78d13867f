"""A table's Delta log as it lies on disk: its entries, and which of them nobody can read.

What is all right is found at the log's end; the whole log is listed where that does not tell, and for old versions.
Delta readers take an emptied entry for one that changed nothing, and answer without its rows; so what they are given
is looked at first.
"""

import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from skyarchive.errors import InputError
from skyarchive.store.log_end import DIGITS, End, entry_of, find_end, is_there

FOLDER = "_delta_log"
_CHECKSUM_HEADER = b"crc\0"


@dataclass(frozen=True)
class LogFiles:
    """The log of one table."""

    folder: Path
    end: End | None = None
    """Its newest versions, where they are known without a listing of all."""

    @classmethod
    def of(cls, table: Path) -> "LogFiles":
        """That of the table in this folder, listed now; without entries where there is none."""
        log = cls(table / FOLDER)
        _ = log._listed
        return log

    @classmethod
    def from_its_end(cls, table: Path) -> "LogFiles":
        """The same, but listed only as far as needed."""
        end = find_end(table / FOLDER)
        return cls.of(table) if end is None else cls(table / FOLDER, end)

    @cached_property
    def _listed(self) -> "_Listed":
        return _listing(self.folder)

    @property
    def entries(self) -> dict[int, Path]:
        """By version, in order; those of before the listing only, where the end was known before."""
        entries = self._listed.entries
        return entries if self.end is None else {v: path for v, path in entries.items() if v <= self.last}

    @property
    def checkpoints(self) -> dict[int, list[Path]]:
        return self._listed.checkpoints

    @property
    def has_entries(self) -> bool:
        return self.end is not None or bool(self.entries)

    @property
    def last(self) -> int:
        """The greatest version that has an entry, whole or not."""
        return max(self.entries) if self.end is None else self.end.last

    def reaches(self, version: int) -> bool:
        """Whether the version is among those from the first to the last."""
        if self.end is not None and self.end.reaches(version):
            return True
        return self.has_entries and min(self.entries) <= version <= self.last

    def backwards(self) -> Iterator[int]:
        """The versions that have an entry, the last one first."""
        start = self.last + 1 if self.has_entries else 0
        if self.end is not None:
            start = self.end.checkpoint
            yield from range(self.end.last, start - 1, -1)
        yield from (version for version in sorted(self.entries, reverse=True) if version < start)

    def entry(self, version: int) -> Path:
        """Where the version's entry is, or would be."""
        return entry_of(self.folder, version)

    def goes_on(self) -> bool:
        """Whether the log has grown since."""
        return is_there(self.entry(self.last + 1 if self.has_entries else 0))

    def fault(self, version: int) -> Path | None:
        """The first entry that keeps everybody from this version: damaged, or not there."""
        if self.end is not None and self.end.reaches(version):
            after = range(self.end.checkpoint + 1, version + 1)
            if all(is_whole(self.entry(needed)) for needed in after):
                return None
            # A later checkpoint, which the hint does not name, may do without the damaged entry.
        start = max((known for known in self.checkpoints if known <= version), default=-1)
        for needed in range(start + 1, version + 1):
            if needed not in self.entries or not is_whole(self.entries[needed]):
                return self.entry(needed)
        return None

    def whole(self) -> Iterator[int]:
        """The versions whose entries are whole, the last one first."""
        return (version for version in self.backwards() if self.fault(version) is None)

    def belonging_to(self, version: int) -> list[Path]:
        """Everything there is of one version: its entry, what was derived from it, and checksums of both."""
        stem = f"{version:0{DIGITS}d}."
        return [self.folder / name for name in _names(self.folder) if name.removeprefix(".").startswith(stem)]


@dataclass(frozen=True)
class _Listed:
    """What a listing of the folder found."""

    entries: dict[int, Path]
    checkpoints: dict[int, list[Path]]


def _listing(folder: Path) -> _Listed:
    entries: dict[int, Path] = {}
    checkpoints: dict[int, list[Path]] = {}
    for name in _names(folder):
        version, _, kind = name.partition(".")
        if len(version) != DIGITS or not version.isdecimal():
            continue
        if kind == "json":
            entries[int(version)] = folder / name
        elif kind.startswith("checkpoint"):
            checkpoints.setdefault(int(version), []).append(folder / name)
    return _Listed(entries, checkpoints)


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return sorted(entry.name for entry in found)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}. Give this user the right to read it.") from error


def is_whole(entry: Path) -> bool:
    """Whether a log entry holds all that was written to it."""
    try:
        stat = entry.stat()
        return _is_whole(entry, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise InputError(f"{entry} cannot be read: {error.strerror}. Give this user the right to read it.") from error


@lru_cache(maxsize=4096)
def _is_whole(entry: Path, size: int, modified: int) -> bool:
    content = entry.read_bytes()
    try:
        actions = [json.loads(line) for line in content.splitlines() if line.strip()]
    except ValueError:
        return False
    # Ours all say who made them, which delta-rs writes last. Spark writes it first, and a checksum beside the file.
    said = any(isinstance(action, dict) and "commitInfo" in action for action in actions)
    return said and all(isinstance(action, dict) and action for action in actions) and _is_as_summed(entry, content)


def _is_as_summed(entry: Path, content: bytes) -> bool:
    """Whether the file is what Hadoop's checksum beside it says, where there is one."""
    try:
        sums = entry.with_name(f".{entry.name}.crc").read_bytes()
    except OSError:
        return True
    if not sums.startswith(_CHECKSUM_HEADER):
        return True
    size = int.from_bytes(sums[4:8])
    starts = range(0, len(content), size)
    found = b"".join(zlib.crc32(content[start : start + size]).to_bytes(4) for start in starts)
    return found == sums[8:]


def commit_info(entry: Path) -> dict[str, Any]:
    """What an entry says of its commit; nothing where it is damaged."""
    if not is_whole(entry):
        return {}
    for line in entry.read_bytes().splitlines():
        if b'"commitInfo"' in line and "commitInfo" in (action := json.loads(line)):
            return dict(action["commitInfo"])
    return {}

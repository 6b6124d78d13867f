"""A table's Delta log as it lies on disk: its entries, and which of them nobody can read.

Delta readers take an emptied entry for one that changed nothing, and answer without its rows; so what they are given
is looked at first.
"""

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from skyarchive.errors import InputError

FOLDER = "_delta_log"
_DIGITS = 20
_CHECKSUM_HEADER = b"crc\0"


@dataclass(frozen=True)
class LogFiles:
    """The log of one table."""

    folder: Path
    entries: dict[int, Path]
    """By version, in order."""
    checkpoints: dict[int, list[Path]]

    @classmethod
    def of(cls, table: Path) -> "LogFiles":
        """Those of the table in this folder; none where there is none."""
        folder = table / FOLDER
        entries: dict[int, Path] = {}
        checkpoints: dict[int, list[Path]] = {}
        for name in _names(folder):
            version, _, kind = name.partition(".")
            if len(version) != _DIGITS or not version.isdecimal():
                continue
            if kind == "json":
                entries[int(version)] = folder / name
            elif kind.startswith("checkpoint"):
                checkpoints.setdefault(int(version), []).append(folder / name)
        return cls(folder, entries, checkpoints)

    @property
    def last(self) -> int:
        """The greatest version that has an entry, whole or not."""
        return max(self.entries)

    def entry(self, version: int) -> Path:
        """Where the version's entry is, or would be."""
        return self.folder / f"{version:0{_DIGITS}d}.json"

    def fault(self, version: int) -> Path | None:
        """The first entry that keeps everybody from this version: damaged, or not there."""
        start = max((known for known in self.checkpoints if known <= version), default=-1)
        for needed in range(start + 1, version + 1):
            if needed not in self.entries or not is_whole(self.entries[needed]):
                return self.entry(needed)
        return None

    def whole(self) -> Iterator[int]:
        """The versions whose entries are whole, the last one first."""
        return (version for version in sorted(self.entries, reverse=True) if self.fault(version) is None)

    def belonging_to(self, version: int) -> list[Path]:
        """Everything there is of one version: its entry, what was derived from it, and checksums of both."""
        stem = f"{version:0{_DIGITS}d}."
        return [self.folder / name for name in _names(self.folder) if name.removeprefix(".").startswith(stem)]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
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

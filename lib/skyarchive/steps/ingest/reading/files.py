"""The raw files of an archive: which there are, which period each is named for, which are copies."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skyarchive.definition.catalog import RAW_DEFINITION
from skyarchive.definition.model import Definition
from skyarchive.errors import InputError
from skyarchive.names import PERIOD
from skyarchive.settings import Settings

_ENDS = 1 << 14
_HIDDEN = (".", "_")


@dataclass(frozen=True)
class RawFile:
    """A raw file (or, for `format: delta`, a table folder) as it is on disk now."""

    name: str
    """Path relative to the archive's raw folder."""
    path: Path
    bytes: int
    modified: int
    """Nanoseconds; with the size, what tells a changed file."""
    period: str | None
    """The one period it is named for, if its name says so."""

    @property
    def state(self) -> tuple[str, int, int]:
        return self.name, self.bytes, self.modified


def raw_files(settings: Settings, definition: Definition) -> list[RawFile]:
    """The archive's raw files in the order of their names; hidden ones and its definition are none. Links are followed,
    to files and to folders alike; one that leads nowhere stands for a file that cannot be read."""
    folder = (settings.raw_folder / definition.name).resolve()
    if not folder.is_dir():
        return []
    pattern = definition.source.files
    found = {path for below in _folders(folder) for path in below.glob(pattern) if _is_raw(path, folder, definition)}
    return [_raw_file(path, folder, definition) for path in sorted(found)]


def _folders(folder: Path) -> Iterator[Path]:
    """The folder and all that are not hidden below it. A link back to a folder that it is below is not followed again:
    it has nothing new."""
    above = {folder: {folder}}
    for text, names, _ in os.walk(folder, followlinks=True, onerror=_not_listed):
        path = Path(text)
        yield path
        parents = above.pop(path)
        for name in list(names):
            real = (path / name).resolve()
            if name.startswith(_HIDDEN) or real in parents:
                names.remove(name)
            else:
                above[path / name] = parents | {real}


def _not_listed(error: OSError) -> None:
    raise InputError(f"{error.filename}: the folder cannot be read ({error.strerror}); raw files may be in it.")


def _is_raw(path: Path, folder: Path, definition: Definition) -> bool:
    parts = path.relative_to(folder).parts
    if any(part.startswith(_HIDDEN) for part in parts) or path.name == RAW_DEFINITION:
        return False
    if leads_nowhere(path):
        return True
    if definition.source.format == "delta":
        return (path / "_delta_log").is_dir()
    return path.is_file()


def leads_nowhere(path: Path) -> bool:
    """Whether it is a link without an end."""
    return path.is_symlink() and not path.exists()


def _raw_file(path: Path, folder: Path, definition: Definition) -> RawFile:
    if leads_nowhere(path):
        stat = path.lstat()
    elif path.is_dir():
        # A Delta table changes exactly when its log grows; its newest log entry stands for it.
        newest = max((path / "_delta_log").glob("*.json"), key=lambda entry: entry.name, default=None)
        stat = newest.stat() if newest else path.stat()
    else:
        stat = path.stat()
    return RawFile(
        path.relative_to(folder).as_posix(),
        path,
        stat.st_size,
        stat.st_mtime_ns,
        _named_for(path, definition),
    )


def _named_for(path: Path, definition: Definition) -> str | None:
    pattern = definition.source.period_in_name
    match = re.search(pattern, path.name) if pattern else None
    if match is None:
        return None
    period = match.group(1)
    if not period or not PERIOD.fullmatch(period):
        raise InputError(f"{path}: its name gives the period {period!r}, which is none; rename the file.")
    return period


def without_copies(files: list[RawFile]) -> tuple[list[RawFile], dict[RawFile, RawFile]]:
    """Files with different content, and every further copy with the file it equals byte for byte. Files named for
    different periods are no copies: whose content it is their rows tell, and of what cannot be read both are told."""
    sizes = Counter(file.bytes for file in files)
    ends = {file: _ends(file.path) for file in files if sizes[file.bytes] > 1 and file.path.is_file()}
    alike = Counter(ends.values())
    copies: dict[RawFile, RawFile] = {}
    originals: dict[str, list[RawFile]] = {}
    for file in files:
        if file in ends and alike[ends[file]] > 1:
            equal = originals.setdefault(_sha256(file.path), [])
            original = next(
                (one for one in equal if one.period == file.period or None in (one.period, file.period)), None
            )
            if original is None:
                equal.append(file)
            else:
                copies[file] = original
    return [file for file in files if file not in copies], copies


def _ends(path: Path) -> bytes:
    """First and last bytes of a file: files that differ mostly differ there, and need not be read whole."""
    with path.open("rb") as content:
        first = content.read(_ENDS)
        content.seek(max(0, path.stat().st_size - _ENDS))
        return first + content.read(_ENDS)


def _sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def files_fingerprint(files: list[RawFile]) -> str:
    """Names, sizes and times of the files a period is read from: when it differs, the input may have changed."""
    content = "\n".join("\t".join(map(str, file.state)) for file in sorted(files, key=lambda f: f.name))
    return hashlib.sha256(content.encode()).hexdigest()[:16]

"""What the errors of Spark, Delta and the operating system mean: one sentence that a user can act on.

The same cause comes in many shapes, from Python, from Java through Py4J or gRPC, from Rust; so it is looked for in
everything that an error and what led to it say.
"""

import errno
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skyarchive.errors import MachineError, SkyarchiveError, SparkError
from skyarchive.pipeline.connecting import losses_told
from skyarchive.settings import Settings

_PATH = re.compile(r"(?:file:)?(/[^\s:'\"()]+)")
_STAYS = "what was published before stays"
_JAVA = re.compile(r"Py4J|JAVA_GATEWAY|ConnectionRefused|ConnectionReset|BrokenPipe")
_UNREAD = re.compile("FileNotFound|FILE_NOT_EXIST|FAILED_READ_FILE")
_NOT_STARTED = re.compile(r"calling None\.org\.apache\.spark\.api\.java\.JavaSparkContext\.\s*:\s*[\w.$]+:\s*([^\n]+)")
"""What Spark says of itself where its JVM is up and it cannot begin, nearly always because of its master."""
_END = 5.0
"""Seconds in which a JVM that no longer answers has ended, if that is why."""


@contextmanager
def failures_told(settings: Settings) -> Iterator[None]:
    """While open, an error whose cause is known comes out as a sentence about it."""
    try:
        with losses_told(settings.master):
            yield
    except SkyarchiveError:
        raise
    except Exception as error:
        known = meaning(error, settings)
        if known is None:
            raise
        raise known from error


def meaning(error: BaseException, settings: Settings) -> SkyarchiveError | None:
    """What happened, if that is known."""
    errors = list(_behind(error))
    text = "\n".join(f"{type(it).__name__}: {it}" for it in errors)
    for tell in (_lost_jvm, _full_disk, _read_only, _denied, _out_of_memory, _damaged_data, _other):
        if known := tell(errors, text, settings):
            return known
    return None


def _behind(error: BaseException) -> Iterator[BaseException]:
    """The error and all that led to it."""
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop(0)
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [it for it in (one.__cause__, one.__context__) if it is not None]


def _lost_jvm(errors: list[BaseException], text: str, settings: Settings) -> SkyarchiveError | None:
    if not _JAVA.search(text):
        return None
    more = f"its last lines are in {settings.log_file}"
    if "JAVA_GATEWAY_EXITED" in text:
        return SparkError(f"Spark's JVM did not start; {more}.")
    if refused := _NOT_STARTED.search(text):
        return SparkError(
            f"Spark does not start with {settings.master} as its master ({refused[1].strip().rstrip('.')}): set "
            "SKYARCHIVE_MASTER to where Spark runs, or to local[*]."
        )
    if _jvm_has_ended():
        return SparkError(
            f"Spark's JVM has ended while it worked for us; {more} (without any it was killed, perhaps by the system "
            f"for want of memory). Run this again: {_STAYS}."
        )
    return None


def _jvm_has_ended() -> bool:
    from pyspark import SparkContext

    jvm = getattr(SparkContext._gateway, "proc", None)
    if not isinstance(jvm, subprocess.Popen):
        return False
    try:
        jvm.wait(_END)
    except subprocess.TimeoutExpired:
        return False
    return True


def _full_disk(errors: list[BaseException], text: str, settings: Settings) -> SkyarchiveError | None:
    if not re.search(r"No space left on device|Disk quota exceeded", text):
        return None
    folder = _named(errors, (errno.ENOSPC, errno.EDQUOT)) or min(_folders(settings), key=_free)
    return MachineError(
        f"The disk of {folder} is full ({_free(folder) / 1e6:.0f} MB are left on {_mount(folder)}). Make room, then "
        f"run this again: {_STAYS}."
    )


def _read_only(errors: list[BaseException], text: str, settings: Settings) -> SkyarchiveError | None:
    if "Read-only file system" not in text:
        return None
    read_only = (path for path in _folders(settings) if os.statvfs(path).f_flag & os.ST_RDONLY)
    folder = _named(errors, (errno.EROFS,)) or _path_beside("Read-only file system", text) or next(read_only, None)
    where = f"{folder} is on a disk that can only be read" if folder else "A disk can only be read"
    mount = f" ({_mount(folder)})" if folder else ""
    return MachineError(f"{where}{mount}: mount it for writing, or set another folder. {_STAYS.capitalize()}.")


def _denied(errors: list[BaseException], text: str, settings: Settings) -> SkyarchiveError | None:
    if not re.search(r"Permission denied|AccessControlException|Operation not permitted", text):
        return None
    path = _named(errors, (errno.EACCES, errno.EPERM)) or _path_beside("Permission denied", text)
    return MachineError(f"{path or 'A file'}: permission denied. Give this user the right to it, then run this again.")


def _out_of_memory(errors: list[BaseException], text: str, settings: Settings) -> SkyarchiveError | None:
    if re.search(r"OutOfMemoryError: (Java heap|GC overhead)", text):
        return MachineError(
            f"Spark needs more memory than SKYARCHIVE_DRIVER_MEMORY gives it ({settings.driver_memory}): give it more, "
            f"or run fewer periods together. {_STAYS.capitalize()}."
        )
    if any(isinstance(it, MemoryError) for it in errors) or "Cannot allocate memory" in text:
        return MachineError("There is not enough memory for this: free some, or ask for less at once.")
    return None


def _damaged_data(errors: list[BaseException], text: str, settings: Settings) -> SkyarchiveError | None:
    import duckdb

    from skyarchive.store.versions import Versions

    if "://" in settings.warehouse:
        return None
    versions = Versions(settings)
    if _UNREAD.search(text):
        return versions.damaged_file(text)
    return next(filter(None, (versions.damaged_data(it) for it in errors if isinstance(it, duckdb.Error))), None)


def _other(errors: list[BaseException], text: str, settings: Settings) -> SkyarchiveError | None:
    for it in errors:
        if isinstance(it, OSError) and it.filename is not None and it.strerror:
            return MachineError(f"{os.fsdecode(it.filename)}: {it.strerror}.")
    return None


def _named(errors: list[BaseException], codes: tuple[int, ...]) -> str | None:
    """The file that an error of the operating system names."""
    named = (it.filename for it in errors if isinstance(it, OSError) and it.errno in codes and it.filename)
    return next((os.fsdecode(name) for name in named), None)


def _path_beside(words: str, text: str) -> str | None:
    """The last path before these words, or the first after them, on the same line."""
    for line in text.splitlines():
        before, found, after = line.partition(words)
        if found:
            paths = _PATH.findall(before)[-1:] or _PATH.findall(after)[:1]
            if paths:
                return re.sub(r"#\d+$", "", paths[0])  # as delta-rs names files that it has not finished
    return None


def _folders(settings: Settings) -> list[Path]:
    """Where we and Spark write; of those that are not there yet, what they would be in."""
    spark = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    named = [settings.warehouse, settings.log_file, settings.raw, tempfile.gettempdir(), *filter(None, spark)]
    return [_there(Path(path)) for path in map(str, named) if "://" not in path]


def _there(path: Path) -> Path:
    return next(folder for folder in (path, *path.absolute().parents) if folder.exists())


def _free(folder: str | Path) -> int:
    return shutil.disk_usage(_there(Path(folder))).free


def _mount(folder: str | Path) -> str:
    path = _there(Path(folder)).resolve()
    return str(next(place for place in (path, *path.parents) if place.is_mount()))

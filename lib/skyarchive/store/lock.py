"""One writer per archive at a time: a second one waits with a message, or gives up after a set time."""

import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from skyarchive.errors import LockError
from skyarchive.settings import Settings

LOCK_FILE = ".writer"
_LOOK_AGAIN = 0.2
_REMIND = 15.0
"""Seconds between reminders that this process still waits."""


@contextmanager
def writing(settings: Settings, archive: str, say: Callable[[str], None], note: str = "") -> Iterator[str]:
    """Hold the archive for writing. The operating system lets go of it when the process ends, however it does.

    Gives the note of the last holder if that one was killed. On a warehouse that is not a folder Delta's own commits
    decide between two writers.
    """
    if "://" in settings.warehouse:
        yield ""
        return
    path = Path(settings.warehouse) / archive / LOCK_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as lock:
        _wait_for(lock.fileno(), path, settings.lock_wait, archive, say)
        left = _lines(path)[1]
        lock.truncate(0)
        lock.write(f"process {os.getpid()} ({Path(sys.argv[0]).name}) since {time.strftime('%H:%M:%S')}\n{note}")
        lock.flush()
        try:
            yield left
        finally:
            lock.truncate(0)


def _wait_for(handle: int, path: Path, seconds: float, archive: str, say: Callable[[str], None]) -> None:
    began = time.monotonic()
    reminded = None
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            waited = time.monotonic() - began
        holder = _lines(path)[0] or "another process"
        if waited >= seconds:
            raise LockError(
                f"{archive} is being written by {holder}; gave up after {waited:.0f} s. Try again when it is done, "
                "or set SKYARCHIVE_LOCK_WAIT to wait longer."
            )
        if reminded is None or waited - reminded >= _REMIND:
            say(f"{archive} is being written by {holder}; waiting (at most {seconds:.0f} s) ...")
            reminded = waited
        time.sleep(_LOOK_AGAIN)


def _lines(path: Path) -> tuple[str, str]:
    """Who holds the archive, and its note."""
    holder, _, note = path.read_text(encoding="utf-8").partition("\n")
    return holder, note

"""Keeping from the terminal what libraries print by themselves: Spark's lines, and panics within delta-rs."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from skyarchive.settings import Settings

_LAST_WORDS = 0.2
"""Seconds in which threads of a library say theirs after it has failed."""


@contextmanager
def without_panics(settings: Settings) -> Iterator[None]:
    """While open, delta-rs writes. Where it cannot, its threads panic on their way out, beside the error that it
    raises; the log takes what they print, where there is one."""
    log = settings.log_file if os.access(settings.log_file, os.W_OK) else Path(os.devnull)
    with stderr_into(log):
        try:
            yield
        except BaseException:
            time.sleep(_LAST_WORDS)
            raise


@contextmanager
def stderr_into(log: Path) -> Iterator[None]:
    """While open, this process's stderr is the log file: the JVM and its workers inherit it for life. What Python
    says meanwhile, above all that it is still at it, goes where it went."""
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stderr.flush()
    kept = os.dup(2)
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    before, follows = sys.stderr, _writes_to(sys.stderr, 2)
    try:
        os.dup2(target, 2)
        if follows:
            sys.stderr = os.fdopen(os.dup(kept), "w", buffering=1, encoding=before.encoding, errors=before.errors)
        yield
    finally:
        if follows:
            sys.stderr.close()
            sys.stderr = before
        os.dup2(kept, 2)
        os.close(kept)
        os.close(target)


def _writes_to(stream: TextIO, handle: int) -> bool:
    try:
        return stream.fileno() == handle
    except (OSError, ValueError):  # it is kept in memory
        return False

"""Commands that begin at once: forked from a process that has imported what they need, which takes ten seconds."""

import multiprocessing
import os
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import TextIO

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([
    "pyspark.sql.connect.session", "skyarchive.cli", "skyarchive.quality.gx", "skyarchive.steps.ingest.body",
    "skyarchive.steps.derive.body", "skyarchive.steps.skyline.body", "skyarchive.steps.frequent.body",
    "skyarchive.steps.external.body", "skyarchive.steps.windows.body",
])  # fmt: skip


class Forked:
    """`skyarchive ...`, the leader of a group of its own."""

    def __init__(self, *arguments: str, environment: Mapping[str, str]) -> None:
        ours, theirs = _FORKS.Pipe(duplex=False)
        self._process = _FORKS.Process(target=_command, args=(arguments, dict(environment), theirs))
        self._process.start()
        theirs.close()
        self.stderr: TextIO = os.fdopen(os.dup(ours.fileno()), encoding="utf-8", errors="replace")
        ours.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process.is_alive()

    def wait(self, seconds: float) -> int:
        """How it ended."""
        self._process.join(seconds)
        assert self._process.exitcode is not None, f"it has not ended after {seconds:.0f} s"
        return self._process.exitcode


def _command(arguments: tuple[str, ...], environment: dict[str, str], stderr: Connection) -> None:
    from skyarchive.cli import main

    os.setsid()
    os.dup2(stderr.fileno(), 2)
    stderr.close()
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["skyarchive", *arguments]
    main()

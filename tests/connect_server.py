"""A Spark Connect server of a test's own, and what is alive in one."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deployment import free_port
from skyarchive.errors import SparkError
from skyarchive.orchestration.spark_server import new_token, start_server
from skyarchive.pipeline.connecting import assert_server_there
from skyarchive.settings import Settings

_UP = 120.0
"""Seconds until it must answer."""
ALIVE = {
    "cached": "org.apache.spark.sql.execution.CachedData",
    "sessions": "org.apache.spark.sql.classic.SparkSession",
    "executions": "org.apache.spark.sql.execution.ui.SQLExecutionUIData",
}
MEGABYTE = 1_000_000


def alive(pid: int) -> dict[str, int]:
    """Megabytes after a full collection, and how many there are of what used to stay."""
    subprocess.run(["jcmd", str(pid), "GC.run"], check=True, capture_output=True)
    time.sleep(2)  # Spark removes what nobody holds after a collection has told it so
    histogram = subprocess.run(
        ["jcmd", str(pid), "GC.class_histogram"], check=True, capture_output=True, text=True
    ).stdout
    total = re.search(r"^Total +\d+ +(\d+)", histogram, re.MULTILINE)
    assert total is not None
    counted = {
        name: re.search(rf"^ *\d+: +(\d+) +\d+ +{kind}$", histogram, re.MULTILINE) for name, kind in ALIVE.items()
    }
    return {"MB": int(total[1]) // MEGABYTE} | {name: int(found[1]) if found else 0 for name, found in counted.items()}


class ConnectServer:
    """As the private Airflow has one. It can be killed and started again."""

    def __init__(self, folder: Path, memory: str) -> None:
        self._settings = Settings(warehouse=str(folder / "warehouse"), master="local[2]", driver_memory=memory)
        self._log = folder / "server.log"
        self._port, self._token = free_port(), new_token()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"sc://localhost:{self._port}/;token={self._token}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        self._process = start_server(self._settings, self._port, self._token, self._log)
        deadline = time.monotonic() + _UP
        while True:
            try:
                assert_server_there(self.address)
                return
            except SparkError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(self._log.read_text()[-2000:]) from None

    def kill(self) -> None:
        """At once, with its workers."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()

    def restart_if_ended(self) -> None:
        if self._process is None or self._process.poll() is not None:
            self.start()

    @contextmanager
    def running(self) -> Iterator["ConnectServer"]:
        try:
            self.start()
            yield self
        finally:
            self.kill()

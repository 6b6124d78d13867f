"""A Spark Connect server that ends while frames are judged: told once, and no period is refused for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from connect_server import ConnectServer

LIMIT = 60
"""Seconds. PySpark waits half a minute for a server to come back; each expectation would do so again."""
JUDGED = """
import os, signal, sys, time
from skyarchive.errors import SparkError
from skyarchive.pipeline.connecting import connected_session, losses_told
from skyarchive.quality.checking import check, load_suite

address, pid = sys.argv[1], int(sys.argv[2])
session = connected_session(address, "judging", {})
suite = load_suite("updates", attributes=["x", "y"])
frame = session.sql("select '2014' as period, 1L as snapshot, 'a' as object, 1D as x, 2D as y, false as gone")
assert all(result.success for result in check(frame, suite, ["2014"]))
os.killpg(pid, signal.SIGKILL)
began = time.monotonic()
try:
    with losses_told(address):
        check(frame, suite, ["2014", "2015"])
except SparkError as error:
    print(error, int(time.monotonic() - began), sep="|")
"""


@pytest.mark.thorough
def test_a_server_that_ends_while_frames_are_judged(tmp_path: Path) -> None:
    with ConnectServer(tmp_path, "1g").running() as server:
        told = subprocess.run(
            [sys.executable, "-c", JUDGED, server.address, str(server.pid)],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
    sentence, _, seconds = told.stdout.strip().rpartition("|")
    assert "has ended, or lost our session, while it worked for us" in sentence, told.stderr[-3000:]
    assert int(seconds) < LIMIT

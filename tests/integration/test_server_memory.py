"""A Spark Connect server that serves run after run, some of them killed, keeps nothing of them."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import mean

import pytest

from conftest import Home, make_home
from connect_server import ConnectServer, alive

pytestmark = [
    pytest.mark.thorough,  # a quick look at the private Airflow's server is among the tests of the scheduler
    pytest.mark.skipif(shutil.which("jcmd") is None, reason="jcmd, of the JDK, tells what is alive in a JVM"),
]
PERIODS = ["00000", "00001", "00002"]
WORK = ["ingest,derive", "skyline,frequent", "external"]
RUNS = """
import sys
from skyarchive.definition.catalog import Catalog
from skyarchive.progress import Progress
from skyarchive.pipeline.running import raise_refusals, run_steps
from skyarchive.definition.selection import Selection
from skyarchive.settings import load_settings
from skyarchive.pipeline.workshop import Workshop

settings = load_settings()
for asked in sys.argv[1:]:
    period, steps = asked.split(":")
    workshop = Workshop(settings, Catalog(settings).get("synthetic"), Progress(quiet=True))
    raise_refusals(run_steps(workshop, Selection(period), steps.split(",")))
    workshop.close()
"""


class Clients:
    """Those of one archive."""

    def __init__(self, home: Home, server: ConnectServer) -> None:
        home.generate("synthetic", objects=20, snapshots=3000, moves=0.01, births=0.001, deaths=0.001, block=1000)
        self._settings = replace(home.settings, master=server.address)
        self._asked = 0

    def _environment(self) -> dict[str, str]:
        names = ("warehouse", "raw", "master")
        return os.environ | {f"SKYARCHIVE_{name.upper()}": str(getattr(self._settings, name)) for name in names}

    def run(self, count: int) -> None:
        """That many runs, each with a session of its own."""
        asked = []
        for _ in range(count):
            asked.append(f"{PERIODS[self._asked // len(WORK) % len(PERIODS)]}:{WORK[self._asked % len(WORK)]}")
            self._asked += 1
        done = subprocess.run([sys.executable, "-c", RUNS, *asked], env=self._environment(), capture_output=True)
        assert done.returncode == 0, done.stderr.decode()[-3000:]

    def killed_run(self, phase: int, delay: float) -> None:
        program = "from skyarchive.cli import main; main()"
        command = [sys.executable, "-c", program, "run", "synthetic", "--periods", PERIODS[0]]
        run = subprocess.Popen(command, env=self._environment(), stderr=subprocess.PIPE, text=True)
        assert run.stderr is not None
        for _ in range(phase):
            run.stderr.readline()
        time.sleep(delay)
        run.send_signal(signal.SIGKILL)
        run.stderr.close()
        run.wait()


def test_runs_and_a_killed_client_leave_nothing_on_the_server(tmp_path: Path) -> None:
    with ConnectServer(tmp_path / "server", memory="1g").running() as server:
        clients = Clients(make_home(tmp_path), server)
        clients.run(3)
        clients.killed_run(5, 0.3)
        clients.run(1)
        left = alive(server.pid)
    # Its own session, its copy for checkpoints, and what a collection has not reached yet.
    assert left["cached"] == 0 and left["sessions"] <= 6 and left["executions"] <= 25, left


def test_memory_stays_level_over_a_hundred_runs_and_twenty_killed_clients(tmp_path: Path) -> None:
    seed = random.randrange(1_000_000)
    print(f"seed {seed}")
    chance = random.Random(seed)
    with ConnectServer(tmp_path / "server", memory="1g").running() as server:
        clients = Clients(make_home(tmp_path), server)
        levels = []
        began = time.monotonic()
        for batch in range(20):
            clients.run(5)
            clients.killed_run(chance.randint(2, 14), chance.uniform(0, 1))
            if batch % 2 == 1:
                levels.append(alive(server.pid))
                took = f"{time.monotonic() - began:.0f} s, {5 * (batch + 1)} runs and {batch + 1} killed clients"
                print(f"after {took}: {levels[-1]}", flush=True)
    # Single figures differ by how many killed clients' sessions have not been given up yet.
    early, late = (mean(level["MB"] for level in half) for half in (levels[:5], levels[5:]))
    assert late < 1.15 * early, levels
    assert all(level["cached"] == 0 and level["sessions"] <= 12 and level["executions"] <= 25 for level in levels)

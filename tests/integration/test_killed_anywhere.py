"""Kills at random moments, of whatever can be killed, with readers beside: what was published stays readable, and the
same command again ends where a run that nobody disturbed ends."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
from pyspark.sql import SparkSession

from conftest import SHORT_LIVED, Home, make_home
from connect_server import ConnectServer
from skyarchive.errors import LockError
from skyarchive.lake import Lake
from skyarchive.running import raise_refusals, run_steps
from skyarchive.selection import Selection
from skyarchive.status import period_statuses

pytestmark = pytest.mark.slow
STEPS = ("ingest", "derive", "skyline", "frequent", "external")
PERIOD, BEFORE = "00002", "00000..00001"
TABLES = ("raw", "quarantine", "snapshots", "updates", "objects", "carry", "skyline", "frequent", "external")
LOCAL, CONNECT = ("group", "driver", "jvm", "worker"), ("driver", "jvm", "worker")
KILLS = 50
_MOST_DELAY = 2.0
"""Seconds after a phase has begun; a step of this size takes two or three warm ones."""
_PATIENCE = 300.0


def contents(lake: Lake) -> dict[str, list[tuple[Any, ...]]]:
    """Every published row."""
    published = lake.published_versions("synthetic")
    return {
        table: list(lake.query(f"select * from synthetic.{table} order by all").rows)
        for table in TABLES
        if table in published
    }


@dataclass
class Stages:
    """The archive before each step of its third period, and after the last."""

    homes: list[Home]
    after: list[dict[str, list[tuple[Any, ...]]]]


def staged(home: Home, steps: Sequence[str], folder: Callable[[str], Path]) -> Stages:
    """Runs the steps with nobody disturbing, and keeps what is there before and after each."""
    workshop = home.workshop("synthetic")
    homes, after = [], []
    for step in steps:
        kept = make_home(folder(f"before-{step}"))
        for part in ("raw", "warehouse"):
            shutil.copytree(home.folder / part, kept.folder / part)
        homes.append(kept)
        raise_refusals(run_steps(workshop, Selection(PERIOD), [step]))
        after.append(contents(workshop.lake))
    return Stages(homes, after)


@pytest.fixture(scope="module")
def stages(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Stages:
    home = make_home(tmp_path_factory.mktemp("stage"))
    home.generate("synthetic", objects=30, snapshots=3000, moves=0.01, births=0.001, deaths=0.001, block=1000)
    workshop = home.workshop("synthetic")
    raise_refusals(run_steps(workshop, Selection(BEFORE), workshop.definition.steps))
    return staged(home, STEPS, tmp_path_factory.mktemp)


@dataclass
class Readers:
    """Somebody who asks all the time. What was published before must always be there, whole."""

    home: Home
    before: dict[str, list[tuple[Any, ...]]]
    asked: int = 0
    faults: list[str] = field(default_factory=list)

    @contextmanager
    def asking(self) -> Iterator[None]:
        done = threading.Event()
        threads = [threading.Thread(target=self._repeat, args=(ask, done)) for ask in (self._rows, self._status)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            done.set()
            for thread in threads:
                thread.join()

    def _repeat(self, ask: Callable[[], None], done: threading.Event) -> None:
        while not done.wait(0.1):
            try:
                ask()
                self.asked += 1
            except Exception as error:
                self.faults.append(f"{type(error).__name__}: {error}")

    def _rows(self) -> None:
        lake = Lake(self.home.settings)
        for table, rows in self.before.items():
            found = list(lake.query(f"select * from synthetic.{table} where period < '{PERIOD}' order by all").rows)
            if found != rows:
                self.faults.append(f"{table} has {len(found)} rows of the periods before, not {len(rows)}")

    def _status(self) -> None:
        found = {it.period: it.state for it in period_statuses(self.home.settings, self._definition)}
        if any(found.get(period) != "current" for period in ("00000", "00001")):
            self.faults.append(f"status says {found}")

    @property
    def _definition(self) -> Any:
        return self.home.workshop("synthetic").definition


def _older(rows: dict[str, list[tuple[Any, ...]]], lake: Lake) -> dict[str, list[tuple[Any, ...]]]:
    return {
        table: list(lake.query(f"select * from synthetic.{table} where period < '{PERIOD}' order by all").rows)
        for table in rows
    }


@dataclass
class Trial:
    """One step that is killed, and run again."""

    home: Home
    step: str
    kind: str
    phase: int
    delay: float
    server: ConnectServer | None = None

    def environment(self) -> dict[str, str]:
        names = ("warehouse", "raw", "master", "driver_memory")
        settings = {f"SKYARCHIVE_{name.upper()}": str(getattr(self.home.settings, name)) for name in names}
        return os.environ | settings | SHORT_LIVED

    def start(self) -> subprocess.Popen[str]:
        program = [sys.executable, "-c", "from skyarchive.cli import main; main()"]
        return subprocess.Popen(
            [*program, "run", "synthetic", "--periods", PERIOD, "--steps", self.step],
            env=self.environment(), stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip

    def killed(self) -> tuple[str, int]:
        """Starts the step, kills at the chosen moment; what was said and how it ended."""
        run = self.start()
        said: list[str] = []
        try:
            assert run.stderr is not None
            for line in run.stderr:
                said.append(line)
                if len(said) > self.phase:
                    break
            time.sleep(self.delay)
            self._kill(run)
            said += run.stderr.readlines()
            return "".join(said), run.wait(_PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
            run.wait()

    def _kill(self, run: subprocess.Popen[str]) -> None:
        if self.kind == "group":
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
        elif self.kind == "driver":
            run.kill()
        elif self.kind == "jvm" and self.server is not None:
            self.server.kill()
        else:
            victims = self._found(run)
            if victims:
                with suppress(psutil.NoSuchProcess):
                    random.choice(victims).kill()

    def _found(self, run: subprocess.Popen[str]) -> list[psutil.Process]:
        """Processes of the kind that Spark has now."""
        sign = "java" if self.kind == "jvm" else "skyarchive.worker_daemon"
        root = run.pid if self.server is None else self.server.pid
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            with suppress(psutil.Error):
                family = psutil.Process(root).children(recursive=True)
                found = [one for one in family if any(sign in word for word in one.cmdline())]
                if found:
                    return found
            time.sleep(0.05)
        return []

    def again(self) -> None:
        """The same command, by a process of its own where Spark is a server."""
        if self.server is None:
            self._again_here()
            return
        self.server.restart_if_ended()
        for _ in range(3):
            run = self.start()
            assert run.stderr is not None
            said = run.stderr.read()
            if run.wait(_PATIENCE) == 0:
                return
            assert "by another process" in said, said
        pytest.fail("it did not end well in three attempts")

    def _again_here(self) -> None:
        for _ in range(3):
            with suppress(LockError):
                workshop = self.home.workshop("synthetic")
                raise_refusals(run_steps(workshop, Selection(PERIOD), [self.step]))
                return
        pytest.fail("it did not end well in three attempts")


def tried(stages: Stages, chance: random.Random, folder: Path, server: ConnectServer | None) -> str:
    """One trial; a line that says what happened."""
    place = chance.randrange(len(stages.homes))
    home = make_home(folder)
    shutil.copytree(stages.homes[place].folder, folder, dirs_exist_ok=True)
    master = "local[2]" if server is None else server.address
    home.settings = replace(home.settings, master=master, driver_memory="1g", lock_wait=60.0)
    kind = chance.choice(LOCAL if server is None else CONNECT)
    trial = Trial(home, STEPS[place], kind, chance.randrange(5), chance.uniform(0, _MOST_DELAY), server)
    lake = Lake(home.settings)
    readers = Readers(home, _older(contents(lake), lake))
    with readers.asking():
        said, code = trial.killed()
        trial.again() if server is not None else replace_master(trial).again()
    what = f"{'Connect' if server else 'local'}, {kind} in {trial.step}, {trial.delay:.2f} s after line {trial.phase}"
    assert readers.asked and not readers.faults, (what, readers.faults[:3])
    assert contents(lake) == stages.after[place], (what, said)
    assert "hush" not in said and (code != 1 or "Traceback" not in said), (what, said)
    shutil.rmtree(folder)
    return f"{what}: ended with {code}; {readers.asked} questions answered"


def replace_master(trial: Trial) -> Trial:
    """What is run again here has this process's Spark."""
    return replace(trial, home=replace(trial.home, settings=replace(trial.home.settings, master="local[2]")))


def test_a_kill_at_a_random_moment(here: Home, tmp_path: Path) -> None:
    seed = random.randrange(1_000_000)
    print(f"seed {seed}")
    only_ingest = staged(here, STEPS[:1], lambda name: tmp_path / name)
    print(tried(only_ingest, random.Random(seed), tmp_path / "one", None))


@pytest.mark.thorough
def test_kills_at_fifty_random_moments(stages: Stages, tmp_path: Path) -> None:
    seed = int(os.environ.get("KILLS_SEED", random.randrange(1_000_000)))
    print(f"seed {seed}: set KILLS_SEED to see the same again")
    chance = random.Random(seed)
    with ConnectServer(tmp_path / "server", memory="1g").running() as server:
        for number in range(KILLS):
            line = tried(stages, chance, tmp_path / str(number), server if number % 2 else None)
            print(f"{number}: {line}", flush=True)

"""Kills at random moments, of whatever can be killed, with readers beside: what was published stays readable, and the
same command again ends where a run that nobody disturbed ends."""

import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from conftest import SHORT_LIVED, Home, make_home
from connect_server import ConnectServer
from forked import Forked
from skyarchive.definition.selection import Selection
from skyarchive.errors import LockError
from skyarchive.pipeline.running import raise_refusals, run_steps
from skyarchive.pipeline.status import period_statuses
from skyarchive.store.lake import Lake

pytestmark = pytest.mark.slow
STEPS = ("ingest", "derive", "skyline", "frequent", "external", "windows")
PERIOD, EARLIER = "00002", ("00000", "00001")
TABLES = (
    "raw", "quarantine", "snapshots", "updates", "objects", "carry", "skyline", "frequent", "external", "windows",
)  # fmt: skip
LOCAL, CONNECT = ("group", "driver", "jvm", "worker"), ("driver", "jvm", "worker")
KILLS = 50
_LINES, _MOST_DELAY = 4, 2.0
"""A step says so many lines while it works, the first before Spark is there; seconds after one of them."""
_PATIENCE = 300.0
_ASK_AGAIN = 0.4


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
    """Of a correction: the third period was published by every step, and then its raw file was changed."""
    home = make_home(tmp_path_factory.mktemp("stage"))
    files = home.generate("synthetic", objects=30, snapshots=3000, moves=0.01, births=0.001, deaths=0.001, block=1000)
    workshop = home.workshop("synthetic")
    raise_refusals(run_steps(workshop, Selection(), workshop.steps))
    rows = parquet.read_table(files[-1])
    parquet.write_table(rows.slice(0, rows.num_rows - rows.num_rows // 4), files[-1])
    return staged(home, STEPS, tmp_path_factory.mktemp)


@dataclass
class Readers:
    """Somebody who asks all the time: every table is what it was, or what the step makes of it, and never refused."""

    home: Home
    before: dict[str, list[tuple[Any, ...]]]
    after: dict[str, list[tuple[Any, ...]]]
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
        while not done.wait(_ASK_AGAIN):
            try:
                ask()
                self.asked += 1
            except Exception as error:
                self.faults.append(f"{type(error).__name__}: {error}")

    def _rows(self) -> None:
        lake = Lake(self.home.settings)
        for table, rows in self.before.items():
            found = list(lake.query(f"select * from synthetic.{table} order by all").rows)
            if found not in (rows, self.after[table]):
                self.faults.append(f"{table} has {len(found)} rows, not {len(rows)} or {len(self.after[table])}")

    def _status(self) -> None:
        definition = self.home.workshop("synthetic").definition
        found = {it.period: it.state for it in period_statuses(self.home.settings, definition)}
        if any(found.get(period) != "current" for period in EARLIER):
            self.faults.append(f"status says {found}")


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

    def start(self) -> Forked:
        return Forked("run", "synthetic", "--periods", PERIOD, "--steps", self.step, environment=self.environment())

    def killed(self) -> tuple[str, int, bool]:
        """Starts the step, kills at the chosen moment; what was said, how it ended, and whether there was anything to
        kill while it worked."""
        run = self.start()
        said: list[str] = []
        try:
            for line in run.stderr:
                said.append(line)
                if len(said) > self.phase:
                    break
            time.sleep(self.delay)
            struck = run.runs and self._kill(run)
            said += run.stderr.readlines()
            return "".join(said), run.wait(_PATIENCE), struck
        finally:
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)

    def _kill(self, run: Forked) -> bool:
        """Whether it was there to be killed."""
        with suppress(ProcessLookupError, psutil.NoSuchProcess):
            if self.kind == "group":
                os.killpg(run.pid, signal.SIGKILL)
            elif self.kind == "driver":
                os.kill(run.pid, signal.SIGKILL)
            elif self.kind == "jvm" and self.server is not None:
                self.server.kill()
            else:
                self._found(run)[0].kill()
            return True
        return False

    def _found(self, run: Forked) -> list[psutil.Process]:
        """Processes of the kind that Spark has now, or soon."""
        sign = "java" if self.kind == "jvm" else "skyarchive.worker_daemon"
        root = run.pid if self.server is None else self.server.pid
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            family = psutil.Process(root).children(recursive=True)
            with suppress(psutil.Error):
                found = [one for one in family if any(sign in word for word in one.cmdline())]
                if found:
                    return found
            time.sleep(0.05)
        raise psutil.NoSuchProcess(root)

    def again(self) -> None:
        """The same command, by a process of its own where Spark is a server."""
        if self.server is None:
            self._again_here()
            return
        self.server.restart_if_ended()
        for _ in range(3):
            run = self.start()
            said = run.stderr.read()
            if run.wait(_PATIENCE) == 0:
                return
            assert "by another process" in said, said
        pytest.fail("it did not end well in three attempts")

    def _again_here(self) -> None:
        """With this process's Spark."""
        here = replace(self.home, settings=replace(self.home.settings, master="local[2]"))
        for _ in range(3):
            with suppress(LockError):
                raise_refusals(run_steps(here.workshop("synthetic"), Selection(PERIOD), [self.step]))
                return
        pytest.fail("it did not end well in three attempts")


@dataclass
class Tried:
    """How a trial went."""

    what: str
    struck: bool
    fault: str = ""


def tried(stages: Stages, chance: random.Random, folder: Path, server: ConnectServer | None) -> Tried:
    place = chance.randrange(len(stages.homes))
    home = make_home(folder)
    shutil.copytree(stages.homes[place].folder, folder, dirs_exist_ok=True)
    master = "local[2]" if server is None else server.address
    home.settings = replace(home.settings, master=master, driver_memory="1g", lock_wait=60.0)
    kind = chance.choice(LOCAL if server is None else CONNECT)
    earliest = 1 if (kind, server) == ("worker", None) else 0  # before its line our own Spark has none
    trial = Trial(home, STEPS[place], kind, chance.randrange(earliest, _LINES), chance.uniform(0, _MOST_DELAY), server)
    what = f"{'Connect' if server else 'local'}, {kind} in {trial.step}, {trial.delay:.2f} s after line {trial.phase}"
    lake = Lake(home.settings)
    readers = Readers(home, contents(lake), stages.after[place])
    began = time.monotonic()
    with readers.asking():
        said, code, struck = trial.killed()
        trial.again()
    took = f"{time.monotonic() - began:.0f} s, {readers.asked} questions answered"
    faults = readers.faults[:3] if readers.asked else ["nobody could ask"]
    if contents(lake) != stages.after[place]:
        faults.append("the tables are not those of a run that nobody disturbed")
    if "token=" in said or (code == 1 and "Traceback" in said):
        faults.append(f"it said:\n{said}")
    shutil.rmtree(folder)
    return Tried(f"{what}: {'' if struck else 'not struck, '}ended with {code}; {took}", struck, "; ".join(faults))


def test_a_kill_at_a_random_moment(here: Home, tmp_path: Path) -> None:
    seed = random.randrange(1_000_000)
    print(f"seed {seed}")
    only_ingest = staged(here, STEPS[:1], lambda name: tmp_path / name)
    trial = tried(only_ingest, random.Random(seed), tmp_path / "one", None)
    assert not trial.fault, trial


@pytest.mark.thorough
def test_kills_at_fifty_random_moments(stages: Stages, tmp_path: Path) -> None:
    seed = int(os.environ.get("KILLS_SEED", random.randrange(1_000_000)))
    print(f"seed {seed}: set KILLS_SEED to see the same again")
    chance = random.Random(seed)
    trials: list[Tried] = []
    with ConnectServer(tmp_path / "server", memory="1g").running() as server:
        while sum(trial.struck for trial in trials) < KILLS:
            number = len(trials)
            trials.append(tried(stages, chance, tmp_path / str(number), server if number % 2 else None))
            print(f"{number}: {trials[-1].what}{' FAULT ' if trials[-1].fault else ''}{trials[-1].fault}", flush=True)
            assert number < 2 * KILLS, "it is too hard to strike"
    assert not [trial for trial in trials if trial.fault]

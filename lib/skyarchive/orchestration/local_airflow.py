"""A private Airflow: SQLite, LocalExecutor, a folder and free ports of its own, reachable from this machine only.

For the demo, for trying things, and for the tests. Each of its processes leads a group of its own, so that ending
the group ends its children, too.
"""

import json
import os
import secrets
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path

from skyarchive.definition.catalog import Catalog
from skyarchive.errors import SettingError, SkyarchiveError
from skyarchive.orchestration.airflow_cli import QUIET, airflow
from skyarchive.orchestration.naming import SPARK_CONNECTION
from skyarchive.orchestration.passwords import USER, write_password
from skyarchive.orchestration.pools import make_pools
from skyarchive.orchestration.processes import free_port, is_open, processes_with, signal_group, undisturbed
from skyarchive.orchestration.spark_server import new_token, start_server
from skyarchive.settings import Settings

_DAGS = Path(__file__).resolve().parents[3] / "dags"
_SPARK = "spark"
_AIRFLOW = {
    "api-server": ["api-server"],
    # Its log server listens on all interfaces, at one port for every Airflow of a machine, and nothing can change
    # that. The API server reads the logs' files, as it works on the same folder.
    "scheduler": ["scheduler", "--skip-serve-logs"],
    "dag-processor": ["dag-processor"],
}
"""Every process of it, and the command that it runs."""
_NOBODY = "9"
"""A port where no log server listens: the API server asks there for more lines of a task that runs."""
_START = 120.0
"""Seconds until everything must be up."""
_END = 5.0
"""Seconds for everything to end by itself; a scheduler would wait for its tasks."""
MARK = "SKYARCHIVE_PRIVATE_AIRFLOW"
"""In the environment of its processes only, to find them and their children by."""
_TASKS_AT_ONCE = 3
_WATCH = 15.0


@dataclass
class LocalAirflow:
    """One private Airflow and, beside it, the Spark Connect server that its tasks use."""

    folder: Path
    """AIRFLOW_HOME. What is there from before is used again."""
    settings: Settings
    """Of the archives it works on."""
    port: int = 0
    extra: dict[str, str] = field(default_factory=dict)
    """More of the environment of its processes."""

    def __post_init__(self) -> None:
        if not _DAGS.is_dir():
            raise SettingError(f"{_DAGS} is not there: a private Airflow runs from a checkout of the project.")
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._started: dict[str, float] = {}
        self.port = self.port or free_port()
        self.spark_port = free_port()
        self._spark_token = new_token()
        self.mark = secrets.token_hex(8)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def spark_url(self) -> str:
        """The Spark that its tasks use, as SKYARCHIVE_MASTER; whoever reads it may use it."""
        return f"sc://localhost:{self.spark_port}/;token={self._spark_token}"

    @property
    def password_file(self) -> Path:
        return self.folder / "passwords.json"

    @property
    def password(self) -> str:
        return str(json.loads(self.password_file.read_text(encoding="utf-8"))[USER])

    @property
    def environment(self) -> dict[str, str]:
        """Of every process of it, and of whoever wants to use its commands."""
        return {**QUIET, **os.environ, **self._own_environment}

    @property
    def _own_environment(self) -> dict[str, str]:
        """What makes it this Airflow, and works on these archives, wherever it is told."""
        archives = {f"SKYARCHIVE_{f.name.upper()}": str(getattr(self.settings, f.name)) for f in fields(Settings)}
        return {
            **archives,
            "AIRFLOW_HOME": str(self.folder.absolute()),
            "AIRFLOW__CORE__DAGS_FOLDER": str(_DAGS),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
            "AIRFLOW__CORE__PARALLELISM": str(_TASKS_AT_ONCE),
            "AIRFLOW__SCHEDULER__MP_START_METHOD": "forkserver",
            "AIRFLOW__SCHEDULER__MP_FORKSERVER_PRELOAD": "skyarchive.orchestration.preloaded",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(self.password_file.absolute()),
            "AIRFLOW__CORE__FERNET_KEY": "",
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{self.url}/execution/",
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(self.port),
            "AIRFLOW__API__BASE_URL": self.url,
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__API__SECRET_KEY": self._secret("api"),
            "AIRFLOW__API_AUTH__JWT_SECRET": self._secret("jwt"),
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{self.folder.absolute() / 'airflow.db'}",
            "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "10",
            "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "30",
            "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES": "1",
            "AIRFLOW__SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "2",
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "180",
            "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "20",
            "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": _NOBODY,
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
            f"AIRFLOW_CONN_{SPARK_CONNECTION.upper()}": json.dumps({
                "conn_type": "spark_connect",
                "host": "localhost",
                "port": self.spark_port,
                "password": self._spark_token,
            }),
            **self.extra,
        }  # fmt: skip

    def start(self) -> None:
        """Makes what is not there yet, starts everything, and waits until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        if not self.password_file.exists():
            write_password(self.password_file, secrets.token_urlsafe(12))
        self.start_process(_SPARK)  # it takes longest, and needs none of the rest
        make_pools(self.settings, self.environment, after=[("db", "migrate")])
        for name in _AIRFLOW:
            self.start_process(name)
        self._wait_until_up()

    def start_process(self, name: str) -> None:
        """Spark's server or one of `_AIRFLOW`, whether it is the first time or again."""
        log = self._log_of(name)
        self._started[name] = time.monotonic()
        if name == _SPARK:
            self._processes[name] = start_server(self.settings, self.spark_port, self._spark_token, log)
            return
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as lines:
            self._processes[name] = subprocess.Popen(
                [sys.executable, "-m", "airflow", *_AIRFLOW[name]],
                stdin=subprocess.DEVNULL, stdout=lines, stderr=lines,
                env=self.environment | {MARK: self.mark}, cwd=self.folder, start_new_session=True,
            )  # fmt: skip

    def stop(self) -> None:
        """Ends every process that was started, and all that came of them: a task leads a group of its own, and
        would go on for as long as it waits for Spark."""
        with undisturbed():
            for process in self._processes.values():
                signal_group(process, signal.SIGTERM)
            deadline = time.monotonic() + _END
            while self._processes:
                _, process = self._processes.popitem()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(max(deadline - time.monotonic(), 0.1))
                signal_group(process, signal.SIGKILL)
                process.wait()
            for left in processes_with(MARK, self.mark):
                with suppress(ProcessLookupError):
                    os.kill(left, signal.SIGKILL)

    def kill_process(self, name: str) -> None:
        """As the machine would in need: at once, and all of the process's children."""
        process = self._processes.pop(name)
        signal_group(process, signal.SIGKILL)
        process.wait()

    def command(self, *arguments: str) -> str:
        """`airflow ...` on this Airflow; what it printed."""
        return airflow(*arguments, environment=self.environment)

    def unpause(self, dag_ids: Sequence[str]) -> None:
        one_of = f"^({'|'.join(dag_ids)})$"  # in one command: each takes seconds to start
        self.command("dags", "unpause", "--yes", "--treat-dag-id-as-regex", one_of)

    @contextmanager
    def running(self) -> Iterator["LocalAirflow"]:
        """While open, it runs; afterwards nothing of it does, however the block ends."""
        try:
            self.start()
            yield self
        finally:
            self.stop()

    def watch(self, say: Callable[[str], None]) -> None:
        """Returns never: gives new archives their pools, and starts again what has ended, such as a JVM that ran out
        of memory. What ends right after its start is an error."""
        known = set(Catalog(self.settings).names())
        while True:
            time.sleep(_WATCH)
            for name in self._ended():
                if time.monotonic() - self._started[name] < _START:
                    self._raise_ended()
                say(f"{name} has ended (see {self._log_of(name)}); starting it again.")
                self.start_process(name)
            now = set(Catalog(self.settings).names())
            if now - known:
                make_pools(self.settings, self.environment)
            known = now

    def write_environment(self) -> Path:
        """A file for any shell to read, whatever is set in it or in this one."""
        path = self.folder / "environment.sh"
        lines = [f"export {key}={shlex.quote(value)}\n" for key, value in {**QUIET, **self._own_environment}.items()]
        path.touch(0o600)
        path.write_text("".join(lines), "utf-8")
        return path

    def _raise_ended(self) -> None:
        for name in self._ended():
            raise SkyarchiveError(f"{name} has ended; see {self._log_of(name)}")

    def _ended(self) -> list[str]:
        return [name for name, process in self._processes.items() if process.poll() is not None]

    def _log_of(self, name: str) -> Path:
        return self.folder / "logs" / f"{name}.log"

    def _wait_until_up(self) -> None:
        deadline = time.monotonic() + _START
        while time.monotonic() < deadline:
            self._raise_ended()
            if self._answers() and is_open(self.spark_port):
                return
            time.sleep(0.5)
        raise SkyarchiveError(f"Airflow was not up after {_START:.0f} s; see {self.folder / 'logs'}")

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/api/v2/monitor/health", timeout=5) as answer:
                health = json.load(answer)
        except (urllib.error.URLError, OSError, ValueError):
            return False
        return all(health[part]["status"] == "healthy" for part in ("scheduler", "dag_processor"))

    def _secret(self, name: str) -> str:
        """One that outlives a restart."""
        file = self.folder / f".{name}-secret"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch(0o600)
            file.write_text(secrets.token_urlsafe(32), encoding="utf-8")
        return file.read_text(encoding="utf-8")

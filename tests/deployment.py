"""The processes of docker/compose.yaml by hand, on the loopback: PostgreSQL, Airflow on it, a Spark master with two
workers and the Connect server. One period goes through all of them. Says why and ends well where they cannot be had.
"""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pyspark

from skyarchive.generators import GenerateOptions, generate
from skyarchive.orchestration.local_airflow import LocalAirflow
from skyarchive.settings import load_settings

PERIOD, SIZE = "2012", 2.0
"""A season in which players have the thirty games that count."""
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
DEPLOY = "org.apache.spark.deploy"


def main() -> None:
    binaries = postgres_binaries()
    if binaries is None:
        print("skipped: PostgreSQL is not installed here and cannot be (Debian's package `postgresql`, as root)")
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="skyarchive-deployment-")))
        folder.chmod(0o755)
        database = stack.enter_context(postgres(binaries, folder))
        say("PostgreSQL is up")
        master = stack.enter_context(spark_cluster(folder))
        say(f"a Spark master with two workers is up at {master}")
        settings = replace(
            load_settings(), warehouse=str(folder / "warehouse"), raw=str(folder / "raw"), archives="", master=master,
            driver_memory="1g",
        )  # fmt: skip
        generate("nba", settings.raw_folder / "nba", GenerateOptions(periods=[PERIOD], seed=7, size=SIZE))
        airflow = LocalAirflow(folder / "airflow", settings, extra={"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": database})
        stack.enter_context(airflow.running())
        say(f"Airflow is up at {airflow.url}")
        airflow.unpause(["nba_ingest", "nba_compute"])
        command = [sys.executable, "-c", "from skyarchive.cli import main; main()"]
        subprocess.run([*command, "backfill", "nba", "--periods", PERIOD], env=airflow.environment, check=True)
        subprocess.run([*command, "status", "nba"], env=airflow.environment, check=True)
        for table in ("skyline", "external"):  # a window of `frequent` is longer than one season
            counted = subprocess.run(
                [*command, "sql", f"select count(*) from nba.{table}", "--format", "csv"],
                env=airflow.environment, check=True, capture_output=True, text=True,
            ).stdout  # fmt: skip
            assert int(counted.split()[-1]) > 0, f"nothing was published in {table}"
    say("a backfill went through all of it")


def say(text: str) -> None:
    print(f"deployment: {text}", flush=True)


def postgres_binaries() -> Path | None:
    """Where PostgreSQL's programs are; installed if that can be."""
    if not _installed_postgres() and os.getuid() == 0 and shutil.which("apt-get"):
        install = ["apt-get", "-qq", "install", "-y", "--no-install-recommends", "postgresql"]
        subprocess.run(install, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, check=False)
    return _installed_postgres()


def _installed_postgres() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


@contextmanager
def postgres(binaries: Path, folder: Path) -> Iterator[str]:
    """A server of its own on a free port; the address of its database for Airflow."""
    data, port, password = folder / "postgres", free_port(), secrets.token_urlsafe(16)
    user = "postgres" if os.getuid() == 0 else None  # it refuses to run as root
    data.mkdir()
    word = folder / "password"
    word.touch(0o644)
    word.write_text(password)
    if user:
        shutil.chown(data, user)
    initdb = [binaries / "initdb", "-D", data, "-U", "airflow", f"--pwfile={word}", "--auth=scram-sha-256"]
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, user=user, cwd="/")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -k {data}"
    control = [binaries / "pg_ctl", "-D", data, "-w", "-o", options, "-l", data / "log"]
    subprocess.run([*control, "start"], check=True, stdout=subprocess.DEVNULL, user=user, cwd="/")
    try:
        yield f"postgresql+psycopg2://airflow:{password}@127.0.0.1:{port}/postgres"
    finally:
        stop = [*control, "-m", "immediate", "stop"]
        subprocess.run(stop, check=False, stdout=subprocess.DEVNULL, user=user, cwd="/")


@contextmanager
def spark_cluster(folder: Path) -> Iterator[str]:
    """A standalone master and two workers; the address of the master."""
    port = free_port()
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder / "work")}
    master = f"spark://127.0.0.1:{port}"
    size = ["--cores", "1", "--memory", "1g", "--host", "127.0.0.1", "--webui-port", "0"]
    commands = [
        [f"{DEPLOY}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"],
        [f"{DEPLOY}.worker.Worker", *size, master],
        [f"{DEPLOY}.worker.Worker", *size, master],
    ]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for number, command in enumerate(commands):
            with (folder / f"spark-{number}.log").open("wb") as log:
                process = subprocess.Popen([SPARK_CLASS, *command], stdout=log, stderr=log, env=environment)
            processes.append(process)
            if number == 0:
                wait_for(port)
        yield master
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.3)
    raise TimeoutError(f"nothing answers at port {port}")


if __name__ == "__main__":
    main()

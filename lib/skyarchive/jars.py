"""The Delta jars: fetched once by Spark's own Ivy, checked against pinned sums, used from one folder."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from skyarchive.errors import SkyarchiveError
from skyarchive.settings import Settings, load_settings

COORDINATE = "io.delta:delta-spark_4.2_2.13:4.4.0"
# Only io.delta and io.unitycatalog are needed of what Delta asks for: pyspark has newer copies of the rest.
CARRIED_BY_SPARK = "com.*:*,org.*:*,jakarta.*:*,javax.*:*"
SUMS_FILE = Path(__file__).with_name("delta_jars.sha256")
FETCH_TIMEOUT = 900.0
"""Seconds until a fetch is given up: thirteen megabytes take less on any line that works."""
_TAIL = 12
"""Lines of Spark's output worth showing when it fails."""


def delta_jars(settings: Settings) -> list[Path]:
    """The jars a Spark session needs for Delta, whole and checked; fetched first if they are not there."""
    folder = Path(settings.jars)
    if faulty_jars(folder):
        print(f"Fetching the Delta jars (13 MB, once) into {folder} ...", file=sys.stderr, flush=True)
        fetch_jars(folder)
    return [folder / name for name in pinned_sums()]


def pinned_sums() -> dict[str, str]:
    """File name to sha256 of every jar, as `sha256sum` writes them."""
    lines = SUMS_FILE.read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


def faulty_jars(folder: Path) -> list[str]:
    """Names of the jars that are missing in the folder or are not what was pinned."""
    return [name for name, digest in pinned_sums().items() if _sha256(folder / name) != digest]


def fetch_jars(folder: Path) -> None:
    """Let Spark resolve the jars by name, check them, and move them into the folder one by one, whole."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if faulty_jars(folder):  # else another process fetched them while this one waited
                _fetch_under(lock, folder)
    except OSError as error:
        raise SkyarchiveError(f"The Delta jars cannot be put into {folder}: {error}.") from error


def _fetch_under(lock: IO[str], folder: Path) -> None:
    ivy = folder / ".ivy"
    shutil.rmtree(ivy, ignore_errors=True)  # what a killed fetch left: nobody else is here under the lock
    ivy.mkdir()
    try:
        _resolve(ivy, lock)
        if faulty := faulty_jars(ivy / "jars"):
            raise SkyarchiveError(
                f"{faulty[0]} as fetched is missing or has not the sha256 pinned in {SUMS_FILE.name}; "
                "nothing was installed. Clear the local Maven and Ivy caches, then try again."
            )
        for name in pinned_sums():
            (ivy / "jars" / name).replace(folder / name)
    finally:
        shutil.rmtree(ivy, ignore_errors=True)


def _resolve(ivy: Path, lock: IO[str]) -> None:
    """Run spark-submit on an empty script: before it runs anything, it downloads the packages it is told."""
    script = ivy / "nothing.py"
    script.touch()
    spark_home = pyspark_home()
    command = [
        str(spark_home / "bin" / "spark-submit"),
        *("--master", "local[1]", "--conf", f"spark.jars.ivy={ivy}"),
        *("--packages", COORDINATE, "--exclude-packages", CARRIED_BY_SPARK),
        str(script),
    ]
    done = _run(command, spark_home, lock)
    if done.returncode:
        said = [line for line in done.stdout.splitlines() if not line.startswith("\tat ")]
        tail = "\n".join(said[-_TAIL:])
        raise SkyarchiveError(
            f"{COORDINATE} could not be fetched: that needs Java 17 or 21 and, this once, the network. "
            f"Spark's last lines:\n{tail}"
        )


def _run(command: list[str], spark_home: Path, lock: IO[str]) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "SPARK_HOME": str(spark_home),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    try:
        return subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=FETCH_TIMEOUT,
            pass_fds=[lock.fileno()],  # a JVM that outlives a killed parent still holds the lock
        )
    except subprocess.TimeoutExpired as error:
        raise SkyarchiveError(f"{COORDINATE} was not fetched within {FETCH_TIMEOUT:.0f} s; try again.") from error


def pyspark_home() -> Path:
    """Where pyspark is installed, found without the seconds that importing it takes."""
    spec = find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise SkyarchiveError("pyspark is not installed in this environment; run `make setup`.")
    return Path(spec.submodule_search_locations[0])


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return None


def main() -> int:
    """`python -m skyarchive.jars`: make sure that the jars are there."""
    try:
        delta_jars(load_settings())
    except SkyarchiveError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

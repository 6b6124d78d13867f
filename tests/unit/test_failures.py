"""What fails in the machine is told in a sentence: disks, rights, memory, Java, the network."""

import ctypes
import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Home
from skyarchive.definition.catalog import Catalog
from skyarchive.errors import InputError, MachineError, SkyarchiveError, SparkError
from skyarchive.pipeline.failures import failures_told
from skyarchive.pipeline.java import assert_jvm_can_start
from skyarchive.settings import Settings
from skyarchive.steps.ingest.reading.files import raw_files


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(warehouse=str(tmp_path / "warehouse"), raw=str(tmp_path / "raw"))


def told(settings: Settings, error: Exception) -> SkyarchiveError:
    with pytest.raises(SkyarchiveError) as found, failures_told(settings):
        raise error
    assert "\n" not in str(found.value)
    return found.value


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        RuntimeError(
            "Generic LocalFileSystem error: Unable to copy data to file: No space left on device (os error 28)"
        ),
        RuntimeError(
            "An error occurred while calling o1.save.\n: java.io.IOException: No space left on device\n\tat x"
        ),
    ],
)
def test_a_full_disk_is_named(settings: Settings, error: Exception) -> None:
    found = told(settings, error)
    assert isinstance(found, MachineError)
    assert str(found).startswith("The disk of /") and " is full (" in str(found) and "Make room" in str(found)


def test_the_file_that_was_written_tells_the_disk(settings: Settings, tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "new" / "file"))
    assert str(told(settings, full)).startswith(f"The disk of {tmp_path / 'new' / 'file'} is full (")


def test_what_an_error_came_of_counts(settings: Settings) -> None:
    try:
        raise PermissionError(errno.EACCES, "Permission denied", "/data/warehouse/nba/.writer")
    except PermissionError:
        later = ValueError("could not let go")
        later.__context__ = sys.exc_info()[1]
    assert str(told(settings, later)).startswith("/data/warehouse/nba/.writer: permission denied. Give this user")


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("java.io.FileNotFoundException: /data/w/x/_delta_log/1.json (Read-only file system)",
         "/data/w/x/_delta_log/1.json is on a disk that can only be read (/"),
        ("java.io.FileNotFoundException: /data/w/x/part-1.parquet (Permission denied)",
         "/data/w/x/part-1.parquet: permission denied."),
        ("java.lang.OutOfMemoryError: Java heap space", "Spark needs more memory than SKYARCHIVE_DRIVER_MEMORY"),
        ("[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.",
         "Spark's JVM did not start; its last lines are in "),
    ],
)  # fmt: skip
def test_what_java_says_is_put_into_a_sentence(settings: Settings, text: str, start: str) -> None:
    assert str(
        told(settings, RuntimeError(f"An error occurred while calling o1.save.\n: {text}\n\tat org.x"))
    ).startswith(start)


def test_a_master_that_spark_refuses_when_its_jvm_is_up_is_told(settings: Settings) -> None:
    class Py4JJavaError(Exception):
        """As Py4J has it."""

    refused = "org.apache.spark.SparkException: Could not parse Master URL: 'k8s://x'"
    context = "An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext."
    found = told(replace(settings, master="k8s://x"), Py4JJavaError(f"{context}\n: {refused}\n\tat org.x"))
    assert isinstance(found, SparkError)
    assert str(found).startswith(
        "Spark does not start with k8s://x as its master (Could not parse Master URL: 'k8s://x')"
    )


def test_a_data_file_that_spark_misses_is_named_with_its_table(settings: Settings) -> None:
    path = f"{settings.warehouse}/nba/updates/period=2010/part-1.snappy.parquet"
    text = f"[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file file:{path}. File does not exist."
    found = str(told(settings, RuntimeError(text)))
    assert found.startswith(f"A data file of nba.updates is missing: {path}.")
    assert found.endswith("skyarchive run nba --periods 2010")


def test_a_data_file_that_spark_names_twice_is_named_once(settings: Settings) -> None:
    path = f"{settings.warehouse}/nba/updates/period=2010/part-1.snappy.parquet"
    stack = "\tat org.apache.spark.Task\n" * 50
    text = f"[FAILED_READ_FILE.NO_HINT] Error while reading file file:{path}.  SQLSTATE: KD001\n{stack}"
    found = str(told(settings, RuntimeError(f"{text}Caused by: Checksum error: file:{path} at 2048 exp: 56 got: -47")))
    assert found.startswith(f"A data file of nba.updates is missing: {path}. Put it back")


def test_what_is_not_known_stays_as_it_is(settings: Settings) -> None:
    with pytest.raises(ValueError, match="something else"), failures_told(settings):
        raise ValueError("something else")
    with pytest.raises(InputError, match="No space left on device"), failures_told(settings):
        raise InputError("a row says: No space left on device")


def test_a_jvm_that_is_killed_is_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark import SparkContext

    class Gateway:
        proc = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])

    monkeypatch.setattr(SparkContext, "_gateway", Gateway)
    Gateway.proc.kill()
    refused = ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
    found = told(settings, refused)
    assert isinstance(found, SparkError)
    assert str(found).startswith("Spark's JVM has ended while it worked for us")


def java(folder: Path, text: str) -> str:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("exit 7", "ends with code 7"),
        ("echo 'openjdk version \"11.0.2\" 2019'", "is Java 11"),
        ("echo 'java version \"1.8.0_292\"'", "is Java 8"),
        ("echo hello", "is none"),
        (None, "cannot be run (No such file or directory)"),
    ],
)
def test_a_broken_java_is_told_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, why: str
) -> None:
    home = java(tmp_path, text) if text else str(tmp_path / "nowhere")
    monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(MachineError) as found:
        assert_jvm_can_start()
    assert str(found.value).startswith(f"Spark needs Java 17 or 21, and {home}/bin/java (of JAVA_HOME) {why}: install")


def test_no_java_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MachineError, match="there is no java on the PATH"):
        assert_jvm_can_start()


def test_no_loopback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", java(tmp_path, "echo 'openjdk version \"17.0.1\"'"))
    apart = ["unshare", "-n", sys.executable, "-c", "from skyarchive.pipeline.java import *; assert_jvm_can_start()"]
    if subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode:
        pytest.skip("a network of its own is not to be had here")
    done = subprocess.run(apart, capture_output=True, text=True, timeout=60)
    assert "Nothing can be reached at 127.0.0.1 (" in done.stderr and "ip link set lo up" in done.stderr


_SYS_CAPSET, _CAPABILITY_V3 = 126, 0x20080522
_OVERRIDES = 0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


@contextmanager
def as_anybody() -> Iterator[None]:
    """While open, modes of files count for this thread, root's too."""
    if os.geteuid():
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, data = (ctypes.c_uint32 * 2)(_CAPABILITY_V3, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, data):
        pytest.skip("the rights of this process cannot be looked at")
    before = data[0]
    data[0] &= ~_OVERRIDES
    if libc.capset(header, data):
        pytest.skip("the rights of this process cannot be given up")
    try:
        yield
    finally:
        data[0] = before
        libc.capset(header, data)


@contextmanager
def unreadable(path: Path) -> Iterator[None]:
    mode = path.stat().st_mode
    path.chmod(0)
    try:
        with as_anybody():
            yield
    finally:
        path.chmod(mode)


@pytest.mark.parametrize("what", ["", "nba", "nba/deep", "nba/archive.yaml"])
def test_a_raw_folder_that_cannot_be_read_is_not_empty(home: Home, what: str) -> None:
    (home.raw / "nba" / "deep").mkdir(parents=True)
    (home.raw / "nba" / "deep" / "player_box_2010.parquet").write_text("x")
    path = home.raw / what
    if path.suffix:
        path.write_text("name: nba\n")
    with unreadable(path):
        for command in (["status", "nba"], ["run", "nba"]):
            answer = home.command(*command)
            assert answer.code == 1
            assert str(path) in answer.err and "ermission denied" in answer.err, answer.err
            assert "without a better explanation" not in answer.err


def test_a_raw_file_that_cannot_be_read_is_listed(home: Home) -> None:
    (home.raw / "nba").mkdir(parents=True)
    file = home.raw / "nba" / "player_box_2010.parquet"
    file.write_text("x")
    definition = Catalog(replace(home.settings, raw="nowhere")).get("nba")
    with unreadable(file):
        assert [found.period for found in raw_files(home.settings, definition)] == ["2010"]
        assert home.command("status", "nba").code == 0


@pytest.mark.parametrize("what", ["", "nba", "nba/updates/_delta_log"])
def test_a_log_that_cannot_be_read_is_there_all_the_same(home: Home, what: str) -> None:
    log = Path(home.settings.warehouse) / "nba" / "updates" / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020d}.json").write_text("{}")
    path = Path(home.settings.warehouse) / what
    with unreadable(path):
        for command in (["sql", "select count(*) from nba.updates"], ["tables"], ["status", "nba"]):
            answer = home.command(*command)
            assert answer.code == 1
            assert str(path) in answer.err and "ermission denied" in answer.err, answer.err
            assert "without a better explanation" not in answer.err

"""One writer per archive: real processes that wait, give up and are killed."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skyarchive.errors import LockError
from skyarchive.settings import Settings
from skyarchive.store import lock
from skyarchive.store.lock import LOCK_FILE, writing

HOLD = """
import sys
from skyarchive.store.lock import writing
from skyarchive.settings import Settings
with writing(Settings(warehouse=sys.argv[1]), "nba", print):
    print("held", flush=True)
    sys.stdin.read()
"""
PATIENCE = 10.0
Start = Callable[[], subprocess.Popen[str]]


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Start]:
    """Starts a process that holds nba until its stdin is closed."""
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


def settings(folder: Path, wait: float = PATIENCE) -> Settings:
    return Settings(warehouse=str(folder), lock_wait=wait)


def test_a_second_writer_gives_up_and_names_the_first(tmp_path: Path, holder: Start) -> None:
    process = holder()
    said: list[str] = []
    began = time.monotonic()
    with pytest.raises(LockError) as refusal, writing(settings(tmp_path, 0.5), "nba", said.append):
        pytest.fail("two writers at once")
    assert 0.5 <= time.monotonic() - began < PATIENCE
    assert f"nba is being written by process {process.pid}" in str(refusal.value)
    assert "SKYARCHIVE_LOCK_WAIT" in str(refusal.value)
    assert len(said) == 1 and f"process {process.pid}" in said[0] and "waiting (at most" in said[0]


def test_a_second_writer_waits_until_the_first_is_done(tmp_path: Path, holder: Start) -> None:
    process = holder()

    def let_go(message: str) -> None:
        assert "waiting" in message and process.stdin is not None
        process.stdin.close()

    with writing(settings(tmp_path), "nba", let_go):
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_writer_holds_nothing(end: signal.Signals, tmp_path: Path, holder: Start) -> None:
    process = holder()
    process.send_signal(end)
    assert process.wait(PATIENCE) == -end
    said: list[str] = []
    with writing(settings(tmp_path, 0.0), "nba", said.append):
        assert said == []


def test_a_killed_writer_lets_one_that_waits_go_on(tmp_path: Path, holder: Start) -> None:
    process = holder()
    with writing(settings(tmp_path), "nba", lambda _: process.kill()):
        assert process.wait(PATIENCE) == -signal.SIGKILL


def test_another_process_sees_what_this_one_holds(tmp_path: Path, holder: Start) -> None:
    with writing(settings(tmp_path), "nba", pytest.fail):
        second = subprocess.run(
            [sys.executable, "-c", HOLD.replace("argv[1])", "argv[1], lock_wait=0.3)"), str(tmp_path)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    assert second.returncode == 1 and "held" not in second.stdout
    assert "LockError" in second.stderr and "gave up" in second.stderr


def test_archives_do_not_wait_for_each_other(tmp_path: Path, holder: Start) -> None:
    holder()
    with writing(settings(tmp_path, 0.0), "stocks", pytest.fail), writing(settings(tmp_path), "tcp", pytest.fail):
        held = [archive for archive in ("nba", "stocks", "tcp") if (tmp_path / archive / LOCK_FILE).read_text("utf-8")]
    assert held == ["nba", "stocks", "tcp"]


def test_a_failure_inside_lets_go_and_comes_out(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing(settings(tmp_path), "nba", pytest.fail):
        raise ZeroDivisionError
    with writing(settings(tmp_path, 0.0), "nba", pytest.fail):
        assert "process" in (tmp_path / "nba" / LOCK_FILE).read_text(encoding="utf-8")
    assert (tmp_path / "nba" / LOCK_FILE).read_text(encoding="utf-8") == ""


def test_who_waits_long_is_reminded(tmp_path: Path, holder: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    holder()
    monkeypatch.setattr(lock, "_REMIND", 0.2)
    monkeypatch.setattr(lock, "_LOOK_AGAIN", 0.05)
    said: list[str] = []
    with pytest.raises(LockError), writing(settings(tmp_path, 0.8), "nba", said.append):
        pytest.fail("two writers at once")
    assert 2 <= len(said) <= 5


def test_a_warehouse_that_is_no_folder_needs_no_lock_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with writing(Settings(warehouse="s3://bucket/w"), "nba", pytest.fail):
        assert list(tmp_path.iterdir()) == []

"""Signs of life: what somebody sees who waits, on a terminal and in a file."""

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skyarchive import progress
from skyarchive.progress import Progress

STARTING_SPARK = """
import os, sys, time
from pathlib import Path
from skyarchive import progress
from skyarchive.pipeline.session import stderr_into
progress.REMIND = progress._REDRAW = 0.1
with progress.Progress().phase("starting Spark"), stderr_into(Path(sys.argv[1])):
    os.write(2, b"a line of the JVM\\n")
    time.sleep(1.2)
print("the end", file=sys.stderr)
"""
SIDE_BY_SIDE = """
import threading, time
from skyarchive import progress
progress._REDRAW = 0.1
both = threading.Barrier(2)
def work(name):
    with progress.Progress().phase(f"working on {name}") as phase:
        both.wait()
        time.sleep(0.5)
        phase.turn_to(f"nearly through with {name}")
        time.sleep(0.5)
threads = [threading.Thread(target=work, args=(name,)) for name in ("[one]", "[two]")]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_where_no_spinner_turns_a_line_comes_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "REMIND", 0.05, raising=False)
    with Progress().phase("nba 2010: derive, computing"):
        time.sleep(0.5)
    with Progress(quiet=True).phase("unseen"):
        time.sleep(0.1)
    first, *more = capsys.readouterr().err.splitlines()
    assert first == "nba 2010: derive, computing ..."
    assert len(more) >= 2 and set(more) <= {f"nba 2010: derive, computing ... {n} s" for n in (0, 1)}


def test_a_phase_tells_minutes_and_begins_anew_with_what_it_turns_to() -> None:
    phase = progress.Phase("nba 2010: ingest is running")
    phase.began -= 754
    assert phase.shown == "nba 2010: ingest is running ... 12 min 34 s"
    phase.turn_to("nba 2010: ingest is running")
    assert phase.lasted > 700
    phase.turn_to("nba 2011: ingest is running")
    assert phase.shown == "nba 2011: ingest is running ... 0 s"


def test_while_spark_starts_its_lines_go_to_the_log_and_signs_of_life_do_not(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    command = [sys.executable, "-c", STARTING_SPARK, str(log)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
    assert told[0] == "starting Spark ..." and told[-1] == "the end"
    assert any(line.startswith("starting Spark ... ") for line in told[1:-1]), told
    assert log.read_text() == "a line of the JVM\n"

    seen = on_a_terminal(command)
    assert "starting Spark ... 1 s" in seen and "the end" in seen
    assert log.read_text() == "a line of the JVM\n" * 2


def test_a_terminal_shows_all_that_goes_on_side_by_side() -> None:
    seen = on_a_terminal([sys.executable, "-c", SIDE_BY_SIDE])
    for name in ("[one]", "[two]"):
        assert f"working on {name} ... 0 s" in seen and f"nearly through with {name} ... 0 s" in seen
    assert "Traceback" not in seen


def on_a_terminal(command: list[str]) -> str:
    """What a command shows where its stderr is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stderr=theirs, env=os.environ | {"TERM": "xterm", "COLUMNS": "80"}) as process:
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 4096):
                seen += part
        except OSError:  # the other end was closed
            pass
        os.close(ours)
        assert process.wait() == 0, seen
    return seen.decode()

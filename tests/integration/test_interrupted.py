"""What a run that is killed leaves: the last version for readers, and a next run that is whole."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from conftest import SHORT_LIVED, Home

DIES = """
import os, signal, sys
from skyarchive.store.tables import Tables
moment, fatal = sys.argv.pop(1), sys.argv.pop(1)

def mortal(write):
    def wrapper(self, table, frame, *rest, **options):
        dies = f"{rest[-1].step} {table}" == fatal
        if dies and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        version = write(self, table, frame, *rest, **options)
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return version
    return wrapper

Tables.replace, Tables.note = mortal(Tables.replace), mortal(Tables.note)
from skyarchive.cli import main
main()
"""
INGESTED, DERIVED = ("raw",), ("snapshots", "updates", "objects", "carry")
TABLES = (*INGESTED, *DERIVED, "quarantine", "skyline", "frequent", "external", "windows")


ALSO = ("after ingest raw", "after ingest quality", "before derive updates", "after derive updates",
        "after derive carry", "before skyline skyline", "after skyline skyline", "before skyline runs",
        "after frequent frequent", "after external external", "after windows windows")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "moment", ["before derive runs", *(pytest.param(moment, marks=pytest.mark.thorough) for moment in ALSO)]
)
def test_a_kill_leaves_the_last_version_and_the_next_run_is_whole(here: Home, moment: str) -> None:
    before = {table: here.sql(f"select * from synthetic.{table} order by all") for table in TABLES}
    when, where = moment.split(" ", 1)
    killed = subprocess.run(
        [sys.executable, "-c", DIES, when, where, "run", "synthetic", "--periods", "00002"],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | SHORT_LIVED,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    _wait_for_the_jvm_to_go(here.settings.warehouse)
    after = {table: here.sql(f"select * from synthetic.{table} order by all") for table in TABLES}
    computed = (*INGESTED, *DERIVED)
    published = {
        "ingest": (), "derive": INGESTED, "skyline": computed, "frequent": (*computed, "skyline"),
        "external": (*computed, "skyline", "frequent"), "windows": (*computed, "skyline", "frequent", "external"),
    }[where.split()[0]]  # fmt: skip
    for table in TABLES:
        assert (after[table] == before[table]) == (table not in published), table
    assert here.states("synthetic")["00002"] == "unfinished"

    assert here.command("refresh", "synthetic").code == 0
    assert set(here.states("synthetic").values()) == {"current"}
    updates = here.sql("select * from synthetic.updates order by all")
    assert [row for row in updates if row["period"] < "00002"] == before["updates"]
    # The synthetic archive's raw rows are its updates: nothing is missing, nothing is there twice.
    same = "select count(*) from synthetic.raw where period = '00002'"
    assert here.sql(f"select count(*) n, ({same}) raw from synthetic.updates where period = '00002'") == [
        {"n": len(updates) - len(before["updates"]), "raw": len(updates) - len(before["updates"])}
    ]


def test_an_interrupt_while_spark_starts_leaves_no_jvm(tmp_path: Path) -> None:
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # not as the shell left it
        "from skyarchive.pipeline.session import build_session; from skyarchive.settings import load_settings\n"
        "build_session(load_settings())"
    )
    settings = {"SKYARCHIVE_WAREHOUSE": str(tmp_path)}
    process = psutil.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, env=os.environ | settings)
    deadline = time.monotonic() + 60
    while not process.children():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in process.communicate(timeout=30)[1]
    _wait_for_the_jvm_to_go(str(tmp_path))


def _wait_for_the_jvm_to_go(warehouse: str) -> None:
    """A killed Python leaves its JVM a moment longer; the lock is free at once."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        mine = [p for p in Path("/proc").glob("[0-9]*/environ") if _belongs(p, warehouse)]
        if not mine:
            return
        time.sleep(0.2)
    pytest.fail("the killed run's JVM is still there")


def _belongs(environ: Path, warehouse: str) -> bool:
    try:
        if int(environ.parent.name) == os.getpid():
            return False
        return f"SKYARCHIVE_WAREHOUSE={warehouse}".encode() in environ.read_bytes()
    except OSError:
        return False

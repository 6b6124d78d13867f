"""A log that was damaged while Spark had it open: the next run makes the tables what a straight run leaves."""

from pathlib import Path

import pytest

from conftest import Home
from skyarchive.store.log_files import LogFiles

TABLES = (
    "raw", "quarantine", "snapshots", "updates", "objects", "carry", "skyline", "frequent", "external", "windows",
)  # fmt: skip
DAMAGED = [("updates", "refresh"), ("carry", "run"), ("raw", "refresh"), ("quarantine", "refresh"),
           ("skyline", "refresh"), ("frequent", "refresh"), ("external", "refresh"),
           ("windows", "refresh"), ("files", "refresh"),
           ("quality", "refresh"), ("runs", "run")]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "command"),
    [case if case[0] == "updates" else pytest.param(*case, marks=pytest.mark.thorough) for case in DAMAGED],
)
def test_a_damaged_log_is_told_and_the_next_run_is_whole(here: Home, table: str, command: str) -> None:
    straight = {name: here.sql(f"select * from synthetic.{name} order by all") for name in TABLES}
    log = LogFiles.of(Path(here.settings.warehouse) / "synthetic" / table)
    log.entry(log.last).write_text("")
    answer = here.command("sql", f"select count(*) n from synthetic.{table}")
    assert f"synthetic.{table} cannot be read at version {log.last}" in answer.err
    assert answer.code == (1 if log.last < 2 and table not in ("files", "quality", "runs") else 0)
    arguments = ["synthetic", "--periods", "00000..00001"] if command == "run" else ["synthetic"]
    answer = here.command(command, *arguments)
    assert answer.code == 0, answer.err
    states = here.states("synthetic")
    assert [states["00000"], states["00001"]] == ["current", "current"]
    assert {name: here.sql(f"select * from synthetic.{name} order by all") for name in TABLES} == straight
    # What Spark has read before and what it reads now is one and the same.
    assert here.command("run", "synthetic", "--periods", "00001").code == 0
    assert {name: here.sql(f"select * from synthetic.{name} order by all") for name in TABLES} == straight

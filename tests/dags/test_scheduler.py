"""The real scheduler runs the real jobs: backfills, failures, kills."""

import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from connect_server import alive
from dags.conftest import DAYS, GAP, Place, write_day
from listening import reachable, watched

pytestmark = pytest.mark.slow
RESULTS = ("raw", "snapshots", "updates", "objects", "carry", "skyline", "frequent")


def contents(place: Place, warehouse: Path | None = None) -> dict[str, list[dict[str, Any]]]:
    return {table: place.rows(f"select * from shops.{table} order by all", warehouse) for table in RESULTS}


def test_a_backfill_backwards_over_a_gap_equals_a_run_in_order(place: Place, tmp_path: Path) -> None:
    with watched(place.pids) as seen:
        answer = place.skyarchive("backfill", "shops", "--periods", f"{DAYS[0]}..{DAYS[-1]}", "--backwards")
    assert {("127.0.0.1", place.airflow.port), ("127.0.0.1", place.airflow.spark_port)} <= set(seen)
    assert reachable(seen) == {}
    assert answer.returncode == 0, answer.stderr
    told = [line.split()[1] for line in answer.stderr.splitlines() if "ingest success" in line]
    assert [day for day in told if day != f"{GAP}:"] == [f"{day}:" for day in reversed(DAYS)]
    assert set(place.task_states("shops_ingest", GAP).values()) == {"skipped"}
    for day in DAYS:
        assert place.task_states("shops_ingest", day) == {"ingest": "success", "derive": "success"}
        # The later day's may come so late that the earlier one is there: then that one's refresh computes it.
        assert place.task_states("shops_compute", day)["skyline"] in ("success", "skipped")
    (runs,) = place.database("select count(*) from dag_run where dag_id = 'shops_compute'")[0]
    assert runs == len(DAYS)
    states = json.loads(place.skyarchive("status", "shops", "--format", "json").stdout)
    assert {row["period"]: row["state"] for row in states} == dict.fromkeys(DAYS, "current")

    elsewhere = {"SKYARCHIVE_WAREHOUSE": str(tmp_path), "SKYARCHIVE_MASTER": place.airflow.spark_url}
    by_hand = place.skyarchive("run", "shops", **elsewhere)
    assert by_hand.returncode == 0, by_hand.stderr
    backfilled = contents(place)
    assert all(backfilled.values())
    assert backfilled == contents(place, tmp_path)


def test_the_same_period_again_changes_nothing(place: Place) -> None:
    before = contents(place)
    again = place.skyarchive("backfill", "shops", "--periods", DAYS[1])
    assert again.returncode == 0 and "success" not in again.stdout  # it ran before: nothing to do
    answer = place.skyarchive("backfill", "shops", "--periods", DAYS[1], "--reprocess", "completed")
    assert answer.returncode == 0, answer.stderr
    assert contents(place) == before


@pytest.mark.thorough
def test_a_correction_refreshes_what_is_stale_and_a_gap_is_skipped(place: Place) -> None:
    write_day(place.raw, DAYS[0], seed=1)
    answer = place.skyarchive("backfill", "shops", "--periods", f"{DAYS[0]},2024-01-07", "--reprocess", "completed")
    assert answer.returncode == 0, answer.stderr
    assert place.task_states("shops_ingest", "2024-01-07") == {"ingest": "skipped", "derive": "skipped"}
    assert "no raw file for 2024-01-07" in place.log_of("shops_ingest", "ingest")
    assert place.task_states("shops_compute", DAYS[0]) == dict.fromkeys(("skyline", "frequent", "refresh"), "success")
    newest = place.rows("select period, step from shops.runs order by started desc limit 5")
    assert {(row["period"], row["step"]) for row in newest} >= {(DAYS[1], "derive"), (DAYS[1], "skyline")}
    states = json.loads(place.skyarchive("status", "shops", "--format", "json").stdout)
    assert {row["state"] for row in states} == {"current"}


@pytest.mark.skipif(shutil.which("jcmd") is None, reason="jcmd, of the JDK, tells what is alive in a JVM")
def test_the_server_keeps_nothing_of_the_tasks(place: Place) -> None:
    left = alive(place.spark_pid)
    assert left["cached"] == 0 and left["executions"] <= 25, left


def test_a_quality_failure_stops_there_and_tells_why(place: Place) -> None:
    before = contents(place)
    place.webhook.told.clear()
    write_day(place.raw, DAYS[1], seed=2, negative=60)
    answer = place.skyarchive("backfill", "shops", "--periods", DAYS[1], "--reprocess", "completed")
    assert answer.returncode == 1 and DAYS[1] in answer.stderr and "--reprocess failed" in answer.stderr
    assert place.task_states("shops_ingest", DAYS[1]) == {"ingest": "failed", "derive": "upstream_failed"}
    log = place.log_of("shops_ingest", "ingest")
    assert "price is negative" in log and f"shops_{DAYS[1]}.csv" in log
    assert place.tries("shops_ingest", "ingest", DAYS[1]) == 1
    assert contents(place) == before
    (message,) = place.webhook.told
    assert message["task"] == "ingest" and message["period"] == DAYS[1] and "price is negative" in message["error"]

    write_day(place.raw, DAYS[1])
    answer = place.skyarchive("backfill", "shops", "--periods", DAYS[1], "--reprocess", "failed")
    assert answer.returncode == 0, answer.stderr


def test_a_scheduler_that_is_killed_goes_on_where_it_was(place: Place) -> None:
    start_and_reach_ingest(place, "2024-01-06")
    place.airflow.kill_process("scheduler")
    place.airflow.start_process("scheduler")
    assert_whole(place, "2024-01-06")


@pytest.mark.thorough
def test_a_killed_jvm_is_made_up_for(place: Place) -> None:
    start_and_reach_ingest(place, "2024-01-04")
    place.airflow.kill_process("spark")
    place.airflow.start_process("spark")
    assert_whole(place, "2024-01-04")
    assert "attempt=2" in str(list(place.airflow.folder.glob("logs/dag_id=shops_ingest/*2024-01-04*/*/*")))


@pytest.mark.thorough
def test_a_killed_task_is_made_up_for(place: Place) -> None:
    start_and_reach_ingest(place, "2024-01-05")
    (pid,) = place.database(
        "select t.pid from task_instance t join dag_run r on t.run_id = r.run_id and t.dag_id = r.dag_id "
        "where r.dag_id = 'shops_ingest' and r.partition_key = '2024-01-05' and t.state = 'running'"
    )[0]
    os.kill(pid, signal.SIGKILL)
    assert_whole(place, "2024-01-05")


def start_and_reach_ingest(place: Place, day: str) -> None:
    """A backfill of a new day that is in the middle of its first task."""
    write_day(place.raw, day)
    place.skyarchive("backfill", "shops", "--periods", day, "--no-wait")
    deadline = time.monotonic() + 300
    while place.task_states("shops_ingest", day).get("ingest") != "running":
        assert time.monotonic() < deadline
        time.sleep(0.2)
    time.sleep(1.0)


def assert_whole(place: Place, day: str) -> None:
    """The day's runs end well, with every row once."""
    deadline = time.monotonic() + 300
    while place.task_states("shops_compute", day).get("refresh") not in ("success", "skipped"):
        assert time.monotonic() < deadline, (
            place.task_states("shops_ingest", day), place.task_states("shops_compute", day)
        )  # fmt: skip
        time.sleep(1)
    lines = len((place.raw / "shops" / f"shops_{day}.csv").read_text().splitlines()) - 1
    counts = f"select count(*) as n, count(distinct row) as different from shops.raw where period = '{day}'"
    assert place.rows(counts) == [{"n": lines, "different": lines}]
    states = json.loads(place.skyarchive("status", "shops", "--format", "json").stdout)
    assert {row["state"] for row in states} == {"current"}


def test_upkeep(place: Place) -> None:
    before = contents(place)
    assert place.run_of("skyarchive_maintenance") == "success"
    assert place.run_of("skyarchive_audit") == "success"
    assert contents(place) == before
    audited = place.rows("select success from shops.quality where expectation like 'random snapshots%'")
    assert audited and all(row["success"] for row in audited)
    assert place.rows("select count(*) as n from shops.runs where step = 'maintain'") == [{"n": 1}]

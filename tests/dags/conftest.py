"""One private Airflow, with its scheduler and Spark, for all tests of this folder; a small archive of our own in it."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import SHORT_LIVED
from skyarchive.orchestration.local_airflow import MARK, LocalAirflow
from skyarchive.orchestration.processes import processes_with
from skyarchive.settings import Settings
from skyarchive.store.lake import Lake

SHOPS = """
name: shops
title: Shops by price and distance
source: {format: csv, files: "*.csv", period_in_name: '^shops_(.*)\\.csv$'}
period: {column: day, by: day}
columns:
  day: {type: date, required: true}
  hour: {type: int, required: true}
  shop: {type: string, required: true}
  price: {type: double, min: 0}
  distance: {type: double, min: 0}
unique: [day, hour, shop]
object: {column: shop}
derive:
  method: updates
  order: {by: [day, hour]}
frequent: [{theta: 0.2, window: 30}]
attributes:
  price: {better: lower}
  distance: {better: lower}
"""
DAYS = ["2024-01-01", "2024-01-03"]
GAP = "2024-01-02"
"""A day between them that has no raw file."""


def write_day(raw: Path, day: str, seed: int = 0, negative: int = 0) -> None:
    """A day of prices; `negative`: that many rows have one below zero."""
    chance = np.random.default_rng([seed, *map(ord, day)])
    rows: list[str] = []
    for hour in range(24):
        for shop in np.flatnonzero(chance.random(12) < 0.5):
            price = -1.0 if len(rows) < negative else round(float(chance.random()), 1)
            rows.append(f"{day},{hour},shop{shop:02},{price},{round(float(chance.random()), 1)}")
    folder = raw / "shops"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"shops_{day}.csv").write_text("\n".join(["day,hour,shop,price,distance", *rows, ""]), "utf-8")


@dataclass
class Webhook:
    """An address that remembers what it is told."""

    told: list[dict[str, Any]] = field(default_factory=list)
    address: str = ""

    def serve(self) -> HTTPServer:
        told = self.told

        class Listener(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Listener)
        self.address = f"http://127.0.0.1:{server.server_port}/"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server


@dataclass
class Place:
    """The private Airflow and what tests ask of it."""

    airflow: LocalAirflow
    webhook: Webhook

    @property
    def raw(self) -> Path:
        return self.airflow.settings.raw_folder

    @property
    def spark_pid(self) -> int:
        return self.airflow._processes["spark"].pid

    def pids(self) -> list[int]:
        """Of all that runs here, tasks included."""
        return [*(it.pid for it in self.airflow._processes.values()), *processes_with(MARK, self.airflow.mark)]

    def skyarchive(self, *arguments: str, patience: float = 600, **settings: str) -> subprocess.CompletedProcess[str]:
        """The command line with Airflow's settings, or others."""
        return subprocess.run(
            [sys.executable, "-c", "from skyarchive.cli import main; main()", *arguments],
            capture_output=True, text=True, env=self.airflow.environment | settings, timeout=patience, check=False,
        )  # fmt: skip

    def rows(self, statement: str, warehouse: Path | None = None) -> list[dict[str, Any]]:
        """What the published tables answer, here or in another warehouse."""
        found = Lake(replace(self.airflow.settings, warehouse=str(warehouse or self.airflow.settings.warehouse))).query(
            statement
        )
        return [dict(zip(found.columns, row, strict=True)) for row in found.rows]

    def database(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.airflow.folder / "airflow.db", timeout=30) as connection:
            return connection.execute(statement, values).fetchall()

    def task_states(self, dag_id: str, period: str) -> dict[str, str]:
        """Of the newest run of a period."""
        newest = "select run_id from dag_run where dag_id = ? and partition_key = ? order by id desc limit 1"
        tasks = f"select task_id, state from task_instance where dag_id = ? and run_id = ({newest})"
        return dict(self.database(tasks, dag_id, dag_id, period))

    def tries(self, dag_id: str, task_id: str, period: str) -> int:
        """How often a task of the newest run of a period was started."""
        newest = "select run_id from dag_run where dag_id = ? and partition_key = ? order by id desc limit 1"
        tasks = f"select try_number from task_instance where dag_id = ? and task_id = ? and run_id = ({newest})"
        return int(self.database(tasks, dag_id, task_id, dag_id, period)[0][0])

    def log_of(self, dag_id: str, task_id: str) -> str:
        """The newest log of a task."""
        folder = self.airflow.folder / "logs" / f"dag_id={dag_id}"
        logs = sorted(folder.glob(f"*/task_id={task_id}/*.log"), key=lambda path: path.stat().st_mtime)
        return logs[-1].read_text("utf-8")

    def run_of(self, dag_id: str) -> str:
        """Starts a DAG and waits for how it ends."""
        (before,) = self.database("select count(*) from dag_run where dag_id = ?", dag_id)[0]
        self.airflow.command("dags", "trigger", dag_id)
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            states = self.database("select state from dag_run where dag_id = ? order by id desc", dag_id)
            if len(states) > before and states[0][0] in ("success", "failed"):
                return str(states[0][0])
            time.sleep(1)
        raise AssertionError(f"{dag_id} did not end")


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("airflow")
    archives = folder / "archives"
    archives.mkdir()
    (archives / "shops.yaml").write_text(SHOPS, "utf-8")
    settings = Settings(
        warehouse=str(folder / "warehouse"), raw=str(folder / "raw"), archives=str(archives),
        master="local[2]", driver_memory="2g",
    )  # fmt: skip
    for day in DAYS:
        write_day(settings.raw_folder, day)
    webhook = Webhook()
    server = webhook.serve()
    extra = {
        "SKYARCHIVE_WEBHOOK": webhook.address,
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "15",
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "3",
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC": "3",
        "AIRFLOW__CORE__DEFAULT_TASK_RETRY_DELAY": "1",
        "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "4",
    }
    before = dict(os.environ)
    os.environ.update(SHORT_LIVED)
    airflow = LocalAirflow(folder / "home", settings, extra=extra)
    try:
        with airflow.running():
            airflow.unpause(["shops_ingest", "shops_compute", "skyarchive_maintenance", "skyarchive_audit"])
            yield Place(airflow, webhook)
    finally:
        server.shutdown()
        os.environ.clear()
        os.environ.update(before)

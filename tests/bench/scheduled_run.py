"""Where the seconds go when Airflow's scheduler runs all steps of one small period, once everything is warm."""

import json
import os
import sqlite3
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skyarchive.definition.catalog import Catalog
from skyarchive.generators import GenerateOptions, generate
from skyarchive.orchestration.backfilling import Request, run_backfill
from skyarchive.orchestration.local_airflow import LocalAirflow
from skyarchive.progress import Progress
from skyarchive.settings import load_settings
from skyarchive.store.lake import Lake

ARCHIVE = "nba"
WARM_UP = ["2010", "2011", "2012"]
MEASURED = "2013"
_TASKS = """
select t.task_id, r.queued_at, t.start_date, t.end_date from task_instance t
join dag_run r on r.dag_id = t.dag_id and r.run_id = t.run_id
where r.partition_key = ? and t.start_date is not null order by t.start_date
"""
_STEPS = f"select step, started, seconds, details from {ARCHIVE}.runs where period = '{MEASURED}'"


def rows(quick: bool) -> list[dict[str, Any]]:
    """One row a task, and their sums. `airflow`: until the task starts; `start`: in the task before and after its step
    (reading the DAG, a session of Spark); `quality`: the step's checks; `spark`: the rest of the step."""
    with tempfile.TemporaryDirectory(prefix="skyarchive-bench-") as name:
        folder = Path(name)
        settings = replace(load_settings(), warehouse=f"{folder}/warehouse", raw=f"{folder}/raw", archives="")
        periods = WARM_UP[-1:] if quick else WARM_UP
        generate(ARCHIVE, settings.raw_folder / ARCHIVE, GenerateOptions(periods=[*periods, MEASURED], seed=7))
        airflow = LocalAirflow(folder / "airflow", settings)
        before = dict(os.environ)
        try:
            with airflow.running():
                airflow.unpause([f"{ARCHIVE}_ingest", f"{ARCHIVE}_compute"])
                os.environ.update(airflow.environment)
                for period in [*periods, MEASURED]:
                    run_backfill(Catalog(settings).get(ARCHIVE), Request(period), Progress()).raise_failures(
                        Lake(settings)
                    )
        finally:
            os.environ.clear()
            os.environ.update(before)
        with sqlite3.connect(folder / "airflow" / "airflow.db") as database:
            tasks = database.execute(_TASKS, (MEASURED,)).fetchall()
        found = Lake(settings).query(_STEPS)
        return _split(tasks, {step: (seconds, checking) for step, seconds, checking in _steps(found.rows)})


def _steps(published: list[tuple[Any, ...]]) -> list[tuple[str, float, float]]:
    return [(step, seconds, json.loads(details)["seconds"]["checking"]) for step, _, seconds, details in published]


def _split(tasks: list[tuple[str, ...]], steps: dict[str, tuple[float, float]]) -> list[dict[str, Any]]:
    table: list[dict[str, Any]] = []
    free = _time(tasks[0][1])  # when the next task could have started
    for task, _, start, end in tasks:
        seconds, checking = steps.get(task, (0.0, 0.0))
        whole = (_time(end) - _time(start)).total_seconds()
        table.append({
            "task": task,
            "airflow": (_time(start) - free).total_seconds(),
            "start": whole - seconds,
            "spark": seconds - checking,
            "quality": checking,
        })  # fmt: skip
        free = _time(end)
    for row in table:
        row["all"] = sum(value for key, value in row.items() if key != "task")
    table.append({"task": "all", **{key: sum(row[key] for row in table) for key in table[0] if key != "task"}})
    return [{key: round(value, 1) if key != "task" else value for key, value in row.items()} for row in table]


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)

"""Which DAGs there are, and that parsing them costs little. No scheduler here."""

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from skyarchive.orchestration.local_airflow import LocalAirflow
from skyarchive.settings import Settings, load_settings

DAGS = Path(__file__).resolve().parents[2] / "dags"
PARSE = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
bag = DagBag(sys.argv[1])
json.dump({
    "dags": {
        dag_id: {task.task_id: sorted(task.downstream_task_ids) for task in dag.tasks}
        for dag_id, dag in bag.dags.items()
    },
    "errors": bag.import_errors,
    "heavy": sorted({"pyspark", "pandas", "great_expectations", "numba", "deltalake", "duckdb"} & set(sys.modules)),
    "pools": sorted({task.pool for dag in bag.dags.values() for task in dag.tasks}),
    "documented": all(task.doc_md for dag in bag.dags.values() for task in dag.tasks),
}, sys.stdout)
"""
ARCHIVE_TASKS: dict[str, dict[str, list[str]]] = {
    "ingest": {
        "ingest": ["derive", "external", "uncertain", "windows"],
        "derive": [],
        "external": [],
        "uncertain": [],
        "windows": [],
    },
    "compute": {"skyline": ["frequent"], "frequent": ["refresh"], "refresh": []},
}
"""What follows on what: a task waits for those that its step stands on, and no other."""
BUILT_IN = ["nba", "stocks", "synthetic", "tcp"]


def parsed(folder: Path, **settings: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", PARSE, str(DAGS)],
        capture_output=True, text=True, check=False, cwd=folder,
        env=os.environ | {"AIRFLOW_HOME": str(folder), "AIRFLOW__CORE__UNIT_TEST_MODE": "False"} | settings,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])  # what Airflow says of broken definitions comes before it


def _asked_by(archive: str, tasks: dict[str, list[str]]) -> dict[str, list[str]]:
    """Those that an archive's definition asks for: points on a random walk are as certain as can be."""
    unasked = {"uncertain"} if archive == "synthetic" else set()
    return {task: [it for it in after if it not in unasked] for task, after in tasks.items() if task not in unasked}


def ids(*archives: str) -> set[str]:
    return {f"{name}_{kind}" for name in archives for kind in ARCHIVE_TASKS}


def test_the_dags_of_the_archives_and_two_for_all(tmp_path: Path) -> None:
    found = parsed(tmp_path)
    assert found["errors"] == {}
    assert set(found["dags"]) == ids(*BUILT_IN) | {"skyarchive_maintenance", "skyarchive_audit"}
    for name in BUILT_IN:
        for kind, tasks in ARCHIVE_TASKS.items():
            assert found["dags"][f"{name}_{kind}"] == _asked_by(name, tasks)
    assert sorted(found["dags"]["skyarchive_maintenance"]) == sorted(found["dags"]["skyarchive_audit"]) == BUILT_IN
    assert found["pools"] == ["default_pool", *(f"skyarchive_{name}" for name in BUILT_IN)]
    assert found["documented"]
    assert found["heavy"] == []


def settings_of_a_private_airflow(home: Path, elsewhere: Path, patch: pytest.MonkeyPatch) -> dict[str, str]:
    """What its file tells a shell without settings, in another working folder."""
    for _ in range(2):  # its writer may have read the file before: then nothing is new to it
        file = LocalAirflow(home, load_settings()).write_environment()
        read = subprocess.run(
            ["env", "-i", "sh", "-c", f". {file} && env -0"], capture_output=True, check=True, cwd=elsewhere
        )
        told = dict(line.split("=", 1) for line in read.stdout.decode().split("\0") if line)
        for name, value in told.items():
            patch.setenv(name, value)
    return told


def test_a_new_definition_makes_its_dags_and_a_broken_one_names_the_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archives, elsewhere = tmp_path / "archives", tmp_path / "elsewhere"
    archives.mkdir()
    elsewhere.mkdir()
    good = (DAGS.parent / "schemas" / "archives" / "stocks.yaml").read_text("utf-8")
    (archives / "bonds.yaml").write_text(good.replace("name: stocks", "name: bonds"), "utf-8")
    (archives / "funds.yaml").write_text(
        good.replace("name: stocks", "name: funds").replace("better: lower", "better: smaller"), "utf-8"
    )
    monkeypatch.chdir(tmp_path)
    for name in ("archives", "raw", "warehouse"):  # as the README has it
        monkeypatch.setenv(f"SKYARCHIVE_{name.upper()}", name)
    settings = settings_of_a_private_airflow(tmp_path / "airflow", elsewhere, monkeypatch)
    assert {f"SKYARCHIVE_{field.name.upper()}" for field in fields(Settings)} <= set(settings)
    for name in ("archives", "raw", "warehouse"):
        assert settings[f"SKYARCHIVE_{name.upper()}"] == str(tmp_path / name)
    found = parsed(elsewhere, **settings)
    assert set(found["dags"]) == ids(*BUILT_IN, "bonds") | {"skyarchive_maintenance", "skyarchive_audit"}
    (file, error), *others = found["errors"].items()
    assert not others
    assert file.endswith("broken_definitions.py")
    assert "funds.yaml" in error and "attributes.beta.better" in error and "'lower' or 'higher'" in error

"""A further step is one package, one table and its suites: whatever runs, shows and schedules steps takes it along."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import toy
from conftest import Home
from skyarchive import settings, steps
from skyarchive.pipeline.step import names_of


@pytest.fixture
def with_toy(here: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An archive of two published periods, and a step that came after."""
    shutil.copytree(settings.schemas_folder(), here.folder / "package" / "schemas")
    toy.write_schemas(here.folder / "package" / "schemas")
    monkeypatch.setattr(settings, "_PACKAGE", here.folder / "package")
    monkeypatch.setattr(steps, "STEPS", (*steps.STEPS[:-1], toy.TOY, steps.STEPS[-1]))  # before a step beside it
    monkeypatch.setattr(toy, "REFUSED", set())
    return here


def told(home: Home) -> dict[str, tuple[str, str, int | None]]:
    rows = home.command("status", "synthetic", "--format", "json").rows
    return {row["period"]: (row["state"], row["why"], row["toys"]) for row in rows}


def published(home: Home) -> list[tuple[str, str, str]]:
    rows = home.sql("select step, period, run_id from synthetic.runs order by started, period")
    return [(row["step"], row["period"], row["run_id"]) for row in rows]


@pytest.mark.slow
def test_a_step_of_its_own_is_run_refused_refreshed_shown_and_queried(
    with_toy: Home, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = with_toy
    before = published(home)
    for period in ("00000", "00001"):
        assert told(home)[period] == ("unfinished", "toy has not run", None)

    # What does not stand on itself goes in one run; its neighbours stay as they are.
    assert home.command("refresh", "synthetic").code == 0
    new = published(home)[len(before) :]
    assert [(step, period) for step, period, _ in new] == [("toy", "00000"), ("toy", "00001")]
    assert len({run_id for _, _, run_id in new}) == 1
    expected = home.sql("select period, object, count(*) as moves from synthetic.updates group by all order by all")
    assert home.sql("select * from synthetic.toy order by all") == expected
    for period in ("00000", "00001"):
        assert told(home)[period] == ("current", "", sum(row["period"] == period for row in expected))
    judged = home.sql("select distinct expectation from synthetic.quality where table_name = 'toy'")
    assert {row["expectation"] for row in judged} == {"somebody moved", "object is not null", "moves >= 1"}
    assert home.command("history", "synthetic.toy").code == 0

    # What it refuses stops nothing beside it.
    toy.REFUSED.add("00002")
    ran = home.command("run", "synthetic", "--periods", "00002")
    assert ran.code == 1 and "it is a toy, and broken" in ran.err and "external published 00002." in ran.err
    state, why, _ = told(home)["00002"]
    assert state == "refused" and "it is a toy, and broken" in why

    # Nor in a refresh: the other periods are computed in the new way, and this one when it can be.
    monkeypatch.setattr(steps, "STEPS", (*steps.STEPS[:-2], replace(toy.TOY, version=2), steps.STEPS[-1]))
    assert told(home)["00000"][:2] == ("stale", "toy is computed in another way since")
    before = published(home)
    again = home.command("refresh", "synthetic")
    assert again.code == 1 and "it is a toy, and broken" in again.err
    assert [(step, period) for step, period, _ in published(home)[len(before) :]] == [
        ("toy", "00000"),
        ("toy", "00001"),
    ]
    toy.REFUSED.clear()
    assert home.command("refresh", "synthetic").code == 0
    assert {state for state, _, _ in told(home).values()} == {"current"}


def test_it_is_drawn_into_the_dag_where_what_it_stands_on_is_handed_over(with_toy: Home, tmp_path: Path) -> None:
    dags = pytest.importorskip("skyarchive.orchestration.dags")
    definition = with_toy.workshop("synthetic").definition
    assert "toy" in names_of(definition)
    compute = dags.compute_dag(definition)
    assert compute.get_task("toy").upstream_task_ids == set()
    assert compute.get_task("toy").downstream_task_ids == {"refresh"}
    assert "synthetic.toy" in compute.get_task("toy").doc_md
    assert "toy" not in dags.ingest_dag(definition).task_ids

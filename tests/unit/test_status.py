"""Every period's state, told from the log and the raw files."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from skyarchive.definition.frequent import Query
from skyarchive.pipeline.look import Look
from skyarchive.pipeline.status import PeriodStatus, StepState
from skyarchive.steps.frequent.step import looked_into
from skyarchive.steps.ingest.inventory import Inventory
from skyarchive.steps.ingest.reading.files import files_fingerprint
from skyarchive.steps.ingest.step import INGEST
from skyarchive.store.lake import Lake
from world import WINDOW, World

CURRENT = ("current", "")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Three periods, run one after the other."""
    world = World(tmp_path)
    for period, before in (("2010", None), ("2011", "2010"), ("2012", "2011")):
        world.put(period)
        world.ingest(period)
        world.derive(period, before)
        world.skyline(period)
        world.frequent(period)
    return world


def test_an_archive_without_anything_has_no_periods(tmp_path: Path) -> None:
    assert World(tmp_path).all() == {}


def test_what_ran_to_the_end_is_current_with_its_counts(world: World) -> None:
    assert world.told() == dict.fromkeys(["2010", "2011", "2012"], CURRENT)
    assert world.all()["2011"].counts == {
        "raw_rows": 90, "refused": 10, "snapshots": 7, "updates": 90, "intervals": 90,
        "frequent": 90, "external": None, "windows": None, "uncertain": None, "no_probability": None,
        "raw_version": 1, "updates_version": 1, "skyline_version": 1,
    }  # fmt: skip


def test_raw_files_alone_are_absent_and_ingested_alone_is_unfinished(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.put("2010")
    assert world.told() == {"2010": ("absent", "raw files are there; nothing is ingested")}
    assert set(world.all()["2010"].counts.values()) == {None}
    world.ingest("2010")
    assert world.told() == {"2010": ("unfinished", "derive has not run; skyline has not run; frequent has not run")}


def test_a_changed_raw_file_makes_its_period_and_the_later_ones_stale(world: World) -> None:
    world.put("2011", "corrected")
    assert world.told() == {
        "2010": CURRENT,
        "2011": ("stale", "raw files changed since it was ingested"),
        "2012": ("stale", "it follows 2011, which is stale"),
    }


def test_raw_files_cleared_away_change_nothing(world: World) -> None:
    world.clear("2011")
    assert world.told() == dict.fromkeys(["2010", "2011", "2012"], CURRENT)


def test_other_raw_rows_make_the_derivation_stale_until_it_ran_again(world: World) -> None:
    world.ingest("2010", "other rows")
    assert world.told()["2010"] == ("stale", "its raw rows changed")
    assert [world.told()[later][0] for later in ("2011", "2012")] == ["stale", "stale"]
    world.derive("2010", end="another end")
    assert world.told() == {
        "2010": CURRENT,
        "2011": ("stale", "2010 now ends with something else"),
        "2012": ("stale", "it follows 2011, which is stale"),
    }
    world.derive("2011", "2010")
    assert world.told()["2011"] == ("stale", "its updates changed, or what they start from")
    world.skyline("2011")
    assert world.told() == dict.fromkeys(["2010", "2011", "2012"], CURRENT)


def test_the_same_rows_and_the_same_end_stop_at_once(world: World) -> None:
    world.ingest("2010", "other rows")
    world.derive("2010")
    assert world.told() == dict.fromkeys(["2010", "2011", "2012"], CURRENT)


def test_other_updates_make_the_skylines_stale_until_they_are_computed_again(world: World) -> None:
    world.derive("2010", updates="others")
    assert world.told()["2010"] == ("stale", "its updates changed, or what they start from")
    world.skyline("2010")
    assert world.told() == dict.fromkeys(["2010", "2011", "2012"], CURRENT)


def test_other_skylines_make_frequent_stale_as_far_as_windows_reach(world: World) -> None:
    world.skyline("2010", "others")
    assert world.told() == {
        "2010": ("stale", "its skylines changed"),
        "2011": ("stale", "it looks back into 2010, whose skylines changed"),
        "2012": CURRENT,
    }
    world.frequent("2010")
    assert world.told()["2011"][0] == "stale"
    world.frequent("2011")
    assert world.told() == dict.fromkeys(["2010", "2011", "2012"], CURRENT)


def test_the_same_skylines_again_leave_frequent_as_it_is(world: World) -> None:
    world.derive("2010", updates="others")
    assert world.told()["2011"] == ("stale", "it looks back into 2010, which is stale")
    world.skyline("2010")
    assert world.told() == dict.fromkeys(["2010", "2011", "2012"], CURRENT)


@pytest.mark.parametrize(
    ("window", "reached"), [(1, ["2011"]), (7, ["2011"]), (8, ["2010", "2011"]), (99, ["2010", "2011"])]
)
def test_windows_reach_back_as_many_periods_as_they_span(window: int, reached: list[str], world: World) -> None:
    definition = world.definition.model_copy(
        update={"frequent": [Query.model_validate({"theta": 1, "window": length}) for length in (1, window)]}
    )
    look = Look.read(Lake(world.settings), definition)
    assert looked_into(look, "2012") == reached
    assert looked_into(look, "2010") == []


def test_other_queries_make_only_frequent_stale(world: World) -> None:
    other = [Query.model_validate({"theta": "0.6", "window": WINDOW})]
    world.definition = world.definition.model_copy(update={"frequent": other})
    steps = world.all()["2011"].steps
    assert {step: state.state for step, state in steps.items()} == {
        "ingest": "current", "derive": "current", "skyline": "current", "frequent": "stale",
    }  # fmt: skip
    assert "definition changed" in steps["frequent"].why
    world.definition = world.definition.model_copy(update={"frequent": []})
    assert world.told() == dict.fromkeys(["2010", "2011", "2012"], CURRENT)


def test_an_earlier_period_that_comes_late_is_where_the_next_must_start(world: World) -> None:
    world.put("2009")
    assert world.told()["2009"][0] == "absent" and world.told()["2010"] == CURRENT
    world.ingest("2009")
    assert world.told()["2010"] == ("stale", "it must start from 2009, which is not derived")
    world.derive("2009")
    assert world.told()["2010"] == ("stale", "2009 now ends with something else")


@pytest.mark.parametrize(
    ("change", "states"),
    [
        ({"title": "Other"}, ("current", "current")),
        ({"counts": "minutes > 5"}, ("current", "stale")),
        ({"max_refused_share": 0.5}, ("current", "current")),
    ],
)
def test_a_changed_definition_makes_the_steps_stale_that_depend_on_it(
    change: dict[str, Any], states: tuple[str, str], world: World
) -> None:
    world.definition = world.definition.model_copy(update=change)
    steps = world.all()["2010"].steps
    assert (steps["ingest"].state, steps["derive"].state) == states
    assert all("definition changed" in step.why for step in steps.values() if step.state == "stale")


@pytest.mark.parametrize("step", ["ingest", "derive", "skyline", "frequent"])
def test_a_killed_run_is_unfinished_and_the_others_stay(step: str, world: World) -> None:
    world.commit(step, "2011")
    told = world.told()
    assert told["2011"][0] == "unfinished" and told["2011"][1].startswith(f"{step} stopped in the middle")
    assert told["2010"] == told["2012"] == CURRENT
    assert world.all()["2011"].counts["raw_version"] == 1


def test_a_killed_first_run_is_unfinished(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.commit("ingest", "2010")
    assert world.told()["2010"][0] == "unfinished"


@pytest.mark.parametrize(
    ("ingest", "derive", "whole"),
    [
        ("current", "current", "current"), ("current", "stale", "stale"), ("stale", "current", "stale"),
        ("current", "absent", "unfinished"), ("stale", "unfinished", "unfinished"), ("absent", "absent", "absent"),
    ],
)  # fmt: skip
def test_a_period_is_what_keeps_it_from_being_current(ingest: Any, derive: Any, whole: str) -> None:
    steps = {"ingest": StepState(ingest, "one"), "derive": StepState(derive, "two")}
    assert PeriodStatus("nba", "2010", steps).state == whole


def test_a_file_that_lost_the_rows_of_a_period_is_told(world: World) -> None:
    definition = world.definition
    folder = world.settings.raw_folder / "nba"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "all.parquet").write_text("of two seasons")
    inventory = Inventory.read(Lake(world.settings), world.settings, definition)
    (file,) = [file for file in inventory.files if file.name == "all.parquet"]
    inputs = {"files": files_fingerprint([file]), "definition": INGEST.definition_print(definition)}
    published: Any = SimpleNamespace(period="1990", input_fingerprints=inputs, details={"files": ["all.parquet"]})
    for held, why in (({"1990": 1}, ""), ({"1991": 1}, "holds no rows of it any more")):
        inventory.keep(file, held)
        told = inventory.why_stale(published)
        assert bool(told) == bool(why) and told.endswith(why)

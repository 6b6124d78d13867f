"""Which steps a change of a definition concerns: what each one uses, as it was written, and nothing else."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from skyarchive import steps
from skyarchive.definition import model
from skyarchive.definition.catalog import Catalog, load_definition
from skyarchive.definition.model import Definition
from skyarchive.pipeline.look import VERSION, Look
from skyarchive.pipeline.step import Step, all_steps, steps_of
from skyarchive.settings import Settings, schemas_folder
from skyarchive.steps.derive import step as deriving
from world import World

ARCHIVES = ("nba", "stocks", "tcp", "synthetic")


def written(archive: str, change: Callable[[dict[str, Any]], object], folder: Path) -> Definition:
    """The built-in definition as somebody changed it."""
    content = yaml.safe_load((schemas_folder() / "archives" / f"{archive}.yaml").read_text("utf-8"))
    change(content)
    path = folder / f"{archive}.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")
    return load_definition(path)


def concerned(archive: str, change: Callable[[dict[str, Any]], object], folder: Path) -> set[str]:
    before, after = written(archive, lambda content: None, folder), written(archive, change, folder)
    known = {step.name: step for step in (*steps_of(before), *steps_of(after))}
    return {
        name
        for name, step in known.items()
        if not step.asked(before) or not step.asked(after)
        or step.definition_print(before) != step.definition_print(after)
    }  # fmt: skip


def turned(attributes: dict[str, Any], name: str) -> None:
    attributes[name]["better"] = "lower" if attributes[name]["better"] == "higher" else "higher"


CHANGES: dict[str, tuple[str, Callable[[dict[str, Any]], object], set[str]]] = {
    "title": ("nba", lambda it: it.update(title="Other"), set()),
    "schedule": ("stocks", lambda it: it.update(schedule={"cron": "0 7 3 1 *", "key": "%Y", "offset": -1}), set()),
    "share that may be refused": ("nba", lambda it: it.update(max_refused_share=0.5), set()),
    "reason of a refusal": ("stocks", lambda it: it["refuse"][0].update(reason="no price"), {"ingest"}),
    "condition of a refusal": ("stocks", lambda it: it["refuse"][0].update(when="close < 0"), {"ingest"}),
    "column that nobody reads": ("tcp", lambda it: it["columns"].pop("tunnel_parents"), {"ingest"}),
    "bound of a column": ("nba", lambda it: it["columns"]["minutes"].update(max=90), {"ingest"}),
    "rows that count": (
        "nba", lambda it: it.update(counts="minutes > 5"), {"derive", "external", "windows", "uncertain"},
    ),
    "window of a method": ("stocks", lambda it: it["derive"].update(window=100), {"derive"}),
    "ratio of an attribute": (
        "nba", lambda it: it["attributes"]["points_per_minute"].update(ratio=["rebounds", "minutes"]), {"derive"},
    ),
    "way of an attribute": ("nba", lambda it: turned(it["attributes"], "points_per_minute"), {"skyline"}),
    "way of a record's attribute": ("nba", lambda it: turned(it["external"]["attributes"], "points"), {"external"}),
    "way of a window's attribute": (
        "stocks", lambda it: turned(it["windows"][0]["attributes"], "volume"), {"windows"},
    ),
    "one more window": (
        "tcp",
        lambda it: it["windows"].append({"name": "b", "last": "5 days", "attributes": {"ts": {"better": "lower"}}}),
        {"windows"},
    ),
    "how probable records are": (
        "tcp", lambda it: it["uncertain"][0].update(probability="0.5"), {"uncertain"},
    ),
    "one more threshold": ("nba", lambda it: it["uncertain"][0]["thresholds"].append(0.7), {"uncertain"}),
    "how many are shown": ("nba", lambda it: it["uncertain"][0].update(top=5), set()),
    "no windows": ("stocks", lambda it: it.pop("windows"), {"windows"}),
    "what orders snapshots": (
        "nba", lambda it: it["derive"]["order"].update(by=["game_id"]), {"derive", "windows", "uncertain"},
    ),
    "other queries": ("nba", lambda it: it.update(frequent=[{"theta": 0.4, "window": 12}]), {"frequent"}),
    "no queries": ("nba", lambda it: it.pop("frequent"), {"frequent"}),
    "a query where there was none": ("synthetic", lambda it: it.update(external=None), {"external"}),
}  # fmt: skip


@pytest.mark.parametrize(("archive", "change", "told"), CHANGES.values(), ids=CHANGES)
def test_a_change_concerns_the_steps_that_use_it(
    archive: str, change: Callable[[dict[str, Any]], object], told: set[str], tmp_path: Path
) -> None:
    assert concerned(archive, change, tmp_path) == told


@pytest.mark.parametrize("archive", ARCHIVES)
def test_what_is_written_out_as_it_is_by_default_concerns_nobody(archive: str) -> None:
    before = Catalog(Settings(raw="no such folder")).get(archive)
    spelled_out = Definition.model_validate(before.model_dump(mode="json"))
    for step in steps_of(before):
        assert step.definition_print(spelled_out) == step.definition_print(before)


def test_a_field_that_comes_with_a_default_concerns_nobody() -> None:
    class Grown(Definition):
        remark: str = "nothing"

    content = Catalog(Settings(raw="no such folder")).get("nba").model_dump(mode="json")
    before, after = Definition.model_validate(content), Grown.model_validate(content)
    assert after.remark and isinstance(after, model.Definition)
    for step in steps_of(before):
        assert step.definition_print(after) == step.definition_print(before)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two seasons, everything published."""
    told = World(tmp_path)
    for before, period in ((None, "2010"), ("2010", "2011")):
        told.put(period)
        told.ingest(period)
        told.derive(period, before)
        told.skyline(period)
        told.frequent(period)
    return told


def states(world: World, period: str = "2010") -> dict[str, str]:
    return {name: step.state for name, step in world.all()[period].steps.items()}


def test_a_column_that_nobody_reads_is_dropped_and_what_stands_on_the_others_stays(world: World) -> None:
    unused = next(name for name in world.definition.columns if name not in deriving.columns_read(world.definition))
    columns = {name: spec for name, spec in world.definition.columns.items() if name != unused}
    world.definition = world.definition.model_copy(update={"columns": columns})
    assert states(world)["ingest"] == "stale"
    outputs = {"raw": "without it"} | {f"raw.{name}": "rows" for name in columns}
    world.publish_ingested("2010", outputs)
    assert set(states(world).values()) == {"current"}
    world.publish_ingested("2010", outputs | {"raw.minutes": "others"})
    assert states(world)["derive"] == "stale" and "raw rows changed" in world.told()["2010"][1]


def test_a_step_that_is_computed_in_another_way_makes_its_results_stale(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    _raise_version(monkeypatch, "skyline")
    assert states(world) == {"ingest": "current", "derive": "current", "skyline": "stale", "frequent": "stale"}
    assert world.all()["2010"].steps["skyline"].why == "skyline is computed in another way since"


def _raise_version(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    raised = tuple(replace(step, version=step.version + 1) if step.name == name else step for step in all_steps())
    monkeypatch.setattr(steps, "STEPS", raised)


def test_results_from_before_steps_had_versions_are_stale_and_say_so(world: World) -> None:
    for by_period in world.ledger.by_step.values():
        for published in by_period.values():
            published.input_fingerprints.pop(VERSION, None)
    look = Look(world.definition, world.ledger)
    assert not any(look.is_as_asked(step, "2010") for step in look.steps)


def test_a_step_that_is_asked_for_first_has_not_run_and_its_neighbours_stay(world: World) -> None:
    external = Catalog(Settings(raw="no such folder")).get("nba").external
    world.definition = world.definition.model_copy(update={"external": external})
    assert states(world) == {
        "ingest": "current", "derive": "current", "skyline": "current", "frequent": "current", "external": "absent",
    }  # fmt: skip
    assert world.told()["2010"] == ("unfinished", "external has not run")


def test_every_step_says_what_it_uses_of_every_archive() -> None:
    for archive in ARCHIVES:
        definition = Catalog(Settings(raw="no such folder")).get(archive)
        prints = {step.name: step.definition_print(definition) for step in steps_of(definition)}
        assert len(set(prints.values())) == len(prints)


def test_steps_come_after_those_they_stand_on() -> None:
    known: list[str] = []
    for step in all_steps():
        assert {need.step for need in step.needs} <= {*known, step.name}
        known.append(step.name)


def test_columns_that_are_read_are_columns_of_raw_rows() -> None:
    def read(step: Step, definition: Definition) -> set[str]:
        return {name for need in step.needs if need.columns for name in need.columns(definition)}

    for archive in ARCHIVES:
        definition = Catalog(Settings(raw="no such folder")).get(archive)
        there = {*definition.columns, *definition.derive.reader_columns}
        for step in steps_of(definition):
            assert read(step, definition) <= there

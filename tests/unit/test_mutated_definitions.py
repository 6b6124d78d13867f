"""Definitions with something changed at random: each can be used, or is refused with its file and a field."""

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from skyarchive.definition.catalog import load_definition
from skyarchive.definition.model import Definition
from skyarchive.errors import DefinitionError
from skyarchive.pipeline.step import steps_of
from skyarchive.settings import schemas_folder
from skyarchive.store.contracts import table_contract, table_names

BUILT_IN = sorted((schemas_folder() / "archives").glob("*.yaml"))
MINE = """
name: mine
title: Mine
source: {format: csv, delimiter: ";", period_in_name: '(\\d+)', missing: ["", "-"]}
period: {column: step, by: block, size: 100}
schedule: {cron: "0 6 1 7 *", key: "%Y", offset: -1}
columns:
  step: {type: bigint, required: true}
  who: {type: string}
  grade: {type: string}
  x: {type: double, min: 0, max: 5}
  gone: {type: boolean}
check_only: x > 0
refuse: [{when: x < 0, reason: r}]
unique: [step, who]
counts: step > 1
object: {column: who, name: grade}
derive: {method: updates, order: {by: [step], start: "2000-01-01T00:00:00Z", step_seconds: 2, label: grade}, gone: gone}
attributes: {x: {better: lower}}
max_refused_share: 0.1
frequent: [{theta: 0.8, window: 30}]
external:
  attributes: {x: {better: lower}, y: {better: higher, value: x / 2}, grade: {better: {order: [[A, B], [A, C]]}}}
  group: [who, x > 1]
windows:
- {name: a, last: 30 records, attributes: {x: {better: lower}, y: {better: higher, value: x / 2}}, where: x < 4}
- {name: b, last: 1.5 hours, attributes: {x: {better: lower}}, group: [grade]}
"""
ODD: list[Any] = [
    None, True, False, 0, -1, 1, 10**30, -(10**30), 10**400, 1.5, float("inf"), float("-inf"), float("nan"), 1e308, "",
    " ",
    "x", "X", "null", "true", "1", "é", "\x00", "a\nb", "x" * 5000, "x; drop table t", "../../etc", "%Y", "(", "[", "*",
    "2014-06-15", [], [[]], [None], ["x"], ["x", "x"], [1, 2], ["x"] * 20, {}, {"x": {}}, {"x": None}, {"": ""}, {1: 2},
    {None: None}, {"better": "lower"}, {"type": "int"}, {"method": "updates"}, {"order": []},
    {"order": [["a", "b"], ["b", "a"]]},
    yaml.safe_load("2014-06-15"), yaml.safe_load("2014-06-15 10:00:00"), b"x", {"x", "y"},
]  # fmt: skip


def places_in(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value in a definition."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in pairs for place in [(*way, key), *places_in(inner, (*way, key))]]


def mutated(content: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """One or two values replaced, left out, added, or put elsewhere."""
    for _ in range(chance.choice([1, 1, 2])):
        places = places_in(content)
        *way, key = chance.choice(places)
        inner: Any = content
        for part in way:
            inner = inner[part]
        other: Any = content
        for part in chance.choice(places):
            other = other[part]
        odd = yaml.safe_load(yaml.safe_dump(chance.choice([*ODD, other])))
        match chance.choice(["replace", "replace", "remove", "add"]):
            case "replace":
                inner[key] = odd
            case "remove":
                del inner[key]
            case "add" if isinstance(inner, dict):
                inner[chance.choice(["x", "zz", "min", "size", "group", "file", 7, None, True, 2.5, ""])] = odd
            case _:
                inner.append(odd) if isinstance(inner, list) else None
    return content


def mutated_text(text: str, chance: random.Random) -> str:
    """Some characters changed, or lines left out or twice."""
    for _ in range(chance.choice([1, 1, 2, 3])):
        start = chance.randrange(len(text))
        end = start + chance.choice([0, 1, 1, 5, 40])
        text = text[:start] + chance.choice(["", text[start:end] * 2, *"[]{}:,-&*!|>'\"#%@`\t\n 0x\x07é"]) + text[end:]
    return text


def use(definition: Definition) -> None:
    """What needs no table."""
    assert definition.record_key is not None
    assert all(step.definition_print(definition) for step in steps_of(definition))
    assert definition.timing is None or definition.timing.cron
    for table in table_names():
        assert table_contract(definition, table).delta_schema


def tried(folder: Path, seed: int) -> bool:
    """Whether a mutated definition is refused, in which case it is with a good sentence."""
    chance = random.Random(seed)
    source = chance.choice([*BUILT_IN, None])
    text = source.read_text("utf-8") if source else MINE
    path = folder / (source.name if source else "mine.yaml")
    if chance.random() < 0.3:
        path.write_text(mutated_text(text, chance), encoding="utf-8")
    else:
        path.write_text(yaml.safe_dump(mutated(yaml.safe_load(text), chance), sort_keys=False), encoding="utf-8")
    try:
        use(load_definition(path))
    except DefinitionError as error:
        said = str(error).removeprefix(str(path))
        assert said != str(error) and len(said) < 4000 and said.count("\n") < 3, (seed, said)
        fields = [
            *Definition.model_fields,
            "an archive definition is a mapping",
            "line ",
            "archive name",
            "YAML",
            "Keys should",
        ]
        assert any(field in said for field in fields), (seed, said)
        return True
    return False


def test_a_mutated_definition_can_be_used_or_is_refused_with_file_and_field(tmp_path: Path) -> None:
    refused = sum(tried(tmp_path, seed) for seed in range(100))
    assert 30 < refused < 95


@pytest.mark.thorough
def test_many_mutated_definitions_can_be_used_or_are_refused(tmp_path: Path) -> None:
    first = random.randrange(10**6)
    print(f"seeds from {first}")
    for seed in range(first, first + 10_000):
        tried(tmp_path, seed)

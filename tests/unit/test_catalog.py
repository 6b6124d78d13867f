"""Finding and loading archive definitions."""

from pathlib import Path

import pytest

from skyarchive.definition.catalog import Catalog, load_definition
from skyarchive.definition.model import Definition
from skyarchive.errors import DefinitionError, SettingError
from skyarchive.settings import Settings
from skyarchive.yaml_files import read_yaml

BUILT_IN = ["nba", "stocks", "synthetic", "tcp"]
MINE = """\
name: mine
title: {title}
source: {{format: csv}}
period: {{column: day}}
columns: {{day: {{type: date}}, x: {{type: double}}, who: {{type: string}}}}
object: {{column: who}}
derive: {{method: snapshots, order: {{by: [day]}}}}
attributes: {{x: {{better: lower}}}}
"""


def definition(path: Path, title: str = "t", name: str = "mine") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MINE.format(title=title).replace("name: mine", f"name: {name}"), encoding="utf-8")
    return path


def catalog(tmp_path: Path, *folders: str) -> Catalog:
    named = ":".join(str(tmp_path / folder) for folder in folders)
    return Catalog(Settings(archives=named, raw=str(tmp_path / "raw")))


def test_the_built_in_ones_are_there_and_load(tmp_path: Path) -> None:
    assert catalog(tmp_path).names() == BUILT_IN
    assert [catalog(tmp_path).get(name).name for name in BUILT_IN] == BUILT_IN


def test_the_raw_files_own_definition_counts_before_that_of_a_folder(tmp_path: Path) -> None:
    definition(tmp_path / "a" / "mine.yaml", "from a")
    assert catalog(tmp_path, "a").names() == sorted([*BUILT_IN, "mine"])
    assert catalog(tmp_path, "a", "a", "a/../a").get("mine").title == "from a"
    definition(tmp_path / "raw" / "mine" / "archive.yaml", "from raw")
    assert catalog(tmp_path, "a").get("mine").title == "from raw"
    assert catalog(tmp_path).get("mine").title == "from raw"


def test_a_name_of_two_files_is_refused_until_one_has_another(tmp_path: Path) -> None:
    first = definition(tmp_path / "a" / "mine.yaml", "from a")
    second = definition(tmp_path / "b" / "mine.yaml", "from b")
    both = catalog(tmp_path, "a", "b")
    assert both.names() == sorted([*BUILT_IN, "mine"])
    with pytest.raises(DefinitionError) as refusal:
        both.get("mine")
    assert str(refusal.value).startswith(f"{second}: the name 'mine' is taken, by {first}: give the archive another")
    assert [str(fault) for fault in both.all()[1]] == [str(refusal.value)]
    definition(tmp_path / "raw" / "mine" / "archive.yaml", "from raw")
    assert both.get("mine").title == "from raw"


def test_the_name_of_a_built_in_one_is_taken_but_beside_the_raw_files(tmp_path: Path) -> None:
    path = definition(tmp_path / "a" / "nba.yaml", "another", name="nba")
    with pytest.raises(DefinitionError) as refusal:
        catalog(tmp_path, "a").get("nba")
    assert str(refusal.value).startswith(f"{path}: the name 'nba' is taken, by a built-in archive: give the archive")
    assert "as archive.yaml" in str(refusal.value) and catalog(tmp_path, "a").get("tcp").is_built_in
    definition(tmp_path / "raw" / "nba" / "archive.yaml", "another", name="nba")
    assert catalog(tmp_path, "a").get("nba").title == "another"


def test_what_replaces_a_built_in_one_is_none(tmp_path: Path) -> None:
    assert catalog(tmp_path).get("nba").is_built_in
    definition(tmp_path / "raw" / "nba" / "archive.yaml", "another", name="nba")
    assert not catalog(tmp_path).get("nba").is_built_in
    with pytest.raises(ValueError, match="is_built_in"):
        Definition.model_validate({"is_built_in": True})


def test_one_broken_definition_does_not_stand_in_the_others_way(tmp_path: Path) -> None:
    definition(tmp_path / "a" / "mine.yaml")
    (tmp_path / "a" / "broken.yaml").write_text("name: [", encoding="utf-8")
    assert "broken" in catalog(tmp_path, "a").names()
    assert catalog(tmp_path, "a").get("mine").name == "mine"
    with pytest.raises(DefinitionError, match=r"broken\.yaml, line"):
        catalog(tmp_path, "a").get("broken")


def test_an_archive_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError) as refusal:
        catalog(tmp_path).get("nab")
    assert "There is no archive 'nab'" in str(refusal.value)
    assert "nba, stocks, synthetic, tcp" in str(refusal.value) and "nab.yaml" in str(refusal.value)


@pytest.mark.parametrize("name", ["../../etc", "x'; drop table", "NBA", "", "nba/../tcp"])
def test_a_name_that_is_none_never_reaches_a_path(name: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="is not an archive name"):
        catalog(tmp_path).get(name)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="nowhere is not a folder; SKYARCHIVE_ARCHIVES"):
        catalog(tmp_path, "nowhere").names()


@pytest.mark.parametrize(
    ("file", "name", "words"),
    [
        ("a/yours.yaml", "mine", "name is 'mine', so the file must be mine.yaml"),
        ("raw/yours/archive.yaml", "mine", "name is 'mine', but it describes 'yours'"),
    ],
)
def test_a_definition_in_anothers_place_is_refused(file: str, name: str, words: str, tmp_path: Path) -> None:
    definition(tmp_path / file, name=name)
    (tmp_path / "a").mkdir(exist_ok=True)
    with pytest.raises(DefinitionError) as refusal:
        catalog(tmp_path, "a").get("yours")
    assert words in str(refusal.value) and file in str(refusal.value)


LAUGHS = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("attributes:\n  x: {better: lower}\n  x: {better: higher}\n", ["line 3", "'x' is there twice"]),
        ("a: {b: {c: 1, d: 2, c: 3}}\n", ["line 1", "'c' is there twice"]),
        ("name: a\ntitle: b\nname: c\n", ["line 3", "'name' is there twice"]),
        ("name: [a\ntitle: b\n", ["line 2"]),
        ("name: a\n\ttitle: b\n", ["line 2", "'\\t'"]),
        ("a: 1\n---\nb: 2\n", ["line 2", "another document"]),
        ("a: *nowhere\n", ["line 1", "nowhere"]),
        ("a: !!python/object/apply:os.system [id]\n", ["line 1", "could not determine a constructor"]),
        ("name: a\x01\n", ["is not YAML"]),
        (b"name: \xff\n", ["is not UTF-8 text"]),
        ("a: " + "[" * 3000 + "]" * 3000, ["line 1", "nested deeper than 30 levels"]),
        ("".join(f"{' ' * n}a:\n" for n in range(300)), ["line 30", "nested deeper than 30 levels"]),
        ("- " * 3000, ["line 1", "nested deeper than 30 levels"]),
        (LAUGHS, ["line 6", "more than 100000 values, aliases counted"]),
        (LAUGHS.replace("[", "{<<: [").replace("]", "]}"), ["more than 100000 values, aliases counted"]),
        ("a: &a [*a]\n", ["line 1", "an alias of what it stands in"]),
        ("# " + "x" * 1_000_001, ["is larger than 1000000 bytes"]),
        ("a: 2024-13-01\n", ["line 1", "'2024-13-01' is not a timestamp (month must be in 1..12"]),
        ("b: x\na: !!int x\n", ["line 2", "'x' is not a int"]),
        ("a: " + "9" * 5000, ["line 1", "is not a int"]),
    ],
)
def test_a_mistake_in_the_yaml_names_file_and_line(content: str | bytes, words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DefinitionError) as refusal:
        read_yaml(path)
    assert all(word in str(refusal.value) for word in [str(path), *words])


@pytest.mark.parametrize("content", ["{{name}}: x\n", "? [a, b]\n: c\n"])
def test_a_key_that_cannot_be_one_is_a_mistake_too(content: str, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(DefinitionError, match=r"mine\.yaml, line 1"):
        read_yaml(tmp_path / "mine.yaml")


def test_the_same_name_in_two_places_is_not_twice(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("a: {x: 1}\nb: {x: &two 2, y: *two}\n", encoding="utf-8")
    assert read_yaml(tmp_path / "x.yaml") == {"a": {"x": 1}, "b": {"x": 2, "y": 2}}


def test_a_mapping_can_start_from_another(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\n", encoding="utf-8")
    assert read_yaml(tmp_path / "x.yaml")["b"] == {"x": 3, "y": 2}


@pytest.mark.parametrize("content", ["", "- a\n", "just text\n", "3\n"])
def test_what_is_no_mapping_is_no_definition(content: str, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(DefinitionError, match=r"mine\.yaml: an archive definition is a mapping with `name`"):
        load_definition(tmp_path / "mine.yaml")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"none\.yaml cannot be read: No such file"):
        load_definition(tmp_path / "none.yaml")


@pytest.mark.parametrize("file", ["._mine.yaml", ".#mine.yaml", "My notes.yaml"])
def test_a_file_that_cannot_be_an_archive_is_none(file: str, tmp_path: Path) -> None:
    definition(tmp_path / "a" / "mine.yaml")
    (tmp_path / "a" / file).write_text("x", encoding="utf-8")
    assert catalog(tmp_path, "a").names() == sorted([*BUILT_IN, "mine"])

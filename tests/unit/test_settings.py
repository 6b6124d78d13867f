"""Settings: environment over skyarchive.toml over defaults, and what is no setting."""

import os
from pathlib import Path
from typing import Any

import pytest

from skyarchive.errors import SettingError
from skyarchive.settings import CONFIG_FILE, Settings, load_settings, schemas_folder


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder and no setting in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("SKYARCHIVE_")]:
        monkeypatch.delenv(name)


def config(text: str | bytes) -> Path:
    path = Path(CONFIG_FILE)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_defaults_hold_where_nothing_is_said() -> None:
    assert load_settings() == Settings()
    assert Settings().warehouse == "warehouse" and Settings().raw == "raw" and Settings().lock_wait == 600.0


@pytest.mark.parametrize(
    ("key", "in_file", "from_file", "in_env", "from_env"),
    [
        ("warehouse", "'tables'", "tables", "/other", "/other"),
        ("raw", "'files'", "files", "x", "x"),
        ("master", "'local[2]'", "local[2]", "sc://host:15002", "sc://host:15002"),
        ("lock_wait", "5", 5.0, "2.5", 2.5),
        ("lock_wait", "'7'", 7.0, "0", 0.0),
        ("archives", "['a', 'b']", os.pathsep.join("ab"), "c", "c"),
        ("archives", "'a'", "a", "", ""),
        ("jars", "'j'", "j", "k", "k"),
        ("log", "'a.log'", "a.log", "b.log", "b.log"),
        ("driver_memory", "'1g'", "1g", "2g", "2g"),
    ],
)
def test_environment_over_file_over_default(
    key: str, in_file: str, from_file: Any, in_env: str, from_env: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    config(f"{key} = {in_file}\n")
    assert getattr(load_settings(), key) == from_file != getattr(Settings(), key)
    monkeypatch.setenv(f"SKYARCHIVE_{key.upper()}", in_env)
    assert getattr(load_settings(), key) == from_env
    Path(CONFIG_FILE).unlink()
    assert getattr(load_settings(), key) == from_env


def test_the_environment_leaves_the_files_other_settings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    config("raw = 'files'\nwarehouse = 'tables'\n")
    monkeypatch.setenv("SKYARCHIVE_RAW", "elsewhere")
    assert (load_settings().raw, load_settings().warehouse) == ("elsewhere", "tables")


def test_a_file_can_be_named(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("raw = 'r'\n", encoding="utf-8")
    assert load_settings(other).raw == "r" and load_settings().raw == "raw"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wharehouse = 'x'", ["unknown setting 'wharehouse'", "warehouse", "lock_wait", "raw"]),
        ("[skyarchive]\nraw = 'x'", ["unknown setting 'skyarchive'"]),
        ("raw = 3", ["raw in", "3 is no path"]),
        ("raw = ''", ["raw in", "''"]),
        ("warehouse = ['a']", ["warehouse in", "no path"]),
        ("archives = 3", ["archives in", "3"]),
        ("lock_wait = 'soon'", ["lock_wait in", "'soon' is not a number of seconds"]),
        ("lock_wait = []", ["lock_wait in", "not a number of seconds"]),
        ("raw = 'a'\nraw = 'b'", ["is not valid TOML"]),
        ("raw = nothing", ["is not valid TOML"]),
        (b"raw = '\xff'", ["is not valid TOML"]),
    ],
)
def test_a_mistake_in_the_file_names_file_and_setting(text: str | bytes, words: list[str]) -> None:
    config(text)
    with pytest.raises(SettingError) as refusal:
        load_settings()
    assert all(word in str(refusal.value) for word in [CONFIG_FILE, *words])


@pytest.mark.parametrize(("name", "value"), [("LOCK_WAIT", "soon"), ("WAREHOUSE", ""), ("RAW", "")])
def test_a_mistake_in_the_environment_names_the_variable(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"SKYARCHIVE_{name}", value)
    with pytest.raises(SettingError, match=f"SKYARCHIVE_{name}: {value!r}"):
        load_settings()


@pytest.mark.parametrize("value", ["nan", "-1"])
def test_a_wait_that_is_no_length_of_time_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKYARCHIVE_LOCK_WAIT", value)
    with pytest.raises(SettingError, match="not a number of seconds"):
        load_settings()


def test_archive_folders_are_separated_like_path() -> None:
    assert Settings(archives="").archive_folders == []
    listed = os.pathsep.join(["/a", "", "b"])
    assert Settings(archives=listed).archive_folders == [Path("/a"), Path("b")]


@pytest.mark.parametrize(
    ("log", "warehouse", "file"),
    [
        ("a.log", "w", Path("w/a.log")),
        ("logs/a.log", "w", Path("logs/a.log")),
        ("/var/a.log", "w", Path("/var/a.log")),
        ("a.log", "s3://bucket/w", Path("a.log")),
    ],
)
def test_the_log_lies_in_the_warehouse_unless_it_is_a_path(log: str, warehouse: str, file: Path) -> None:
    assert Settings(log=log, warehouse=warehouse).log_file == file


def test_the_schemas_are_found_from_anywhere() -> None:
    assert (schemas_folder() / "archives" / "nba.yaml").is_file()
    assert (schemas_folder() / "tables" / "runs.yaml").is_file()

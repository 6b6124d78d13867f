"""Settings: environment over skyarchive.toml over defaults, and what is no setting."""

import errno
import os
from dataclasses import replace
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


def test_defaults_hold_where_nothing_is_said(tmp_path: Path) -> None:
    here = replace(Settings(), warehouse=f"{tmp_path}/warehouse", raw=f"{tmp_path}/raw")
    assert load_settings() == here and here.lock_wait == 600.0


@pytest.mark.parametrize(
    ("key", "in_file", "from_file", "in_env", "from_env"),
    [
        ("warehouse", "'tables'", "HERE/tables", "/other", "/other"),
        ("warehouse", "'s3://bucket/tables'", "s3://bucket/tables", "file:///other%20one", "/other one"),
        ("raw", "'files'", "HERE/files", "../x", "HERE/../x"),
        ("master", "'local[2]'", "local[2]", "sc://host:15002", "sc://host:15002"),
        ("lock_wait", "5", 5.0, "2.5", 2.5),
        ("lock_wait", "'7'", 7.0, "0", 0.0),
        ("archives", "['a', '/b']", "HERE/a:/b", "c::d/e", "HERE/c:HERE/d/e"),
        ("archives", "'a'", "HERE/a", "", ""),
        ("jars", "'j'", "HERE/j", "k", "HERE/k"),
        ("log", "'a.log'", "a.log", "b.log", "b.log"),
        ("log", "'logs/a.log'", "HERE/logs/a.log", "x/b.log", "HERE/x/b.log"),
        ("driver_memory", "'1g'", "1g", "2g", "2g"),
    ],
)
def test_environment_over_file_over_default(
    key: str, in_file: str, from_file: Any, in_env: str, from_env: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_file, from_env = (
        said.replace("HERE", str(tmp_path)) if isinstance(said, str) else said for said in (from_file, from_env)
    )
    config(f"{key} = {in_file}\n")
    assert getattr(load_settings(), key) == from_file != getattr(Settings(), key)
    monkeypatch.setenv(f"SKYARCHIVE_{key.upper()}", in_env)
    assert getattr(load_settings(), key) == from_env
    Path(CONFIG_FILE).unlink()
    assert getattr(load_settings(), key) == from_env


def test_folders_stay_where_they_were_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow, Spark and their workers are told the settings, and have other working folders."""
    monkeypatch.setenv("SKYARCHIVE_ARCHIVES", "archives")
    read = load_settings()
    monkeypatch.chdir("/")
    assert read.archive_folders == [tmp_path / "archives"]
    assert read.raw_folder == tmp_path / "raw" and read.log_file == tmp_path / "warehouse" / "skyarchive.log"


def test_a_working_folder_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(SettingError, match="working folder is no longer there"):
        load_settings()


def test_the_environment_leaves_the_files_other_settings_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config("raw = 'files'\nwarehouse = 'tables'\n")
    monkeypatch.setenv("SKYARCHIVE_RAW", "elsewhere")
    assert (load_settings().raw, load_settings().warehouse) == (f"{tmp_path}/elsewhere", f"{tmp_path}/tables")


def test_a_file_can_be_named(tmp_path: Path) -> None:
    other = tmp_path / "there" / "other.toml"
    other.parent.mkdir()
    other.write_text("raw = 'r'\n", encoding="utf-8")
    assert load_settings(other).raw == str(other.parent / "r")  # what a file says is seen from its folder
    assert load_settings(other).warehouse == str(tmp_path / "warehouse") and load_settings().raw == str(
        tmp_path / "raw"
    )


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


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "skyarchive.toml").touch()
    monkeypatch.chdir(tmp_path)

    def denied(*_: object, **__: object) -> str:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_text", denied)
    with pytest.raises(SettingError, match=r"skyarchive.toml cannot be read: Permission denied"):
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


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("master", "banana", "no Spark master: write local"),
        ("master", "local[0]", "no Spark master"),
        ("master", "spark//host:7077", "no Spark master"),
        ("driver_memory", "much", "no amount of memory: write 3g"),
        ("driver_memory", "0g", "no amount of memory"),
        ("part_updates", "9" * 30, "is not a number of updates from 1 to"),
    ],
)
def test_what_spark_would_refuse_when_half_started_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(f"SKYARCHIVE_{name.upper()}", value)
    with pytest.raises(SettingError, match=words) as told:
        load_settings()
    assert str(told.value).startswith(f"SKYARCHIVE_{name.upper()}: '{value}' is")


@pytest.mark.parametrize(
    "master",
    ["local", "local[2]", "local[*]", "local[2, 3]", "local-cluster[2,1,1024]", "spark://a:7077,b:7077",
     "sc://host:15002/;token=x", "yarn", "k8s://https://host:443"],
)  # fmt: skip
def test_masters_that_there_are(monkeypatch: pytest.MonkeyPatch, master: str) -> None:
    monkeypatch.setenv("SKYARCHIVE_MASTER", master)
    assert load_settings().master == master

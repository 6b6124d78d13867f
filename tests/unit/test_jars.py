"""The Delta jars, with a spark-submit that copies files from a folder instead of downloading them."""

import hashlib
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skyarchive import jars
from skyarchive.errors import SkyarchiveError
from skyarchive.settings import Settings, load_settings

CONTENT = {"a.jar": b"first", "b.jar": b"second"}

# Called like Spark's: finds spark.jars.ivy=... among its arguments, fills <ivy>/jars, counts its calls.
SUBMIT = """#!/bin/sh
echo call >>"{calls}"
for argument; do case $argument in spark.jars.ivy=*) ivy=${{argument#*=}} ;; esac; done
sleep 0.2
mkdir "$ivy/jars" && cp "{served}"/*.jar "$ivy/jars/"
"""


class Repository:
    """What the stand-in for Spark serves, and how often it was asked."""

    def __init__(self, folder: Path) -> None:
        self.served = folder / "served"
        self.served.mkdir()
        for name, content in CONTENT.items():
            (self.served / name).write_bytes(content)
        self.calls_file = folder / "calls"
        self.submit = folder / "spark" / "bin" / "spark-submit"
        self.submit.parent.mkdir(parents=True)
        self.answer(SUBMIT.format(calls=self.calls_file, served=self.served))

    def answer(self, script: str) -> None:
        self.submit.write_text(script)
        self.submit.chmod(0o755)

    @property
    def calls(self) -> int:
        return len(self.calls_file.read_text().splitlines()) if self.calls_file.exists() else 0


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    sums = tmp_path / "sums"
    sums.write_text("".join(f"{hashlib.sha256(c).hexdigest()}  {name}\n" for name, c in CONTENT.items()))
    monkeypatch.setattr(jars, "SUMS_FILE", sums)
    repository = Repository(tmp_path)
    monkeypatch.setattr(jars, "pyspark_home", lambda: repository.submit.parents[1])
    return repository


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".lock")}


def test_missing_jars_are_fetched_once(repository: Repository, tmp_path: Path) -> None:
    settings = Settings(jars=str(tmp_path / "new" / "jars"))
    found = jars.delta_jars(settings)
    assert [path.name for path in found] == list(CONTENT)
    assert content(tmp_path / "new" / "jars") == CONTENT
    assert jars.delta_jars(settings) == found
    assert repository.calls == 1


def corrupt(path: Path) -> None:
    path.write_bytes(b"not it")


@pytest.mark.parametrize("damage", [corrupt, Path.unlink])
def test_a_damaged_folder_is_mended(repository: Repository, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    folder = tmp_path / "jars"
    shutil.copytree(repository.served, folder)
    damage(folder / "b.jar")
    assert jars.faulty_jars(folder) == ["b.jar"]
    jars.delta_jars(Settings(jars=str(folder)))
    assert content(folder) == CONTENT


def test_a_wrong_sum_is_refused_and_nothing_installed(repository: Repository, tmp_path: Path) -> None:
    corrupt(repository.served / "b.jar")
    with pytest.raises(SkyarchiveError, match=r"b\.jar .* sha256"):
        jars.fetch_jars(tmp_path / "jars")
    assert content(tmp_path / "jars") == {}


def test_what_spark_said_is_shown_when_it_fails(repository: Repository, tmp_path: Path) -> None:
    repository.answer("#!/bin/sh\necho unresolved dependency >&2\nprintf '\\tat some.Class\\n'\nexit 1\n")
    with pytest.raises(SkyarchiveError, match=r"Java 17 or 21(.|\n)*unresolved dependency$"):
        jars.fetch_jars(tmp_path / "jars")
    assert content(tmp_path / "jars") == {}


def test_a_fetch_that_hangs_is_given_up(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jars, "FETCH_TIMEOUT", 0.1)
    repository.answer("#!/bin/sh\nexec sleep 60\n")
    with pytest.raises(SkyarchiveError, match="not fetched within"):
        jars.fetch_jars(tmp_path / "jars")


def test_what_a_killed_fetch_left_is_cleared(repository: Repository, tmp_path: Path) -> None:
    left = tmp_path / "jars" / ".ivy" / "jars"
    left.mkdir(parents=True)
    corrupt(left / "a.jar")
    jars.fetch_jars(tmp_path / "jars")
    assert content(tmp_path / "jars") == CONTENT


def test_several_at_once_fetch_once(repository: Repository, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(jars.fetch_jars, [tmp_path / "jars"] * 4))
    assert content(tmp_path / "jars") == CONTENT
    assert repository.calls == 1


def test_a_folder_that_cannot_be_is_explained(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SkyarchiveError, match=r"cannot be put into .*file/jars"):
        jars.delta_jars(Settings(jars=str(tmp_path / "file" / "jars")))


def test_without_pyspark_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "find_spec", lambda name: None)
    with pytest.raises(SkyarchiveError, match="pyspark is not installed"):
        jars.pyspark_home()


def test_the_command_reports_and_fails(
    repository: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SKYARCHIVE_JARS", str(tmp_path / "jars"))
    assert jars.main() == 0
    corrupt(repository.served / "a.jar")
    corrupt(tmp_path / "jars" / "a.jar")
    assert jars.main() == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err and "a.jar" in said.err


def test_set_up_left_the_pinned_jars() -> None:
    found = jars.delta_jars(load_settings())
    assert jars.COORDINATE.split(":")[1] in "".join(path.name for path in found)
    assert jars.pyspark_home().is_relative_to(sys.prefix)

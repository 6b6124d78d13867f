"""One Spark session for the whole test run, and a home of its own (raw files, warehouse) for every test."""

import io
import json
import shutil
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from doubts import DOUBTS
from places import PLACES, write_places
from shifts import SHIFTS, write_shifts
from skyarchive.answers.options import Verbosity
from skyarchive.cli import main
from skyarchive.definition.catalog import Catalog
from skyarchive.definition.selection import Selection
from skyarchive.generators import GenerateOptions, generate
from skyarchive.pipeline.running import run_steps
from skyarchive.pipeline.session import SHORT_LIVED_JVM, build_session
from skyarchive.pipeline.workshop import Workshop
from skyarchive.progress import Progress
from skyarchive.settings import Settings

SHORT_LIVED = {"JDK_JAVA_OPTIONS": SHORT_LIVED_JVM}
"""Environment of a JVM that ends soon: it must not compile as thoroughly as hours of work deserve."""
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("spark")
    session = build_session(Settings(warehouse=str(folder), master="local[2]", driver_memory="2g"))
    yield session
    session.stop()


@dataclass(frozen=True)
class Answer:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        return json.loads(self.out)


@dataclass
class Home:
    """A place to work: raw files, a warehouse, and the command line on them."""

    folder: Path
    settings: Settings

    @property
    def raw(self) -> Path:
        return self.settings.raw_folder

    def generate(self, archive: str, *periods: str, **options: Any) -> list[Path]:
        return generate(archive, self.raw / archive, GenerateOptions(periods=list(periods) or None, **options))

    def workshop(self, archive: str) -> Workshop:
        return Workshop(self.settings, Catalog(self.settings).get(archive), Progress(quiet=True))

    def command(self, *arguments: str) -> Answer:
        """`skyarchive ...` in this process, on this test's settings."""
        out, err = io.StringIO(), io.StringIO()
        Verbosity.on = False
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.setattr("sys.argv", ["skyarchive", *arguments])
            code = 0
            try:
                main()
            except SystemExit as ending:
                code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        return Answer(code, out.getvalue(), err.getvalue())

    def sql(self, statement: str) -> list[dict[str, Any]]:
        answer = self.command("sql", statement, "--format", "json")
        assert answer.code == 0, answer.err
        return answer.rows

    def states(self, archive: str) -> dict[str, str]:
        answer = self.command("status", archive, "--format", "json")
        assert answer.code == 0, answer.err
        return {row["period"]: row["state"] for row in answer.rows}

    def copy_raw(self, archive: str, files: list[Path]) -> None:
        target = self.raw / archive
        target.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy2(file, target / file.name)


def make_home(folder: Path) -> Home:
    settings = Settings(warehouse=str(folder / "warehouse"), raw=str(folder / "raw"), master="local[2]", lock_wait=5.0)
    return Home(folder, settings)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    place = make_home(tmp_path)
    for name in ("warehouse", "raw", "master", "lock_wait"):
        monkeypatch.setenv(f"SKYARCHIVE_{name.upper()}", str(getattr(place.settings, name)))
    monkeypatch.chdir(tmp_path)
    return place


@pytest.fixture(scope="session")
def points(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small synthetic archive of three blocks, its third not run yet."""
    home = make_home(tmp_path_factory.mktemp("points"))
    home.generate("synthetic", objects=50, snapshots=3000, moves=0.01, births=0.001, deaths=0.001, block=1000)
    workshop = home.workshop("synthetic")
    run_steps(workshop, Selection("00000..00001"), workshop.steps)
    return home.folder


@pytest.fixture
def here(home: Home, points: Path) -> Home:
    """A copy of it for one test."""
    shutil.copytree(points, home.folder, dirs_exist_ok=True)
    return home


@pytest.fixture(scope="session")
def places(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """An archive of four periods, run once, whose skylines and frequent objects are known by definition. Tests leave
    what it publishes as it is."""
    home = make_home(tmp_path_factory.mktemp("places"))
    definitions = home.folder / "definitions"
    definitions.mkdir()
    (definitions / "places.yaml").write_text(PLACES)
    home.settings = replace(home.settings, archives=str(definitions))
    write_places(home.raw / "places")
    workshop = home.workshop("places")
    outcomes = run_steps(workshop, Selection(), workshop.steps)
    assert [outcome.refused for outcome in outcomes] == [{}] * len(workshop.steps)
    return home


@pytest.fixture(scope="session")
def all_shifts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """An archive of five periods with windows, run once. Tests leave what it publishes as it is."""
    home = make_home(tmp_path_factory.mktemp("shifts"))
    definitions = home.folder / "definitions"
    definitions.mkdir()
    (definitions / "shifts.yaml").write_text(SHIFTS)
    home.settings = replace(home.settings, archives=str(definitions))
    write_shifts(home.raw / "shifts")
    workshop = home.workshop("shifts")
    outcomes = run_steps(workshop, Selection(), ["ingest", "windows"])
    assert [outcome.refused for outcome in outcomes] == [{}] * 2
    return home


@pytest.fixture(scope="session")
def all_doubts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """An archive of five periods whose records may be wrong, run once. Tests leave what it publishes as it is."""
    home = make_home(tmp_path_factory.mktemp("doubts"))
    definitions = home.folder / "definitions"
    definitions.mkdir()
    (definitions / "doubts.yaml").write_text(DOUBTS)
    home.settings = replace(home.settings, archives=str(definitions))
    write_shifts(home.raw / "doubts")
    workshop = home.workshop("doubts")
    outcomes = run_steps(workshop, Selection(), ["ingest", "uncertain"])
    assert [outcome.refused for outcome in outcomes] == [{}] * 2
    return home


def as_frame(workshop: Workshop, table: str, rows: list[dict[str, Any]]) -> DataFrame:
    """Rows, perhaps none, as a frame with the table's columns."""
    columns = workshop.tables.contract(table).columns
    schema = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    return workshop.spark.createDataFrame([tuple(row[name] for name in columns) for row in rows], schema)


def as_settings(monkeypatch: pytest.MonkeyPatch, home: Home) -> None:
    """Commands of this test work on that home."""
    for name in ("warehouse", "raw", "archives", "master"):
        monkeypatch.setenv(f"SKYARCHIVE_{name.upper()}", str(getattr(home.settings, name)))

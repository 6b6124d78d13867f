import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
import typer
from typer.testing import CliRunner, Result

from conftest import Home
from delta_log import Archive, run
from skyarchive.commands import look
from skyarchive.errors import SettingError, SkyarchiveError

UPDATES = pa.schema([("period", pa.string()), ("snapshot", pa.int64()), ("object", pa.string())])
PROGRAM = """
import typer
from skyarchive.commands import look
app = typer.Typer()
look.register(app)
app()
"""


@pytest.fixture(autouse=True)
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two published versions of nba.updates, an unpublished third, and nothing else."""
    nba = Archive(tmp_path)
    table = nba.table("updates", UPDATES)
    table.replace("2010", [{"snapshot": 0, "object": "O'Neal"}], run("a", "derive", "2010"))
    nba.publish("a", "2010", updates=0)
    table.replace("2010", [{"snapshot": 0, "object": "Jokić"}], run("b", "derive", "2010"))
    nba.publish("b", "2010", updates=1)
    table.replace("2010", [{"snapshot": 0, "object": "nobody"}], run("c", "derive", "2010"))
    monkeypatch.setenv("SKYARCHIVE_WAREHOUSE", str(tmp_path))
    return tmp_path


def skyarchive(*arguments: str) -> Result:
    app = typer.Typer()
    look.register(app)
    return CliRunner().invoke(app, arguments)


def rows(*arguments: str) -> list[dict[str, object]]:
    result = skyarchive(*arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_sql_reads_what_is_published_or_the_version_asked_for() -> None:
    statement = "select object from nba.updates"
    assert rows("sql", statement) == [{"object": "Jokić"}]
    assert rows("sql", statement, "--version", "nba.updates=0") == [{"object": "O'Neal"}]
    assert skyarchive("sql", statement, "--format", "csv").stdout == "object\nJokić\n"
    assert "Jokić" in skyarchive("sql", statement).stdout


def test_sql_limits_the_rows() -> None:
    result = skyarchive("sql", "from range(10)", "--limit", "3", "--format", "json")
    assert len(json.loads(result.stdout)) == 3
    assert "3 rows shown" in result.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--version", "nba.updates"], "write ARCHIVE.TABLE=N"),
        (["--version", "nba.updates=latest"], "write ARCHIVE.TABLE=N"),
        (["--version", "nba.updates=-1"], "write ARCHIVE.TABLE=N"),
        (["--version", "updates=1"], "'updates' is not a table"),
        (["--version", "../../etc.updates=1"], "is not a table"),
        (["--version", "x'; drop.updates=1"], "is not an archive name"),
        (["--version", "nba.updates=1", "--version", "nba.updates=2"], "names nba.updates twice"),
        (["--version", "nba.updates=77"], "its versions are 0 to 2"),
    ],
)
def test_sql_refuses_what_is_not_a_version(options: list[str], sentence: str) -> None:
    error = skyarchive("sql", "from nba.updates", *options).exception
    assert isinstance(error, SkyarchiveError)
    assert sentence in str(error)


def test_another_engine_can_be_put_in(monkeypatch: pytest.MonkeyPatch) -> None:
    if "spark" not in look.ENGINES:
        assert isinstance(skyarchive("sql", "select 1", "--engine", "spark").exception, SettingError)
    monkeypatch.setitem(look.ENGINES, "spark", look.ENGINES["duckdb"])
    assert rows("sql", "select 1 as one", "--engine", "spark") == [{"one": 1}]


def test_history_shows_newest_first_and_what_is_published() -> None:
    found = rows("history", "nba.updates")
    assert [(row["version"], row["run_id"], row["published"]) for row in found] == [
        (2, "c", False), (1, "b", True), (0, "a", True),
    ]  # fmt: skip
    assert found[0]["periods"] == ["2010"]
    assert found[0]["time"] == "2023-11-14T22:13:22Z"
    assert "derive,2010,1,c,false" in skyarchive("history", "nba.updates", "--format", "csv").stdout


def test_diff_shows_the_rows_and_says_how_many() -> None:
    result = skyarchive("diff", "nba.updates", "--format", "json")
    assert json.loads(result.stdout) == [
        {"_change": "added", "period": "2010", "snapshot": 0, "object": "Jokić"},
        {"_change": "removed", "period": "2010", "snapshot": 0, "object": "O'Neal"},
    ]
    assert result.stderr == "nba.updates, version 0 to 1: 1 row removed, 1 added.\n"
    assert rows("diff", "nba.updates", "--from", "1", "--to", "1") == []


def test_tables_show_published_and_latest_versions() -> None:
    assert rows("tables", "nba")[1] == {
        "table": "nba.updates", "published_version": 1, "latest_version": 2, "latest_step": "derive",
    }  # fmt: skip
    assert len(rows("tables")) == 2
    with pytest.raises(SettingError, match="There is no archive 'wnba'"):
        look.tables("wnba")


@pytest.mark.parametrize("command", ["history", "diff"])
@pytest.mark.parametrize("name", ["updates", "nba", "nba.nope", "../../etc.updates", "x'; drop table.updates"])
def test_names_that_are_no_tables_are_refused(command: str, name: str) -> None:
    assert isinstance(skyarchive(command, name).exception, SettingError)


@pytest.mark.parametrize(
    "arguments", [["sql"], ["sql", "select 1", "--format", "xml"], ["diff", "nba.updates", "--from", "x"]]
)
def test_wrong_use_exits_2(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Usage:" in done.stderr


@pytest.mark.parametrize("command", ["tables", "sql", "history", "diff"])
def test_help_has_an_example(command: str) -> None:
    assert f"Example: skyarchive {command}" in skyarchive(command, "--help").stdout


@pytest.mark.slow
def test_the_program_ends_cleanly_every_time() -> None:
    """A reader library that aborts while the process ends would falsify the exit code now and then."""
    commands = [
        ["sql", "from nba.updates", "--format", "json"],
        ["diff", "nba.updates", "--format", "json"],
    ] * 5
    for arguments in commands:
        done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)


def test_reading_loads_neither_pandas_nor_pyarrow_nor_spark() -> None:
    program = PROGRAM.replace("app()", "app(standalone_mode=False)") + (
        "import sys\nassert not {'pandas', 'pyarrow', 'pyspark', 'numba'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, "sql", "from nba.updates"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


LISTENING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
"""What a shell starts in the background is deaf to Ctrl-C; it may have started these tests so."""


def test_ctrl_c_is_told_in_a_sentence(tmp_path: Path) -> None:
    asked = ["generate", "synthetic", "-N", "50000", "-T", "100000"]
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENING + "from skyarchive.cli import main; main()", *asked],
        cwd=tmp_path, env=os.environ | {"SKYARCHIVE_RAW": str(tmp_path)}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (tmp_path / "synthetic").is_dir():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted; what was published before stays" in told


def test_status_of_raw_files_that_nobody_looked_into_yet(home: Home) -> None:
    folder = home.raw / "shops"
    folder.mkdir(parents=True)
    (folder / "archive.yaml").write_text(
        "name: shops\ntitle: Shops\nsource: {format: csv, files: '*.csv'}\nperiod: {column: day, by: month}\n"
        "columns: {day: {type: date, required: true}, shop: {type: string}, price: {type: double}}\n"
        "object: {column: shop}\nderive: {method: updates, order: {by: [day]}}\nattributes: {price: {better: lower}}\n"
    )
    nothing = home.command("status", "shops")
    assert nothing.code == 0 and nothing.err == f"There are no raw files in {folder} and no tables\n"
    assert "for an example: skyarchive generate nba" in home.command("status", "nba").err
    (folder / "a.csv").write_text("day,shop,price\n2024-01-01,s,1\n")
    told = home.command("status", "shops")
    assert told.code == 0 and "shops: 1 raw file is new or changed" in told.err and "There are no" not in told.err

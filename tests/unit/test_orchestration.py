"""Periods and dates, requests, and what a failure says. No Airflow runs here."""

import os
import re
import subprocess
import sys
import sysconfig
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import Home
from skyarchive.definition.catalog import Catalog
from skyarchive.definition.model import Definition, Schedule
from skyarchive.errors import DefinitionError, SettingError, SkyarchiveError
from skyarchive.orchestration.airflow_cli import QUIET
from skyarchive.orchestration.backfilling import Outcome, Request, date_range, going_on, run_backfill
from skyarchive.orchestration.local_airflow import MARK, LocalAirflow
from skyarchive.orchestration.notifying import failure_message
from skyarchive.pipeline.step import all_steps
from skyarchive.progress import Progress
from skyarchive.settings import Settings
from skyarchive.store.lake import Lake


@pytest.fixture
def catalog() -> Catalog:
    return Catalog(Settings())


def test_requests_are_stretches_in_the_order_of_their_runs() -> None:
    assert Request("2014").stretches() == [("2014", "2014")]
    assert Request("2014, 2010..2012").stretches() == [("2010", "2012"), ("2014", "2014")]
    assert Request("2010..2012,2014", backwards=True).stretches() == [("2014", "2014"), ("2010", "2012")]
    assert Request("2010..2012,2014").wants("2011") and not Request("2010..2012,2014").wants("2013")


@pytest.mark.parametrize("text", ["2010..", "..2010", "2012..2010", "../etc", ""])
def test_requests_that_cannot_be(text: str) -> None:
    with pytest.raises(SettingError):
        Request(text).stretches()


def test_without_an_airflow_none_is_made(catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AIRFLOW_HOME", "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SettingError, match=r"There is no Airflow in .*: set AIRFLOW_HOME"):
        run_backfill(catalog.get("nba"), Request("2014"), Progress(quiet=True))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("archive", "first", "last", "begin", "end"),
    [
        ("nba", "2010", "2011", datetime(2010, 1, 1, tzinfo=UTC), datetime(2011, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("tcp", "2024-02-29", "2024-02-29", datetime(2024, 2, 29, tzinfo=UTC),
         datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC)),
    ],
)  # fmt: skip
def test_dates_of_periods(
    catalog: Catalog, archive: str, first: str, last: str, begin: datetime, end: datetime
) -> None:
    timing = catalog.get(archive).timing
    assert timing is not None
    assert date_range(timing, first, last) == (begin, end)


def test_months_end_on_their_last_day_and_other_periods_are_refused() -> None:
    monthly = Schedule(cron="0 6 2 * *", key="%Y-%m", offset=-1)
    assert date_range(monthly, "2023-12", "2024-02")[1] == datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC)
    with pytest.raises(SettingError, match="look like 2014-06"):
        date_range(monthly, "2023", "2024")


def test_a_schedule_follows_from_the_period_or_is_given(catalog: Catalog) -> None:
    assert catalog.get("synthetic").timing is None
    stocks = catalog.get("stocks")
    assert stocks.timing == Schedule(cron="0 6 2 1 *", key="%Y", offset=-1)
    content = stocks.model_dump(mode="json")
    other = Definition.model_validate(content | {"schedule": {"cron": "0 7 3 1 *", "key": "%Y", "offset": -1}})
    assert other.timing != stocks.timing
    for step in all_steps():  # when it runs changes no result
        assert step.definition_print(other) == step.definition_print(stocks)


@pytest.mark.parametrize(
    ("schedule", "told"),
    [("{cron: daily, key: '%Y'}", "five fields"), ("{cron: 0 6 1 7 *, key: '%d'}", "%Y"), ("{cron: 0 6 1 7 *}", "key")],
)
def test_a_schedule_that_cannot_be_names_the_field(tmp_path, schedule: str, told: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "nba" / "archive.yaml"
    path.parent.mkdir()
    from skyarchive.settings import schemas_folder

    text = (schemas_folder() / "archives" / "nba.yaml").read_text("utf-8")
    lines = [f"schedule: {schedule}" if line.startswith("schedule:") else line for line in text.splitlines()]
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(DefinitionError, match=r"schedule\.") as caught:
        Catalog(Settings(raw=str(tmp_path))).get("nba")
    assert told in str(caught.value)


def test_an_outcome_names_what_failed() -> None:
    lake = Lake(Settings(warehouse="no such folder"))
    outcome = Outcome("nba", {"2010": "success", "2011": "failed", "2012": "success"}, {"2012": "failed"})
    with pytest.raises(SkyarchiveError, match="2011, 2012 failed") as caught:
        outcome.raise_failures(lake)
    assert str(caught.value).endswith("\n  2012: the reason is in the log of the failed task")
    Outcome("nba", {"2010": "success", "2011": "skipped"}, {"2010": "success"}).raise_failures(lake)


def test_the_last_line_of_a_failed_backfill_gives_the_reason(home: Home) -> None:
    raw = home.raw / "nba" / "player_box_2010.parquet"
    raw.parent.mkdir(parents=True)
    raw.write_bytes(b"PAR1 and no more")
    outcome = Outcome("nba", {"2009": "success", "2010": "failed"}, {"2009": "failed"})
    assert home.command("run", "nba", "--periods", "2010").code == 1
    with pytest.raises(SkyarchiveError) as caught:
        outcome.raise_failures(Lake(home.settings))
    *_, before, last = str(caught.value).splitlines()
    assert before == "  2009: the reason is in the log of the failed task"
    assert last.startswith("  2010: ingest was refused on ") and "player_box_2010.parquet: cannot be read" in last
    later = Outcome("nba", {"2010": "failed"})  # what was refused before it began is not its reason
    with pytest.raises(SkyarchiveError, match=r"the reason is in the log of the failed task$"):
        later.raise_failures(Lake(home.settings))


@pytest.mark.parametrize("period", ["foo", "2010..foo", "2014-06"])
def test_a_backfill_of_what_cannot_be_a_period_is_told_its_look(catalog: Catalog, period: str) -> None:
    with pytest.raises(SettingError, match="is not a period of nba: its periods look like 2014"):
        run_backfill(catalog.get("nba"), Request(period), Progress(quiet=True))


def test_airflow_s_commands_do_not_begin_with_a_warning(tmp_path: Path) -> None:
    environment = LocalAirflow(tmp_path, Settings()).environment
    renderer = Path(sysconfig.get_path("purelib")) / "airflow" / "utils" / "dot_renderer.py"
    (text,) = re.findall(r'warnings\.warn\(\s*"(Could not .*?) \\n"', renderer.read_text("utf-8"))
    code = f"import warnings; warnings.warn({text!r} + ' ', UserWarning)"
    said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert text.startswith("Could not import graphviz") and said.stderr == ""
    docker = (Path(__file__).parents[2] / "docker" / "Dockerfile").read_text("utf-8")
    assert all(f'{name}="{value}"' in docker for name, value in QUIET.items())


def test_a_backfill_says_what_it_is_at() -> None:
    """And that again every 15 s, as whatever takes long."""
    at = Outcome("nba", {"2010": "success", "2011": "running", "2012": "queued"}, {"2010": "running"})
    assert going_on(at, []) == "nba: 2011 ingest and 2010 compute running"
    assert going_on(Outcome("nba", {"2010": "queued"}), []) == "nba: waiting until Airflow starts 2010 ingest"
    assert going_on(Outcome("nba", {"2010": "success"}), ["2010"]) == "nba: waiting until Airflow starts 2010 compute"
    assert going_on(Outcome("nba"), []) == "nba: waiting until Airflow starts a run"


def test_what_a_webhook_is_told() -> None:
    context = {
        "ti": SimpleNamespace(dag_id="nba_ingest", task_id="ingest", log_url="here"),
        "dag_run": SimpleNamespace(run_id="r", partition_key="2014"),
        "params": {"period": None},
        "exception": ValueError("too many bad rows"),
    }
    message = failure_message(context)
    assert message["text"] == "nba_ingest.ingest failed for 2014: too many bad rows"
    assert message["period"] == "2014" and message["log"] == "here"


def test_what_a_private_airflow_started_does_not_outlive_it_and_others_do(tmp_path: Path) -> None:
    airflow, another = LocalAirflow(tmp_path / "one", Settings()), LocalAirflow(tmp_path / "another", Settings())
    # As a task is: the leader of a group of its own, with nobody above it any more.
    own, other = (
        subprocess.Popen(["sleep", "60"], env=os.environ | {MARK: its.mark}, start_new_session=True)
        for its in (airflow, another)
    )
    try:
        airflow.stop()
        assert own.wait(5) < 0
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()

"""`skyarchive monitor`: an archive's periods replayed as if watched live, and what is kept of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Home
from oracle.skylines import Log, skylines
from skyarchive.definition.selection import Selection
from skyarchive.studies.update_logs import read_update_log

ROOT = Path(__file__).resolve().parents[2]
ASKED = ["--window", "200", "--epsilon", "0.4", "--theta", "0.7", "--seed", "5"]


def test_a_study_of_an_archive_is_printed_drawn_and_kept(here: Home) -> None:
    picture = here.folder / "study.svg"
    answer = here.command("monitor", "synthetic", *ASKED, "--plot", str(picture), "--format", "json")
    assert answer.code == 0, answer.err
    assert [row["method"] for row in answer.rows] == ["naive", "changes", "filter", "sampling", "hybrid"]
    assert all(row["total"] == row["uplink"] + row["downlink"] > 0 for row in answer.rows)
    assert sum(row["recommended"] for row in answer.rows) == 1
    assert "Recommended:" in answer.err and "<svg" in picture.read_text(encoding="utf-8")
    (updates,) = here.sql("select count(*) n from synthetic.updates")
    assert answer.rows[1]["uplink"] == updates["n"]

    kept = here.sql("select * from synthetic.monitoring order by method")
    assert {(row["method"], row["total"], row["recall"]) for row in kept} == {
        (row["method"], row["total"], row["recall"]) for row in answer.rows
    }
    assert {(row["period"], row["periods"], row["theta"], row["window_size"], row["seed"]) for row in kept} == {
        ("00001", "00000..00001", 0.7, 200, 5)
    }
    newest = here.command("history", "synthetic.monitoring", "--format", "json").rows[0]
    assert (newest["step"], newest["periods"], newest["published"]) == ("monitor", ["00000", "00001"], True)
    (run,) = here.sql(f"select * from synthetic.runs where run_id = '{newest['run_id']}'")
    assert json.loads(run["input_versions"]) == {"snapshots": 1, "updates": 1, "carry": 1}
    assert here.states("synthetic") == {"00000": "current", "00001": "current", "00002": "absent"}

    assert here.command("monitor", "synthetic", "--periods", "00001", *ASKED, "--format", "csv").code == 0
    counted = here.sql("select periods, count(*) n from synthetic.monitoring group by 1 order by 1")
    assert counted == [{"periods": "00000..00001", "n": 5}, {"periods": "00001", "n": 5}]


def test_a_period_starts_with_everybody_alive_before_it(here: Home) -> None:
    """Its skylines are those published, though its own updates do not name everybody."""
    log = read_update_log(here.workshop("synthetic"), Selection("00001"))
    found = skylines(Log(log.snapshot, log.item, log.costs, 30))
    first = here.sql("select min(snapshot) s from synthetic.snapshots where period = '00001'")[0]["s"]
    sizes = here.sql(
        f"select s.snapshot, count(*) n from synthetic.snapshots s join synthetic.reigns r on s.snapshot between "
        f"r.first_snapshot and r.last_snapshot where s.snapshot between {first} and {first + 29} group by 1 order by 1"
    )
    assert [len(members) for members in found] == [row["n"] for row in sizes]
    (counted,) = here.sql("select count(*) n from synthetic.snapshots where period = '00001'")
    assert (log.n_snapshots, log.periods) == (counted["n"], ["00001"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["synthetic", "--theta", "0"], "--theta 0"),
        (["synthetic", "--theta", "1.1"], "--theta 1.1"),
        (["synthetic", "--theta", "half"], "--theta half"),
        (["synthetic", "--theta", "0.12345678"], "decimal places"),
        (["synthetic", "--window", "2001"], "is longer than the"),
        (["synthetic", "--periods", "00001", "--window", "1001"], "of synthetic 00001"),
        (["synthetic", "--epsilon", "1"], "--epsilon 1"),
        (["synthetic", "--delta", "0"], "--delta 0"),
        (["synthetic", "--periods", "00002"], "is not derived"),
        (["synthetic", "--plot", "study.txt"], "end the name in"),
        (["synthetic", "--data", "independent"], "not both"),
        ([], "Give an ARCHIVE"),
        (["synthetic", "--epsilon", "-0.1"], "--epsilon -0.1"),
        (["synthetic", "--epsilon", "nan"], "--epsilon nan"),
        (["synthetic", "--delta", "1.5"], "--delta 1.5"),
        (["synthetic", "--absent", "inf"], "--absent inf"),
        (["--data", "independent", "--periods", "00001"], "--periods goes with"),
        (["--data", "independent", "--absent", "0"], "--absent goes with"),
        (["nosuch"], "There is no archive 'nosuch'"),
    ],
)
def test_bad_parameters_are_explained_and_nothing_is_kept(here: Home, arguments: list[str], words: str) -> None:
    answer = here.command("monitor", *arguments)
    assert answer.code == 1 and answer.out == ""
    assert words in answer.err and "Traceback" not in answer.err
    assert "monitoring" not in here.workshop("synthetic").lake.tables("synthetic")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--data", "round"],
        ["synthetic", "--window", "few"],
        ["synthetic", "--epsilon", "some"],
        ["synthetic", "--window", "0"],
        ["synthetic", "--seed", "-1"],
    ],
)
def test_wrong_use_is_told_from_a_wrong_value(here: Home, arguments: list[str]) -> None:
    answer = here.command("monitor", *arguments)
    assert answer.code == 2 and answer.out == "" and "Traceback" not in answer.err


def test_the_papers_data_need_no_archive(home: Home) -> None:
    shape = ["--data", "anticorrelated", "-N", "60", "-m", "3", "-u", "0.05", "-T", "300"]
    answer = home.command("monitor", *shape, *ASKED, "--format", "json")
    assert answer.code == 0, answer.err
    assert answer.rows[0]["uplink"] == 60 * 300
    assert not Path(home.settings.warehouse).exists()


def test_the_job_is_a_program(here: Home) -> None:
    job = [sys.executable, str(ROOT / "jobs" / "monitor.py"), "synthetic"]
    done = subprocess.run([*job, *ASKED, "--periods", "00000"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(here.sql("select * from synthetic.monitoring")) == 5
    refused = subprocess.run([*job, "--theta", "2"], capture_output=True, text=True, timeout=120)
    assert refused.returncode == 1 and "--theta 2" in refused.stderr and "Traceback" not in refused.stderr

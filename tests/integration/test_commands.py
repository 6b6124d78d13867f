"""The command line as scripts use it: exit codes, formats, versions, docs; and the jobs under spark-submit."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conftest import SHORT_LIVED, Home
from skyarchive.jars import delta_jars
from skyarchive.store.lock import writing

QUESTIONS = (
    ("skyline", "synthetic"), ("reigns", "synthetic"), ("changes", "synthetic", "--from", "0", "--to", "800"),
    ("frequent", "synthetic", "--theta", "0.3", "--window", "200"), ("external", "synthetic"),
    ("frequent", "synthetic", "--theta", "0.3", "--window", "200", "--over", ".."),
)  # fmt: skip
"""Questions that need no moment."""
ROOT = Path(__file__).resolve().parents[2]


def test_status_tells_absent_from_current_with_rows_and_versions(here: Home) -> None:
    rows = here.command("status", "--format", "json").rows
    assert [(row["period"], row["state"]) for row in rows] == [
        ("00000", "current"), ("00001", "current"), ("00002", "absent"),
    ]  # fmt: skip
    counted = here.sql("select period, count(*) n from synthetic.updates group by 1 order by 1")
    assert [row["updates"] for row in rows[:2]] == [row["n"] for row in counted]
    assert all(row["raw_version"] == 1 and row["snapshots"] > 0 for row in rows[:2])


def test_both_engines_give_one_answer(here: Home, spark: SparkSession) -> None:
    for question in (
        "select period, count(*) n, max(snapshot) last from synthetic.updates group by period order by period",
        "select * from synthetic.reigns order by first_snapshot, object",
    ):
        by_duckdb = here.command("sql", question, "--format", "json")
        by_spark = here.command("sql", question, "--engine", "spark", "--format", "json")
        assert by_duckdb.code == by_spark.code == 0
        assert by_duckdb.rows == by_spark.rows != []


def test_spark_reads_tables_and_no_other_file_unless_told_so(here: Home, spark: SparkSession) -> None:
    secret = here.folder / "secret.csv"
    secret.write_text("xyzzy\n")
    delta = Path(here.settings.warehouse) / "synthetic" / "updates"
    ask = ["--engine", "spark", "--format", "json"]
    for relation in (f"csv.`{secret}`", f"text.`file:{secret}`", f"delta.`{delta}`", f"TeXt . `{secret}`",
                     f"`org.apache.spark.sql.execution.datasources.text.TextFileFormat`.`{secret}`"):  # fmt: skip
        for statement in (f"select * from {relation}", f"with t as (from {relation}) from t",
                          f"select count(*) from synthetic.updates where exists (select * from {relation})",
                          f"describe {relation}", f"explain select * from {relation}"):  # fmt: skip
            answer = here.command("sql", statement, *ask)
            assert "xyzzy" not in answer.out and "_c0" not in answer.out, statement
            assert answer.code == 1 or statement.startswith("explain"), statement
            assert "Traceback" not in answer.err
    assert here.command("sql", f"select * from csv.`{secret}`", *ask, "--files").rows == [{"_c0": "xyzzy"}]
    assert here.command("sql", "show tables", *ask).rows == here.command("sql", "show tables", "--format", "json").rows
    assert {"name": "synthetic.reigns"} in here.command("sql", "show tables", *ask).rows


def test_history_and_metadata_say_which_run_wrote_what(here: Home) -> None:
    newest = here.command("history", "synthetic.updates", "--format", "json").rows[0]
    assert (newest["step"], newest["periods"], newest["published"]) == ("derive", ["00000", "00001"], True)
    (run,) = here.sql(f"select * from synthetic.runs where run_id = '{newest['run_id']}' and period = '00001'")
    assert json.loads(run["output_versions"])["updates"] == newest["version"]
    assert json.loads(run["input_versions"]) == {"raw": 1}
    log = Path(here.settings.warehouse) / "synthetic" / "updates" / "_delta_log" / f"{newest['version']:020d}.json"
    entry = next(line for line in map(json.loads, log.read_text().splitlines()) if "commitInfo" in line)
    metadata = json.loads(entry["commitInfo"]["userMetadata"])
    assert metadata["run_id"] == newest["run_id"]
    assert set(metadata) == {
        "run_id", "step", "archive", "periods", "code_version", "parameters", "input_versions",
    }  # fmt: skip


def test_one_period_replaces_exactly_itself_and_diff_shows_it(here: Home) -> None:
    before = here.sql("select * from synthetic.updates order by all")
    answers = [here.command(*question, "--format", "csv").out for question in QUESTIONS]
    assert here.command("run", "synthetic", "--periods", "00002", "--steps", "ingest,derive").code == 0
    # Its skylines are not computed yet: whatever is asked is answered as before.
    assert [here.command(*question, "--format", "csv").out for question in QUESTIONS] == answers
    assert all(answers) and "00002 are not computed yet" in here.command("skyline", "synthetic").err
    changed = here.command("diff", "synthetic.updates", "--format", "json").rows
    assert {(row["_change"], row["period"]) for row in changed} == {("added", "00002")}
    assert here.sql("select * from synthetic.updates where period < '00002' order by all") == before
    assert here.command("sql", "from synthetic.updates order by all", "--version", "synthetic.updates=1",
                        "--format", "json").rows == before  # fmt: skip


def test_every_check_is_kept_and_the_docs_open(here: Home) -> None:
    kept = here.sql("select table_name, count(*) n, bool_and(success) ok from synthetic.quality group by 1 order by 1")
    tables = {"raw", "snapshots", "updates", "objects", "carry", "skyline", "frequent", "external", "windows"}
    assert {row["table_name"] for row in kept} == tables
    assert all(row["ok"] for row in kept)
    answer = here.command("docs", "synthetic")
    assert answer.code == 0
    assert "updates" in Path(answer.out.strip()).read_text(encoding="utf-8")


def test_a_second_writer_waits_and_then_gives_up(here: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKYARCHIVE_LOCK_WAIT", "0.5")
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with writing(here.settings, "synthetic", print):
            held.set()
            done.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held.wait(10)
        answer = here.command("derive", "synthetic", "--periods", "00001")
    finally:
        done.set()
        holder.join()
    assert answer.code == 1
    assert "waiting" in answer.err and "gave up" in answer.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["run", "nosuch"], 1, "There is no archive 'nosuch'"),
        (["run", "synthetic", "--steps", "fly"], 1, "'fly' is not a step"),
        (["run", "synthetic", "--periods", "00009"], 1, "; there are 3 from 00000 to 00002"),
        (["run", "synthetic", "--periods", "7..8"], 1, "has no period in 7..8"),
        (["derive", "synthetic", "--periods", "00002"], 1, "is not ingested"),
        (["fly"], 2, "No such command"),
        (["run"], 2, "Missing argument"),
        (["generate", "synthetic", "--moves", "2"], 1, "moves"),
    ],
)
def test_exit_codes_and_a_sentence(here: Home, arguments: list[str], code: int, words: str) -> None:
    answer = here.command(*arguments)
    assert answer.code == code
    assert words in answer.err
    assert "Traceback" not in answer.err
    assert answer.out == ""


def test_generated_definitions_carry_their_own_shape(home: Home, spark: SparkSession) -> None:
    shape = ["-N", "30", "-m", "5", "-T", "40", "--block", "20", "--moves", "0.2"]
    assert home.command("generate", "synthetic", *shape).code == 0
    assert home.command("ingest", "synthetic").code == 0
    assert home.sql("select max(x4) > 0 as five, max(step) as last from synthetic.raw") == [{"five": True, "last": 39}]
    # The table has five attributes now; with another shape it is made anew, and stays readable as it was.
    assert home.command("generate", "synthetic", *shape[:2], "-m", "2", *shape[4:]).code == 0
    answer = home.command("run", "synthetic", "--steps", "ingest,derive")
    assert answer.code == 0, answer.err
    (row,) = home.sql("select * from synthetic.raw limit 1")
    assert {name for name in row if name.startswith("x")} == {"x0", "x1"}
    before = home.command("sql", "select max(x4) > 0 as five from synthetic.raw", "--version", "synthetic.raw=1",
                          "--format", "json")  # fmt: skip
    assert before.rows == [{"five": True}]


@pytest.mark.parametrize("step", ["ingest", "derive", "skyline", "frequent", "external", "windows", "uncertain"])
def test_a_job_is_a_program_that_explains_itself(here: Home, step: str) -> None:
    job = [sys.executable, str(ROOT / "jobs" / f"{step}.py"), "nosuch", "--periods", "00001"]
    done = subprocess.run(job, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "There is no archive 'nosuch'" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.thorough
def test_a_job_runs_under_spark_submit(here: Home) -> None:
    jars = ",".join(map(str, delta_jars(here.settings)))
    environment = os.environ | SHORT_LIVED | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    submit = ["spark-submit", "--master", "local[2]", "--conf", "spark.ui.enabled=false", "--jars", jars]
    job = [*submit, str(ROOT / "jobs" / "derive.py"), "synthetic", "--periods", "00001"]
    done = subprocess.run(job, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    newest = here.command("history", "synthetic.updates", "--format", "json").rows[0]
    assert (newest["step"], newest["periods"], newest["published"]) == ("derive", ["00001"], True)

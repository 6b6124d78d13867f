"""Bad input, each kind: a clear error or a quarantined row with its reason; nothing lost, nothing half-published."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from boxes import box
from conftest import Home, make_home
from skyarchive.generators.dirt import spoil
from skyarchive.pipeline.running import run_step

HEADER = "date,ticker,open,high,low,close,volume"
GOOD = "2004-01-05,GOOD{n},10,11,9,10.5,1000"
STOCK_FAULTS = {
    "2004-01-05,A,10,11,9,10.5": "6 fields instead of 7",
    "2004-01-05,B,10,11,9,10.5,1000,1": "8 fields instead of 7",
    "2004-01-05,C,ten,11,9,10.5,1000": "open is not a number",
    "2004-01-05,D,12d,11,9,10.5,1000": "open is not a number",
    "2004-01-05,E,10,11,9,NaN,1000": "close is NaN",
    "2004-01-05,F,10,inf,9,10.5,1000": "high is infinite",
    "2004-01-05,G,10,11,-9,10.5,1000": "low is negative",
    "2004-01-05,H,10,8,9,10.5,1000": "high is below low",
    "2004-01-05,I,10,11,9,0,1000": "close is not above zero",
    "2004-01-05,J,10,11,9,,1000": "close is missing",
    "2004-13-45,K,10,11,9,10.5,1000": "date is not a date",
    "yesterday,L,10,11,9,10.5,1000": "date is not a date",
    "2005-01-05,M,10,11,9,10.5,1000": "belongs to period 2005, but the file is named for 2004",
    "2004-01-05,GOOD0,10,11,9,10.5,1000": "date and ticker is there twice; the first stays",
    "2004-01-05,,10,11,9,10.5,1000": "ticker is missing",
}
STRANGE_TICKERS = ['"O\'BRIEN, ""Q"""', '"two\nlines"', "ΩΜΕΓΑ 株"]


@pytest.fixture(scope="module")
def stocks(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """One ingested file with every fault a csv row can have, among enough good rows."""
    home = make_home(tmp_path_factory.mktemp("stocks"))
    rows = [GOOD.format(n=n) for n in range(400)] + list(STOCK_FAULTS)
    rows += [f"2004-01-05,{ticker},10,11,9,10.5,1000" for ticker in STRANGE_TICKERS]
    folder = home.raw / "stocks"
    folder.mkdir(parents=True)
    (folder / "nyse_daily_2004.csv.gz").write_bytes(gzip.compress("\n".join([HEADER, *rows, ""]).encode(), mtime=0))
    with pytest.MonkeyPatch.context() as patch:
        _settle(patch, home)
        answer = home.command("ingest", "stocks")
    assert answer.code == 0, answer.err
    return home


def _settle(patch: pytest.MonkeyPatch, home: Home) -> None:
    for name in ("warehouse", "raw", "master", "lock_wait"):
        patch.setenv(f"SKYARCHIVE_{name.upper()}", str(getattr(home.settings, name)))


def rows_of(home: Home, statement: str) -> list[dict[str, Any]]:
    result = home.workshop("stocks").lake.query(statement)
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


@pytest.mark.parametrize("number", range(len(STOCK_FAULTS)))
def test_a_bad_csv_row_is_quarantined_with_its_reason(stocks: Home, number: int) -> None:
    line, reason = list(STOCK_FAULTS.items())[number]
    found = rows_of(stocks, f"select * from stocks.quarantine where row = {401 + number}")
    told = [(row["file"], row["reason"], row["period"]) for row in found]
    assert told == [("nyse_daily_2004.csv.gz", reason, "2004")]
    record = json.loads(found[0]["record"])
    fields = [record.get(column) for column in HEADER.split(",")]
    if "twice" in reason:  # judged after its fields were typed
        fields = [f"{field:g}" if isinstance(field, float) else field for field in fields]
    assert record.get("text", ",".join(field or "" for field in fields)) == line


def test_the_good_rows_go_on_and_none_is_lost(stocks: Home) -> None:
    counts = rows_of(stocks, "select (select count(*) from stocks.raw) r, (select count(*) from stocks.quarantine) q")
    assert counts == [{"r": 400 + len(STRANGE_TICKERS), "q": len(STOCK_FAULTS)}]


def test_strange_names_arrive_as_they_are(stocks: Home) -> None:
    tickers = {row["ticker"] for row in rows_of(stocks, "select ticker from stocks.raw where ticker not like 'GOOD%'")}
    assert tickers == {'O\'BRIEN, "Q"', "two\nlines", "ΩΜΕΓΑ 株"}


def test_bad_box_scores_are_quarantined_with_their_reasons(home: Home, spark: SparkSession) -> None:
    faults: dict[int, tuple[str, Any, str]] = {
        1: ("athlete_id", None, "athlete_id is missing"),
        2: ("minutes", float("nan"), "minutes is NaN"),
        3: ("minutes", float("inf"), "minutes is infinite"),
        4: ("minutes", -3.0, "minutes is negative"),
        5: ("field_goals_made", 9, "more field goals made than attempted"),
        6: ("season", 2011, "belongs to period 2011, but the file is named for 2010"),
        7: ("athlete_id", 100, "game_id and athlete_id is there twice; the first stays"),
        8: ("points", -1, "points is negative"),
        9: ("minutes", None, ""),
    }
    table = box(300)
    for row, (column, value, _) in faults.items():
        values = table[column].to_pylist()
        values[row] = value
        table = table.set_column(table.column_names.index(column), column, pa.array(values, table[column].type))
    # A second game at the same time is a snapshot of its own.
    second = box(300, game_id=pa.array([2] * 300, pa.int32()))
    folder = home.raw / "nba"
    folder.mkdir(parents=True)
    pq.write_table(pa.concat_tables([table, second]), folder / "player_box_2010.parquet")
    assert home.command("run", "nba").code == 0
    found = {row["row"]: row["reason"] for row in home.sql("select row, reason from nba.quarantine")}
    assert found == {row + 1: reason for row, (_, _, reason) in faults.items() if reason}
    assert [row["label"] for row in home.sql("select label from nba.snapshots order by snapshot")] == ["1", "2"]
    assert home.sql("select count(*) n from nba.raw") == [{"n": 600 - len(found)}]
    assert home.sql("select name from nba.objects where object = '150'") == [{"name": '"Q", O\'50\n'}]


def test_bad_connections_are_quarantined_with_their_reasons(home: Home, spark: SparkSession) -> None:
    columns = ["ts", "uid", "id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p", "proto"]
    good = ["1713484900.5", "C1", "10.0.0.1", "40000", "9.9.9.9", "443", "tcp"]
    faults = {
        0: ("now", "ts is not a number"),
        2: ("10.0.0.999", "orig_h is not an address"),
        3: ("70000", "orig_p is above 65535"),
        4: ("example.org", "resp_h is not an address"),
        5: ("-1", "resp_p is negative"),
    }
    lines = ["#separator \\x09", "#fields\t" + "\t".join(columns)] + ["\t".join(good)] * 200
    for column, (value, _) in faults.items():
        lines.append("\t".join([*good[:column], value, *good[column + 1 :]]))
    lines += ["\t".join(good[:3]), "\t".join([*good[:4], "nowhere", "x", "udp"]), "#close\t2024-04-19-00-00-00"]
    folder = home.raw / "tcp"
    folder.mkdir(parents=True)
    (folder / "conn.log").write_text("\n".join(lines) + "\n")
    assert home.command("run", "tcp").code == 0
    found = {(row["row"], row["reason"]) for row in home.sql("select row, reason from tcp.quarantine")}
    expected = {(201 + n, reason) for n, (_, reason) in enumerate(faults.values())}
    assert found == expected | {(206, "3 fields instead of 7")}
    # A udp row takes no part and is not judged.
    assert home.sql("select count(*) n from tcp.raw where proto = 'udp'") == [{"n": 1}]
    assert home.sql("select object from tcp.objects") == [{"object": "9.9.9.0/24"}]


FILE_FAULTS = [
    ("nba", "2010", "truncate", "truncated or damaged"),
    ("stocks", "2010", "truncate", "damaged"),
    ("tcp", "2024-04-19", "truncate", "damaged"),
    ("nba", "2010", "empty", "empty"),
    ("stocks", "2010", "empty", "is empty"),
    ("stocks", "2010", "header_only", "the period has rows"),
    ("nba", "2010", "rename_column", "is missing"),
    ("stocks", "2010", "rename_column", "is missing"),
    ("nba", "2010", "retype_column", "was it retyped?"),
]


@pytest.fixture(scope="module")
def ingested(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """One good period of every archive."""
    home = make_home(tmp_path_factory.mktemp("ingested"))
    for archive, period in {(archive, period) for archive, period, _, _ in FILE_FAULTS}:
        home.generate(archive, period, size=0.05)
        assert run_step(home.workshop(archive), "ingest", [period]).published == [period]
    return home


@pytest.mark.parametrize(("archive", "period", "how", "message"), FILE_FAULTS)
def test_a_bad_file_is_refused_by_name_and_the_last_version_stays(
    home: Home, ingested: Home, archive: str, period: str, how: str, message: str
) -> None:
    shutil.copytree(ingested.folder, home.folder, dirs_exist_ok=True)
    (file,) = (home.raw / archive).iterdir()
    before = home.sql(f"select * from {archive}.raw order by file, row")
    changed = spoil(file, how)
    if changed != file:
        file.unlink()
    answer = home.command("ingest", archive, "--periods", period)
    assert answer.code == 1
    assert message in answer.err
    assert "Traceback" not in answer.err
    if how != "header_only":
        assert changed.name in answer.err
    (status,) = home.command("status", archive, "--format", "json").rows
    assert message in status["refusal"] and status["refusal_step"] == "ingest"
    if how == "header_only":  # what failed is a check: its row is shown
        (row,) = home.sql(status["refusal_command"].split('"')[1])
        assert message in row["expectation"] and row["period"] == period
    assert home.sql(f"select * from {archive}.raw order by file, row") == before


def test_the_same_file_under_two_names_counts_once(home: Home, spark: SparkSession) -> None:
    (file,) = home.generate("nba", "2010", size=0.05)
    copy = spoil(file, "copy")
    assert home.command("ingest", "nba").code == 0
    names = sorted([file.name, copy.name])
    assert home.sql("select distinct file from nba.raw") == [{"file": names[0]}]
    (quarantined,) = home.sql("select file, row, reason from nba.quarantine where row is null")
    assert quarantined["file"] == names[1]
    assert names[0] in quarantined["reason"]


def test_too_many_bad_rows_stop_the_step_and_the_other_periods_go_on(home: Home, spark: SparkSession) -> None:
    folder = home.raw / "stocks"
    folder.mkdir(parents=True)
    good = [GOOD.format(n=n) for n in range(20)]
    bad = [f"2005-01-05,BAD{n},ten,11,9,10.5,1000" for n in range(20)]
    (folder / "nyse_daily_2004.csv").write_text("\n".join([HEADER, *good]) + "\n")
    (folder / "nyse_daily_2005.csv").write_text("\n".join([HEADER, *bad]) + "\n")
    answer = home.command("ingest", "stocks")
    assert answer.code == 1
    assert "20 rows: open is not a number" in answer.err
    assert home.sql("select distinct period from stocks.raw") == [{"period": "2004"}]
    failed = home.sql("select period, expectation from stocks.quality where not success")
    assert {row["period"] for row in failed} == {"2005"}
    assert home.states("stocks") == {"2004": "unfinished", "2005": "refused"}


@pytest.mark.parametrize("name", ["../../etc", "x'; drop table", "", "a" * 99])
def test_names_that_are_none_never_reach_a_path(home: Home, name: str) -> None:
    for arguments in (["run", name], ["ingest", "nba", "--periods", name or "/"], ["refresh", name]):
        answer = home.command(*arguments)
        assert answer.code == 1, arguments
        assert "is not a" in answer.err or "no archive" in answer.err or "has no period" in answer.err
        assert "Traceback" not in answer.err
    assert not Path(home.settings.warehouse).exists() or not any(Path(home.settings.warehouse).rglob("*.parquet"))

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from chronicle import SCHEMAS
from delta_log import Archive, SparkTable, run
from skyarchive.errors import NotPublishedError, SettingError, SkyarchiveError
from skyarchive.settings import Settings
from skyarchive.store.lake import Lake

UPDATES = pa.schema(
    [("period", pa.string()), ("snapshot", pa.int64()), ("object", pa.string()), ("points", pa.float64()),
     ("theta", pa.decimal128(9, 6)), ("time", pa.timestamp("us", "UTC")), ("gone", pa.bool_())]
)  # fmt: skip
NASTY = ["O'Neal", 'The "Big" One', "two\nlines", "Jokić; drop table nba.updates", "\\", "名前"]


def updates(*points: float) -> list[dict[str, Any]]:
    return [{"snapshot": i, "object": NASTY[i % len(NASTY)], "points": p} for i, p in enumerate(points)]


@pytest.fixture
def nba(tmp_path: Path) -> Archive:
    return Archive(tmp_path)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(Settings(warehouse=str(tmp_path)))


@pytest.fixture
def table(nba: Archive) -> SparkTable:
    """Two published periods, then a crash's commit that no run lists."""
    table = nba.table("updates", UPDATES)
    table.replace("2010", updates(1.0, 2.0), run("a", "derive", "2010"))
    nba.publish("a", "2010", updates=0)
    table.replace("2011", updates(3.0), run("b", "derive", "2011"))
    nba.publish("b", "2011", updates=1)
    table.replace("2010", updates(9.0), run("c", "derive", "2010"))
    return table


def answer(lake: Lake, sql: str, **versions: int) -> list[tuple[Any, ...]]:
    return list(lake.query(sql, {("nba", name): number for name, number in versions.items()}).rows)


def changes(lake: Lake, old: int | None = None, new: int | None = None) -> list[tuple[Any, ...]]:
    found = lake.diff("nba", "updates", old, new)
    at = [found.result.columns.index(name) for name in ("_change", "period", "snapshot", "points")]
    return [tuple(row[i] for i in at) for row in found.result.rows]


def test_a_reader_sees_the_published_version_and_not_a_crashs_commit(lake: Lake, table: SparkTable) -> None:
    sql = "select period, points from nba.updates order by all"
    assert answer(lake, sql) == [("2010", 1.0), ("2010", 2.0), ("2011", 3.0)]
    assert answer(lake, sql, updates=2) == [("2010", 9.0), ("2011", 3.0)]
    assert lake.published_versions("nba") == {"updates": 1, "runs": 1}
    assert lake.last_commit("nba", "updates") == (2, run("c", "derive", "2010"))


def test_after_a_restore_the_next_published_commit_counts(lake: Lake, nba: Archive, table: SparkTable) -> None:
    table.restore(1)
    assert answer(lake, "select max(points) from nba.updates") == [(3.0,)]
    nba.publish("d", "2010", updates=table.replace("2010", updates(7.0), run("d", "derive", "2010")))
    assert answer(lake, "select points from nba.updates order by 1") == [(3.0,), (7.0,)]
    assert [(c.version, c.published) for c in lake.history("nba", "updates")] == [
        (4, True), (3, False), (2, False), (1, True), (0, True),
    ]  # fmt: skip
    assert changes(lake) == [
        ("removed", "2010", 0, 1.0), ("added", "2010", 0, 7.0), ("removed", "2010", 1, 2.0),
    ]  # fmt: skip


def test_the_greatest_listed_version_counts_in_whatever_order_runs_list_it(lake: Lake, nba: Archive) -> None:
    table = nba.table("updates", UPDATES)
    for number in range(12):
        table.replace("2010", updates(float(number)))
    for version in (9, 10, 2):
        nba.publish("x", "2010", updates=version)
    assert answer(lake, "select points from nba.updates") == [(10.0,)]


def test_a_table_without_a_published_version_is_refused(lake: Lake, nba: Archive) -> None:
    nba.table("updates", UPDATES).replace("2010", updates(1.0))
    with pytest.raises(NotPublishedError, match=r"nba\.updates has no published version"):
        lake.query("from nba.updates")
    assert answer(lake, "select points from nba.updates", updates=0) == [(1.0,)]


@pytest.mark.parametrize("periods", [["007", "2010"], ["2024-04-19", "2024-04-20"], ["false", "true"], ["1e3", "2.50"]])
def test_periods_stay_text(lake: Lake, nba: Archive, periods: list[str]) -> None:
    table = nba.table("updates", UPDATES)
    for version, period in enumerate(periods):
        table.replace(period, updates(1.0))
        nba.publish("a", period, updates=version)
    assert answer(lake, "select period, typeof(period) from nba.updates order by 1") == [
        (p, "VARCHAR") for p in periods
    ]
    assert answer(lake, f"select count(*) from nba.updates where period = '{periods[0]}'") == [(1,)]


def test_times_are_utc(lake: Lake, nba: Archive) -> None:
    time = datetime(2024, 4, 19, 3, 30, tzinfo=UTC)
    nba.publish("a", "2024", updates=nba.table("updates", UPDATES).replace("2024", [{"time": time}]))
    assert answer(lake, "select time, time::varchar from nba.updates") == [(time, "2024-04-19 03:30:00+00")]


def test_decimals_stay_decimals(lake: Lake, nba: Archive) -> None:
    nba.publish("a", "1", updates=nba.table("updates", UPDATES).replace("1", [{"theta": Decimal("0.7")}]))
    assert answer(lake, "select theta, typeof(theta) from nba.updates") == [(Decimal("0.7"), "DECIMAL(9,6)")]


def test_an_empty_table_has_its_typed_columns(lake: Lake, nba: Archive) -> None:
    nba.publish("a", "2010", updates=nba.table("updates", UPDATES).replace("2010", []))
    assert answer(lake, "from nba.updates") == []
    described = [row[:2] for row in answer(lake, "describe nba.updates")]
    assert described == [
        ("period", "VARCHAR"), ("snapshot", "BIGINT"), ("object", "VARCHAR"), ("points", "DOUBLE"),
        ("theta", "DECIMAL(9,6)"), ("time", "TIMESTAMP WITH TIME ZONE"), ("gone", "BOOLEAN"),
    ]  # fmt: skip


def test_a_column_that_came_later_is_null_before(lake: Lake, nba: Archive, table: SparkTable) -> None:
    table.add_column("rebounds", pa.int64())
    nba.publish("d", "2012", updates=table.replace("2012", [{"points": 5.0, "rebounds": 8}]))
    rows = answer(lake, "select period, rebounds from nba.updates order by all")
    assert rows == [("2010", None), ("2011", None), ("2012", 8)]
    assert changes(lake, 1, 3)[-1] == ("added", "2012", None, 5.0)


def test_runs_and_unpartitioned_files_are_read_at_their_latest(lake: Lake, nba: Archive, table: SparkTable) -> None:
    files = nba.table("files", pa.schema([("period", pa.string()), ("file", pa.string())]), partitioned=False)
    files.append("2010", [{"file": "a.csv"}])
    files.append("2011", [{"file": "b.csv"}])
    assert answer(lake, "from nba.files order by 1") == [("2010", "a.csv"), ("2011", "b.csv")]
    assert answer(lake, "select run_id from nba.runs order by 1") == [("a",), ("b",)]


def test_awkward_text_comes_back_as_it_is(lake: Lake, nba: Archive) -> None:
    nba.publish("a", "2010", updates=nba.table("updates", UPDATES).replace("2010", updates(*range(len(NASTY)))))
    assert [row[0] for row in answer(lake, "select object from nba.updates order by snapshot")] == NASTY


@pytest.mark.parametrize("folder", ["with blank", "José's", "a=b", "x{1,2}#"])
def test_odd_warehouse_folders_work(tmp_path: Path, folder: str) -> None:
    nba = Archive(tmp_path / folder)
    nba.publish("a", "2010", updates=nba.table("updates", UPDATES).replace("2010", updates(1.0)))
    found = Lake(Settings(warehouse=str(tmp_path / folder))).query("from nba.updates")
    assert found.columns == UPDATES.names
    assert len(list(found.rows)) == 1


@pytest.mark.parametrize("warehouse", ["s3://bucket/tables", "/data/[old]", "/data/*", "/data/100%20"])
def test_a_warehouse_that_cannot_be_read_here_is_named(warehouse: str) -> None:
    with pytest.raises(SettingError) as refused:
        Lake(Settings(warehouse=warehouse))
    assert repr(warehouse) in str(refused.value)


def test_tables_are_found_however_they_are_written(lake: Lake, table: SparkTable) -> None:
    for name in ("NBA.Updates", '"nba"."updates"', "nba . updates", "nba.updates u"):
        assert answer(lake, f"with n as (select count(*) c from {name}) from n") == [(3,)]
    assert answer(lake, "select count(*) from nba.updates a join nba.runs b using (period)") == [(3,)]
    assert answer(lake, "pivot (select period, gone from nba.updates) on period using count(*)") == [(None, 2, 1)]


@pytest.mark.parametrize(
    "sql",
    [
        "", "select 1; select 2", "select 1; drop view nba.updates", "drop view nba.updates",
        "insert into nba.updates select 1", "copy (select 1) to '{out}'", "/**/ copy (select 1) to '{out}'",
        "explain analyze copy (select 1) to '{out}'",
        "copy (pivot nba.updates on period using count(*)) to '{out}'", "attach '{out}'", "set threads = 1",
        "create table t as select 1", "install httpfs", "pragma version",
    ],
)  # fmt: skip
def test_only_one_statement_that_reads_is_run(lake: Lake, table: SparkTable, tmp_path: Path, sql: str) -> None:
    out = tmp_path / "written"
    with pytest.raises(SettingError):
        lake.query(sql.format(out=out))
    assert not out.exists()


@pytest.mark.parametrize(
    "sql",
    [
        "from read_text('{file}')", "from read_csv('{file}')", "from '{file}'", "from read_blob('{file}')",
        "select * from nba.updates, read_text('{file}')", "from read_parquet('{data}')", "from '{data}'",
        "from glob('{folder}/*')", "from sniff_csv('{file}')", "from parquet_metadata('{data}')",
        "explain analyze from read_text('{file}')", "describe from read_csv('{file}')", "summarize from '{data}'",
        "with t as (from read_json('{file}')) from t", "select (select content from read_text('{file}'))",
        "pivot '{data}' on period using count(*)", "from query('from read_text(''{file}'')')",
        "from nba.updates where exists (from read_text('{file}'))", "from read_text('file://{file}')",
        "from read_text('{folder}/nba/updates/../../secret.csv')", "from duckdb_secrets()",
        "from read_csv('http://127.0.0.1:1/x.csv')", "select getenv('HOME')",
    ],
)  # fmt: skip
def test_a_statement_reads_tables_and_no_other_file(lake: Lake, table: SparkTable, tmp_path: Path, sql: str) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("a,b\n1,xyzzy\n")
    unpublished = sorted((table.folder / "period=2010").glob("*.parquet"))[-1]
    statement = sql.format(file=file, folder=tmp_path, data=unpublished)
    with pytest.raises(SkyarchiveError) as refused:
        list(lake.query(statement).rows)
    assert "xyzzy" not in str(refused.value) and "\n" not in str(refused.value)
    if str(file) in str(refused.value):
        assert "--files" in str(refused.value)


@pytest.mark.parametrize("sql", ["set threads = 1", "reset threads", "load json", "call enable_logging()", "use nba",
                                 "export database '{out}'", "begin", "vacuum", "checkpoint"])  # fmt: skip
def test_a_statement_leaves_the_session_as_it_is(lake: Lake, table: SparkTable, tmp_path: Path, sql: str) -> None:
    with pytest.raises(SettingError):
        lake.query(sql.format(out=tmp_path / "out"))


def test_files_are_read_where_that_is_asked_for(lake: Lake, table: SparkTable, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("period,name\n2010,x\n")
    sql = f"select name, points from nba.updates join '{tmp_path}/more.csv' m on m.period::text = updates.period"
    assert list(lake.query(sql + " order by all", files=True).rows) == [("x", 1.0), ("x", 2.0)]


def test_a_large_answer_may_spill(lake: Lake) -> None:
    assert answer(
        lake, "select count(*) from (select distinct i::text || repeat('x', 20) t from range(500000) r(i))"
    ) == [(500_000,)]


def test_the_tables_are_listed(lake: Lake, nba: Archive, table: SparkTable) -> None:
    nba.table("objects", UPDATES).replace("2010", updates(1.0))  # not published: nobody can read it
    for sql in ("show tables", " SHOW TABLES; "):
        assert answer(lake, sql) == [("nba.runs",), ("nba.updates",)]
    assert [row[1:3] for row in answer(lake, "show all tables")] == [("nba", "runs"), ("nba", "updates")]
    assert answer(lake, "show tables from nba") == [("runs",), ("updates",)]
    found = "select table_schema, table_name from information_schema.tables order by all"
    assert answer(lake, found) == [("nba", "runs"), ("nba", "updates")]
    assert [row[0] for row in answer(lake, "describe nba.updates")] == UPDATES.names


def test_views_are_listed_with_the_tables(lake: Lake, nba: Archive) -> None:
    made = {name: nba.table(name, SCHEMAS[name]).replace("2010", []) for name in ("skyline", "snapshots")}
    nba.publish("a", "2010", **made)
    assert answer(lake, "show tables") == [("nba.reigns",), ("nba.runs",), ("nba.skyline",), ("nba.snapshots",)]
    assert [row[0] for row in answer(lake, "describe nba.reigns")][:3] == ["object", "first_snapshot", "last_snapshot"]


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("selec 1", 'The query fails: syntax error at or near "selec".'),
        ("select 'a'::int", "The query fails: Could not convert string 'a' to INT32."),
        ("from nba.skyline", "There is no table nba.skyline. The tables are nba.runs, nba.updates."),
        ("from nba.updates join nba.skyline using (period)", "There is no table skyline. The tables are"),
        ("from wnba.updates", "There is no table wnba.updates. The tables are nba.runs, nba.updates."),
        ("from sql", "There is no table sql. The tables are nba.runs, nba.updates."),
        ("select nope from nba.updates", 'The query fails: Referenced column "nope" not found'),
        ("""from "x'; drop table".y""", "There is no table x'; drop table.y. The tables are"),
    ],
)
def test_a_query_that_fails_says_so_in_one_sentence(lake: Lake, table: SparkTable, sql: str, sentence: str) -> None:
    with pytest.raises(SkyarchiveError) as failed:
        list(lake.query(sql).rows)
    assert str(failed.value).startswith(sentence)
    assert "\n" not in str(failed.value)


def test_an_error_in_the_middle_of_the_rows_is_explained_too(lake: Lake) -> None:
    rows = lake.query("select case when i < 500000 then '1' else 'x' end::int from range(1000000) r(i)")
    with pytest.raises(SkyarchiveError, match="Could not convert string 'x'"):
        list(rows.rows)


@pytest.mark.parametrize("version", [3, -1, 10**12])
def test_an_unknown_version_names_the_range(lake: Lake, table: SparkTable, version: int) -> None:
    with pytest.raises(SkyarchiveError, match=rf"nba\.updates has no version {version}: its versions are 0 to 2\."):
        lake.query("from nba.updates", {("nba", "updates"): version})


def test_a_version_of_a_table_that_is_not_read_is_refused(lake: Lake, table: SparkTable) -> None:
    with pytest.raises(SettingError, match=r"nba\.runs, which the statement does not read"):
        lake.query("from nba.updates", {("nba", "runs"): 0})


def test_history_tells_what_each_commit_did(lake: Lake, table: SparkTable) -> None:
    newest, _, oldest = lake.history("nba", "updates")
    assert (oldest.version, oldest.operation, oldest.step, oldest.periods) == (0, "WRITE", "derive", ["2010"])
    assert (oldest.rows, oldest.run_id, oldest.published) == (2, "a", True)
    assert oldest.time == datetime.fromtimestamp(1_700_000_000, UTC)
    assert (newest.version, newest.rows, newest.run_id, newest.published) == (2, 1, "c", False)
    assert all(commit.published for commit in lake.history("nba", "runs"))


def test_history_bears_commits_of_other_hands(lake: Lake, nba: Archive, table: SparkTable) -> None:
    table.restore(0)
    log = nba.folder / "updates" / "_delta_log" / f"{3:020d}.json"
    log.write_text(log.read_text().replace('"operation": "RESTORE"', '"userMetadata": "by me", "operation": "X"'))
    newest = lake.history("nba", "updates")[0]
    assert (newest.operation, newest.step, newest.periods, newest.rows) == ("X", None, [], None)


def test_diff_compares_the_last_two_published_versions(lake: Lake, table: SparkTable) -> None:
    assert changes(lake) == [("added", "2011", 0, 3.0)]
    assert changes(lake, new=2) == [
        ("removed", "2010", 0, 1.0), ("added", "2010", 0, 9.0), ("removed", "2010", 1, 2.0),
    ]  # fmt: skip
    assert changes(lake, old=1, new=0) == [("removed", "2011", 0, 3.0)]
    found = lake.diff("nba", "updates", 0, 2)
    assert (found.old, found.new, found.removed, found.added) == (0, 2, 2, 2)


def test_diff_of_a_period_replaced_by_the_same_rows_is_empty(lake: Lake, table: SparkTable) -> None:
    table.restore(1)
    table.replace("2010", updates(1.0, 2.0)[::-1])
    assert changes(lake, 1, 4) == []


def test_diff_counts_equal_rows(lake: Lake, nba: Archive) -> None:
    table = nba.table("updates", UPDATES)
    row = {"snapshot": 1, "points": float("nan")}
    table.replace("2010", [row, row, row])
    table.replace("2010", [row])
    assert [row[0] for row in changes(lake, 0, 1)] == ["removed", "removed"]


def test_diff_reads_only_the_files_that_differ(lake: Lake, nba: Archive, table: SparkTable) -> None:
    (nba.folder / "updates" / "period=2011" / "part-00001.c000.snappy.parquet").unlink()
    assert len(changes(lake, 1, 2)) == 3


def test_diff_needs_two_versions(lake: Lake, nba: Archive) -> None:
    nba.publish("a", "2010", updates=nba.table("updates", UPDATES).replace("2010", updates(1.0)))
    with pytest.raises(SkyarchiveError, match=r"nba\.updates has no two published versions"):
        lake.diff("nba", "updates")


def test_a_warehouse_that_is_not_there_has_no_tables(tmp_path: Path) -> None:
    lake = Lake(Settings(warehouse=str(tmp_path / "nothing")))
    assert lake.archives() == []
    assert answer(lake, "select 1") == [(1,)]
    with pytest.raises(SkyarchiveError, match="has no tables yet"):
        lake.history("nba", "updates")


def test_folders_that_are_no_archives_are_passed_over(lake: Lake, table: SparkTable, tmp_path: Path) -> None:
    (tmp_path / "Not an archive").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "skyarchive.log").write_text("")
    assert lake.archives() == ["nba"]
    assert lake.tables("nba") == ["runs", "updates"]

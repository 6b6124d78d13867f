"""Which statements are handed to Spark."""

import pytest

from skyarchive.errors import SettingError
from skyarchive.pipeline.spark_sql import check_statement

WRITES = [
    "drop table nba.updates", "insert into nba.updates values (1)",
    "from nba.updates insert overwrite directory '/x' select *",
    "with t as (select 1) insert overwrite directory '/x' using csv select * from t", "create view x as select 1",
    "with t as (select 1) delete from nba.updates", "with t as (select 1) update nba.updates set x = 1", "set x = 1",
    "with t as (select 1) merge into nba.updates using t on true when matched then delete", "add jar 'x'", "",
    "from nba.updates\ninsert/**/into nba.updates select *", "call x()",
    "begin select 1; end", "use nba", "execute immediate 'x'",
]  # fmt: skip
REACHES_OUT = [
    "select java_method('java.lang.System', 'getenv', 'HOME')", "select `reflect`('a', 'b')",
    "select try_reflect('a', 'b')",
    "select r'\\', REFLECT('java.lang.System', 'exit') --'",
    "select transform(x) using 'cat /etc/passwd' from nba.updates",
    "from nba.updates map period using/**/'cat'", "select * from identifier('csv.`/etc/passwd`')",
    "select identifier('ref' || 'lect')('a', 'b')", "describe history '/data/x'", "describe detail delta.`/x`",
    "select * from table_changes_by_path('/x', 0)", "select 1 -- \r, reflect('a', 'b')",
    "select '${env:HOME}'", "select * from nba.updates where period = '${system:user.home}'",
]  # fmt: skip
QUERIES = [
    "select * from nba.updates join nba.snapshots using (period, snapshot)", "with t as (select 1) select * from t",
    "from nba.updates |> limit 3", "describe nba.updates", "show tables in nba", "values (1)", "explain select 1",
    "select transform(array(1), x -> x + 1)", "select updates from nba.updates",
]  # fmt: skip


@pytest.mark.parametrize("files", [False, True])
@pytest.mark.parametrize("statement", WRITES)
def test_what_writes_is_refused(statement: str, files: bool) -> None:
    with pytest.raises(SettingError, match="steps write the tables"):
        check_statement(statement, files=files)


@pytest.mark.parametrize("statement", REACHES_OUT)
def test_what_reaches_beyond_the_tables_is_for_who_says_so(statement: str) -> None:
    with pytest.raises(SettingError, match="--files"):
        check_statement(statement, files=False)
    check_statement(statement, files=True)


@pytest.mark.parametrize("statement", QUERIES)
def test_queries_are_asked(statement: str) -> None:
    check_statement(statement, files=False)

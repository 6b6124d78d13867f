"""Names that reach paths and SQL: what is let through, and that nothing else is."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyarchive.errors import SettingError
from skyarchive.names import (
    checked_archive,
    checked_column,
    checked_period,
    periods_predicate,
    sql_text,
)
from skyarchive.store.contracts import split_table, table_names

ATTACKS = [
    "../../etc", "x'; drop table", 'x"; drop table', "x`y", "a/b", "a\\b", "..", ".", "", " ", "nba ", "nba\n", "\x00",
    "名前", "nba\u2028", "-", "%2e%2e", "a;b", "a--b;", "$(id)", "~", "*",
]  # fmt: skip


@pytest.mark.parametrize("name", [*ATTACKS, "NBA", "2014", "_nba", "nba-2", "n" * 64, "nba.updates"])
def test_an_archive_name_that_is_none_is_refused_and_quoted(name: str) -> None:
    with pytest.raises(SettingError, match="is not an archive name") as refusal:
        checked_archive(name)
    assert repr(name) in str(refusal.value)


@pytest.mark.parametrize("name", ["nba", "a", "tcp_2", "n" * 63])
def test_an_archive_name_is_itself(name: str) -> None:
    assert checked_archive(name) == name


@pytest.mark.parametrize(
    "period", [*ATTACKS, "2014..2015", "_2014", "-2014", ".2014", "2" * 64, "2014/15", "2014,2015"]
)
def test_a_period_that_is_none_is_refused_and_quoted(period: str) -> None:
    with pytest.raises(SettingError, match="is not a period") as refusal:
        checked_period(period)
    assert repr(period) in str(refusal.value)


@pytest.mark.parametrize("period", ["2014", "2024-04-19", "00012", "Q1", "2014.5", "2014_15", "2" * 63])
def test_a_period_is_itself(period: str) -> None:
    assert checked_period(period) == period


@pytest.mark.parametrize("name", [*ATTACKS, "_row", "id.orig_h", "1st", "x" * 128])
def test_a_column_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(SettingError, match="is not a column name"):
        checked_column(name)


@pytest.mark.parametrize("name", ["x", "X0", "points_per_minute", "x" * 127])
def test_a_column_name_is_itself(name: str) -> None:
    assert checked_column(name) == name


@pytest.mark.parametrize("table", table_names())
def test_a_qualified_name_falls_into_its_parts(table: str) -> None:
    assert split_table(f"nba.{table}") == ("nba", table)


@pytest.mark.parametrize("text", ["nba", "nba.", ".updates", "nba.update", "nba.updates.x", "nba updates", "../x.raw"])
def test_a_qualified_name_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match=r"is not a table: write ARCHIVE\.TABLE|is not an archive name"):
        split_table(text)


@given(text=st.text(max_size=12) | st.text("ab.-_/'\\", max_size=12), root=st.just(Path("/warehouse/nba/raw")))
def test_whatever_is_let_through_stays_in_its_folder_and_its_quotes(text: str, root: Path) -> None:
    check: Callable[[str], str]
    for check in (checked_archive, checked_period, checked_column):
        try:
            check(text)
        except SettingError:
            continue
        folder = (root / f"period={text}").resolve()
        assert folder.parent == root and folder.name == f"period={text}"
        assert (root / text).resolve().parent == root
        assert text.isascii() and sql_text(text) == f"'{text}'"


@pytest.mark.parametrize(
    ("value", "literal"), [("it's", r"'it\'s'"), ("a\\", r"'a\\'"), ("\\'", r"'\\\''"), ("", "''"), ("ü", "'ü'")]
)
def test_a_sql_text_cannot_end_its_literal(value: str, literal: str) -> None:
    assert sql_text(value) == literal


def test_a_predicate_names_exactly_its_periods() -> None:
    assert periods_predicate(["2010", "2011"]) == "period in ('2010', '2011')"
    with pytest.raises(SettingError, match="is not a period"):
        periods_predicate(["2010", "x'; drop table"])

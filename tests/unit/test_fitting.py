"""Tables on terminals of any width: nothing is wider, and no word, number or time is broken."""

import contextlib
import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyarchive.answers.output import render
from skyarchive.answers.values import shown, shown_time

NOW = datetime(2012, 6, 22, 1, 30, 20, tzinfo=UTC)
COLUMNS = ["object", "name", "points_per_minute", "points_per_minute_ahead", "since_snapshot", "since", "unbeaten"]
WHY = [("1966", "Giannis Antetokounmpo", 0.7524810123, -0.0031986891234, 1234, NOW, True)]


def on_terminal(columns: list[str], rows: list[Any], width: int) -> list[str]:
    """The lines of a table on a terminal of that width."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setenv("FORCE_COLOR", "1")
        patch.setenv("COLUMNS", str(width))
        render(columns, rows, "table")
    return re.sub(r"\x1b\[[\d;]*m", "", out.getvalue()).splitlines()


def forms(value: Any) -> set[str]:
    """How a number or a time may be told."""
    if isinstance(value, datetime):
        return {shown(value), shown_time(value, with_clock=True)} | (
            {f"{value:%Y-%m-%d}"} if value.hour == 0 else set()
        )
    return {shown(value, digits) for digits in (7, 5, 4)}


def assert_whole(columns: list[str], rows: list[Any], width: int) -> None:
    lines = on_terminal(columns, rows, width)
    assert max(map(len, lines)) <= width
    told = [f" {' '.join(line.split())} " for line in lines]
    for value in (value for row in rows for value in row if value is not None):
        if isinstance(value, str):
            assert all(any(f" {word} " in line for line in told) for word in value.split()), value
        else:
            assert any(f" {form} " in line for line in told for form in forms(value)), value
    named = [name for at, name in enumerate(columns) if any(row[at] is not None for row in rows)]
    assert all(any(part in line for line in told) for name in named for part in re.findall(r"[^_]+_?", name))


_words = st.text("abcdefgh", min_size=1, max_size=16)
_midnights = st.integers(0, 4000).map(lambda days: datetime(2000, 1, 1, tzinfo=UTC) + timedelta(days))
_kinds = st.sampled_from([
    st.lists(_words, min_size=1, max_size=3).map(" ".join),
    st.lists(_words, min_size=5, max_size=40).map(" ".join),
    st.integers(-(10**12), 10**12), st.floats(-1e9, 1e9), st.floats(0, 1), st.booleans(), _midnights,
    st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),
])  # fmt: skip


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[tuple[Any, ...]]]:
    kinds = draw(st.lists(_kinds, min_size=1, max_size=14))
    columns = [
        draw(st.lists(st.text("xyz", min_size=1, max_size=10), min_size=1, max_size=4).map("_".join)) for _ in kinds
    ]
    return columns, [tuple(draw(st.none() | kind) for kind in kinds) for _ in range(draw(st.integers(1, 4)))]


@settings(max_examples=100, deadline=None)
@given(tables(), st.integers(40, 250))
def test_nothing_is_broken_at_any_width(table: tuple[list[str], list[Any]], width: int) -> None:
    assert_whole(*table, width)


@pytest.mark.parametrize("width", range(40, 251, 7))
def test_an_answer_is_whole_at_any_width(width: int) -> None:
    assert_whole(COLUMNS, WHY, width)


def test_what_loses_least_comes_first() -> None:
    def line(width: int) -> str:
        return next(" ".join(line.split()) for line in on_terminal(COLUMNS, WHY, width) if "1966" in line)

    whole = "1966 Giannis Antetokounmpo 0.752481 -0.003198689 1234 2012-06-22T01:30:20Z true"
    assert {line(width) for width in (250, 130, 105, 97)} == {whole}
    assert line(93) == "1966 Giannis Antetokounmpo 0.75248 -0.0031987 1234 2012-06-22T01:30:20Z true"
    assert line(86) == "1966 Giannis Antetokounmpo 0.7525 -0.003199 1234 2012-06-22 01:30 true"
    assert line(60) == "object 1966"


def test_midnights_are_days_where_there_is_little_room() -> None:
    rows = [(datetime(2012, 6, day, tzinfo=UTC), datetime(2012, 6, day, day, tzinfo=UTC)) for day in (1, 2)]
    assert "2012-06-01T00:00:00Z" in on_terminal(["day", "time"], rows, 60)[3]
    assert on_terminal(["day", "time"], rows, 32)[-1].split() == ["2012-06-02", "2012-06-02", "02:00"]


def test_wide_texts_have_several_lines_and_names_have_one() -> None:
    rows = [("2010", "Shai Gilgeous-Alexander", "its updates changed, or what they start from; frequent has not run")]
    lines = on_terminal(["period", "name", "why"], rows, 80)
    assert sum("Shai Gilgeous-Alexander" in line for line in lines) == 1
    assert len([line for line in lines if line.strip()]) == 4
    assert " ".join(line[33:].strip() for line in lines[-2:]) == rows[0][2]


def test_records_leave_out_what_is_empty() -> None:
    columns = [f"column_{number}" for number in range(12)]
    lines = on_terminal(columns, [(None,) * 11 + (1,), (None,) * 12, (2, "", *range(10))], 40)
    told = [line.split() for line in lines[3:]]
    assert told[:5] == [["column_11", "1"], [], ["column_0"], [], ["column_0", "2"]]
    assert ["column_1"] not in told and told[5] == ["column_2", "0"]


@pytest.mark.parametrize("width", [40, 80])
def test_no_rows_are_told_too(width: int) -> None:
    lines = on_terminal([f"column_{number}" for number in range(12)], [], width)
    assert max(map(len, lines)) <= width and ("column_11" in lines[1] or "column" in lines[1])

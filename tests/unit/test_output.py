import csv
import io
import json
import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from skyarchive.answers.output import Format, limited, render

LONG = "a very long name " * 20


def shown(
    capsys: pytest.CaptureFixture[str],
    columns: list[str],
    rows: list[Any],
    format: Format,
    title: str | None = None,
) -> str:
    render(columns, rows, format, title)
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_json_is_one_list_of_row_objects(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, ["object", "n"], [("a", 1), ('Jokić "J"\n\'', None)], "json", title="never shown")
    assert json.loads(out) == [{"object": "a", "n": 1}, {"object": 'Jokić "J"\n\'', "n": None}]
    assert "Jokić" in out
    assert json.loads(shown(capsys, ["object"], [], "json")) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), None),
        (float("-inf"), None),
        (0.1, 0.1),
        (True, True),
        (Decimal("0.700000"), 0.7),
        (Decimal("12345678901234567890"), 12345678901234567890),
        (Decimal("NaN"), None),
        (datetime(2024, 4, 19, 3, 30, tzinfo=UTC), "2024-04-19T03:30:00Z"),
        (datetime(2024, 4, 19, 3, 30, tzinfo=timezone(timedelta(hours=2))), "2024-04-19T01:30:00Z"),
        (datetime(2024, 4, 19, 3, 30), "2024-04-19T03:30:00"),
        (date(2024, 4, 19), "2024-04-19"),
        ([1, {"x": float("nan"), "y": [Decimal("0.5")]}], [1, {"x": None, "y": [0.5]}]),
        ({1: "a"}, {"1": "a"}),
        (b"\x00\xff", "00ff"),
        (timedelta(seconds=90), "0:01:30"),
    ],
)
def test_json_values(capsys: pytest.CaptureFixture[str], value: Any, expected: Any) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    found = json.loads(shown(capsys, ["v"], [(value,)], "json"), parse_constant=refuse)[0]["v"]
    assert found == expected
    assert type(found) is type(expected)


def test_json_keeps_columns_of_one_name_apart(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, ["period", "period", "period_1"], [(1, 2, 3)], "json")
    assert json.loads(out) == [{"period": 1, "period_1": 2, "period_1_1": 3}]


def test_json_is_readable_where_unicode_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", stdout)
    render(["object"], [("Jokić",)], "json")
    stdout.seek(0)
    assert json.loads(stdout.read()) == [{"object": "Jokić"}]


def test_csv_comes_back_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    row = ('a "quoted", name\nof two lines', 1, 0.25, Decimal("0.700000"), None, [1, "x"], True)
    out = shown(capsys, list("abcdefg"), [row], "csv", title="never shown")
    header, found = csv.reader(io.StringIO(out))
    assert header == list("abcdefg")
    assert found == [row[0], "1", "0.25", "0.700000", "", '[1, "x"]', "true"]


def test_a_table_in_a_pipe_keeps_every_value_whole(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(
        capsys,
        ["object", "points", "last"],
        [(LONG, 5, "x" * 200), ("b", 12345, None)],
        "table",
        title="nba.t",
    )
    lines = out.splitlines()
    row = next(line for line in lines if line.strip().startswith("a very"))
    assert LONG in row
    assert "x" * 200 in row
    assert lines[0].strip() == "nba.t"
    assert "\x1b" not in out
    assert row.index(" 5 ") + 1 == next(line for line in lines if "12345" in line).index("12345") + 4


def test_a_table_fits_its_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    out = re.sub(r"\x1b\[\d*m", "", shown(capsys, ["object", "points"], [(LONG + "w" * 100, 5)], "table"))
    assert all(len(line) <= 60 for line in out.splitlines())
    assert out.count("w") == 100
    assert sum(line.count("long") for line in out.splitlines()) == 20


def test_more_columns_than_fit_are_shown_below_each_other(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    columns = [f"column_{i}" for i in range(30)]
    out = shown(capsys, columns, [list(range(100, 130)), list(range(200, 230))], "table")
    assert [line.split() for line in out.splitlines() if "column_7" in line] == [
        ["column_7", "107"],
        ["column_7", "207"],
    ]


def test_a_table_obeys_nothing_in_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, ["[bold]n[/]"], [("[red]x[/red] \x1b[31mred\r\x07",)], "table", title=None)
    assert "[bold]n[/]" in out
    assert "[red]x[/red] \\x1b[31mred\\x0d\\x07" in out


@pytest.mark.parametrize(("format", "limit", "count"), [("table", None, 1000), ("json", None, 1500), ("csv", 7, 7)])
def test_limits(capsys: pytest.CaptureFixture[str], format: Format, limit: int | None, count: int) -> None:
    rows = [(i,) for i in range(1500)]
    assert list(limited(rows, limit, format)) == rows[:count]
    said = capsys.readouterr()
    assert said.out == ""
    assert (f"the {count} rows shown" in said.err) == (count < 1500)

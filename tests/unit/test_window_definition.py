"""Queries over the last while as a definition gives them: what they mean, and what is wrong with one, in a sentence."""

from pathlib import Path

import pytest

from conftest import Home
from skyarchive.definition.windows import read_last

ARCHIVE = """
name: shops
title: Shops
source: {format: csv, files: "*.csv"}
period: {column: year}
columns:
  year: {type: int, required: true}
  shop: {type: string, required: true}
  cost: {type: double}
  sales: {type: bigint}
object: {column: shop}
derive: {method: updates, order: {by: [year], step_seconds: 1}}
attributes:
  cost: {better: lower}
"""
COST = "attributes: {cost: {better: lower}}"
NONE = "shops has no windows yet; run: skyarchive run shops"


def test_how_long_a_record_counts() -> None:
    day = 86400 * 10**6
    for text, width, counts in (
        ("1000 records", 1000, True), ("1 record", 1, True), ("30 days", 30 * day, False), ("1 day", day, False),
        ("90 seconds", 90 * 10**6, False), ("0.5 seconds", 500_000, False), ("15 minutes", 900 * 10**6, False),
        ("1.5 hours", 5400 * 10**6, False), ("1000000 records", 10**6, True),
    ):  # fmt: skip
        assert (read_last(text).width, read_last(text).counts_records) == (width, counts)


@pytest.mark.parametrize(
    ("windows", "words"),
    [
        (f"windows: [{{name: a, last: 9 records, {COST}}}]", NONE),
        (f"windows: [{{name: a, last: 9 records, {COST}, where: sales > 1, group: shop}}]", NONE),
        ("", "asks for no windows: give it a field `windows` with a query"),
        (f"windows: [{{name: a, last: 0, {COST}}}]", "windows.0.last: must be a number of records, seconds, minutes"),
        (f"windows: [{{name: a, last: 0 days, {COST}}}]", "windows.0.last: must be a whole number and at least one"),
        (f"windows: [{{name: a, last: 1.5 records, {COST}}}]", "must be a whole number and at least one record"),
        (f"windows: [{{name: a, last: -3 days, {COST}}}]", "windows.0.last: must be a number of records"),
        (f"windows: [{{name: a, last: 9 weeks, {COST}}}]", "windows.0.last: must be a number of records, seconds"),
        (f"windows: [{{name: a, last: 99999 days, {COST}}}]", "at most a century"),
        (f"windows: [{{name: a b, last: 9 days, {COST}}}]", "windows.0.name: must be letters, digits"),
        (f"windows: [{{last: 9 days, {COST}}}]", "windows.0.name: is missing"),
        (f"windows: [{{name: a, last: 9 days, {COST}, were: x}}]", "allowed are name, last, attributes, where, group"),
        ("windows: [{name: a, last: 9 days, attributes: {cost: {better: lower, valu: x}}}]", "are better, value"),
        ("windows: [{name: a, last: 9 days, attributes: {}}]", "windows.0.attributes: must not be empty"),
        (
            "windows: [{name: a, last: 9 days, attributes: {price: {better: lower}}}]",
            "there is no column 'price'; give",
        ),
        ("windows: [{name: a, last: 9 days, attributes: {shop: {better: lower}}}]", "its column is a string"),
        ("windows: [{name: a, last: 9 days, attributes: {cost: {better: up}}}]", "must be lower or higher"),
        ("windows: [{name: a, last: 9 days, attributes: {cost: {better: {order: [[A, B]]}}}}]", "no partial orders"),
        ("windows: [{name: a, last: 9 days, attributes: {x: {better: lower, value: costs}}}]", "is no column 'costs'"),
        ("windows: [{name: a, last: 9 days, attributes: {left: {better: lower, value: cost}}}]", "'left' is a column"),
        (
            f"windows: [{{name: a, last: 9 days, {COST}, where: price > 1}}]",
            "windows.0.where: there is no column 'price'",
        ),
        (
            f"windows: [{{name: a, last: 9 days, {COST}, group: [town]}}]",
            "windows.0.group.0: there is no column 'town'",
        ),
        (f"windows: [{{name: a, last: 9 days, {COST}}}, {{name: A, last: 8 days, {COST}}}]", "'A' is there twice"),
        (
            f"windows: [{{name: a, last: 9 days, {COST}}}, "
            "{name: b, last: 9 days, attributes: {cost: {better: higher}}}]",
            "cost means one thing in a and another in b: give one of them another name",
        ),
        (
            f"windows: [{{name: a, last: 9 days, {COST}}}, "
            "{name: b, last: 9 days, attributes: {Cost: {better: lower, value: cost}}}]",
            "Cost means one thing in a and another in b",
        ),
    ],
)
def test_what_cannot_be_asked_is_told(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, windows: str, words: str
) -> None:
    (tmp_path / "definitions").mkdir()
    (tmp_path / "definitions" / "shops.yaml").write_text(ARCHIVE + windows)
    monkeypatch.setenv("SKYARCHIVE_ARCHIVES", str(tmp_path / "definitions"))
    answer = home.command("window", "shops")
    assert answer.code == 1 and words in answer.err, answer.err
    assert answer.out == "" and "Traceback" not in answer.err and answer.err.count("\n") == 1

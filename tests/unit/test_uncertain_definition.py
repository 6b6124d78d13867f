"""Queries over records that may be wrong, as a definition gives them: what is wrong with one, in a sentence."""

from decimal import Decimal
from pathlib import Path

import pytest

from conftest import Home
from skyarchive.definition.uncertain import UncertainQuery

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
BEGIN = "uncertain: [{name: a, last: 9 days, attributes: {cost: {better: lower}}"


def test_what_is_left_out_and_what_is_written() -> None:
    query = UncertainQuery.model_validate(
        {"name": "a", "last": "9 records", "attributes": {"cost": {"better": "lower"}}, "probability": 1e-7,
         "thresholds": [0.3, "0.000001", 1]}
    )  # fmt: skip
    assert query.levels == (Decimal("0.3"), Decimal("0.000001"), Decimal(1))
    assert (query.top, query.chance, query.group, query.where) == (10, "0.0000001", [], None)


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ("thresholds: [0.3]", "uncertain.0.probability: is missing"),
        ("probability: 0.5", "uncertain.0.thresholds: is missing"),
        ("probability: 0.5, thresholds: []", "uncertain.0.thresholds: must not be empty"),
        ("probability: 0.5, thresholds: [0]", "uncertain.0.thresholds: must be above 0 and at most 1"),
        ("probability: 0.5, thresholds: [1.01]", "uncertain.0.thresholds: must be above 0 and at most 1"),
        ("probability: 0.5, thresholds: [0.0000001]", "uncertain.0.thresholds: must have at most 6 decimal places"),
        ("probability: 0.5, thresholds: [half]", "uncertain.0.thresholds: must be a number above 0, at most 1"),
        ("probability: 0.5, thresholds: [0.3, 0.5, 0.30]", "uncertain.0.thresholds: 0.3 is there twice"),
        ("probability: 0.5, thresholds: [0.3], top: 0", "uncertain.0.top: must be a number of records from 1"),
        ("probability: 0.5, thresholds: [0.3], top: 1.5", "uncertain.0.top"),
        ("probability: 0, thresholds: [0.3]", "uncertain.0.probability: must be above 0 and at most 1"),
        ("probability: 1.5, thresholds: [0.3]", "uncertain.0.probability: must be above 0 and at most 1"),
        ("probability: '1.5', thresholds: [0.3]", "uncertain.0.probability: must be above 0 and at most 1"),
        ("probability: true, thresholds: [0.3]", "uncertain.0.probability: must be above 0 and at most 1"),
        ("probability: shop, thresholds: [0.3]", "uncertain.0.probability: its column is a string"),
        ("probability: \"'high'\", thresholds: [0.3]", "uncertain.0.probability: it is a text"),
        ("probability: price / 2, thresholds: [0.3]", "uncertain.0.probability: there is no column 'price'"),
        ("probability: 0.5, threshold: [0.3]", "thresholds, top"),
    ],
)
def test_what_cannot_be_asked_is_told(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rest: str, words: str
) -> None:
    (tmp_path / "definitions").mkdir()
    (tmp_path / "definitions" / "shops.yaml").write_text(f"{ARCHIVE}{BEGIN}, {rest}}}]")
    monkeypatch.setenv("SKYARCHIVE_ARCHIVES", str(tmp_path / "definitions"))
    answer = home.command("uncertain", "shops")
    assert answer.code == 1 and words in answer.err, answer.err
    assert answer.out == "" and "Traceback" not in answer.err and answer.err.count("\n") == 1


@pytest.mark.parametrize(("name", "taken"), [("threshold", True), ("greatest", True), ("left", True), ("price", False)])
def test_names_of_the_table_are_taken(name: str, taken: bool) -> None:
    told = {"name": "a", "last": "9 records", "attributes": {name: {"better": "lower", "value": "cost"}},
            "probability": 1, "thresholds": [1]}  # fmt: skip
    if taken:
        with pytest.raises(ValueError, match="is a column of the result table"):
            UncertainQuery.model_validate(told)
    else:
        assert UncertainQuery.model_validate(told)

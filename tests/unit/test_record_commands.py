"""`skyarchive external` on archives that cannot answer: told in a sentence, without Spark."""

from pathlib import Path

import pytest

from conftest import Home

ARCHIVE = """
name: shops
title: Shops
source: {format: csv, files: "*.csv"}
period: {column: year}
columns:
  year: {type: int, required: true}
  shop: {type: string, required: true}
  cost: {type: double}
  grade: {type: string}
object: {column: shop}
derive: {method: updates, order: {by: [year], step_seconds: 1}}
attributes:
  cost: {better: lower}
"""


@pytest.mark.parametrize(
    ("external", "words"),
    [
        ("", "does not ask for records: give it a field `external`"),
        ("external: {attributes: {cost: {better: lower}}}", "has no records yet; run: skyarchive run shops"),
        ("external: {attributes: {}}", "external.attributes"),
        ("external: {attributes: {price: {better: lower}}}", "no column 'price'"),
        ("external: {attributes: {cost: {better: cheap}}}", "cost.better: must be lower, higher or a partial"),
        ("external: {attributes: {grade: {better: {order: [[A, B], [B, A]]}}}}", "'A' better than 'B' better than 'A'"),
        ("external: {attributes: {grade: {better: {order: [[A, 1]]}}}}", "must be texts: put them in quotes"),
        ("external: {attributes: {grade: {better: {order: []}}}}", "external.attributes.grade.better"),
        ("external: {attributes: {grade: {better: {order: [A, [B]]}}}}", "not a mixture"),
        ("external: {attributes: {period: {better: lower}}}", "'period' is a column of the result table"),
    ],
)
def test_what_cannot_be_answered_is_told(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, external: str, words: str
) -> None:
    (tmp_path / "definitions").mkdir()
    (tmp_path / "definitions" / "shops.yaml").write_text(ARCHIVE + external)
    monkeypatch.setenv("SKYARCHIVE_ARCHIVES", str(tmp_path / "definitions"))
    answer = home.command("external", "shops")
    assert answer.code == 1 and words in answer.err, answer.err
    assert answer.out == "" and "Traceback" not in answer.err


def test_an_unknown_archive_is_told(home: Home) -> None:
    answer = home.command("external", "shoes")
    assert answer.code == 1 and "shoes" in answer.err

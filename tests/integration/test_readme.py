"""What the README prints, run as it is printed."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from conftest import Home

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
HOTELS = [("Berne", 80.0, 3), ("Berne", 90.0, 3), ("Berne", 90.0, 4), ("Lyon", 85.0, 3), ("Lyon", 85.0, 3)]


def blocks(kind: str, word: str) -> list[str]:
    """The blocks of a kind that have a word in them."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    return [block for of, block in fenced if of == kind and word in block]


def test_skylines_of_any_frame_and_file(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = blocks("python", "from skyarchive import register_sql, skyline")
    hotels = spark.createDataFrame(HOTELS, ["city", "price", "stars"])
    hotels.createOrReplaceTempView("hotels")
    pq.write_table(pa.table(list(map(list, zip(*HOTELS, strict=True))), hotels.columns), tmp_path / "hotels.parquet")
    monkeypatch.chdir(tmp_path)
    code = code.replace("\nspark.sql(", "\nanswer = spark.sql(")
    known = {"spark": spark, "hotels": hotels}
    exec(code, known)
    unbeaten = sorted([HOTELS[0], *HOTELS[2:]])
    assert sorted(map(tuple, known["answer"].collect())) == unbeaten
    shown = [line.split("|")[1:4] for line in capsys.readouterr().out.splitlines() if re.match(r"\|.*\d", line)]
    assert sorted((city.strip(), float(price), int(stars)) for city, price, stars in shown) == unbeaten
    assert known["found"].rows.tolist() == [0, 2]


@pytest.mark.thorough
def test_an_archive_of_one_s_own(home: Home, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    (definition,), (rows,) = blocks("yaml", "name: hotels"), blocks("", "day,hotel,price,stars")
    (home.raw / "hotels").mkdir(parents=True)
    (home.raw / "hotels" / "prices.csv").write_text(rows, encoding="utf-8")
    (home.folder / "archives").mkdir()
    (home.folder / "archives" / "hotels.yaml").write_text(definition, encoding="utf-8")
    monkeypatch.setenv("SKYARCHIVE_ARCHIVES", "archives")
    answer = home.command("run", "hotels")
    assert answer.code == 0, answer.err
    updates = home.sql("select snapshot, object, price, gone from hotels.updates order by snapshot, object")
    assert [tuple(row.values()) for row in updates] == [
        (0, "Krone", 80.0, False), (0, "Zum Löwen", 90.0, False),
        (1, "Krone", None, True), (1, "Zum Löwen", 85.0, False),
    ]  # fmt: skip
    best = home.command("external", "hotels", "--format", "json").rows
    assert [(row["object"], row["price"], row["row"]) for row in best] == [("Krone", 80.0, 2), ("Zum Löwen", 85.0, 3)]
    assert home.sql("select count(*) as n from hotels.frequent") == [{"n": 0}]  # no window of 30 days is full

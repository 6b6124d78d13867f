"""A user's own tables as archives, by YAML alone: update logs and full snapshots, csv and delta."""

import itertools
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

import oracle
from conftest import Home

HOTELS = """
name: hotels
title: Hotels by price and rating
source: {{format: {format}, files: "{files}"}}
period: {{column: day, by: month}}
columns:
  day: {{type: date, required: true}}
  hotel: {{type: string, required: true}}
  price: {{type: double}}
  stars: {{type: double}}
  closed: {{type: boolean}}
object: {{column: hotel}}
derive: {{method: {method}, order: {{by: [day]}}{gone}}}
attributes:
  price: {{better: lower}}
  stars: {{better: higher}}
"""


def random_rows(seed: int, days: int = 60, hotels: int = 8) -> pd.DataFrame:
    """Rows with ties, repeats, missing values, -0.0, closings and days without any row."""
    chance = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for day, hotel in itertools.product(pd.date_range("2024-01-20", periods=days), range(hotels)):
        if day.dayofyear % 7 and chance.random() < 0.4:
            rows.append(
                {
                    "day": day.date(),
                    "hotel": f"Zum 'Löwen', {hotel}",
                    "price": chance.choice([80.0, 90.0, 100.0, -0.0, 0.0, None]),
                    "stars": chance.choice([3.0, 3.5, 4.0]),
                    "closed": chance.random() < 0.1,
                }
            )
    return pd.DataFrame(rows)


def write_raw(rows: pd.DataFrame, folder: Path, kind: str) -> str:
    folder.mkdir(parents=True)
    table = pa.Table.from_pandas(rows, preserve_index=False)
    if kind == "csv":
        pa.csv.write_csv(table, folder / "hotels.csv")
    else:
        write_deltalake(folder / "hotels", table)
    return "hotels" if kind == "delta" else "*." + kind


@pytest.mark.parametrize(
    ("kind", "method", "seed"),
    [("csv", "snapshots", 2), ("delta", "updates", 3)],
)
def test_an_archive_by_yaml_alone_equals_the_oracle(
    home: Home, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, kind: str, method: str, seed: int
) -> None:
    rows = random_rows(seed)
    files = write_raw(rows, home.raw / "hotels", kind)
    definitions = home.folder / "definitions"
    definitions.mkdir()
    gone = ", gone: closed" if method == "updates" else ""
    (definitions / "hotels.yaml").write_text(HOTELS.format(format=kind, files=files, method=method, gone=gone))
    monkeypatch.setenv("SKYARCHIVE_ARCHIVES", str(definitions))
    answer = home.command("run", "hotels", "--steps", "ingest,derive")
    assert answer.code == 0, answer.err
    find = oracle.update_log if method == "updates" else oracle.full_snapshots
    extra = {"gone": "closed"} if method == "updates" else {}
    frame = rows.assign(day=rows["day"].astype(str), month=rows["day"].astype(str).str[:7])
    expected = find(frame, ["price", "stars"], "month", object_column="hotel", order="day", **extra)
    for table, key in (("updates", ["snapshot", "object"]), ("snapshots", ["snapshot"])):
        columns = [c for c in getattr(expected, table).columns if c != "time"]
        found = pd.DataFrame(home.sql(f"select {', '.join(columns)} from hotels.{table} order by {', '.join(key)}"))
        wanted = getattr(expected, table)[columns].sort_values(key).reset_index(drop=True)
        pd.testing.assert_frame_equal(found[columns], wanted, check_dtype=False)


def test_a_broken_definition_stops_its_archive_and_no_other(
    home: Home, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    definitions = home.folder / "definitions"
    definitions.mkdir()
    (definitions / "hotels.yaml").write_text("name: hotels\ntitel: Hotels\n")
    monkeypatch.setenv("SKYARCHIVE_ARCHIVES", str(definitions))
    home.generate("tcp", "2024-04-19", size=0.02)
    assert home.command("ingest", "tcp").code == 0
    answer = home.command("run", "hotels")
    assert answer.code == 1
    assert "hotels.yaml" in answer.err
    assert "titel" in answer.err


def test_what_replaces_a_built_in_archive_brings_none_of_its_checks_nor_its_files(
    home: Home, spark: SparkSession
) -> None:
    files = write_raw(random_rows(1), home.raw / "nba", "csv")
    text = HOTELS.format(format="csv", files=files, method="snapshots", gone="").replace("name: hotels", "name: nba")
    (home.raw / "nba" / "archive.yaml").write_text(text)
    answer = home.command("ingest", "nba")
    assert answer.code == 0, answer.err
    [checked] = home.sql("select count(*) as checks from nba.quality where table_name = 'raw' and not success")
    assert checked["checks"] == 0
    answer = home.command("generate", "nba")
    assert answer.code == 1 and "archive.yaml describes nba in its own way" in answer.err

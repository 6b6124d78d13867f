"""Hotels as rows and frames, and which of them no other beats."""

import random
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from oracle import records as oracle

MEDALS = {"order": [["gold", "silver"], ["gold", "wood"]]}
PAIRS = [("gold", "silver"), ("gold", "wood")]
WAYS: dict[str, Any] = {"price": "lower", "stars": "higher", "medal": MEDALS}
TRUE_WAYS: dict[str, Any] = WAYS | {"medal": PAIRS}
SCHEMA = "id bigint, price double, stars int, medal string, city string, note string"


def hotels(seed: int, n: int) -> list[dict[str, Any]]:
    """Rows with ties, duplicates, missing values, and -0.0."""
    chance = random.Random(seed)
    rows = []
    for number in range(n):
        stars = chance.choice([None, *range(6)])
        price = (stars or 0) + chance.choice([0.0, -0.0, 0.5, 1.0])  # who has more stars is dearer: many are unbeaten
        rows.append({
            "id": number,
            "price": chance.choice([price] * 8 + [None, float("nan")]),
            "stars": stars,
            "medal": chance.choice(["gold", "silver", "wood", "silver", "wood", None]),
            "city": chance.choice(["Lyon", "Berne", None]),
            "note": None if number % 3 else f"note {number}",
        })  # fmt: skip
    return rows


def frame(spark: SparkSession, rows: list[dict[str, Any]], partitions: int = 4) -> DataFrame:
    values = [tuple(row.values()) for row in rows]
    return spark.createDataFrame(values, SCHEMA).repartition(partitions)


def ids(found: DataFrame) -> list[int]:
    return sorted(row["id"] for row in found.collect())


def true_ids(rows: list[dict[str, Any]], ways: dict[str, Any], group: list[str] | None = None) -> list[int]:
    return sorted(row["id"] for row in oracle.unbeaten(rows, ways, group or []))

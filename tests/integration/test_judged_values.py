"""Single values of raw rows: which are taken, as what, and why the others are not. No file, no table."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from skyarchive.definition.model import Column
from skyarchive.steps.ingest.judging import judged_column

NUL = "\x00"
NEXT = datetime.now(UTC).year + 1
GAME = {"type": "timestamp", "required": True, "min": "1946-01-01", "max": "next year"}
DAY = {"type": "date", "min": "2000-01-01", "max": "2014-06-15"}
NOON = {"type": "timestamp", "max": "2014-06-15 12:00:00"}
SECOND = {"type": "double", "min": 0, "max": "next year"}
FAR = "timestamp'1970-01-01' + make_dt_interval({days})"

JUDGED: dict[str, list[tuple[dict[str, Any], str, str | None]]] = {
    "a text as a number": [
        ({"type": "int", "min": 0}, "'12'", None),
        ({"type": "int", "min": 0}, "' 12 '", None),
        ({"type": "int", "min": 0}, f"'{NUL * 4096}12'", "x is not a number"),
        ({"type": "double", "min": 0}, f"'1.5{NUL}'", "x is not a number"),
        ({"type": "double", "min": 0}, f"' {NUL} 1.5'", "x is not a number"),
        ({"type": "double", "min": 0}, "'\t1.5'", "x is not a number"),
        ({"type": "double", "min": 0}, "'1.5\x7f'", "x is not a number"),
        ({"type": "double", "min": 0}, f"'1{NUL}5'", "x is not a number"),
        ({"type": "double", "required": True}, "'12d'", "x is not a number"),
    ],
    "a text as a time": [
        (GAME, "'2014-06-15 12:00:00'", None),
        (GAME, "'2014-06-15T12:00:00Z'", None),
        (GAME, f"'{NUL}2014-06-15 12:00:00'", "x is not a timestamp"),
        (GAME, "'2014'", "x is not a timestamp"),
        (GAME, "'12:30:00.123'", "x is not a timestamp"),
        (DAY, "'2014-06-15'", None),
        (DAY, f"'2014-06-15{NUL}'", "x is not a date"),
        (DAY, "'2014-06-16'", "x is after 2014-06-15"),
        (DAY, "'1999-12-31'", "x is before 2000-01-01"),
        ({"type": "timestamp", "max": "2014-06-15"}, "'2014-06-15 23:59:59.999999'", None),
        ({"type": "timestamp", "max": "2014-06-15"}, "'2014-06-16 00:00:00'", "x is after 2014-06-15"),
        (NOON, "'2014-06-15 12:00:01'", "x is after 2014-06-15 12:00:00"),
        ({"type": "boolean", "required": True}, f"'true{NUL}'", "x is not a boolean"),
    ],
    "a time": [
        (GAME, "timestamp'1946-01-01 00:00:00'", None),
        (GAME, "timestamp'1945-12-31 23:59:59'", "x is before 1946-01-01"),
        (GAME, f"timestamp'{NEXT}-12-31 23:59:59'", None),
        (GAME, f"timestamp'{NEXT + 1}-01-01 00:00:00'", f"x is after {NEXT}"),
        (GAME, FAR.format(days=53_377_000), f"x is after {NEXT}"),  # the year 148,108
        (GAME, FAR.format(days=-719_600), "x is before 1946-01-01"),  # 1 BC
        ({"type": "timestamp", "required": True}, FAR.format(days=2_932_897), "x is not between the years 1 and 9999"),
        ({"type": "timestamp", "required": True}, FAR.format(days=-719_600), "x is not between the years 1 and 9999"),
    ],
    "seconds": [
        (SECOND, "1713484900.5D", None),
        (SECOND, "253402214400D", f"x is after {NEXT}"),  # 9999-12-31
        (SECOND, "-1D", "x is negative"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", JUDGED)
def test_what_is_taken_and_why_the_rest_is_not(kind: str, spark: SparkSession) -> None:
    cases = {f"x{number}": case for number, case in enumerate(JUDGED[kind])}
    literals = [
        (F.lit(value[1:-1]) if value.startswith("'") else F.expr(value)).alias(x) for x, (_, value, _) in cases.items()
    ]
    frame = spark.range(1).select(*literals)
    judged = {x: judged_column(x, Column.model_validate(cases[x][0]), kind) for x, kind in frame.dtypes}
    reasons = [(F.lit(None) if why is None else why).alias(x) for x, (_, why) in judged.items()]
    typed = [value.isNull().alias(f"{x} is null") for x, (value, _) in judged.items()]
    (found,) = frame.select(*reasons, *typed).collect()
    for x, (spec, value, reason) in cases.items():
        assert found[x] == (reason and reason.replace("x", x, 1)), (spec, value)
        assert reason or not found[f"{x} is null"], (spec, value)

"""What can be asked of a frame: groups and columns of any kind, orders of any values; and what is told of mistakes."""

from datetime import UTC, date, datetime
from typing import Any

import pandas as pd
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from hotels import PAIRS, frame, hotels, ids, true_ids
from skyarchive import register_sql, skyline
from skyarchive.errors import InputError, SettingError

GROUPS = [
    ["text"], ["whole"], ["number"], ["small"], ["exact"], ["day"], ["time"], ["local"], ["bits"], ["yes"], ["lasts"],
    ["text", "other"], ["time", "local", "number"], ["bits", "text", "yes"],
]  # fmt: skip


@pytest.fixture
def of_all_groups(spark: SparkSession, request: pytest.FixtureRequest) -> DataFrame:
    """Values that are easily taken for each other, though they differ or though they do not; the first row of a group
    is the best of it."""
    before = spark.conf.get("spark.sql.session.timeZone")
    request.addfinalizer(lambda: spark.conf.set("spark.sql.session.timeZone", before))
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    return spark.range(96).selectExpr(
        "cast(id as int) as id",
        "element_at(array('1:a', '1:a-', '', '-', null, 'a'), cast(id % 6 + 1 as int)) as text",
        "element_at(array('1:a', '-', null), cast(id % 3 + 1 as int)) as other",
        "if(id % 7 = 0, null, 9007199254740992 + id % 2) as whole",
        "element_at(array(0.0D, -0.0D, double('nan'), null, 0.1D), cast(id % 5 + 1 as int)) as number",
        "cast(element_at(array(0.0D, -0.0D, 0.1D), cast(id % 3 + 1 as int)) as float) as small",
        "cast(id % 3 / 1000 as decimal(38, 22)) as exact",
        "date_add(date'2024-11-03', cast(id % 2 as int)) as day",
        "timestamp_micros(1730612400000000 + id % 2 * 3600000000 + id % 3) as time",  # an hour that comes twice
        "timestamp_ntz'2024-11-03 01:30:00' + make_dt_interval(0, 0, 0, id % 3 / 1000000) as local",
        "element_at(array(x'ff', x'fe', x'', null), cast(id % 4 + 1 as int)) as bits",
        "if(id % 5 = 0, null, id % 2 = 0) as yes",
        "interval '1' day * (id % 3) as lasts",
    )


@pytest.mark.parametrize("plan", ["tree", "passes"])
def test_groups_are_those_of_group_by(of_all_groups: DataFrame, plan: Any) -> None:
    for group in GROUPS if plan == "tree" else GROUPS[-3:]:
        wanted = sorted(row[0] for row in of_all_groups.groupBy(*group).agg(F.min("id")).select("min(id)").collect())
        assert 1 < len(wanted) < 96
        assert ids(skyline(of_all_groups, {"id": "lower"}, group, plan)) == wanted, group


@pytest.mark.parametrize("plan", ["tree", "passes", "auto"])
def test_columns_of_any_name(spark: SparkSession, plan: Any) -> None:
    names = ["id", "id.orig_h", "pr.ice", "c`d", "STARS", "_group", "_Is_Member", "a b", "c0", "extra", "extra"]
    rows = [(n, f"h{n}", 40 - n * 7 % 40, n % 3, n * 11 % 40, "mine", "too", n, n, n, -n) for n in range(40)]
    frame = spark.createDataFrame(rows, [f"x{n}" for n in range(len(names))]).toDF(*names)
    found = skyline(frame, {"pr.ice": "lower", "stars": "higher"}, ["c`d"], plan)
    assert found.columns == names and found.schema == frame.schema
    values = [{"id": row[0], "price": row[2], "city": row[3], "stars": row[4]} for row in rows]
    wanted = true_ids(values, {"price": "lower", "stars": "higher"}, ["city"])
    assert sorted(tuple(row) for row in found.collect()) == [rows[n] for n in wanted]


@pytest.mark.parametrize(
    ("column", "order"),
    [
        ("whole", [[2, 1], [2, 0]]),
        ("whole", [["2", "1"], ["2", "0"]]),
        ("small", [[0.3, 0.2], [0.3, 0.1]]),
        ("day", [[date(2024, 1, 3), date(2024, 1, 2)], [date(2024, 1, 3), date(2024, 1, 1)]]),
        ("time", [[datetime(2024, 1, day, tzinfo=UTC) for day in days] for days in ((3, 2), (3, 1))]),
    ],
)
def test_partial_orders_of_values_that_are_no_texts(spark: SparkSession, column: str, order: Any) -> None:
    frame = spark.range(30).selectExpr(
        "id", "cast(id % 3 as int) as whole", "cast((id % 3 + 1) / 10 as float) as small",
        "date_add(date'2024-01-01', cast(id % 3 as int)) as day",
        "timestamp'2024-01-01 00:00:00 UTC' + make_dt_interval(cast(id % 3 as int)) as time", "id * 7 % 10 as price",
    )  # fmt: skip
    rows = [{"id": n, "medal": ["wood", "silver", "gold"][n % 3], "price": n * 7 % 10} for n in range(30)]
    wanted = true_ids(rows, {"medal": PAIRS, "price": "lower"})
    assert ids(skyline(frame, {column: {"order": order}, "price": "lower"})) == wanted
    if column == "whole":
        register_sql(spark)
        frame.createOrReplaceTempView("ranked")
        found = spark.sql("select * from skyline(table(ranked), 'WHOLE (2 > 1; 2 > 0), price Lower')")
        assert ids(found) == wanted


@pytest.mark.parametrize(
    ("ways", "group", "words"),
    [
        ({"prize": "lower"}, None, "no column 'prize'; columns are id, price"),
        ({"price": "cheap"}, None, "'cheap' is no direction"),
        ({"note": "lower"}, None, "note is a string, which has no lower and higher"),
        ({"price": "lower"}, "town", "no column 'town'"),
        ({"price": "lower"}, "many", "many is a array<bigint>: rows are grouped by single values"),
        ({"price": "lower"}, "folded", "folded is a string collate UTF8_LCASE: group by a plain string"),
        ({"price": "lower", "PRICE": "higher"}, None, "name one column twice"),
        ({"medal": {"order": [["gold", "wood"], ["wood", "gold"]]}}, None, "medal: .*gold"),
        ({"stars": {"order": ["many", "few"]}}, None, "stars is a int, and its partial order names 'many'"),
        ({"stars": {"order": [5, "5"]}}, None, "two are one int"),
        ({"many": {"order": ["a", "b"]}}, None, "many is a array<bigint>: only single values"),
    ],
)
def test_wrong_questions_are_told_before_anything_runs(spark: SparkSession, ways: Any, group: Any, words: str) -> None:
    more = {"many": F.array("id"), "folded": F.expr("collate(city, 'UTF8_LCASE')")}
    with pytest.raises(SettingError, match=words):
        skyline(frame(spark, hotels(5, 3)).withColumns(more), ways, group)


def test_wrong_frames_and_plans_are_told(spark: SparkSession) -> None:
    with pytest.raises(SettingError, match="is no plan"):
        skyline(frame(spark, hotels(5, 3)), {"price": "lower"}, plan="luck")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="come as a stream"):
        skyline(spark.readStream.format("rate").load(), {"value": "lower"})
    with pytest.raises(SettingError, match=r"takes a Spark DataFrame, not a pandas\..*DataFrame"):
        skyline(pd.DataFrame({"price": [1]}), {"price": "lower"})  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="group must be the name of a column"):
        skyline(frame(spark, hotels(5, 3)), {"price": "lower"}, F.col("city"))  # type: ignore[arg-type]
    twice = frame(spark, hotels(5, 3)).select("*", "price")
    with pytest.raises(SettingError, match="'price' is there 2 times"):
        skyline(twice, {"price": "lower"})


def test_a_value_that_the_order_does_not_name_is_told(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match="column medal has the value 'wood', which its partial order"):
        skyline(frame(spark, hotels(6, 30)), {"medal": {"order": ["gold", "silver"]}}).collect()
    with pytest.raises(InputError, match=r"^column medal has the value 'wood', which its partial order .*'silver'\.$"):
        skyline(frame(spark, hotels(6, 30)), {"medal": {"order": ["gold", "silver"]}}, plan="passes")

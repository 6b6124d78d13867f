"""Suites of expectations on real Spark frames: every entry can fail, says where, and stays cheap and quiet."""

import json
import re
import socket
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from skyarchive.definition.catalog import Catalog
from skyarchive.errors import DefinitionError, InputError
from skyarchive.quality.checking import check, explain_failure, failed_periods, load_suite, quality_rows
from skyarchive.quality.docs import build_docs, keep_result
from skyarchive.quality.suites import Suite
from skyarchive.settings import Settings, schemas_folder
from skyarchive.steps.ingest.checks import raw_suite

pytestmark = pytest.mark.spark

NOON = datetime(2014, 6, 15, 12, tzinfo=UTC)
NAN, INF = float("nan"), float("inf")
RAW = {"period": "2014", "file": "f.csv", "row": 1}
RAW_DDL = "period string, file string, row bigint"
RAW_CASES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "file": ({"file": None}, {"file is not null"}),
    "row": ({"row": None}, {"row is not null"}),
    "row below": ({"row": -1}, {"row >= 0"}),
}
NO_PERIOD: dict[str, tuple[dict[str, Any], set[str]]] = {"period": ({"period": None}, {"period is not null"})}

# For each suite: the frame's columns, a row that holds, and what each broken row must be told.
SUITES: dict[str, tuple[str, dict[str, Any], dict[str, tuple[dict[str, Any], set[str]]]]] = {
    "raw": (f"{RAW_DDL}", RAW, NO_PERIOD | RAW_CASES),
    "raw_tcp": (
        f"{RAW_DDL}, orig_h string, resp_h string, proto string",
        RAW | {"orig_h": "a", "resp_h": "b", "proto": "tcp"},
        NO_PERIOD
        | RAW_CASES
        | {
            "orig_h": ({"orig_h": None}, {"orig_h is not null"}),
            "resp_h": ({"resp_h": None}, {"resp_h is not null"}),
            "udp": ({"orig_h": None, "proto": "udp"}, set()),
        },
    ),
    "quarantine": (
        "period string, file string, row bigint, reason string",
        RAW | {"reason": "close is missing"},
        NO_PERIOD
        | {
            "file": ({"file": None}, {"file is not null"}),
            "no reason": ({"reason": None}, {"reason is not null"}),
            "a whole file": ({"row": None}, set()),
        },
    ),
    "updates": (
        "period string, snapshot bigint, object string, x double, gone boolean",
        {"period": "2014", "snapshot": 0, "object": "a", "x": 1.0, "gone": False},
        NO_PERIOD
        | {
            "object": ({"object": None}, {"object is not null"}),
            "snapshot": ({"snapshot": None}, {"snapshot is not null"}),
            "snapshot below": ({"snapshot": -1}, {"snapshot >= 0"}),
            "gone": ({"gone": None}, {"gone is not null"}),
            "x": ({"x": None}, {"x is a finite number unless gone"}),
            "x nan": ({"x": NAN}, {"x is a finite number unless gone"}),
            "x inf": ({"x": -INF}, {"x is a finite number unless gone"}),
            "x left": ({"gone": True}, {"x is null when gone"}),
            "left": ({"gone": True, "x": None}, set()),
        },
    ),
    "snapshots": (
        "period string, snapshot bigint, time timestamp, label string",
        {"period": "2014", "snapshot": 0, "time": datetime(2014, 1, 1), "label": None},
        NO_PERIOD
        | {
            "snapshot": ({"snapshot": None}, {"snapshot is not null"}),
            "snapshot below": ({"snapshot": -1}, {"snapshot >= 0"}),
            "time": ({"time": None}, {"time is not null"}),
        },
    ),
    "objects": (
        "period string, object string, name string",
        {"period": "2014", "object": "a", "name": None},
        NO_PERIOD
        | {
            "object": ({"object": None}, {"object is not null"}),
            "empty": ({"object": ""}, {"object is not empty"}),
        },
    ),
    "carry": (
        "period string, fingerprint string",
        {"period": "2014", "fingerprint": "f"},
        NO_PERIOD | {"fingerprint": ({"fingerprint": None}, {"fingerprint is not null"})},
    ),
    "ingest_periods": (
        "period string, rows bigint, refused_share double",
        {"period": "2014", "rows": 1, "refused_share": 0.1},
        NO_PERIOD
        | {
            "rows": ({"rows": 0}, {"the period has rows"}),
            "refused": ({"refused_share": 0.11}, {"refused_share >= 0 and <= 0.1"}),
        },
    ),
    "derive_periods": (
        "period string, snapshots bigint, out_of_order bigint, gaps bigint",
        {"period": "2014", "snapshots": 1, "out_of_order": 0, "gaps": 0},
        NO_PERIOD
        | {
            "snapshots": ({"snapshots": 0}, {"the period has snapshots"}),
            "order": ({"out_of_order": 1}, {"snapshots are in the order of time"}),
            "gaps": ({"gaps": 2}, {"snapshots follow one another without a gap"}),
        },
    ),
    "skyline": (
        "period string, object string, first_snapshot bigint, last_snapshot bigint, first_time timestamp, "
        "last_time timestamp",
        {"period": "2014", "object": "a", "first_snapshot": 3, "last_snapshot": 3, "first_time": NOON,
         "last_time": NOON},
        NO_PERIOD
        | {
            "no object": ({"object": None}, {"object is there and not empty"}),
            "empty object": ({"object": ""}, {"object is there and not empty"}),
            "ends before": ({"last_snapshot": 2}, {"an interval does not end before it begins"}),
            "before zero": ({"first_snapshot": -1}, {"an interval does not end before it begins"}),
            "times": ({"last_time": NOON - timedelta(1)}, {"its times are in order too"}),
        },
    ),
    "skyline_periods": (
        "period string, overlapping bigint, outside bigint, uncovered bigint, not_alive bigint, audited bigint, "
        "wrong bigint",
        {"period": "2014", "overlapping": 0, "outside": 0, "uncovered": 0, "not_alive": 0, "audited": 3, "wrong": 0},
        NO_PERIOD
        | {
            "overlap": ({"overlapping": 1}, {"intervals of an object neither overlap nor touch"}),
            "outside": ({"outside": 1}, {"intervals lie within their period, and continue where they reach its end"}),
            "uncovered": ({"uncovered": 1}, {"every snapshot with a living object has a skyline"}),
            "dead": ({"not_alive": 1}, {"members are alive as long as they are members"}),
            "no audit": ({"audited": 0}, {"snapshots were audited"}),
            "wrong": ({"wrong": 1}, {"audited snapshots have the skyline that brute force finds in the updates"}),
        },
    ),
    "frequent": (
        "period string, theta double, window_size int, object string, first_snapshot bigint, last_snapshot bigint",
        {"period": "2014", "theta": 0.8, "window_size": 4, "object": "a", "first_snapshot": 3, "last_snapshot": 3},
        NO_PERIOD
        | {
            "theta 0": ({"theta": 0.0}, {"theta is above 0 and at most 1"}),
            "theta above 1": ({"theta": 1.1}, {"theta is above 0 and at most 1"}),
            "no object": ({"object": None}, {"object is there and not empty"}),
            "empty object": ({"object": ""}, {"object is there and not empty"}),
            "no full window": ({"window_size": 5}, {"an interval does not begin before there is a full window"}),
            "no window": ({"window_size": 0}, {"an interval does not begin before there is a full window"}),
            "ends before": ({"last_snapshot": 2}, {"an interval does not end before it begins"}),
        },
    ),
    "frequent_periods": (
        "period string, overlapping bigint, outside bigint, unasked bigint, audited bigint, wrong bigint, "
        "wrong_start bigint",
        {"period": "2014", "overlapping": 0, "outside": 0, "unasked": 0, "audited": 3, "wrong": 0, "wrong_start": 0},
        NO_PERIOD
        | {
            "overlap": ({"overlapping": 1}, {"intervals of an object and a query neither overlap nor touch"}),
            "outside": ({"outside": 1}, {"intervals lie within their period, and continue where they reach its end"}),
            "unasked": ({"unasked": 1}, {"every row belongs to a query of the archive's definition"}),
            "no audit": ({"audited": 0}, {"snapshots were counted again"}),
            "wrong": (
                {"wrong": 1},
                {"at audited snapshots the same objects are frequent as brute force counts in the skylines"},
            ),
            "start": (
                {"wrong_start": 1},
                {"continued_from says who was frequent at the last snapshot before the period"},
            ),
        },
    ),
    "external": (
        "period string, group_key string, file string, row bigint, object string, x double",
        {"period": "2014", "group_key": "", "file": "f", "row": 1, "object": "a", "x": 1.0},
        NO_PERIOD
        | {
            "no group": ({"group_key": None}, {"group_key is not null"}),
            "no file": ({"file": None}, {"file is not null"}),
            "row": ({"row": 0}, {"row >= 1"}),
            "no object": ({"object": None}, {"object is there and not empty"}),
            "empty object": ({"object": ""}, {"object is there and not empty"}),
            "missing": ({"x": None}, {"x is a finite number"}),
            "nan": ({"x": NAN}, {"x is a finite number"}),
            "infinite": ({"x": INF}, {"x is a finite number"}),
        },
    ),
    "external_periods": (
        "period string, repeated bigint, strangers bigint, beaten bigint, missed bigint",
        {"period": "2014", "repeated": 0, "strangers": 0, "beaten": 0, "missed": 0},
        NO_PERIOD
        | {
            "twice": ({"repeated": 1}, {"no record is there twice"}),
            "stranger": (
                {"strangers": 1},
                {"every record is a raw row of the period or was unbeaten before it"},
            ),
            "beaten": ({"beaten": 1}, {"audited records of the answer are beaten by no other"}),
            "missed": ({"missed": 1}, {"audited records outside the answer are beaten by one in it"}),
        },
    ),
    "windows": (
        "period string, query string, group_key string, file string, row bigint, object string, x double, "
        "arrived timestamp, entered timestamp, left timestamp, entered_at bigint, left_at bigint, "
        "entered_because string, freed_by_row bigint, left_because string, by_row bigint, continues_into boolean",
        {"period": "2014", "query": "q", "group_key": "", "file": "f", "row": 1, "object": "a", "x": 1.0,
         "arrived": NOON, "entered": NOON, "left": NOON + timedelta(1), "entered_at": 1, "left_at": 1,
         "entered_because": "arrived", "left_because": "expired", "continues_into": False},
        NO_PERIOD
        | {
            "no query": ({"query": None}, {"query is not null"}),
            "no group": ({"group_key": None}, {"group_key is not null"}),
            "no file": ({"file": None}, {"file is not null"}),
            "row": ({"row": 0}, {"row >= 1"}),
            "no object": ({"object": None}, {"object is there and not empty"}),
            "too early": ({"arrived": NOON + timedelta(1)}, {"nobody is a member before it arrives"}),
            "no time": ({"left": NOON}, {"nobody leaves before it enters"}),
            "backwards": ({"left_at": 0}, {"nobody leaves before it enters"}),
            "goes on": ({"continues_into": True}, {"who goes on has not left, and who does not has left for a reason"}),
            "freed": ({"entered_because": "freed"}, {"who was freed says by whose end"}),
            "beaten": ({"left_because": "beaten"}, {"who was beaten says by whom"}),
            "still": ({"left": None, "left_at": None, "left_because": None, "continues_into": True}, set()),
            "of records": ({"left": NOON, "left_at": 2}, set()),
        },
    ),
    "windows_periods": (
        "period string, repeated bigint, strangers bigint, wrong_start bigint, unaudited bigint, wrong bigint",
        {"period": "2014", "repeated": 0, "strangers": 0, "wrong_start": 0, "unaudited": 0, "wrong": 0},
        NO_PERIOD
        | {
            "twice": ({"repeated": 1}, {"no record of a query is there twice"}),
            "stranger": ({"strangers": 1}, {"every member is a record of the period or of one before"}),
            "start": (
                {"wrong_start": 1},
                {"continued_from says who was a member at the last record before the period, and since when"},
            ),
            "no audit": ({"unaudited": 1}, {"members of every query were found again at some moments"}),
            "wrong": (
                {"wrong": 1},
                {"at audited moments the members are those that brute force finds in the raw rows"},
            ),
        },
    ),
    "uncertain": (
        "period string, query string, threshold double, group_key string, file string, row bigint, object string, "
        "x double, arrived timestamp, entered timestamp, left timestamp, entered_at bigint, left_at bigint, "
        "probability double, greatest double, entered_because string, left_because string, continues_into boolean",
        {"period": "2014", "query": "q", "threshold": 0.5, "group_key": "", "file": "f", "row": 1, "object": "a",
         "x": 1.0, "arrived": NOON, "entered": NOON, "left": NOON + timedelta(1), "entered_at": 1, "left_at": 1,
         "probability": 0.5, "greatest": 0.6, "entered_because": "arrived", "left_because": "expired",
         "continues_into": False},
        NO_PERIOD
        | {
            "no query": ({"query": None}, {"query is not null"}),
            "no group": ({"group_key": None}, {"group_key is not null"}),
            "no file": ({"file": None}, {"file is not null"}),
            "row": ({"row": 0}, {"row >= 1"}),
            "no object": ({"object": None}, {"object is there and not empty"}),
            "too early": (
                {"arrived": NOON + timedelta(1)},
                {"nobody is a member before it arrives", "who arrived is a member since then"},
            ),
            "no time": ({"left": NOON}, {"nobody leaves before it enters"}),
            "goes on": ({"continues_into": True}, {"who goes on has not left, and who does not has left for a reason"}),
            "too little": ({"probability": 0.4}, {"who enters is as probable as is asked"}),
            "too much": (
                {"probability": 1.1, "greatest": 1.1},
                {"who enters is as probable as is asked", "the greatest probability is at least that of the beginning"},
            ),
            "less": ({"greatest": 0.4}, {"the greatest probability is at least that of the beginning"}),
            "arrived later": ({"entered": NOON + timedelta(hours=1)}, {"who arrived is a member since then"}),
            "beaten": ({"left_because": "beaten"}, {"who left was expired or doubted"}),
            "freed": ({"entered_because": "freed", "entered": NOON + timedelta(hours=1)}, set()),
            "nearly": ({"probability": 0.5 * (1 - 1e-10)}, set()),
            "doubted": ({"left_because": "doubted"}, set()),
            "still": ({"left": None, "left_at": None, "left_because": None, "continues_into": True}, set()),
        },
    ),
    "uncertain_periods": (
        "period string, repeated bigint, strangers bigint, wrong_start bigint, unaudited bigint, wrong bigint",
        {"period": "2014", "repeated": 0, "strangers": 0, "wrong_start": 0, "unaudited": 0, "wrong": 0},
        NO_PERIOD
        | {
            "twice": ({"repeated": 1}, {"a record is a member once at a time"}),
            "stranger": ({"strangers": 1}, {"every member is a record of the period or of one before"}),
            "start": (
                {"wrong_start": 1},
                {"continued_from says who was a member at the last record before the period, and since when"},
            ),
            "no audit": ({"unaudited": 1}, {"members of every query were found again at some moments"}),
            "wrong": (
                {"wrong": 1},
                {"at audited moments the members are those that direct products over the raw rows find"},
            ),
        },
    ),
}  # fmt: skip


def frame_of(spark: SparkSession, ddl: str, rows: list[dict[str, Any]]) -> DataFrame:
    columns = [column.split()[0] for column in ddl.split(",")]
    return spark.createDataFrame([tuple(row.get(column) for column in columns) for row in rows], ddl)


def updates(spark: SparkSession, *rows: tuple[Any, ...]) -> DataFrame:
    columns = ("period", "snapshot", "object", "x", "gone")
    return frame_of(spark, SUITES["updates"][0], [dict(zip(columns, row, strict=True)) for row in rows])


def good_update(period: str, snapshot: int) -> tuple[Any, ...]:
    return (period, snapshot, "a", 1.0, False)


@pytest.mark.parametrize("name", sorted(SUITES))
def test_each_entry_fails_on_exactly_the_rows_that_break_it(spark: SparkSession, name: str) -> None:
    ddl, good, cases = SUITES[name]
    suite = load_suite(name, attributes=["x"], max_refused_share=0.1)
    assert_told(spark, suite, ddl, good, cases)


def assert_told(
    spark: SparkSession, suite: Suite, ddl: str, good: dict[str, Any], cases: dict[str, tuple[dict[str, Any], set[str]]]
) -> None:
    """A row that holds, and for each case one that breaks exactly the expectations it names; every one is broken."""
    rows = [good | {"case": "good"}] + [good | change | {"case": case} for case, (change, _) in cases.items()]
    frame = frame_of(spark, f"{ddl}, case string", rows).coalesce(1).persist()

    results = check(frame, suite, ["2014"], key_columns=["case"])

    told: dict[str, set[str]] = {case: set() for case in ("good", *cases)}
    for result in results:
        assert not result.success, f"no case breaks '{result.expectation}'"
        for row in result.faults["2014"].sample:
            told[row["case"]].add(result.expectation)
    assert told == {"good": set()} | {case: expected for case, (_, expected) in cases.items()}
    frame.unpersist()


# For each archive: a raw row that holds, and what each broken row must be told, beside what the suites above tell.
DEFINED: dict[str, tuple[dict[str, Any], dict[str, tuple[dict[str, Any], set[str]]]]] = {
    "nba": (
        dict.fromkeys(("athlete_id", "game_id", "season_type", "team_id", "points", "rebounds", "assists"), 2)
        | {"season": 2014, "minutes": 30.0, "steals": 0, "blocks": 0, "game_date_time": datetime(2014, 1, 1)}
        | {"field_goals_made": 1, "field_goals_attempted": 1},
        {
            f"no {column}": ({column: None}, {f"{column} is not null"})
            for column in ("athlete_id", "game_id", "game_date_time", "season_type", "team_id")
        }
        | {
            f"negative {column}": ({column: -1}, {f"{column} >= 0"})
            for column in ("points", "rebounds", "assists", "steals", "blocks", "field_goals_made")
        }
        | {
            f"minutes {value}": ({"minutes": value}, {"minutes is finite and minutes >= 0"})
            for value in (NAN, INF, -1.0)
        }
        | {
            "no period": ({"period": None}, {"period is not null", "season is of the period"}),
            "season": ({"season": 2013}, {"season is of the period"}),
            "no season": ({"season": None}, {"season is not null", "season is of the period"}),
            "did not play": ({"minutes": None, "points": None, "field_goals_made": None}, set()),
            "made": ({"field_goals_made": 2}, {"not: field_goals_made > field_goals_attempted"}),
            "attempted": (
                {"field_goals_attempted": -1},
                {"field_goals_attempted >= 0", "not: field_goals_made > field_goals_attempted"},
            ),
            "long ago": (
                {"game_date_time": datetime(1945, 12, 31)},
                {"game_date_time >= 1946-01-01 and game_date_time is not after next year"},
            ),
            "to come": (
                {"game_date_time": datetime(9000, 1, 1)},
                {"game_date_time >= 1946-01-01 and game_date_time is not after next year"},
            ),
        },
    ),
    "stocks": (
        {"ticker": "A", "date": date(2014, 5, 1), "open": 0.0, "high": 2.0, "low": 1.0, "close": 1.5, "volume": 0.0},
        {
            "no period": ({"period": None}, {"period is not null", "date is of the period"}),
            "ticker": ({"ticker": None}, {"ticker is not null"}),
            "date": ({"date": None}, {"date is not null", "date is of the period"}),
            "other year": ({"date": date(2013, 12, 31)}, {"date is of the period"}),
            "long ago": (
                {"date": date(1601, 5, 1)},
                {"date >= 1602-01-01 and date is not after next year", "date is of the period"},
            ),
            "close": ({"close": 0.0}, {"not: close <= 0"}),
            "close nan": ({"close": NAN}, {"close is finite"}),
            "no close": ({"close": None}, {"close is not null"}),
            "open": ({"open": None}, {"open is not null"}),
            "open inf": ({"open": INF}, {"open is finite and open >= 0"}),
            "volume": ({"volume": -1.0}, {"volume is finite and volume >= 0"}),
            "no volume": ({"volume": None}, {"volume is not null"}),
            "high": ({"high": 0.5}, {"not: high < low"}),
            "no high": ({"high": None}, {"high is not null"}),
            "high inf": ({"high": INF}, {"high is finite and high >= 0"}),
            "low nan": ({"low": NAN}, {"low is finite and low >= 0", "not: high < low"}),
            "no low": ({"low": None}, {"low is not null"}),
        },
    ),
    "tcp": (
        {"ts": 1.4e9, "orig_h": "a", "orig_p": 1, "resp_h": "b", "resp_p": 80, "proto": "tcp", "period": "2014-05-13"},
        {
            "no period": ({"period": None}, {"period is not null", "ts is of the period"}),
            "ts": ({"ts": None}, {"ts is not null", "ts is of the period"}),
            "ts nan": (
                {"ts": NAN}, {"ts is finite and ts >= 0 and ts is not after next year", "ts is of the period"},
            ),
            "ts of another day": ({"ts": 1.4e9 + 86400}, {"ts is of the period"}),
            "orig_h": ({"orig_h": None}, {"orig_h is not null"}),
            "resp_h": ({"resp_h": None}, {"resp_h is not null"}),
            "orig_p": ({"orig_p": -1}, {"orig_p >= 0 and orig_p <= 65535"}),
            "resp_p": ({"resp_p": 65536}, {"resp_p >= 0 and resp_p <= 65535"}),
            "no port": ({"resp_p": None}, set()),
            "udp": ({"resp_p": 65536, "orig_h": None, "proto": "udp"}, set()),
            "no protocol": ({"resp_p": 65536, "orig_h": None, "proto": None}, set()),
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("archive", sorted(DEFINED))
def test_what_a_definition_says_of_its_rows_is_asked_of_those_that_are_kept(spark: SparkSession, archive: str) -> None:
    definition = Catalog(Settings(raw="no such folder")).get(archive)
    own, cases = DEFINED[archive]
    ddl = ", ".join([RAW_DDL, *(f"{name} {spec.type}" for name, spec in definition.columns.items())])
    assert_told(spark, raw_suite(definition), ddl, RAW | own, RAW_CASES | cases)


def test_every_suite_is_tested() -> None:
    assert {path.stem for path in (schemas_folder() / "expectations").glob("*.yaml")} == set(SUITES)


def test_a_range_says_what_its_periods_say_alone(spark: SparkSession) -> None:
    suite = load_suite("updates", attributes=["x"])
    periods = [str(year) for year in range(2010, 2017)]
    broken = [("2011", 3, None, 1.0, False), ("2015", 9, "b", NAN, False), ("2015", 8, None, 1.0, False)]
    frame = updates(spark, *(good_update(p, n) for n, p in enumerate(periods)), *broken).coalesce(1).persist()

    together = check(frame, suite, periods)
    alone = [
        row
        for period in periods
        for row in quality_rows(check(frame.where(F.col("period") == period), suite, [period]), [period], "r", "t")
    ]

    rows = quality_rows(together, periods, "r", "t")
    assert failed_periods(together) == ["2011", "2015"]
    assert len(rows) == len(periods) * len(suite.entries)
    assert sorted(map(json.dumps, rows)) == sorted(map(json.dumps, alone))
    failures = {(row["period"], row["expectation"]): row for row in rows if not row["success"]}
    assert set(failures) == {
        ("2011", "object is not null"),
        ("2015", "object is not null"),
        ("2015", "x is a finite number unless gone"),
    }
    assert failures["2011", "object is not null"]["observed"] == "1 of 2 rows"
    assert json.loads(failures["2015", "x is a finite number unless gone"]["sample"]) == [
        {"period": "2015", "snapshot": 9, "object": "b", "x": "nan", "gone": False}
    ]
    frame.unpersist()


def test_rows_of_no_period_fail_all_of_them(spark: SparkSession) -> None:
    frame = updates(spark, good_update("2010", 1), (None, 2, "a", 1.0, False))
    results = check(frame, load_suite("updates", attributes=["x"]), ["2010", "2011"])
    assert failed_periods(results) == ["2010", "2011"]


def test_a_column_missing_or_of_another_type_is_said(spark: SparkSession) -> None:
    frame = updates(spark, good_update("2010", 1)).drop("gone").withColumn("snapshot", F.lit("one"))
    results = check(frame, load_suite("updates", attributes=["x"]), ["2010"])
    observed = {r.expectation: r.faults["2010"].observed for r in results if not r.success}
    assert observed["gone is not null"] == "there is no column gone"
    assert observed["x is null when gone"] == "there is no column gone"
    assert "StringType" in observed["snapshot >= 0"]
    assert "object is not null" not in observed


def test_an_empty_frame_holds(spark: SparkSession) -> None:
    results = check(updates(spark), load_suite("updates", attributes=["x"]), ["2010"])
    assert all(result.success for result in results)


def test_a_column_of_nulls_alone_fails(spark: SparkSession) -> None:
    frame = updates(spark, ("2010", 1, "a", None, False), ("2010", 2, "b", None, False))
    results = check(frame, load_suite("updates", attributes=["x"]), ["2010"])
    assert [r.expectation for r in results if not r.success] == ["x is a finite number unless gone"]


def test_a_row_for_each_period_shows_its_value(spark: SparkSession) -> None:
    ddl, good, _ = SUITES["ingest_periods"]
    rows = [good, good | {"period": "2015", "refused_share": 0.25}]
    results = check(frame_of(spark, ddl, rows), load_suite("ingest_periods", max_refused_share=0.1), ["2014", "2015"])
    faults = {r.expectation: r.faults for r in results if not r.success}
    assert {text: {p: f.observed for p, f in by.items()} for text, by in faults.items()} == {
        "refused_share >= 0 and <= 0.1": {"2015": "refused_share is 0.25"}
    }


def test_two_aggregates_are_all_it_costs(spark: SparkSession) -> None:
    suite = load_suite("updates", attributes=["x"])
    frame = updates(spark, *(good_update("2010", n) for n in range(50))).persist()
    frame.count()
    spark.sparkContext.setJobGroup("quality", "the check alone")
    check(frame, suite, ["2010"])
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup("quality")
    assert 0 < len(jobs) <= 4  # Spark runs an aggregate as one or two jobs
    frame.unpersist()


def test_it_is_quiet_leaves_no_files_and_touches_no_network(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    connect = socket.socket.connect

    def only_loopback(self: socket.socket, address: Any) -> None:
        assert str(address[0]) in ("127.0.0.1", "localhost", "::1"), f"connects to {address}"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", only_loopback)
    monkeypatch.chdir(tmp_path)
    frame = updates(spark, good_update("2010", 1), ("2010", 2, None, NAN, None))
    capfd.readouterr()

    results = check(frame.drop("gone"), load_suite("updates", attributes=["x"]), ["2010"])
    keep_result(tmp_path / "kept", results, run_id="r", table_name="updates", periods=["2010"], time=datetime.now(UTC))
    build_docs(tmp_path / "kept", tmp_path / "site")

    assert capfd.readouterr() == ("", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "site"]


def test_a_failure_is_explained_in_a_dozen_lines(spark: SparkSession) -> None:
    bad = [(None, None, None, None, None)] * 9
    results = check(updates(spark, *bad), load_suite("updates", attributes=["x"]), ["2010", "2011"])
    text = explain_failure("derive", "nba", "updates", results, "run-1")
    assert len(text.splitlines()) <= 15
    assert text.startswith("derive of nba 2010, 2011: 4 of 7 checks of updates failed")
    assert "object is not null: 9 of 9 rows in 2010 (and in 1 more)" in text
    assert '{"period": null, "snapshot": null, "object": null}' in text
    assert "select * from nba.quality where run_id = 'run-1' and not success" in text


def test_docs_open_without_a_network(spark: SparkSession, tmp_path: Path) -> None:
    suite = load_suite("updates", attributes=["x"])
    periods = ["2010", "2011"]
    name = "<script>alert(1)</script>"
    broken = updates(spark, good_update("2010", 1), ("2011", 77, name, INF, False), ("2011", 5, None, 1.0, False))
    for run_id, frame in (("r1", broken), ("r2", updates(spark, good_update("2010", 1)))):
        results = check(frame, suite, periods)
        keep_result(
            tmp_path / "kept", results, run_id=run_id, table_name="updates", periods=periods,
            time=datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC),
        )  # fmt: skip

    index = build_docs(tmp_path / "kept", tmp_path / "site")

    pages = re.findall(r'href="([^"]+)"', index.read_text())
    assert sorted(pages) == ["r1/updates.html", "r2/updates.html"]
    assert "5 of 7" in index.read_text() and "7 of 7" in index.read_text()
    failed, held = ((tmp_path / "site" / page).read_text() for page in sorted(pages))
    assert "x is a finite number unless gone (2011)" in failed and "77" in failed
    assert 'class="fas fa-times' in failed and 'class="fas fa-times' not in held
    for text in (index.read_text(), failed, held):
        assert "http" not in text and "<script" not in text and "src=" not in text


def test_a_file_that_is_no_kept_validation_is_named(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "updates.json").write_text("{")
    with pytest.raises(InputError, match=r"updates\.json is not a kept validation"):
        build_docs(tmp_path, tmp_path / "site")


ENTRY = "expectations: [{{expectation: expect_column_values_to_{}}}]"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("expectations: [", r"s\.yaml is not valid YAML"),
        ("[]", r"s\.yaml: a suite is a mapping"),
        ("expectation: []", r"s\.yaml: unknown key 'expectation'; allowed are about,"),
        ("expectations: {}", r"s\.yaml: 'expectations' must be a list"),
        ("expectations: [a]", r"s\.yaml, expectations\[0\]: an entry is a mapping"),
        (ENTRY.format("not_be_null"), r"expectations\[0\]: an entry is a mapping"),
        (ENTRY.format("be_nul, column: a"), r"unknown expectation 'expect_column_values_to_be_nul'; allowed"),
        (ENTRY.format("be_unique, column: a"), "unknown expectation"),
        (
            ENTRY.format("be_between, column: a, min: 3"),
            r"\(expect_column_values_to_be_between of a\): .*min",
        ),
        (ENTRY.format("be_in_set, column: a"), "'value_set' is missing"),
        (ENTRY.format("satisfy, column: a, text: t"), "predicate: field required"),
        (ENTRY.format("be_between, column: a, max_value: $share"), r"the parameter \$share was not given"),
        (ENTRY.format("not_be_null, column: a, mostly: 0.9"), "'mostly' judges rows together"),
        ("extends: s\nexpectations: []", "cannot extend itself"),
        ("extends: ../../x\nexpectations: []", "is not a suite name"),
        ("extends: nowhere\nexpectations: []", r"nowhere\.yaml: there is no such suite"),
        ("expectations: []\nattributes: [{expectation: a, column: '{column}'}]", r"attributes\[0\]: unknown"),
    ],
)
def test_a_mistake_in_a_suite_names_file_and_entry(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "s.yaml").write_text(content)
    with pytest.raises(DefinitionError, match=message):
        load_suite("s", attributes=["x"], folder=tmp_path)

"""Every deriver against its slow oracle, period by period in the worst order with a refresh, and in one run."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession

import oracle
from conftest import SHARED, Home
from skyarchive.answers.positions import directions
from skyarchive.definition.selection import Selection
from skyarchive.kernels.timeline import skyline_intervals
from skyarchive.pipeline.refreshing import refresh
from skyarchive.pipeline.running import run_step, run_steps

ORACLES = {"nba": oracle.nba, "stocks": oracle.stocks, "tcp": oracle.tcp}
CASES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "stocks": (["2009", "2010"], {"size": 0.2}),
    "tcp": (["2024-04-19", "2024-04-22"], {"size": 0.2}),
}
RECORDS = {
    "nba": (
        "select period, file, row, athlete_id::varchar, -points, -rebounds, -assists, -steals, -blocks from nba.raw "
        "where season_type in (2, 3) and team_id between 1 and 30 and minutes > 0"
    ),
    "stocks": (
        "select period, file, row, ticker, 1 - close / lag(close) over (partition by ticker order by date), -volume, "
        "(high - low) / close from stocks.raw"
    ),
    "tcp": "select period, file, row, remote, -duration, -orig_bytes, -resp_bytes from tcp.raw where proto = 'tcp'",
}
"""Every record and its costs, as the archives are described."""
RESULTS = ("raw", "quarantine", "snapshots", "updates", "objects", "carry")


def contents(home: Home, archive: str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all result tables, in an order of their own."""
    lake = home.workshop(archive).lake
    return {table: list(lake.query(f"select * from {archive}.{table} order by all").rows) for table in RESULTS}


def assert_equals_oracle(home: Home, archive: str, expected: oracle.Derived) -> None:
    lake = home.workshop(archive).lake
    keys = {
        "snapshots": ["snapshot"],
        "updates": ["snapshot", "object"],
        "objects": ["period", "object"],
    }
    for table, key in keys.items():
        wanted = getattr(expected, table)
        result = lake.query(f"select {', '.join(wanted.columns)} from {archive}.{table} order by {', '.join(key)}")
        found = pd.DataFrame(list(result.rows), columns=result.columns)
        wanted = wanted.sort_values(key).reset_index(drop=True)
        pd.testing.assert_frame_equal(found, wanted, check_dtype=False, rtol=1e-12, atol=0, obj=table)
    found = set(lake.query(f"select file, row, period from {archive}.quarantine").rows)
    # Of a row with a wrong number of fields the oracle reads the time, where ingestion trusts no field.
    placed = expected.refused[~((expected.refused["kind"] == "fields") & (archive == "tcp"))]
    assert set(placed[["file", "row", "period"]].itertuples(index=False, name=None)) <= found
    refused = set(expected.refused[["file", "row"]].itertuples(index=False, name=None))
    assert {(file, row) for file, row, _ in found} == refused


def assert_skylines(home: Home, archive: str) -> None:
    """The reigns are those that the naive kernel finds in the whole log at once."""
    workshop = home.workshop(archive)
    names = workshop.definition.attribute_names
    log = workshop.lake.query(f"select snapshot, object, {', '.join(names)} from {archive}.updates order by snapshot")
    updates = pd.DataFrame(list(log.rows), columns=log.columns)
    codes, objects = pd.factorize(updates["object"], sort=True)
    signs = directions(workshop.definition)
    columns = [(updates[name].astype(float) * sign).to_numpy() for name, sign in zip(names, signs, strict=True)]
    ((last,),) = workshop.lake.query(f"select max(snapshot) from {archive}.snapshots").rows
    snapshots = updates["snapshot"].to_numpy(np.int32)
    wanted = skyline_intervals(snapshots, codes.astype(np.int32), columns, last + 1, "naive")
    found = workshop.lake.query(f"select object, first_snapshot, last_snapshot from {archive}.reigns order by all")
    assert list(found.rows) == list(zip(objects[wanted[0]], wanted[1], wanted[2], strict=True))


def assert_external(home: Home, archive: str) -> None:
    """Up to every period the records that none beats, each compared with all."""
    lake = home.workshop(archive).lake
    seen = [row for row in lake.query(RECORDS[archive]).rows if None not in row]
    for period in sorted({row[0] for row in seen}):
        known = [row for row in seen if row[0] <= period]
        costs = np.array([row[4:] for row in known], float)
        wanted = {
            row[1:4] for row, own in zip(known, costs, strict=True)
            if not ((costs <= own).all(axis=1) & (costs < own).any(axis=1)).any()
        }  # fmt: skip
        found = list(lake.query(f"select file, row, object from {archive}.external where period = '{period}'").rows)
        assert len(found) == len(set(found)) and set(found) == wanted


def test_later_periods_may_come_first(home: Home, spark: SparkSession) -> None:
    files = home.generate("nba", "2009", "2010", seed=3, dirt=0.02)
    workshop = home.workshop("nba")
    for season in ("2010", "2009"):
        assert run_step(workshop, "ingest", [season]).published == [season]
        assert run_step(workshop, "derive", [season]).published == [season]
    mended = [(outcome.step, outcome.published) for outcome in refresh(workshop)]
    assert ("derive", ["2010"]) in mended, "what was derived before its predecessor is stale"
    assert_equals_oracle(home, "nba", ORACLES["nba"](files))
    assert_skylines(home, "nba")
    assert_external(home, "nba")


@pytest.mark.parametrize("archive", CASES)
def test_deriver_equals_oracle(home: Home, spark: SparkSession, archive: str) -> None:
    periods, options = CASES[archive]
    files = home.generate(archive, *periods, seed=3, dirt=0.02, **options)
    workshop = home.workshop(archive)
    (ingested,) = run_steps(workshop, Selection(), ["ingest"])
    known = ingested.published
    for half in (known[: len(known) // 2], known[len(known) // 2 :]):  # the second starts from what the first left
        assert run_step(workshop, "derive", half).published == half
        assert run_step(workshop, "external", half).published == half
    assert_equals_oracle(home, archive, ORACLES[archive](files))
    assert_external(home, archive)
    assert len(contents(home, archive)["updates"]) > 50


def test_connections_of_lbl_equal_the_oracle(home: Home, spark: SparkSession) -> None:
    files = home.generate("tcp", "1993-09-16", "1993-09-17", seed=3, dirt=0.02, size=0.1, flavour="lbl")
    outcomes = run_steps(home.workshop("tcp"), Selection(), ("ingest", "derive"))
    assert [outcome.refused for outcome in outcomes] == [{}, {}]
    assert_equals_oracle(home, "tcp", ORACLES["tcp"](files))


@pytest.mark.thorough
@pytest.mark.parametrize(("archive", "files"), [("nba", 1), ("tcp", 1)])
def test_real_data_equals_oracle(home: Home, spark: SparkSession, archive: str, files: int) -> None:
    found = sorted((SHARED / archive).glob("*.*"))[:files]
    if not found:
        pytest.skip("the real archives are not here")
    home.copy_raw(archive, found)
    workshop = home.workshop(archive)
    outcomes = run_steps(workshop, Selection(), workshop.steps)
    assert [outcome.refused for outcome in outcomes] == [{}] * len(workshop.steps)
    assert_equals_oracle(home, archive, ORACLES[archive](found))
    assert_skylines(home, archive)
    assert_external(home, archive)

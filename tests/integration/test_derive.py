"""Every deriver against its slow oracle: in one run, and period by period in the worst order with a refresh."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

import oracle
from conftest import SHARED, Home
from skyarchive.deriving import derive_periods
from skyarchive.ingesting import ingest_periods
from skyarchive.running import refresh, run_steps
from skyarchive.selection import Selection
from skyarchive.status import STEPS

ORACLES = {"nba": oracle.nba, "stocks": oracle.stocks, "tcp": oracle.tcp}
CASES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "nba": (["2009", "2010"], {"size": 1.0}),
    "stocks": (["2009", "2010"], {"size": 0.2}),
    "tcp": (["2024-04-19", "2024-04-22"], {"size": 0.2}),
    "tcp plain": (["2024-04-19", "2024-04-20"], {"size": 0.1, "flavour": "plain"}),
    "tcp lbl": (["1993-09-16", "1993-09-17"], {"size": 0.1, "flavour": "lbl"}),
}
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


@pytest.mark.parametrize("case", CASES)
def test_deriver_equals_oracle_and_later_periods_may_come_first(home: Home, spark: SparkSession, case: str) -> None:
    archive = case.split()[0]
    periods, options = CASES[case]
    files = home.generate(archive, *periods, seed=3, dirt=0.02, **options)
    outcomes = run_steps(home.workshop(archive), Selection(), STEPS)
    assert [outcome.refused for outcome in outcomes] == [{}, {}]
    assert_equals_oracle(home, archive, ORACLES[archive](files))
    in_one_run = contents(home, archive)
    assert len(in_one_run["updates"]) > 50

    if case not in ORACLES:
        return  # another flavour of a log is another reader, not another deriver

    elsewhere = Home(home.folder, replace(home.settings, warehouse=str(home.folder / "elsewhere")))
    workshop = elsewhere.workshop(archive)
    known = outcomes[0].published
    for half in (known[len(known) // 2 :], known[: len(known) // 2]):
        assert ingest_periods(workshop, half).published == half
        assert derive_periods(workshop, half).published == half
    assert refresh(workshop), "periods that were derived before their predecessor are stale"
    assert contents(elsewhere, archive) == in_one_run


@pytest.mark.parametrize(("archive", "files"), [("nba", 1), ("tcp", 1)])
def test_real_data_equals_oracle(home: Home, spark: SparkSession, archive: str, files: int) -> None:
    found = sorted((SHARED / archive).glob("*.*"))[:files]
    if not found:
        pytest.skip("the real archives are not here")
    home.copy_raw(archive, found)
    outcomes = run_steps(home.workshop(archive), Selection(), STEPS)
    assert [outcome.refused for outcome in outcomes] == [{}, {}]
    assert_equals_oracle(home, archive, ORACLES[archive](found))

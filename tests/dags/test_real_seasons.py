"""The real seasons, where they are at hand: a backfill through the scheduler and a run of the same range are equal."""

import json
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import SHARED
from dags.conftest import Place, Webhook
from skyarchive.orchestration.local_airflow import LocalAirflow
from skyarchive.settings import Settings
from skyarchive.store.lake import Lake

SEASONS = "2002..2014"
RESULTS = (
    "raw", "quarantine", "snapshots", "updates", "objects", "carry", "skyline", "frequent", "external", "windows",
)  # fmt: skip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.skipif(not (SHARED / "nba").is_dir(), reason="the real archives are not at hand"),
]


def test_a_backfill_of_all_seasons_equals_one_run(tmp_path: Path) -> None:
    settings = Settings(warehouse=str(tmp_path / "backfilled"), raw=str(SHARED), driver_memory="2g")
    airflow = LocalAirflow(tmp_path / "home", settings)
    place = Place(airflow, Webhook())
    with airflow.running():
        airflow.unpause(["nba_ingest", "nba_compute"])
        began = time.monotonic()
        backfilled = place.skyarchive("backfill", "nba", "--periods", SEASONS, patience=7200)
        print(f"backfill of {SEASONS}: {time.monotonic() - began:.0f} s")
    assert backfilled.returncode == 0, backfilled.stderr
    elsewhere = replace(settings, warehouse=str(tmp_path / "run"))
    began = time.monotonic()
    by_hand = place.skyarchive("run", "nba", "--periods", SEASONS, SKYARCHIVE_WAREHOUSE=elsewhere.warehouse)
    print(f"run of {SEASONS}: {time.monotonic() - began:.0f} s")
    assert by_hand.returncode == 0, by_hand.stderr
    for table in RESULTS:
        assert _different(tmp_path, table) == (0, 0), table
    states = json.loads(place.skyarchive("status", "nba", "--format", "json").stdout)
    assert {row["state"] for row in states} == {"current"} and len(states) == 13


def _different(folder: Path, table: str) -> tuple[int, int]:
    """Rows of one warehouse that the other has not, as often as they are there; and the other way round."""
    backfilled, run = (
        Counter(map(repr, Lake(Settings(warehouse=str(folder / name))).query(f"select * from nba.{table}").rows))
        for name in ("backfilled", "run")
    )
    assert backfilled, f"{table} is empty"
    return (backfilled - run).total(), (run - backfilled).total()

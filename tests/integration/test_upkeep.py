"""Audits find what is wrong, and maintenance changes nothing that a reader sees."""

import pytest
from deltalake import DeltaTable

from conftest import Home

RESULTS = ("raw", "snapshots", "updates", "carry", "skyline")


def test_an_audit_says_that_all_is_right(here: Home) -> None:
    answer = here.command("audit", "synthetic", "--snapshots", "50", "--seed", "4")
    assert answer.code == 0, answer.err
    assert "50 random snapshots computed again (seed 4): all are right" in answer.err
    kept = here.sql("select period, success from synthetic.quality where expectation like 'random snapshots%'")
    assert kept and all(row["success"] for row in kept)


def test_an_audit_finds_an_object_that_should_not_be_there(here: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from skyarchive.steps.skyline import auditing

    whole = auditing.positions_at

    def moved(*arguments):  # type: ignore[no-untyped-def]
        """As if the published skylines were those of other positions."""
        positions = whole(*arguments)
        positions.costs[:] = positions.costs[::-1]
        return positions

    monkeypatch.setattr(auditing, "positions_at", moved)
    answer = here.command("audit", "synthetic", "--snapshots", "5", "--seed", "4")
    assert answer.code == 1
    assert "5 are wrong" in answer.err and "--seed 4" in answer.err
    kept = here.sql("select success from synthetic.quality where expectation like 'random snapshots%' and not success")
    assert kept


def test_maintenance_compacts_and_publishes(here: Home) -> None:
    before = {table: here.sql(f"select * from synthetic.{table} order by all") for table in RESULTS}
    folder = here.folder / "warehouse" / "synthetic"
    notes = len(DeltaTable(str(folder / "runs")).file_uris())
    answer = here.command("maintain", "synthetic", "--format", "json")
    assert answer.code == 0, answer.err
    cared = {row["table"]: row for row in answer.rows}
    assert cared["runs"]["files_compacted"] == notes and cared["raw"]["files_deleted"] == 0
    assert cared["updates"]["rows"] == len(before["updates"])
    assert {table: here.sql(f"select * from synthetic.{table} order by all") for table in RESULTS} == before
    assert set(here.states("synthetic").values()) == {"current", "absent"}


def test_maintenance_refuses_to_destroy_versions(here: Home) -> None:
    answer = here.command("maintain", "synthetic", "--keep-days", "7")
    assert answer.code == 1
    assert "would destroy published results" in answer.err

"""A disk that is full or can only be read: told with its name, readers see what they saw, the next run is whole."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Home, as_settings

TABLES = (
    "raw", "quarantine", "snapshots", "updates", "objects", "carry", "skyline", "frequent", "external", "windows",
)  # fmt: skip
_SIZE = "16m"


def mount(folder: Path, *options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", ",".join((f"size={_SIZE}", *options)), "tmpfs", str(folder)]
    with suppress(OSError):
        return subprocess.run(command, capture_output=True).returncode == 0
    return False


@pytest.fixture
def disk(here: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """Three blocks, two of them published, with the warehouse on a disk of its own."""
    folder = here.folder / "disk"
    folder.mkdir()
    if not mount(folder):
        pytest.skip("a file system cannot be mounted here: that takes root")
    try:
        subprocess.run(["cp", "-a", here.settings.warehouse, folder], check=True)
        home = replace(here, settings=replace(here.settings, warehouse=str(folder / "warehouse")))
        as_settings(monkeypatch, home)
        yield home
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def content(home: Home) -> dict[str, object]:
    return {table: home.sql(f"select * from synthetic.{table} order by all") for table in TABLES}


def straight(home: Home) -> dict[str, object]:
    assert home.command("run", "synthetic", "--periods", "00002").code == 0
    assert set(home.states("synthetic").values()) == {"current"}
    return content(home)


@pytest.mark.slow
@pytest.mark.parametrize(
    "left",
    [20_000, *(pytest.param(kilobytes * 1000, marks=pytest.mark.thorough) for kilobytes in (0, 60, 120, 200, 400))],
)
def test_a_full_disk_is_told_and_the_next_run_is_whole(disk: Home, left: int) -> None:
    before = content(disk)
    filler = Path(disk.settings.warehouse).parent / "filler"
    space = os.statvfs(filler.parent)
    filler.write_bytes(b"x" * (space.f_bavail * space.f_frsize - left))
    answer = disk.command("run", "synthetic", "--periods", "00002")
    assert answer.code == 1
    told = answer.err.strip().splitlines()[-1]
    assert told.startswith(f"The disk of {filler.parent}"), answer.err
    assert f" on {filler.parent})" in told and "Make room" in told
    assert "Traceback" not in answer.err and "panicked" not in answer.err
    assert {table: rows for table, rows in content(disk).items() if table in ("skyline", "external")} == {
        table: before[table] for table in ("skyline", "external")
    }
    filler.unlink()
    after = straight(disk)
    assert all(len(after[table]) > len(before[table]) for table in ("raw", "updates", "skyline"))  # type: ignore[arg-type]
    updates = disk.sql("select count(*) n, count(distinct (snapshot, object)) d from synthetic.updates")
    assert updates == disk.sql("select count(*) n, count(*) d from synthetic.raw")


@pytest.mark.slow
def test_a_disk_that_can_only_be_read_is_told_and_the_next_run_is_whole(disk: Home) -> None:
    before = content(disk)
    folder = Path(disk.settings.warehouse).parent
    assert mount(folder, "remount", "ro")
    try:
        for command in (["run", "synthetic", "--periods", "00002"], ["maintain", "synthetic"]):
            answer = disk.command(*command)
            assert answer.code == 1
            told = answer.err.strip().splitlines()[-1]
            assert "is on a disk that can only be read" in told and f"({folder})" in told, answer.err
            assert "Traceback" not in answer.err
        assert content(disk) == before
        assert disk.states("synthetic")["00001"] == "current"
    finally:
        assert mount(folder, "remount", "rw")
    straight(disk)

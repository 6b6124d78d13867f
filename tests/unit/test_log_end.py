"""The end of a log, found without its listing: the same as the listing tells, whatever is wrong with the log."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyarchive.store import log_files
from skyarchive.store.log_end import _AHEAD, _FAR, HINT, find_end
from skyarchive.store.log_files import FOLDER, LogFiles

WHOLE = json.dumps({"commitInfo": {"operation": "WRITE"}}) + "\n"
MANY = 40


class Log:
    """A log of nothing but file names, as far as finding its end goes."""

    def __init__(self, table: Path) -> None:
        self.table, self.folder = table, table / FOLDER
        self.folder.mkdir(parents=True)

    def write(self, versions: range) -> None:
        for version in versions:
            self.entry(version).write_text(WHOLE)

    def entry(self, version: int) -> Path:
        return self.folder / f"{version:020d}.json"

    def checkpoint(self, version: int, kind: str = "checkpoint.parquet") -> None:
        (self.folder / f"{version:020d}.{kind}").write_bytes(b"PAR1")

    def hint(self, text: str) -> None:
        (self.folder / HINT).write_text(text)

    def told(self, log: LogFiles) -> dict[str, Any]:
        """Everything that is asked of a log."""
        if not log.has_entries:
            return {"entries": dict(log.entries)}
        asked = range(log.last + 3)
        return {
            "last": log.last, "backwards": list(log.backwards()), "whole": list(log.whole()),
            "faults": [log.fault(version) for version in asked], "reached": [log.reaches(v) for v in asked],
            "entries": log.entries, "checkpoints": log.checkpoints, "goes on": log.goes_on(),
        }  # fmt: skip

    def assert_both_agree(self) -> None:
        assert self.told(LogFiles.from_its_end(self.table)) == self.told(LogFiles.of(self.table))


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


@pytest.fixture
def unlisted(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that were listed."""
    listed: list[Path] = []
    names = log_files._names
    monkeypatch.setattr(log_files, "_names", lambda folder: listed.append(folder) or names(folder))
    return listed


def test_of_ten_years_only_the_end_is_read(log: Log, monkeypatch: pytest.MonkeyPatch, unlisted: list[Path]) -> None:
    log.write(range(4000))
    for version in range(30, 4000, 30):
        log.checkpoint(version)
    log.hint('{"version": 3990, "size": 12, "sizeInBytes": 4, "numOfAddFiles": 10}')
    read: list[str] = []
    whole = log_files.is_whole
    monkeypatch.setattr(log_files, "is_whole", lambda entry: read.append(entry.name) or whole(entry))
    found = LogFiles.from_its_end(log.table)
    assert (found.last, next(found.whole()), found.fault(3995), found.reaches(3990)) == (3999, 3999, None, True)
    assert unlisted == [] and {int(name[:20]) for name in read} == set(range(3991, 4000))
    assert (found.fault(0), found.reaches(4000), len(found.entries)) == (None, False, 4000)
    assert len(unlisted) == 1


HINTS: dict[str, str] = {
    "empty": "", "half": '{"version": 3', "no object": "[30]", "no version": "{}", "a text": '{"version": "30"}',
    "true": '{"version": true}', "negative": '{"version": -1}', "huge": '{"version": 1' + "0" * 30 + "}",
    "from later": '{"version": 35}', "from much later": '{"version": 99}', "from earlier": '{"version": 10}',
    "in parts": '{"version": 20, "parts": 2}', "of another kind": '{"version": 25, "v2Checkpoint": {}}',
    "right": '{"version": 30, "size": 3}',
}  # fmt: skip


@pytest.mark.parametrize("hint", HINTS.values(), ids=HINTS)
def test_a_hint_that_lies_misleads_nobody(log: Log, hint: str) -> None:
    log.write(range(MANY))
    for version in (10, 30):
        log.checkpoint(version)
    for part in (1, 2):
        log.checkpoint(20, f"checkpoint.{part:010d}.{2:010d}.parquet")
    log.checkpoint(25, "checkpoint.0a1b.parquet")
    log.hint(hint)
    log.assert_both_agree()


DAMAGES: dict[str, Callable[[Log], object]] = {
    "the last emptied": lambda log: log.entry(MANY - 1).write_text(""),
    "the last gone": lambda log: log.entry(MANY - 1).unlink(),
    "one in between emptied": lambda log: log.entry(35).write_text(""),
    "one in between gone": lambda log: log.entry(35).unlink(),
    "the one after the checkpoint gone": lambda log: log.entry(31).unlink(),
    "that of the checkpoint gone": lambda log: log.entry(30).unlink(),
    "that of the checkpoint emptied": lambda log: log.entry(30).write_text(""),
    "one before it gone": lambda log: log.entry(12).unlink(),
    "the checkpoint gone": lambda log: (log.folder / f"{30:020d}.checkpoint.parquet").unlink(),
    "cleaned up": lambda log: [log.entry(version).unlink() for version in range(30)],
    "all after the checkpoint gone": lambda log: [log.entry(version).unlink() for version in range(31, MANY)],
    "all up to the end gone": lambda log: [log.entry(version).unlink() for version in range(MANY - 1)],
    "a link to nowhere": lambda log: log.entry(MANY).symlink_to("nowhere"),
    "a later checkpoint": lambda log: [log.entry(34).write_text(""), log.checkpoint(36)],
    "no log": lambda log: shutil.rmtree(log.folder),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage_is_told_as_the_listing_tells_it(log: Log, damage: Callable[[Log], object]) -> None:
    log.write(range(MANY))
    log.checkpoint(30)
    log.hint('{"version": 30}')
    damage(log)
    if log.entry(MANY).is_symlink():
        assert LogFiles.from_its_end(log.table).last == LogFiles.of(log.table).last == MANY
    else:
        log.assert_both_agree()


def test_an_old_hint_is_not_followed_for_ever(log: Log) -> None:
    log.checkpoint(0)
    log.hint('{"version": 0}')
    log.write(range(_FAR + 1))
    assert find_end(log.folder) is not None
    log.write(range(_FAR + 1, _FAR + 2))
    assert find_end(log.folder) is None


def test_a_hole_is_found_up_to_twice_the_versions_between_checkpoints(log: Log) -> None:
    log.write(range(3))
    log.checkpoint(1)
    log.hint('{"version": 1}')
    assert find_end(log.folder) is not None
    log.write(range(2 + _AHEAD, 3 + _AHEAD))
    log.assert_both_agree()


def test_what_comes_after_the_look_is_not_in_it(log: Log) -> None:
    log.write(range(MANY))
    log.checkpoint(30)
    log.hint('{"version": 30}')
    found = LogFiles.from_its_end(log.table)
    assert not found.goes_on()
    log.write(range(MANY, MANY + 1))
    assert found.goes_on()
    assert (found.last, max(found.entries), next(found.backwards()), found.reaches(MANY)) == (39, 39, 39, False)


ENTRIES = st.lists(st.sampled_from(["whole"] * 8 + ["", "{}\n", "half", None]), max_size=30)
HINTED = st.one_of(
    st.none(), st.integers(0, 32).map(lambda version: json.dumps({"version": version})), st.text(max_size=9)
)


@settings(max_examples=150, deadline=None)
@given(entries=ENTRIES, checkpoints=st.sets(st.integers(0, 32), max_size=3), hint=HINTED)
def test_the_end_and_the_listing_tell_the_same(
    tmp_path_factory: pytest.TempPathFactory, entries: list[str | None], checkpoints: set[int], hint: str | None
) -> None:
    log = Log(tmp_path_factory.mktemp("log"))
    for version, entry in enumerate(entries):
        if entry is not None:
            log.entry(version).write_text(WHOLE if entry == "whole" else entry)
    for version in checkpoints:
        log.checkpoint(version)
    if hint is not None:
        log.hint(hint)
    log.assert_both_agree()

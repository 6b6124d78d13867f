"""What is answered between derive and skyline: of a new period, and of one that was derived again."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from chronicle import Asked, Chronicle, Place, Step
from skyarchive.answers.questions import Answer
from skyarchive.definition.frequent import asked_query
from skyarchive.errors import DamagedError, NotPublishedError, SettingError
from skyarchive.pipeline.mending import mend_damaged
from skyarchive.pipeline.workshop import Workshop
from skyarchive.progress import Progress
from skyarchive.steps.frequent.pictures import draw_frequent
from skyarchive.steps.skyline.pictures import draw_reigns
from skyarchive.store.log_files import LogFiles

TWICE = asked_query("1", 2)


def step(number: int, **moves: Place) -> Step:
    return Step(f"{number // 3:05}", datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number), moves)


STEPS = [
    step(0, a=(1, 5), b=(3, 6)), step(1, c=(2, 2)), step(2, b=(0, 3)),
    step(3, c=(0, 9)), step(4, a=(1, 9.5)), step(5, b=None),
    step(6, a=None), step(7, d=(-1, 20)), step(8, c=None),
]  # fmt: skip
"""Three periods. In the third everything changes."""


@pytest.fixture
def told(tmp_path: Path) -> Chronicle:
    """The first two periods, complete."""
    archive = Chronicle(tmp_path, STEPS)
    archive.derive("00000", "00001")
    archive.skyline("00000", "00001")
    return archive


def answers(ask: Asked) -> dict[str, Answer]:
    """Every question, without a moment where one can be left out."""
    return {
        "skyline": ask.skyline(None), "why, beaten": ask.why("b", "4"), "why": ask.why("a", None),
        "reigns": ask.reigns(10), "changes": ask.changes("0", "5"),
        "frequent": ask.frequent_at(TWICE, None), "frequent over": ask.frequent_over(TWICE, None),
        "frequent from": ask.frequent_over(TWICE, "2.."),
    }  # fmt: skip


def test_a_new_period_hides_no_answer(told: Chronicle, tmp_path: Path) -> None:
    before = answers(told.ask())
    assert {row[0] for row in before["skyline"].rows} == told.truth(5) == {"a", "c"}
    told.derive("00002")
    after = answers(told.ask())
    assert {name: answer.rows for name, answer in after.items()} == {name: a.rows for name, a in before.items()}
    for name in ("skyline", "why", "reigns", "frequent", "frequent over"):
        assert "snapshot 5 (step 5" in after[name].remark, name
        assert after[name].remark.endswith(
            "The skylines of places 00002 are not computed yet; "
            "run: skyarchive run places --periods 00002 --steps skyline"
        )
    assert "yet" not in after["changes"].remark + before["skyline"].remark
    ask = told.ask()
    draw_reigns(ask, ask.reigns(10), tmp_path / "reigns.svg")
    draw_frequent(ask, TWICE, None, tmp_path / "frequent.svg")
    told.skyline("00002")
    assert {row[0] for row in told.ask().skyline(None).rows} == told.truth(8) == {"d"}


@pytest.mark.parametrize("at", ["6", "2024-01-08", "2024-03-01"])
def test_what_is_asked_of_a_period_without_skylines_is_refused(told: Chronicle, at: str) -> None:
    told.derive("00002")
    ask = told.ask()
    for question in (
        lambda: ask.skyline(at), lambda: ask.why("c", at), lambda: ask.changes("0", at), lambda: ask.reigns(5, end=at),
        lambda: ask.frequent_at(TWICE, at), lambda: ask.frequent_over(TWICE, f"2..{at}"),
    ):  # fmt: skip
        with pytest.raises(
            NotPublishedError, match=r"places 00002 are not computed; run: .* --periods 00002 --steps sk"
        ):
            question()
    with pytest.raises(SettingError, match="has no snapshot at 99: it has 0 to 8"):
        ask.skyline("99")


def test_what_reaches_over_a_period_without_skylines_is_refused(told: Chronicle) -> None:
    told.derive("00002")
    told.tell([*STEPS, step(9, e=(-5, 30)), step(10, e=None)])
    told.derive("00003")
    told.skyline("00003")
    ask = told.ask()
    assert {row[0] for row in ask.skyline(None).rows} == told.truth(10) == {"d"}
    for question in (lambda: ask.changes("4", "10"), lambda: ask.frequent_at(TWICE, "9")):
        with pytest.raises(NotPublishedError, match="places 00002, whose skylines are not computed; run: "):
            question()


def test_a_period_that_was_derived_again_is_answered_as_before(told: Chronicle) -> None:
    """The newest period has grown, and its beginning was corrected; so has the one before it changed."""
    before = answers(told.ask())
    changed = [*STEPS[:2], step(2, b=(0, 3), e=(-9, 99)), step(3, c=(0, 1), a=(0, 0)), *STEPS[4:6]]
    told.tell([*changed, Step("00001", STEPS[5].time + timedelta(hours=1), {"a": None, "c": None})])
    told.derive("00000", "00001")
    after = answers(told.ask())
    assert {name: answer.rows for name, answer in after.items()} == {name: a.rows for name, a in before.items()}
    assert (
        "places 00001 have changed since its skylines were computed; run: skyarchive refresh" in after["skyline"].remark
    )
    told.skyline("00000")
    assert told.ask().skyline(None).rows == before["skyline"].rows
    told.skyline("00001")
    assert {row[0] for row in told.ask().skyline(None).rows} == told.truth(6) == {"e"}


def test_an_older_period_is_not_mixed_with_those_that_do_not_know_of_it(tmp_path: Path) -> None:
    archive = Chronicle(tmp_path, STEPS[3:])
    archive.derive("00001", "00002")
    archive.skyline("00001", "00002")
    archive.tell(STEPS)
    archive.derive("00000")
    archive.skyline("00000")
    ask = archive.ask()
    assert {row[0] for row in ask.skyline("2024-01-03").rows} == archive.truth(2)
    for question in (lambda: ask.changes("0", "5"), lambda: ask.frequent_over(TWICE, "1..")):
        with pytest.raises(NotPublishedError, match="places 00000 and 00001, whose snapshots have the same numbers"):
            question()
    archive.derive("00001", "00002")
    archive.skyline("00001", "00002")
    ask = archive.ask()
    entered = {(row[0], row[4]) for row in ask.changes("0", "8").rows if row[3] == "entered"}
    assert entered == {(at, who) for at in range(1, 9) for who in archive.truth(at) - archive.truth(at - 1)}


@pytest.mark.parametrize("table", ["updates", "snapshots"])
def test_what_lost_its_update_log_is_not_answered_from_another(told: Chronicle, table: str) -> None:
    before = answers(told.ask())
    log = LogFiles.of(Path(told.settings.warehouse) / "places" / table)
    log.entry(log.last).write_text("")
    for why in (
        rf"places\.{table} cannot be read at version 1",
        rf"places 00001 were .* the log of places\.{table}; run",
    ):
        for question in (lambda: told.ask().skyline("4"), lambda: told.ask().reigns(5)):
            with pytest.raises(DamagedError, match=why):
                question()
        mend_damaged(Workshop(told.settings, told.definition, Progress(quiet=True)))
    told.tables[table].versions.extend(
        [set()] * (LogFiles.of(log.folder.parent).last + 1 - len(told.tables[table].versions))
    )
    told.derive("00001")
    assert {name: answer.rows for name, answer in answers(told.ask()).items()} == {n: a.rows for n, a in before.items()}

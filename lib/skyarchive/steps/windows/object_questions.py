"""What became of an object's records: when each was a member, and who kept out those that never were."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from skyarchive.answers.questions import Answer
from skyarchive.arrivals.moments import time_of
from skyarchive.arrivals.ordered import Asked, Records
from skyarchive.arrivals.raw_records import NotUnderstood, object_rows
from skyarchive.errors import SettingError
from skyarchive.steps.windows.facts import published_facts
from skyarchive.steps.windows.questions import WindowQuestions
from skyarchive.wording import counted

_STAY = ("since", "since_number", "because", "until", "until_number", "until_because")
_KEPT_OUT = ("kept_out_by", "kept_out_by_file", "kept_out_by_row", "kept_out_until")
_BEATEN = ("beaten_by", "beaten_by_file", "beaten_by_row")


@dataclass(frozen=True)
class _Beaten:
    """Of each record the youngest older one and the first younger one that beat it while it counted; -1: none."""

    older: Any
    younger: Any

    @classmethod
    def of(cls, records: Records, asked: Asked) -> "_Beaten":
        from skyarchive.kernels.windows import dominators  # compiled code, which few questions need

        every = slice(0, len(records))
        costs = records.costs(asked, every)
        return cls(*dominators(records.moments(asked), records.group_codes(every), costs, asked.width))


def of_object(questions: WindowQuestions, who: str) -> Answer:
    """Every record of an object, in the order they came."""
    item, name = questions.object_named(who)
    query = questions.query
    stays = _stays(questions, item)
    try:
        rows, remark = _with_those_kept_out(questions, item, stays), ""
    except NotUnderstood as error:
        rows, remark = [(*stay, *[None] * (len(_KEPT_OUT) + len(_BEATEN))) for stay in stays.values()], f" {error}"
    if not rows:
        raise SettingError(f"{questions.definition.name} has no record of {who!r} (query {query.name}).")
    columns = ["object", "name", *query.attributes, "arrived", "file", "row", *_STAY, *_KEPT_OUT, *_BEATEN]
    told = (
        f"{counted(len(stays), 'record', 'records')} of {name} {'was a member' if len(stays) == 1 else 'were members'}"
    )
    if not remark:
        told += f", {counted(len(rows) - len(stays), 'was', 'were')} kept out all the time"
    return Answer(columns, [(item, name, *row) for row in rows], f"{told} ({query.name}: {query.last}).{remark}")


def _stays(questions: WindowQuestions, item: str) -> dict[tuple[str, int], tuple[Any, ...]]:
    """By file and row what is told of each stay."""
    rows = questions.rows(
        f"""
        select s.file, s.row, {questions.attributes("s")}, s.arrived, s.file, s.row, s.entered, s.entered_at,
            s.entered_because, s.left, s.left_at, s.left_because
        from {questions.definition.name}.window_skyline s where s.query = $query and s.object = $item
        order by s.arrived, s.file, s.row
        """,
        {"query": questions.query.name, "item": item},
    )
    return {(row[0], row[1]): tuple(row[2:]) for row in rows}


def _with_those_kept_out(
    questions: WindowQuestions, item: str, stays: dict[tuple[str, int], tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Every record of the object, with who beat it before and after."""
    [asked], look = Asked.of([questions.query]), questions.look
    facts = {period: of[questions.query.name] for period, of in published_facts(look).items()}
    periods = [period for period in look.timeline if period in facts]
    records = questions.raw().read(periods, look.before(periods[0]), facts)
    beaten = _Beaten.of(records, asked)
    rows = []
    for at in object_rows(records, item).tolist():
        file, row, time = records.name_of(at)
        values = tuple(float(records.values[name][at]) for name in questions.query.attributes)
        known = stays.get((file, row), (*values, time_of(time), file, row, *[None] * len(_STAY)))
        older, younger = int(beaten.older[at]), int(beaten.younger[at])
        until = _until(records, asked, older) if older >= 0 else None
        rows.append((*known, *_told(records, older), until, *_told(records, younger)))
    return rows


def _told(records: Records, at: int) -> tuple[Any, ...]:
    if at < 0:
        return (None, None, None)
    file, row, _ = records.name_of(at)
    return records.object.names[int(records.object.codes[at])].as_py(), file, row


def _until(records: Records, asked: Asked, at: int) -> datetime | None:
    """When a record's time was up; nothing if that has not come."""
    if not asked.counts_records:
        return time_of(int(records.time[at]) + asked.width)
    return time_of(int(records.time[at + asked.width])) if at + asked.width < len(records) else None

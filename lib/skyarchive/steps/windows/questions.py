"""Who was in the skyline of the last while: asked from the published table, without Spark."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from skyarchive.answers.questions import Answer
from skyarchive.definition.model import Definition
from skyarchive.definition.windows import WindowQuery
from skyarchive.errors import NotPublishedError, SettingError
from skyarchive.pipeline.look import Look
from skyarchive.settings import Settings
from skyarchive.steps.windows.facts import STEP, Fact, published_facts
from skyarchive.store.duck import quoted
from skyarchive.store.lake import Lake
from skyarchive.wording import counted

_NUMBER = re.compile(r"\d{1,18}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHOWN_AT = "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True)
class Extent:
    """A period's records of a query: their numbers and times."""

    period: str
    first_number: int
    last_number: int
    first: datetime
    last: datetime


@dataclass(frozen=True)
class Moment:
    """When a question is about: in a period that has records, at a time or when the record of a number had come."""

    extent: Extent
    time: datetime
    number: int | None = None
    """Where the question was about a record."""
    is_beyond: bool = False
    """Whether nothing is known of then: the last record came before."""

    def __str__(self) -> str:
        about = "" if self.number is None else f"record {self.number}, "
        return f"{about}{self.time:{_SHOWN_AT}} UTC"


class WindowQuestions:
    """One query of an archive over the last while."""

    def __init__(self, settings: Settings, definition: Definition, name: str | None = None) -> None:
        self.definition = definition
        self._schema = definition.name
        self.query = _query(definition, name)
        lake = Lake(settings).at_rest()
        self._look = Look.read(lake, definition)
        if not self._look.ledger.of(STEP):
            raise NotPublishedError(f"{self._schema} has no windows yet; run: skyarchive run {self._schema}")
        self._has_names = "objects" in lake.published_versions(self._schema)
        tables = ["windows", "window_skyline", "window_changes", *(["objects"] if self._has_names else [])]
        self._session = lake.connect([(self._schema, table) for table in tables])
        self._check_attributes()

    @cached_property
    def extents(self) -> list[Extent]:
        """The periods that have records, in order."""
        found, number = [], 0
        for period, facts in sorted(published_facts(self._look).items()):
            fact: Fact = facts[self.query.name]
            if fact.first is not None and fact.last is not None:
                last = number + fact.records - 1
                found.append(Extent(period, number, last, _time(fact.first), _time(fact.last)))
            number += fact.records
        if not found:
            raise NotPublishedError(
                f"{self._schema} has no records of the query {self.query.name}; run: skyarchive refresh {self._schema}"
            )
        return found

    def members(self, at: str | None) -> Answer:
        """Who is a member at a moment, since when and until when, and why."""
        moment = self.moment(at)
        names = ", ".join(f"w.{quoted(name)}" for name in self.query.attributes)
        rows = self._rows(
            f"""
            select w.group_key, w.object, coalesce(n.name, w.object), {names}, w.entered, w.entered_at,
                w.entered_because, w.freed_by_file, w.freed_by_row, s.left, s.left_at, s.left_because, s.by_file,
                s.by_row, w.file, w.row
            from {self._schema}.windows w
            left join {self._schema}.window_skyline s using (query, file, row)
            left join {self._names} n on n.object = w.object
            where w.query = $query and w.period = $period and {self._is_member(moment)}
            order by w.group_key, w.entered_at, w.file, w.row
            """,
            {"query": self.query.name, "period": moment.extent.period, "at": self._at(moment)},
        )
        columns = [
            "group_key", "object", "name", *self.query.attributes, "since", "since_number", "because", "freed_by_file",
            "freed_by_row", "until", "until_number", "until_because", "by_file", "by_row", "file", "row",
        ]  # fmt: skip
        return self._answer(columns, rows, self._told(len(rows), moment))

    def _told(self, count: int, moment: Moment) -> str:
        what = f"{counted(count, 'record', 'records')} of the last {self.query.last} {'is' if count == 1 else 'are'}"
        told = f"{what} beaten by no other at {moment}."
        return told + (" No record has come since; this is what it was then." if moment.is_beyond else "")

    def moment(self, text: str | None) -> Moment:
        """What a question's `--at` means; the last record without one."""
        last = self.extents[-1]
        if text is None:
            return Moment(last, last.last, last.last_number)
        if _NUMBER.fullmatch(text):
            return self._moment_of_record(int(text))
        return self._moment_at(text, _asked_time(text))

    def _moment_at(self, text: str, time: datetime) -> Moment:
        if time < self.extents[0].first:
            raise SettingError(f"{self._schema} has no record at {text}: {self._from_to()}.")
        for extent in self.extents:
            if time <= extent.last:
                return Moment(extent, time)
        last = self.extents[-1]
        return Moment(last, last.last, last.last_number, is_beyond=True)

    def _moment_of_record(self, number: int) -> Moment:
        for extent in self.extents:
            if number <= extent.last_number:
                return Moment(extent, self._time_of(extent, number), number)
        raise SettingError(f"{self._schema} has no record {number}: {self._from_to()}.")

    def _time_of(self, extent: Extent, number: int) -> datetime:
        return extent.first

    def _from_to(self) -> str:
        first, last = self.extents[0], self.extents[-1]
        return (
            f"query {self.query.name} has records 0 to {last.last_number}, from {first.first:{_SHOWN_AT}} to "
            f"{last.last:{_SHOWN_AT}} UTC"
        )

    def _is_member(self, moment: Moment) -> str:
        """Of a row of the moment's period."""
        if moment.number is not None and self.query.counts_records:
            return "w.entered_at <= $at and (w.left_at is null or w.left_at > $at)"
        return "w.entered <= $at and (w.left is null or w.left > $at)"

    def _at(self, moment: Moment) -> Any:
        return moment.number if moment.number is not None and self.query.counts_records else moment.time

    @property
    def _names(self) -> str:
        if not self._has_names:
            return "(select '' as object, '' as name)"
        return f"(select object, arg_max(name, period) as name from {self._schema}.objects group by object)"

    def _answer(self, columns: list[str], rows: list[Any], remark: str) -> Answer:
        if not self.query.group and columns[0] == "group_key":
            columns, rows = columns[1:], [row[1:] for row in rows]
        return Answer(columns, rows, remark)

    def _rows(self, sql: str, parameters: Any = None) -> list[Any]:
        return self._session.execute(sql, parameters).fetchall()

    def _check_attributes(self) -> None:
        found = self._session.execute(f"from {self._schema}.windows limit 0").description or []
        missing = set(self.query.attributes) - {column[0] for column in found}
        if missing:
            raise NotPublishedError(
                f"{self._schema}.windows has no {', '.join(sorted(missing))} yet; run: "
                f"skyarchive refresh {self._schema}"
            )


def _query(definition: Definition, name: str | None) -> WindowQuery:
    queries = definition.windows
    if not queries:
        raise SettingError(
            f"The definition of {definition.name} asks for no windows: give it a field `windows` with a query, and "
            f"run: skyarchive run {definition.name} --steps windows"
        )
    known = ", ".join(query.name for query in queries)
    if name is None:
        if len(queries) > 1:
            raise SettingError(f"{definition.name} has several queries; give one with --query: {known}.")
        return queries[0]
    for query in queries:
        if query.name == name:
            return query
    raise SettingError(f"{definition.name} has no query {name!r}; there is {known}.")


def _time(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)


def _asked_time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise SettingError(
            f"{text!r} is neither a record's number nor a time: write 1234, 2010-06-17 or 2010-06-17T21:00."
        ) from error
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)

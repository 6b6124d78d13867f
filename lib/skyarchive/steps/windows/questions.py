"""Who was in the skyline of the last while: asked from the published table, without Spark."""

from datetime import datetime
from functools import cached_property
from typing import Any

from skyarchive.answers.questions import Answer
from skyarchive.arrivals.moments import Extent, Moment, WindowMoments, time_of
from skyarchive.arrivals.raw_records import RawRecords
from skyarchive.definition.model import Definition
from skyarchive.definition.windows import WindowQuery
from skyarchive.errors import NotPublishedError, SettingError
from skyarchive.pipeline.look import Look
from skyarchive.settings import Settings
from skyarchive.steps.windows.facts import STEP, published_facts
from skyarchive.store.duck import quoted
from skyarchive.store.lake import Lake
from skyarchive.wording import counted

_TABLES = ("windows", "window_skyline", "window_changes")
_SEPARATOR = ".."


class WindowQuestions:
    """One query of an archive over the last while."""

    def __init__(self, settings: Settings, definition: Definition, name: str | None = None) -> None:
        self.definition = definition
        self.query = _query(definition, name)
        self._schema = definition.name
        self._lake = Lake(settings).at_rest()
        self.look = Look.read(self._lake, definition)
        if not self.look.ledger.of(STEP):
            raise NotPublishedError(f"{self._schema} has no windows yet; run: skyarchive run {self._schema}")
        self._has_names = "objects" in self._lake.published_versions(self._schema)
        tables = [*_TABLES, *(["objects"] if self._has_names else [])]
        self._session = self._lake.connect([(self._schema, table) for table in tables])
        self._check_attributes()

    @cached_property
    def extents(self) -> list[Extent]:
        """The periods that have records, in order."""
        found, number = [], 0
        for period, facts in sorted(published_facts(self.look).items()):
            fact = facts[self.query.name]
            if fact.first is not None and fact.last is not None:
                last = number + fact.records - 1
                found.append(Extent(period, number, last, time_of(fact.first), time_of(fact.last)))
            number += fact.records
        if not found:
            raise NotPublishedError(
                f"{self._schema} has no records of the query {self.query.name}; run: skyarchive refresh {self._schema}"
            )
        return found

    @cached_property
    def moments(self) -> WindowMoments:
        """The moments that can be asked about."""
        return WindowMoments(self._schema, self.query, self.extents, self._time_of_record)

    def members(self, at: str | None) -> Answer:
        """Who is a member at a moment, since when and until when, and why."""
        moment = self.moments.at(at)
        rows = self.rows(
            f"""
            select w.group_key, w.object, coalesce(n.name, w.object), {self.attributes("w")}, w.entered, w.entered_at,
                w.entered_because, w.freed_by_file, w.freed_by_row, s.left, s.left_at, s.left_because, s.by_file,
                s.by_row, w.file, w.row
            from {self._schema}.windows w
            left join {self._schema}.window_skyline s using (query, file, row)
            left join {self.names} n on n.object = w.object
            where w.query = $query and w.period = $period and {self._is_member(moment)}
            order by w.group_key, w.entered_at, w.file, w.row
            """,
            {"query": self.query.name, "period": moment.extent.period, "at": self._at(moment)},
        )
        columns = [
            "group_key", "object", "name", *self.query.attributes, "since", "since_number", "because", "freed_by_file",
            "freed_by_row", "until", "until_number", "until_because", "by_file", "by_row", "file", "row",
        ]  # fmt: skip
        return self.answer(columns, rows, self._told(len(rows), moment))

    def _told(self, count: int, moment: Moment) -> str:
        of = "" if self.query.counts_records else f"{'record' if count == 1 else 'records'} "
        are = "is" if count == 1 else "are"
        told = f"{count} {of}of the last {self.query.last} {are} beaten by no other at {moment}."
        told += " No record has come since: this is what it was then." if moment.is_beyond else ""
        return told + self._outlook(moment)

    def _outlook(self, moment: Moment) -> str:
        """What is said of an answer at the last moment, when there is more that has no windows."""
        last = max(self.look.ledger.of(STEP))
        waiting = [period for period in self.look.timeline if period > last]
        if not waiting or moment.extent != self.extents[-1]:
            return ""
        how = f"skyarchive run {self._schema} --periods {waiting[0]} --steps windows"
        return f" The windows of {self._schema} {waiting[0]} are not computed yet; run: {how}"

    def changes(self, over: str) -> Answer:
        """Who entered and who left after the first moment, up to the last; and because of whom."""
        first, last = self.moments.span(over, _SEPARATOR)
        since = f"and t.{self._when(first)} > $begin" if first else ""
        asked = {"end": self._at(last)} | ({"begin": self._at(first)} if first else {})
        columns, rows = self._changes(f"t.{self._when(last)} <= $end {since}", asked)
        entered = sum(row[2] == 1 for row in rows)
        told = f"From {first}" if first else "From the first record"
        return self.answer(columns, rows, f"{told} to {last}: {entered} entered, {len(rows) - entered} left.")

    def changes_after(self, period: str) -> Answer:
        """Those after the last record of a period."""
        columns, rows = self._changes("t.period > $period", {"period": period})
        return self.answer(columns, rows, "")

    def _changes(self, condition: str, parameters: dict[str, Any]) -> tuple[list[str], list[Any]]:
        rows = self.rows(
            f"""
            with told as (
                select w.*, true as enters, entered as time, entered_at as number, entered_because as because,
                    freed_by_file as other_file, freed_by_row as other_row
                from {self._schema}.windows w where query = $query and not continued_from
                union all
                select w.*, false, w.left, left_at, left_because, by_file, by_row
                from {self._schema}.windows w where query = $query and not continues_into
            )
            select t.time, t.number, if(t.enters, 1, -1), t.because, t.group_key, t.object, coalesce(n.name, t.object),
                {self.attributes("t")}, t.other_file, t.other_row, t.file, t.row
            from told t left join {self.names} n on n.object = t.object
            where {condition} order by t.time, t.number, t.enters, t.file, t.row
            """,
            {"query": self.query.name} | parameters,
        )
        columns = [
            "time", "number", "change", "because", "group_key", "object", "name", *self.query.attributes, "other_file",
            "other_row", "file", "row",
        ]  # fmt: skip
        return columns, rows

    def longest(self, top: int) -> Answer:
        """The longest stays; one that goes on is as long as it is known."""
        last = self.extents[-1]
        by = "records" if self.query.counts_records else "days"
        rows = self.rows(
            f"""
            with told as (
                select s.*, epoch_us(coalesce(s.left, $last_time)) - epoch_us(s.entered) as length,
                    coalesce(s.left_at, $last_number) - s.entered_at as records
                from {self._schema}.window_skyline s where s.query = $query
            )
            select t.group_key, t.object, coalesce(n.name, t.object), {self.attributes("t")},
                t.length / 86400e6 as days, t.records, t.entered, t.entered_at, t.entered_because, t.left is null,
                t.left, t.left_at, t.left_because, t.by_file, t.by_row, t.file, t.row
            from told t left join {self.names} n on n.object = t.object
            order by {by} desc, t.length desc, t.entered_at, t.file, t.row limit $top
            """,
            {"query": self.query.name, "last_time": last.last, "last_number": last.last_number, "top": top},
        )
        columns = [
            "group_key", "object", "name", *self.query.attributes, "days", "records", "since", "since_number",
            "because", "ongoing", "until", "until_number", "until_because", "by_file", "by_row", "file", "row",
        ]  # fmt: skip
        told = counted(len(rows), "stay", "stays")
        return self.answer(columns, rows, f"The longest {told} of {self._schema}, known up to {self.moments.at(None)}.")

    def stays(self, over: str | None) -> tuple[list[tuple[datetime, datetime | None]], datetime]:
        """Since when and until when (None: still at the end) the members were that there were in A..B, in the order
        they began; and the end. All of them, if nothing is given."""
        first, last = self.moments.span(over or _SEPARATOR, _SEPARATOR)
        begin = self._time(first) if first else self.extents[0].first
        end = self._time(last)
        rows = self.rows(
            f"""
            select greatest(s.entered, $begin), if(s.left > $end, null, s.left) from {self._schema}.window_skyline s
            where s.query = $query and s.entered <= $end and (s.left is null or s.left > $begin)
            order by s.entered_at, s.entered, s.file, s.row
            """,
            {"query": self.query.name, "begin": begin, "end": end},
        )
        return rows, end

    def _time(self, moment: Moment) -> datetime:
        """Also of one of which only the number counts."""
        if moment.time is not None:
            return moment.time
        assert moment.number is not None
        return time_of(self._time_of_record(moment.extent, moment.number))

    def object_named(self, who: str) -> tuple[str, str]:
        """An object that people call so, and its name; one that is not known stands for itself."""
        rows = self.rows(f"select object, name from {self.names} where object = $who or lower(name) = lower($who) "
                         "order by object = $who desc, object", {"who": who})  # fmt: skip
        if len(rows) > 1 and rows[0][0] != who:
            raise SettingError(f"{who!r} may be {' or '.join(row[0] for row in rows[:5])}: give the object.")
        return rows[0] if rows else (who, who)

    def raw(self) -> RawRecords:
        """Where records that were never members are told."""
        tables = [(self._schema, "raw"), *([(self._schema, "carry")] if self._needs_carry else [])]
        return RawRecords(self._lake.connect(tables), self.definition, self.query)

    @property
    def _needs_carry(self) -> bool:
        return bool(self.definition.derive.added_to_records)

    def _time_of_record(self, extent: Extent, number: int) -> int:
        """When the record of a number came, in microseconds."""
        facts = {extent.period: published_facts(self.look)[extent.period][self.query.name]}
        records = self.raw().read([extent.period], self.look.before(extent.period), facts)
        return int(records.time[number - extent.first_number])

    def _is_member(self, moment: Moment) -> str:
        """Of a row of the moment's period."""
        if self._when(moment) == "number":
            return "w.entered_at <= $at and (w.left_at is null or w.left_at > $at)"
        return "w.entered <= $at and (w.left is null or w.left > $at)"

    def _when(self, moment: Moment) -> str:
        """What tells it from others."""
        return "number" if moment.number is not None and self.query.counts_records else "time"

    def _at(self, moment: Moment) -> Any:
        return moment.number if self._when(moment) == "number" else moment.time

    def attributes(self, alias: str) -> str:
        """The query's attributes, for a statement."""
        return ", ".join(f"{alias}.{quoted(name)}" for name in self.query.attributes)

    @property
    def names(self) -> str:
        """Objects with the names people know them by, for a statement."""
        if not self._has_names:
            return "(select '' as object, '' as name where false)"
        return f"(select object, arg_max(name, period) as name from {self._schema}.objects group by object)"

    def answer(self, columns: list[str], rows: list[Any], remark: str) -> Answer:
        """Without a column of groups, where there are none."""
        if not self.query.group and "group_key" in columns:
            at = columns.index("group_key")
            columns, rows = columns[:at] + columns[at + 1 :], [(*row[:at], *row[at + 1 :]) for row in rows]
        return Answer(columns, rows, remark)

    def rows(self, sql: str, parameters: Any = None) -> list[Any]:
        """What a statement finds."""
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
    raise SettingError(f"{definition.name} has no query {name!r}; its queries are {known}.")

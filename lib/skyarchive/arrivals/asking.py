"""What questions about records that count for a while begin with: the query, moments, names and raw records."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from skyarchive.answers.questions import Answer
from skyarchive.arrivals.facts import Fact, StepFacts
from skyarchive.arrivals.moments import Extent, Moment, WindowMoments, time_of
from skyarchive.arrivals.raw_records import RawRecords
from skyarchive.definition.model import Definition
from skyarchive.definition.windows import WindowQuery
from skyarchive.errors import NotPublishedError, SettingError
from skyarchive.pipeline.look import Look
from skyarchive.settings import Settings
from skyarchive.store.duck import quoted
from skyarchive.store.lake import Lake

Query = TypeVar("Query", bound=WindowQuery)


class WhileQuestions(Generic[Query]):
    """One query of an archive."""

    FACTS: ClassVar[StepFacts]
    TABLES: ClassVar[Sequence[str]]
    """The table, and views of it."""
    CALLED: ClassVar[str]
    """How people call what the step finds."""

    def __init__(self, settings: Settings, definition: Definition, query: Query) -> None:
        self.definition = definition
        self.query = query
        self._schema = definition.name
        self._lake = Lake(settings).at_rest()
        self.look = Look.read(self._lake, definition)
        if not self.look.ledger.of(self.FACTS.step):
            raise NotPublishedError(f"{self._schema} has no {self.CALLED} yet; run: skyarchive run {self._schema}")
        self._has_names = "objects" in self._lake.published_versions(self._schema)
        tables = [*self.TABLES, *(["objects"] if self._has_names else [])]
        self._session = self._lake.connect([(self._schema, table) for table in tables])
        self._check_attributes()

    @cached_property
    def facts(self) -> dict[str, Fact]:
        """Of every period that has results of the query."""
        return {period: of[self.query.name] for period, of in self.FACTS.published(self.look).items()}

    @cached_property
    def extents(self) -> list[Extent]:
        """The periods that have records, in order."""
        found, number = [], 0
        for period, fact in sorted(self.facts.items()):
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
        return WindowMoments(self._schema, self.query, self.extents, self.time_of_record)

    def time_of_record(self, extent: Extent, number: int) -> int:
        """When the record of a number came, in microseconds."""
        records = self.raw().read([extent.period], self.look.before(extent.period), self.facts)
        return int(records.time[number - extent.first_number])

    def raw(self) -> RawRecords:
        """Where records are told that the table does not tell of."""
        needs_carry = bool(self.definition.derive.added_to_records)
        tables = [(self._schema, "raw"), *([(self._schema, "carry")] if needs_carry else [])]
        return RawRecords(self._lake.connect(tables), self.definition, self.query)

    def when(self, moment: Moment) -> str:
        """What tells a moment from others."""
        return "number" if moment.number is not None and self.query.counts_records else "time"

    def value_of(self, moment: Moment) -> int | datetime | None:
        """Its number, or its time."""
        return moment.number if self.when(moment) == "number" else moment.time

    def objects_called(self, who: str) -> tuple[str, str]:
        """An object that people call so, and its name; one that is not known stands for itself."""
        rows = self.rows(f"select object, name from {self.names} where object = $who or lower(name) = lower($who) "
                         "order by object = $who desc, object", {"who": who})  # fmt: skip
        if len(rows) > 1 and rows[0][0] != who:
            raise SettingError(f"{who!r} may be {' or '.join(row[0] for row in rows[:5])}: give the object.")
        return rows[0] if rows else (who, who)

    def called(self, objects: Sequence[str]) -> dict[str, str]:
        """The names of objects."""
        rows = self.rows(f"select object, name from {self.names} where list_contains($objects, object)",
                         {"objects": list(objects)})  # fmt: skip
        return dict(rows)

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
        found = self._session.execute(f"from {self._schema}.{self.FACTS.step} limit 0").description or []
        missing = set(self.query.attributes) - {column[0] for column in found}
        if missing:
            raise NotPublishedError(
                f"{self._schema}.{self.FACTS.step} has no {', '.join(sorted(missing))} yet; run: "
                f"skyarchive refresh {self._schema}"
            )


def query_named(definition: Definition, field: str, queries: Sequence[Query], name: str | None) -> Query:
    """The query of a name; the only one without."""
    if not queries:
        raise SettingError(
            f"The definition of {definition.name} asks for no {field}: give it a field `{field}` with a query, and "
            f"run: skyarchive run {definition.name} --steps {field}"
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

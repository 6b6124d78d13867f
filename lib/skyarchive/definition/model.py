"""What an archive is: the model of `schemas/archives/*.yaml`, checked when loaded."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from skyarchive.definition.bounds import NUMERIC_TYPES, TIME_TYPES, Bound, NextYear, assert_bounds_fit, read_bound
from skyarchive.definition.derivation import Derivation, Traffic
from skyarchive.definition.expressions import expressions_of
from skyarchive.definition.external import External
from skyarchive.definition.frequent import Query
from skyarchive.definition.uncertain import UncertainQuery, check_uncertain
from skyarchive.definition.windows import WindowQuery, assert_queries_fit, check_columns
from skyarchive.names import checked_archive, checked_column, each_once

ColumnType = Literal["string", "boolean", "int", "bigint", "double", "date", "timestamp"]
RAW_COLUMNS = frozenset({"period", "file", "row"})
RESERVED_COLUMNS = frozenset(
    {
        "period",
        "file",
        "row",
        "snapshot",
        "object",
        "gone",
        "time",
        "label",
        "name",
        "fingerprint",
        "next_snapshot",
        "last_time",
    }
)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(_Strict):
    """Where the raw rows are: files below <raw>/<archive>, and how they are written."""

    format: Literal["csv", "parquet", "delta", "conn_log"]
    files: str = "*"
    """Glob of the raw files, relative to the archive's raw folder (for delta: of the table folders)."""
    period_in_name: str | None = None
    """Regular expression with one group: a file whose name matches holds that period only."""
    delimiter: str = ","
    missing: list[str] = [""]
    """Texts that mean 'no value' (csv and connection logs)."""

    @field_validator("period_in_name")
    @classmethod
    def _one_group(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                groups = re.compile(value).groups
            except re.error as error:
                raise ValueError(f"is not a regular expression ({error})") from None
            if groups != 1:
                raise ValueError("must have exactly one group: the part of the file name that is the period")
        return value

    @field_validator("delimiter")
    @classmethod
    def _one_character(cls, value: str) -> str:
        if len(value) != 1 or not value.isascii() or value == '"' or not (value.isprintable() or value == "\t"):
            raise ValueError("must be a single ASCII character other than a quote or a line end")
        return value

    @field_validator("files")
    @classmethod
    def _below_the_raw_folder(cls, value: str) -> str:
        if not value or value.startswith("/") or ".." in value.split("/"):
            raise ValueError("must be a pattern of files below the archive's raw folder, such as *.csv")
        return value


class Period(_Strict):
    """Which period a row belongs to."""

    column: str
    by: Literal["value", "year", "month", "day", "block"] = "value"
    """The column's own text; the year, month or UTC day of a date, timestamp or epoch seconds; or blocks of numbers."""
    size: int | None = Field(default=None, ge=1, le=2**53)
    """For blocks: how many values of the column make one period."""

    @model_validator(mode="after")
    def _size_for_blocks(self) -> Self:
        if (self.by == "block") != (self.size is not None):
            raise ValueError("`size` goes with `by: block`, and only with it")
        return self


class Schedule(_Strict):
    """When Airflow looks for a period's raw files, and which period it is then."""

    cron: str
    """In UTC: minute, hour, day of month, month, day of week."""
    key: str
    """The period as strftime makes it of the date of the run, such as %Y."""
    offset: int = Field(default=0, ge=-1000, le=1000)
    """Which run's date it is: -1 the one before, for a period that ends before its files come."""

    @field_validator("cron")
    @classmethod
    def _five_fields(cls, value: str) -> str:
        if not re.fullmatch(r"[\d*/,\-A-Za-z]+( [\d*/,\-A-Za-z]+){4}", value):
            raise ValueError("must be five fields (minute, hour, day, month, day of week), such as 0 6 1 7 *")
        return value

    @field_validator("key")
    @classmethod
    def _tells_a_date(cls, value: str) -> str:
        parts = re.findall("%.", value)
        if parts not in (["%Y"], ["%Y", "%m"], ["%Y", "%m", "%d"]):
            raise ValueError("must be made of %Y, %Y and %m, or %Y, %m and %d, in this order")
        return value


_BY_CALENDAR = {
    "year": Schedule(cron="0 6 2 1 *", key="%Y", offset=-1),
    "month": Schedule(cron="0 6 2 * *", key="%Y-%m", offset=-1),
    "day": Schedule(cron="0 1 * * *", key="%Y-%m-%d", offset=-1),
}
"""Shortly after a period is over."""


class Column(_Strict):
    """A column of the raw files. One that is required or bounded must be in every file."""

    type: ColumnType
    required: bool = False
    """A row without a value is refused."""
    min: Bound | NextYear | None = None
    max: Bound | NextYear | None = None
    """What is outside, NaN or infinite: the row is refused. `max: next year` moves with the calendar; for a number it
    means seconds since 1970."""

    @property
    def bounded(self) -> bool:
        return self.min is not None or self.max is not None

    @property
    def checked(self) -> bool:
        return self.required or self.bounded

    @field_validator("min", "max", mode="before")
    @classmethod
    def _bound(cls, value: object) -> object:
        return read_bound(value)

    @model_validator(mode="after")
    def _bounds_fit(self) -> Self:
        assert_bounds_fit(self.type, self.min, self.max)
        return self


class Rule(_Strict):
    """A condition over the typed columns (Spark SQL) that refuses a row."""

    when: str
    reason: str


class ObjectId(_Strict):
    """What identifies an object, and the column with its name, if there is one."""

    column: str
    name: str | None = None


class Attribute(_Strict):
    """One column of a position, and which way is better."""

    better: Literal["lower", "higher"]
    ratio: tuple[str, str] | None = None
    """For careers: the summed columns it is the quotient of."""


class Definition(_Strict):
    """One archive, from its raw files to its update log."""

    name: str
    title: str
    source: Source
    period: Period
    columns: Annotated[dict[str, Column], Field(min_length=1)]
    check_only: str | None = None
    """Only rows that fulfil this condition (Spark SQL) are checked; the others are kept as they came. All must have a
    period: it says where they are kept."""
    refuse: list[Rule] = []
    unique: list[str] = []
    """Columns that together are one record; the first of several stays."""
    counts: str = "true"
    """Rows that take part in the derivation (Spark SQL)."""
    object: ObjectId
    derive: Annotated[Derivation, Field(discriminator="method")]
    attributes: Annotated[dict[str, Attribute], Field(min_length=1, max_length=16)]
    max_refused_share: float = Field(default=0.05, ge=0, le=1)
    """More refused rows than this share of a period's rows stop its ingestion."""
    frequent: list[Query] = []
    """Who was unbeaten in at least a share `theta` of the last `window` snapshots; left out: not computed."""
    external: External | None = None
    """The skyline of all records ever seen; left out: not computed."""
    windows: list[WindowQuery] = []
    """The skylines of the records of the last while, whenever one comes or its time is up; left out: not computed."""
    uncertain: list[UncertainQuery] = []
    """The same of records that may be wrong: who is in such a skyline with some probability; left out: not computed."""
    schedule: Schedule | None = None
    """Left out: after each year, month or day, if that is what a period is; else only when asked."""
    _is_built_in: bool = PrivateAttr(default=False)

    @field_validator("name")
    @classmethod
    def _archive_name(cls, value: str) -> str:
        return checked_archive(value)

    @field_validator("columns", "attributes")
    @classmethod
    def _column_names(cls, value: dict[str, Any]) -> dict[str, Any]:
        for column in value:
            checked_column(column)
        lower = [column.lower() for column in value]
        twice = [column for column in value if lower.count(column.lower()) > 1]
        if twice:
            raise ValueError(f"{' and '.join(twice)} are one name (upper and lower case are the same)")
        return value

    @field_validator("columns")
    @classmethod
    def _columns_are_not_reserved(cls, value: dict[str, Column]) -> dict[str, Column]:
        taken = sorted(RAW_COLUMNS & {name.lower() for name in value})
        if taken:
            raise ValueError(f"{taken[0]!r} is a column that ingestion adds; rename it in the raw files")
        return value

    @field_validator("attributes")
    @classmethod
    def _attributes_are_not_reserved(cls, value: dict[str, Attribute]) -> dict[str, Attribute]:
        taken = sorted(RESERVED_COLUMNS & {name.lower() for name in value})
        if taken:
            raise ValueError(f"{taken[0]!r} is a column of the result tables; give the attribute another name")
        return value

    @field_validator("frequent")
    @classmethod
    def _each_query_once(cls, value: list[Query]) -> list[Query]:
        twice = [query for number, query in enumerate(value) if query in value[:number]]
        if twice:
            raise ValueError(f"{twice[0]} is there twice")
        return value

    @field_validator("windows")
    @classmethod
    def _windows_fit(cls, value: list[WindowQuery]) -> list[WindowQuery]:
        assert_queries_fit(value)
        return value

    @field_validator("uncertain")
    @classmethod
    def _uncertain_fit(cls, value: list[UncertainQuery]) -> list[UncertainQuery]:
        assert_queries_fit(value)
        return value

    @field_validator("unique")
    @classmethod
    def _each_column_once(cls, value: list[str]) -> list[str]:
        return each_once(value)

    @model_validator(mode="after")
    def _named_columns_exist(self) -> Self:
        named = {
            "period.column": [self.period.column],
            "object.column": [self.object.column],
            "unique": self.unique,
        }
        if self.object.name:
            named["object.name"] = [self.object.name]
        for field, columns in (named | self.derive.columns_used(self.attributes)).items():
            for column in columns:
                if column not in self.columns and column not in self.derive.reader_columns:
                    raise ValueError(f"{field}: there is no column {column!r}; columns are {', '.join(self.columns)}")
        added = dict.fromkeys(self.derive.reader_columns | self.derive.added_to_records)
        known = {name: spec.type for name, spec in self.columns.items()} | added
        if self.external:
            self.external.check_columns(known)
        check_columns(self.windows, known)
        check_uncertain(self.uncertain, known)
        for expression in expressions_of(self):
            expression.columns_used()
        return self

    @model_validator(mode="after")
    def _types_fit(self) -> Self:
        period = self.columns[self.period.column].type
        allowed = NUMERIC_TYPES if self.period.by == "block" else NUMERIC_TYPES | TIME_TYPES
        if self.period.by != "value" and period not in allowed:
            raise ValueError(f"period.column: {self.period.column} is a {period}, which has no {self.period.by}")
        if self.period.by == "value" and period == "timestamp":
            raise ValueError("period.by: moments are no periods; choose year, month or day")
        self.derive.check_types(self.columns, self.attributes)
        if isinstance(self.derive, Traffic) and (self.period.column, self.period.by) != ("ts", "day"):
            raise ValueError("period: the method traffic needs {column: ts, by: day}")
        if (self.source.format == "conn_log") != isinstance(self.derive, Traffic):
            raise ValueError("source.format: conn_log goes with the method traffic, and only with it")
        state = self.derive.state_columns(self.attributes)
        taken = sorted(set(state) & set(self.attributes))
        if taken:
            raise ValueError(f"attributes: {taken[0]!r} is a column of carry; give the attribute another name")
        return self

    @property
    def is_built_in(self) -> bool:
        """Whether it came with the package: what the package knows of an archive by its name is true of no other."""
        return self._is_built_in

    def as_built_in(self) -> Self:
        """The definition as one that came with the package."""
        own = self.model_copy()
        own._is_built_in = True
        return own

    @property
    def timing(self) -> Schedule | None:
        """When its periods are looked for; None: only when asked."""
        return self.schedule or _BY_CALENDAR.get(self.period.by)

    @property
    def record_key(self) -> list[str]:
        """The columns that together are one record."""
        return self.unique or self.derive.record_key(self.object.column)

    @property
    def attribute_names(self) -> list[str]:
        return list(self.attributes)

    def configured(self, fields: set[str]) -> dict[str, Any]:
        """These fields as somebody wrote them; what was left out is what it is by default, and not told."""
        told: dict[str, Any] = self.model_dump(mode="json", include=fields, exclude_defaults=True)
        return told

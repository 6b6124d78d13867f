"""What counts for a while: the field `windows` of an archive definition, over the last records or the last time."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from skyarchive.definition.external import assert_column_is_there
from skyarchive.names import checked_column

_COLUMNS = """
period query group_key file row object name arrived entered left entered_at left_at entered_because freed_by_file
freed_by_row left_because by_file by_row continued_from continues_into number time change because
"""
STAY_COLUMNS = frozenset(_COLUMNS.split())
"""Columns of `windows`, and of answers from it, beside the attributes."""
_UNITS = {"second": 10**6, "minute": 60 * 10**6, "hour": 3600 * 10**6, "day": 86400 * 10**6}
"""In microseconds."""
RECORDS = "record"
_LAST = re.compile(r"([0-9]+(?:\.[0-9]+)?) ([a-z]+?)s?", re.ASCII)
_EXAMPLE = "such as 1000 records, 90 seconds, 15 minutes, 12 hours or 30 days"
_LONGEST = {False: 36525 * 86400 * 10**6, True: 2**40}
"""A century, and more records than anybody has."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")


@dataclass(frozen=True)
class Last:
    """How long a record counts."""

    width: int
    """In records, or in microseconds."""
    counts_records: bool
    text: str


def read_last(value: Any) -> Last:
    """How long a record counts, as people write it."""
    found = _LAST.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or (found[2] not in _UNITS and found[2] != RECORDS):
        raise ValueError(f"must be a number of records, seconds, minutes, hours or days, {_EXAMPLE}")
    is_count = found[2] == RECORDS
    width = Decimal(found[1]) * (1 if is_count else _UNITS[found[2]])
    if width != int(width) or not 1 <= width <= _LONGEST[is_count]:
        least = "one record" if is_count else "one microsecond, at most a century"
        raise ValueError(f"must be a whole number and at least {least}, {_EXAMPLE}")
    return Last(int(width), is_count, value.strip())


class WindowAttribute(BaseModel):
    """One attribute of a record, which way is better, and what it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    better: Literal["lower", "higher"]
    value: str | None = None
    """Spark SQL over the raw columns; left out: the column of the attribute's name."""

    @field_validator("better", mode="before")
    @classmethod
    def _is_a_way(cls, value: Any) -> Any:
        if isinstance(value, dict):
            raise ValueError("must be lower or higher: windows take no partial orders")
        if value not in ("lower", "higher"):
            raise ValueError("must be lower or higher")
        return value


class WindowQuery(BaseModel):
    """A record counts for a while, and is a member as long as no other one that counts beats it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    last: str
    """A number of records, or of seconds, minutes, hours or days: how long a record counts."""
    attributes: Annotated[dict[str, WindowAttribute], Field(min_length=1, max_length=16)]
    where: str | None = None
    """Spark SQL over the raw columns: the records that take part; left out: all."""
    group: list[str] = []
    """Spark SQL over the raw columns: records are compared with those of the same values. One may stand alone."""

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        if not _NAME.fullmatch(value):
            raise ValueError("must be letters, digits, _ and -, starting with a letter")
        return value

    @field_validator("last", mode="before")
    @classmethod
    def _is_a_while(cls, value: Any) -> str:
        return read_last(value).text

    @field_validator("group", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("attributes")
    @classmethod
    def _names_are_free(cls, value: dict[str, WindowAttribute]) -> dict[str, WindowAttribute]:
        for name in value:
            checked_column(name)
        taken = sorted(STAY_COLUMNS & {name.lower() for name in value})
        if taken:
            raise ValueError(f"{taken[0]!r} is a column of the result table; give the attribute another name")
        return value

    @property
    def width(self) -> int:
        """How long a record counts, in moments: microseconds, or numbers of records."""
        return read_last(self.last).width

    @property
    def counts_records(self) -> bool:
        """Whether moments are numbers of records, and not times."""
        return read_last(self.last).counts_records

    @property
    def chance(self) -> str | None:
        """How probably a record exists, as Spark SQL; None where all do."""
        return None

    @property
    def levels(self) -> tuple[Decimal, ...]:
        """How probable members are at least; none where records are certain."""
        return ()

    @property
    def signs(self) -> dict[str, float]:
        """What makes smaller better on each attribute: 1 or -1."""
        return {name: -1.0 if attribute.better == "higher" else 1.0 for name, attribute in self.attributes.items()}


def assert_queries_fit(queries: Sequence[WindowQuery]) -> None:
    """Refuse two queries of one name, and two meanings of an attribute's name: they share a column."""
    names = [query.name for query in queries]
    twice = [name for number, name in enumerate(names) if name.lower() in map(str.lower, names[:number])]
    if twice:
        raise ValueError(f"{twice[0]!r} is there twice; give each query a name of its own")
    meanings: dict[str, tuple[str, str, WindowAttribute]] = {}
    for query in queries:
        for name, attribute in query.attributes.items():
            first, written, meaning = meanings.setdefault(name.lower(), (query.name, name, attribute))
            if (written, meaning) != (name, attribute):
                raise ValueError(
                    f"{name} means one thing in {first} and another in {query.name}: give one of them another name"
                )


def check_columns(queries: Sequence[WindowQuery], known: Mapping[str, str | None], field: str = "windows") -> None:
    """Refuse attributes whose columns are not there, and texts that are to be lower or higher. `known`: the type of
    every column, if that is known."""
    for number, query in enumerate(queries):
        for name, attribute in query.attributes.items():
            if attribute.value is not None:
                continue
            where = f"{field}.{number}.attributes.{name}"
            assert_column_is_there(where, name, known)
            if known[name] == "string":
                raise ValueError(f"{where}: its column is a string, which has no lower and higher")


def attribute_names(queries: Sequence[WindowQuery]) -> list[str]:
    """The attributes of all queries, each once."""
    return list(dict.fromkeys(name for query in queries for name in query.attributes))

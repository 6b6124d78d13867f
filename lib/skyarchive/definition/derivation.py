"""The ways an update log is derived from raw rows, as the archive definitions name them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from skyarchive.names import checked_column, each_once

_NUMBERS = ("int", "bigint", "double")
_TIMES = (*_NUMBERS, "date", "timestamp")
YEARS = (1, 9999)
"""The first and the last that whoever reads the tables can tell."""
_CENTURY = 36525 * 86400
"""Seconds."""
_LONGEST_HISTORY = 100_000
"""Rows of an object that a method may remember."""


class _Method(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    def reader_columns(self) -> frozenset[str]:
        """Columns that the reader adds to those of the files."""
        return frozenset()

    @property
    def added_to_records(self) -> frozenset[str]:
        """Columns that the values of external attributes may use beside the raw ones."""
        return frozenset()

    def record_key(self, object_column: str) -> list[str]:
        """What makes two raw rows the same record, unless the definition says."""
        return []

    @property
    def time_columns(self) -> list[str]:
        """Columns that tell the time of a row."""
        raise NotImplementedError

    def columns_used(self, attributes: Mapping[str, object]) -> dict[str, list[str]]:
        """Raw columns the method reads, by the field of the definition that names them."""
        return {"attributes": list(attributes)}

    def check_types(self, columns: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
        """Refuse columns and attributes that the method cannot work with."""
        for name, attribute in attributes.items():
            if attribute.ratio is not None:
                raise ValueError(f"attributes.{name}.ratio: is for the method career")

    def state_columns(self, attributes: Mapping[str, object]) -> dict[str, str]:
        """Columns of `carry` beside the positions: what the next period starts from."""
        return {}


class Order(BaseModel):
    """What orders the snapshots, and what time and label each has."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: list[str] = Field(min_length=1)
    """Columns that put the snapshots in order."""
    key: list[str] = []
    """Columns whose distinct values are the snapshots; those of `by` if left out."""
    time: str | None = None
    """Column with the snapshot's time; without one it is the first column of `by`, if that is a time, or
    `start` and that many steps of `step_seconds`."""
    label: str | None = None
    start: str = "2000-01-01T00:00:00Z"
    step_seconds: float = Field(default=1.0, gt=0, le=_CENTURY)

    @field_validator("by", "key")
    @classmethod
    def _each_column_once(cls, value: list[str]) -> list[str]:
        return each_once(value)

    @field_validator("start")
    @classmethod
    def _is_a_time(cls, value: str) -> str:
        try:
            datetime.fromisoformat(value)
        except ValueError:
            raise ValueError("must be a time such as 2000-01-01T00:00:00Z") from None
        return value

    @property
    def identity(self) -> list[str]:
        return self.key or self.by

    def check_types(self, columns: Mapping[str, Any]) -> None:
        """Refuse an order that gives the snapshots no times."""
        field, column = ("time", self.time) if self.time else ("by", self.by[0])
        if columns[column].type not in (*_TIMES, "string") or (field == "by" and columns[column].type == "string"):
            raise ValueError(
                f"derive.order.{field}: {column} is a {columns[column].type}, which tells no time; name a column that "
                "does, with `time`"
            )

    @property
    def time_column(self) -> str:
        return self.time or self.by[0]

    @property
    def time_columns(self) -> list[str]:
        """Those that a snapshot's time comes from: where its rows may disagree, the ones that tell it apart, too."""
        return [self.time_column, *([] if self.time_column in self.identity else self.identity)]

    def columns(self) -> list[str]:
        return [*self.by, *self.key, *(column for column in (self.time, self.label) if column)]


class _Log(_Method):
    """Raw rows whose columns are the attributes."""

    order: Order

    @property
    def time_columns(self) -> list[str]:
        return self.order.time_columns

    def record_key(self, object_column: str) -> list[str]:
        return [*self.order.identity, object_column]

    def columns_used(self, attributes: Mapping[str, object]) -> dict[str, list[str]]:
        return super().columns_used(attributes) | {"derive.order": self.order.columns()}

    def check_types(self, columns: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
        super().check_types(columns, attributes)
        self.order.check_types(columns)
        for name in attributes:
            if columns[name].type not in _NUMBERS:
                raise ValueError(f"attributes.{name}: its column is a {columns[name].type}, must be a number")


class UpdateLog(_Log):
    """Raw rows that already are updates: who changed to what at which snapshot."""

    method: Literal["updates"]
    gone: str | None = None
    """Boolean column that says the object left."""

    def columns_used(self, attributes: Mapping[str, object]) -> dict[str, list[str]]:
        gone = {"derive.gone": [self.gone]} if self.gone else {}
        return super().columns_used(attributes) | gone

    def check_types(self, columns: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
        super().check_types(columns, attributes)
        if self.gone and columns[self.gone].type != "boolean":
            raise ValueError(f"derive.gone: {self.gone} is a {columns[self.gone].type}, must be a boolean")


class FullSnapshots(_Log):
    """Raw rows that are a series of full snapshots: an object without a row is not there."""

    method: Literal["snapshots"]


class Career(_Method):
    """Totals of an object's games so far; each attribute is a ratio of two of them."""

    method: Literal["career"]
    order: Order
    more_than: int = Field(ge=0, le=2**31 - 1)
    """An object is alive after more than this many games."""

    @property
    def time_columns(self) -> list[str]:
        return self.order.time_columns

    def columns_used(self, attributes: Mapping[str, object]) -> dict[str, list[str]]:
        used = {"derive.order": self.order.columns()}
        for name, attribute in attributes.items():
            ratio = getattr(attribute, "ratio", None)
            if ratio is None:
                raise ValueError(f"attributes.{name}: a career attribute needs `ratio: [column, column]`")
            used[f"attributes.{name}.ratio"] = list(ratio)
        return used

    def check_types(self, columns: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
        self.order.check_types(columns)
        for column in self.summed(attributes):
            if columns[column].type not in _NUMBERS:
                raise ValueError(f"attributes: {column} is a {columns[column].type}, must be a number")

    def summed(self, attributes: Mapping[str, object]) -> list[str]:
        """The raw columns whose totals the attributes are ratios of, each once."""
        return list(dict.fromkeys(column for a in attributes.values() for column in getattr(a, "ratio", ())))

    def state_columns(self, attributes: Mapping[str, object]) -> dict[str, str]:
        return {"games": "bigint"} | {f"total_{column}": "double" for column in self.summed(attributes)}


class MarketModel(_Method):
    """Beta and slope of each object's last closes, against the mean return of all."""

    method: Literal["market"]
    date: str
    close: str
    window: int = Field(ge=2, le=_LONGEST_HISTORY)
    """How many closes count."""
    decimals: int = Field(ge=0, le=12)

    @property
    def order(self) -> Order:
        """A snapshot for every date."""
        return Order(by=[self.date])

    @property
    def time_columns(self) -> list[str]:
        return [self.date]

    def columns_used(self, attributes: Mapping[str, object]) -> dict[str, list[str]]:
        if set(attributes) != {"beta", "slope"}:
            raise ValueError("attributes: the market method derives exactly `beta` and `slope`")
        return {"derive.date": [self.date], "derive.close": [self.close]}

    def check_types(self, columns: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
        super().check_types(columns, attributes)
        for field, column, kinds in (("date", self.date, _TIMES), ("close", self.close, _NUMBERS)):
            if columns[column].type not in kinds:
                raise ValueError(f"derive.{field}: {column} is a {columns[column].type}, must be {' or '.join(kinds)}")

    @property
    def added_to_records(self) -> frozenset[str]:
        """`previous_close`: of the object's row before, in whatever period that was."""
        return frozenset({"previous_close"})

    def state_columns(self, attributes: Mapping[str, object]) -> dict[str, str]:
        return {"closes": "array<double>", "returns": "array<double>", "markets": "array<double>"}


class Service(BaseModel):
    """A service: the responder ports of its connections, and its names in logs without ports."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ports: list[Annotated[int, Field(ge=0, le=65535)]] = []
    names: list[str] = []


class Traffic(_Method):
    """Connections per remote group and service, counted over the last seconds before each snapshot."""

    method: Literal["traffic"]
    every_seconds: int = Field(ge=1)
    window_seconds: int = Field(ge=1, le=_CENTURY)
    services: dict[str, Service] = Field(min_length=1)
    other: str
    """The attribute that counts what belongs to no service."""

    @field_validator("window_seconds")
    @classmethod
    def _whole_steps(cls, value: int, info: object) -> int:
        every = getattr(info, "data", {}).get("every_seconds")
        if every and (value % every or 86400 % every):
            raise ValueError("must be a multiple of every_seconds, which must divide a day")
        return value

    @property
    def reader_columns(self) -> frozenset[str]:
        return frozenset({"remote", "log"})

    @property
    def time_columns(self) -> list[str]:
        return ["ts"]

    def columns_used(self, attributes: Mapping[str, object]) -> dict[str, list[str]]:
        for name in [*self.services, self.other]:
            checked_column(name)
        if set(attributes) != {*self.services, self.other}:
            raise ValueError(f"attributes: must be the services and `{self.other}`: {', '.join(self.services)}")
        return {"derive.method": ["ts", "resp_p", "service"]}

    def check_types(self, columns: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
        super().check_types(columns, attributes)
        if columns["ts"].type not in _NUMBERS or columns["resp_p"].type not in _NUMBERS:
            raise ValueError("columns: the method traffic needs numbers as `ts` (seconds) and `resp_p` (a port)")

    def state_columns(self, attributes: Mapping[str, object]) -> dict[str, str]:
        return {"pending": "array<struct<at:bigint,counts:array<bigint>>>"}


Derivation = UpdateLog | FullSnapshots | Career | MarketModel | Traffic

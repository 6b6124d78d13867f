"""What the skyline of all records of an archive is asked over: the field `external` of an archive definition."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from skyarchive.names import checked_column

RECORD_COLUMNS = frozenset({"period", "group_key", "file", "row", "object", "name"})
"""Columns of `external`, and of answers from it, beside the attributes."""


class RankOrder(BaseModel):
    """A partial order of an attribute's values: chains, each with the best value first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    order: list[Any] = Field(min_length=1)

    @field_validator("order")
    @classmethod
    def _is_an_order(cls, value: list[Any]) -> list[Any]:
        from skyarchive.errors import SettingError
        from skyarchive.kernels.points.orders import PartialOrder, chains_of

        try:
            order = PartialOrder.from_chains(chains_of(value))
        except SettingError as error:
            raise ValueError(str(error)) from None
        if any(not isinstance(named, str) for named in order.values):
            raise ValueError("its values must be texts: put them in quotes")
        return value


class RecordAttribute(BaseModel):
    """One attribute of a record, which way is better, and what it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    better: Literal["lower", "higher"] | RankOrder
    value: str | None = None
    """Spark SQL over the raw columns; left out: the column of the attribute's name."""

    @field_validator("better", mode="before")
    @classmethod
    def _is_a_way(cls, value: Any) -> Any:
        if isinstance(value, dict):
            try:
                return RankOrder.model_validate(value)
            except ValidationError as error:  # or pydantic tells what each of the ways expects
                found = error.errors()[0]
                where = "".join(f"{part}: " for part in found["loc"][:1])
                raise ValueError(where + found["msg"].removeprefix("Value error, ")) from None
        if not isinstance(value, RankOrder) and value not in ("lower", "higher"):
            raise ValueError("must be lower, higher or a partial order such as {order: [[best, good], [best, other]]}")
        return value

    @property
    def is_ranked(self) -> bool:
        return isinstance(self.better, RankOrder)


class External(BaseModel):
    """Records are the raw rows that count; the unbeaten of all that were ever seen are kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    attributes: Annotated[dict[str, RecordAttribute], Field(min_length=1, max_length=16)]
    group: list[str] = []
    """Spark SQL over the raw columns, such as a column's name: one skyline for every combination of their values. One
    may stand alone."""

    @field_validator("group", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("attributes")
    @classmethod
    def _names_are_free(cls, value: dict[str, RecordAttribute]) -> dict[str, RecordAttribute]:
        for name in value:
            checked_column(name)
        taken = sorted(RECORD_COLUMNS & {name.lower() for name in value})
        if taken:
            raise ValueError(f"{taken[0]!r} is a column of the result table; give the attribute another name")
        return value

    @property
    def numbers(self) -> list[str]:
        """The attributes that are numbers."""
        return [name for name, attribute in self.attributes.items() if not attribute.is_ranked]

    def preferences(self) -> dict[str, Any]:
        """The attributes as `skyline` takes them."""
        found: dict[str, Any] = {}
        for name, attribute in self.attributes.items():
            better = attribute.better
            found[name] = {"order": better.order} if isinstance(better, RankOrder) else better
        return found

    def check_columns(self, known: Mapping[str, str | None]) -> None:
        """Refuse attributes whose columns are not there, and texts that are to be lower or higher. `known`: the type of
        every column, if that is known."""
        for name, attribute in self.attributes.items():
            where = f"external.attributes.{name}"
            if attribute.value is None:
                assert_column_is_there(where, name, known)
            if attribute.value is None and not attribute.is_ranked and known[name] == "string":
                raise ValueError(
                    f"{where}: its column is a string, which has no lower and higher; give it an order, such as "
                    "better: {order: [[best, good], [best, other]]}"
                )


def assert_column_is_there(where: str, name: str, known: Mapping[str, str | None]) -> None:
    """Refuse an attribute without a `value` whose name is no column."""
    if name not in known:
        raise ValueError(
            f"{where}: there is no column {name!r}; give its `value`, or one of the columns {', '.join(known)}"
        )

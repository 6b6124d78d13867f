"""What is asked of a frame: its columns found by name, checked, and made fit for comparing; groups as one text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DoubleType,
    FloatType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VarcharType,
)

from skyarchive.errors import SettingError
from skyarchive.kernels.points.orders import PartialOrder
from skyarchive.kernels.points.preferences import Better, Preference, checked_preferences

_COMPARABLE = (NumericType, BooleanType, DateType, TimestampType, TimestampNTZType, DayTimeIntervalType)
_PLAIN = (*_COMPARABLE, StringType, CharType, VarcharType, BinaryType)
"""Types whose values are no lists, maps or structures of others."""


@dataclass(frozen=True)
class Asked:
    """The preferences, and where their columns and those of the group are in the frame."""

    preferences: tuple[Preference, ...]
    places: tuple[int, ...]
    group: tuple[int, ...]


def asked_of(schema: StructType, attributes: Mapping[str, Better], group: Sequence[str]) -> Asked:
    """Refuses columns that are not there, cannot be compared or cannot be grouped by."""
    preferences = checked_preferences(attributes)
    places = tuple(_place(preference.column, schema.fieldNames()) for preference in preferences)
    if len(set(places)) < len(places):
        raise SettingError(f"The attributes {', '.join(map(repr, attributes))} name one column twice: name each once.")
    fitting = [_fitting(wish, schema[place].dataType) for wish, place in zip(preferences, places, strict=True)]
    groups = tuple(_place(name, schema.fieldNames()) for name in group)
    for place in groups:
        _check_group(schema[place].name, schema[place].dataType)
    return Asked(tuple(fitting), places, groups)


def _place(name: str, names: Sequence[str]) -> int:
    """Where the column of a name is: of exactly that name, or, as for Spark, whatever its capitals."""
    found = [at for at, known in enumerate(names) if known == name]
    found = found or [at for at, known in enumerate(names) if known.lower() == name.lower()]
    if not found:
        raise SettingError(f"There is no column {name!r}; columns are {', '.join(names)}.")
    if len(found) > 1:
        raise SettingError(f"The column {name!r} is there {len(found)} times: give the others another name.")
    return found[0]


def _fitting(preference: Preference, kind: DataType) -> Preference:
    """The preference, with the values of a partial order as the column has them."""
    said, name, order = kind.simpleString(), preference.column, preference.better
    if isinstance(order, PartialOrder):
        if not isinstance(kind, _PLAIN):
            raise SettingError(f"{name} is a {said}: only single values, such as texts and numbers, can be ordered.")
        values = tuple(_as_in_column(value, kind, name) for value in order.values)
        if len(set(values)) < len(values):
            raise SettingError(f"{name}: of the values {', '.join(map(repr, order.values))} two are one {said}.")
        return replace(preference, better=PartialOrder(values, order.worse))
    if not isinstance(kind, _COMPARABLE):
        raise SettingError(
            f"{name} is a {said}, which has no lower and higher: give it a partial order, such as "
            f"{{'{name}': {{'order': [['best', 'good'], ['best', 'other']]}}}}."
        )
    return preference


def _as_in_column(value: Any, kind: DataType, name: str) -> Any:
    try:
        return pa.scalar(value).cast(to_arrow_type(kind, timezone="UTC")).as_py()
    except (pa.ArrowException, OverflowError):
        raise SettingError(f"{name} is a {kind.simpleString()}, and its partial order names {value!r}.") from None


def _check_group(name: str, kind: DataType) -> None:
    said = kind.simpleString()
    if not isinstance(kind, _PLAIN):
        raise SettingError(f"{name} is a {said}: rows are grouped by single values, such as texts and numbers.")
    if " collate " in said:
        raise SettingError(f"{name} is a {said}: group by a plain string, such as one made by lower({name}).")


def group_text(columns: Sequence[Column], kinds: Sequence[DataType]) -> Column:
    """The rows' group: the same text for the same values, whatever their types, and for no others. Null for a null in
    a single column."""
    texts = [_text(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    if len(texts) == 1:
        return texts[0]
    return F.concat(*(F.coalesce(F.concat(F.octet_length(text), F.lit(":"), text), F.lit("-")) for text in texts))


def _text(column: Column, kind: DataType) -> Column:
    if isinstance(kind, FloatType | DoubleType):
        return (column + F.lit(0.0)).cast("string")  # which makes -0.0 plain 0.0
    if isinstance(kind, TimestampType):
        return F.unix_micros(column).cast("string")  # an hour of the clock comes twice in autumn
    return F.hex(column) if isinstance(kind, BinaryType) else column.cast("string")

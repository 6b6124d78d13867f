"""The period of a row, told by the column that the definition names."""

from skyarchive.definition.bounds import NUMERIC_TYPES
from skyarchive.definition.derivation import YEARS
from skyarchive.definition.model import Definition

_LAST_DAY = 253402214400
"""9999-12-31 in seconds since 1970: it ends in a year that has no date."""


def period_told_by(definition: Definition) -> str:
    """The period of a row as Spark SQL of the column that gives it; null where that has none."""
    period, kind = definition.period, definition.columns[definition.period.column].type
    value = f"`{period.column}`"
    if period.by == "value":
        return f"cast({value} as string)"
    if period.by == "block":
        return f"format_string('%05d', cast(floor({value} / {period.size}) as bigint))"
    if kind in NUMERIC_TYPES:
        value = f"timestamp_seconds(if({value} >= 0 and {value} < {_LAST_DAY}, {value}, null))"
    formats = {"year": "yyyy", "month": "yyyy-MM", "day": "yyyy-MM-dd"}
    first, last = YEARS
    return f"if(year({value}) between {first} and {last}, date_format({value}, '{formats[period.by]}'), null)"

"""What probably counts for a while: the field `uncertain` of an archive definition, over records that may be wrong."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field, field_validator

from skyarchive.definition.expression_tokens import tokens_of
from skyarchive.definition.frequent import as_written
from skyarchive.definition.windows import WindowAttribute, WindowQuery, check_columns

MOST_THRESHOLDS = 100
MOST_SHOWN = 1000
_COLUMNS = frozenset({"threshold", "probability", "greatest", "own", "older", "younger"})
"""Columns of `uncertain`, and of answers from it, that `windows` has not."""
_NO_PROBABILITY = "must be above 0 and at most 1, or Spark SQL of a row that is"


class UncertainQuery(WindowQuery):
    """A record exists with a probability and counts for a while. It is a member as long as it is probable enough that
    it exists, and that nobody who counts and beats it does."""

    probability: str
    """Spark SQL over the raw columns. A record for which it is none takes no part."""
    thresholds: Annotated[list[Any], Field(min_length=1, max_length=MOST_THRESHOLDS)]
    """How probable a member is at least: an answer for each. As people write them: 0.7 is seven tenths."""
    top: Annotated[int, Field(strict=True)] = 10
    """How many of the most probable are shown, where nobody says otherwise."""

    @field_validator("probability", mode="before")
    @classmethod
    def _is_sql(cls, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError(_NO_PROBABILITY)
        if isinstance(value, str):
            text = value.strip()
            if not text:
                raise ValueError(_NO_PROBABILITY)
            return text
        if not 0 < value <= 1:
            raise ValueError(_NO_PROBABILITY)
        return f"{Decimal(str(value)):f}"

    @field_validator("thresholds")
    @classmethod
    def _as_written(cls, value: list[Any]) -> list[Decimal]:
        found: list[Decimal] = []
        for text in value:
            threshold: Decimal = as_written(text)
            if threshold in found:
                raise ValueError(f"{threshold:f} is there twice")
            found.append(threshold)
        return found

    @field_validator("top")
    @classmethod
    def _shows_some(cls, value: int) -> int:
        if not 1 <= value <= MOST_SHOWN:
            raise ValueError(f"must be a number of records from 1 to {MOST_SHOWN}")
        return value

    @field_validator("attributes")
    @classmethod
    def _more_names_are_free(cls, value: dict[str, WindowAttribute]) -> dict[str, WindowAttribute]:
        taken = sorted(_COLUMNS & {name.lower() for name in value})
        if taken:
            raise ValueError(f"{taken[0]!r} is a column of the result table; give the attribute another name")
        return value

    @property
    def chance(self) -> str | None:
        return self.probability

    @property
    def levels(self) -> tuple[Decimal, ...]:
        return tuple(self.thresholds)


def check_uncertain(queries: Sequence[UncertainQuery], known: Mapping[str, str | None]) -> None:
    """Refuse attributes whose columns are not there, and probabilities that are texts. `known`: the type of every
    column, if that is known."""
    check_columns(queries, known, "uncertain")
    kinds = {name.lower(): kind for name, kind in known.items()}
    for number, query in enumerate(queries):
        where = f"uncertain.{number}.probability"
        if kinds.get(query.probability.strip("`").lower()) == "string":
            raise ValueError(f"{where}: its column is a string, which is no probability")
        _check_constant(where, query.probability)


def _check_constant(where: str, text: str) -> None:
    try:
        [only] = tokens_of(text)
    except ValueError:  # more than one, or what is no expression, which is told with the others
        return
    if only.kind == "text":
        raise ValueError(f"{where}: it is a text, which is no probability")
    if only.kind == "number" and only.text[-1].isdigit() and not 0 < float(only.text) <= 1:
        raise ValueError(f"{where}: {_NO_PROBABILITY}")

"""Whether Spark can compute what a definition says, asked before anything is read: types are Spark's to judge.

Of a row with a zero or a text in the wrong place that cannot be known; then Spark's complaint is put into words."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from skyarchive.definition.expressions import Expression, expressions_of
from skyarchive.errors import DefinitionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from skyarchive.definition.model import Definition

_CAST = {"number": "cast(({}) as double)", "text": "cast(({}) as string)", "condition": "({})"}
"""As the steps take it."""


_OF_A_ROW = re.compile(
    r"\[((?:DIVIDE|REMAINDER)_BY_ZERO|[A-Z_]*ARITHMETIC_OVERFLOW|CAST_[A-Z]+|CANNOT_PARSE_[A-Z]+|DATETIME_[A-Z_]+|"
    r"NUMERIC_[A-Z_]+|INVALID_REGEX\w*|INVALID_PARAMETER_VALUE)[.\w]*\] ([^\n]+)"
)
"""Complaints about a value, which come of nothing but expressions: the steps' own casts give null instead."""


@contextmanager
def row_faults_told(definition: "Definition") -> Iterator[None]:
    """Spark's complaint about a row that an expression of the definition cannot be computed for, as a sentence."""
    try:
        yield
    except PySparkException as error:
        found = _OF_A_ROW.search(str(error))
        if found is None:
            raise
        fields = ", ".join(expression.field for expression in expressions_of(definition) if expression.text != "true")
        why = found[2].partition(" SQLSTATE")[0].rstrip(". ")
        raise DefinitionError(
            f"{definition.name}: an expression of its definition ({fields}) cannot be computed for a row: {why}. Write "
            "it so that such a row gives null, with nullif, try_divide or try_cast."
        ) from error


def assert_understood(spark: "SparkSession", definition: "Definition") -> None:
    """Refuse a definition with an expression that cannot be computed. No job: it is only analysed, all at once, and one
    by one where that fails."""
    expressions = expressions_of(definition)
    used = {name: kind for expression in expressions for name, kind in expression.columns_used().items()}
    frame = spark.range(0).selectExpr(*(f"cast(null as {kind}) as `{name}`" for name, kind in used.items()))
    try:
        faults = _mistyped(frame, expressions)
    except PySparkException:
        faults = [fault for expression in expressions if (fault := _fault(frame, expression))]
    if faults:
        raise DefinitionError(f"{definition.name}: {'; '.join(faults)}.")


def _fault(frame: "DataFrame", expression: Expression) -> str | None:
    try:
        return next(iter(_mistyped(frame, [expression])), None)
    except PySparkException as error:
        why = str(error).strip().partition("\n")[0]
        return f"{expression.field} cannot be computed: {why}"


def _mistyped(frame: "DataFrame", expressions: list[Expression]) -> list[str]:
    """What the expressions are that they must not be."""
    plain = [f"({expression.text}) as e{n}" for n, expression in enumerate(expressions)]
    taken = [f"{_CAST[it.wanted].format(it.text)} as t{n}" for n, it in enumerate(expressions)]
    kinds = [field.dataType.simpleString() for field in frame.selectExpr(*plain, *taken).schema.fields]
    faults = []
    for expression, kind in zip(expressions, kinds, strict=False):
        if expression.wanted == "condition" and kind != "boolean":
            faults.append(f"{expression.field} is a {kind}, and must be true or false for each row")
        if expression.wanted == "number" and kind == "string":
            faults.append(
                f"{expression.field} is a text, which has no lower and higher: give the attribute an order, such as "
                "better: {order: [[best, good], [best, other]]}, or a number as its value"
            )
    return faults

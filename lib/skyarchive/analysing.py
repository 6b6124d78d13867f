"""Whether Spark can compute what a definition says, asked before anything is read: types are Spark's to judge."""

from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from skyarchive.errors import DefinitionError
from skyarchive.expressions import Expression, expressions_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from skyarchive.definition import Definition

_CAST = {"number": "cast(({}) as double)", "text": "cast(({}) as string)", "condition": "({})"}
"""As the steps take it."""


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

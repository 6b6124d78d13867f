"""Skylines of any Spark DataFrame, and of any table in Spark SQL: no archive needed.

from skyarchive import skyline
skyline(hotels, {"price": "lower", "stars": "higher"}, group="city").show()
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import udtf
from pyspark.sql.types import StructType
from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult, PartitioningColumn, UserDefinedTableFunction
from pyspark.util import PythonEvalType

from skyarchive.dataframes.asking import asked_of
from skyarchive.dataframes.unbeaten import Plan, unbeaten_rows
from skyarchive.dataframes.workers import Batches, Held, Question
from skyarchive.errors import SettingError
from skyarchive.kernels.points.preferences import Better, Direction

if TYPE_CHECKING:
    import pyarrow as pa

SQL_NAME = "skyline"
_QUOTED = r"\s*(?:`((?:[^`]|``)+)`"
_ENTRY = re.compile(_QUOTED + r"|(\w+))\s+(?:(\w+)|\(([^()]*)\))\s*(?:,|$)")
"""A column, perhaps in backticks, and a direction or, in brackets, a partial order."""
_COLUMN = re.compile(_QUOTED + r"|([^`,]*[^`,\s]))\s*(?:,|$)")


def skyline(
    df: DataFrame, attributes: Mapping[str, Better], group: str | Sequence[str] | None = None, plan: Plan = "tree"
) -> DataFrame:
    """The rows of `df` that no other row beats: none is at least as good on every attribute and better on one. With
    all their columns, and all of several equal ones.

    `attributes` says for every column which way is better: `lower`, `higher`, or a partial order of its values as
    chains with the best first, `{"order": [["gold", "silver"], ["gold", "wood"]]}`. Rows whose attribute is null or NaN
    take no part. With `group`, a column or several, rows are compared within their group. Dates, times and truth
    values can be compared, too. Whole numbers are told apart up to 4.3e18 and decimals of up to 18 digits; longer
    decimals are compared as doubles.

    The default plan is lazy, like any transformation. `passes` reads the rows several times, at once (they must be
    the same each time), and needs no worker to hold the answer; `auto` looks at some rows and decides. After these
    two, a program that uses Spark Connect should end with `spark.stop()`: PySpark's client may wait forever for its
    checkpoints to be released otherwise.
    """
    if not hasattr(df, "mapInArrow"):
        raise SettingError(f"skyline takes a Spark DataFrame, not a {type(df).__module__}.{type(df).__qualname__}.")
    if not isinstance(group, str | Sequence | None) or not all(isinstance(name, str) for name in group or ()):
        raise SettingError(f"group must be the name of a column, or a list of names, not {group!r}.")
    groups = [group] if isinstance(group, str) else list(group or ())
    return unbeaten_rows(df, attributes, groups, plan)


def register_sql(spark: SparkSession, name: str = SQL_NAME) -> None:
    """Makes the table function known to a session:

        select * from skyline(table(hotels), 'price lower, stars higher')
        select * from skyline(table(hotels), 'price lower, stars higher', 'city')

    Instead of a direction, a partial order stands in brackets: `medal (gold > silver > bronze; gold > wood)`. The third
    argument, columns with commas between them, is the group. Names with other characters stand in backticks.
    """
    function = cast(UserDefinedTableFunction, udtf(_SkylineFunction))
    # Record batches instead of rows: a tenth of the time. PySpark's workers can do it, but its `arrow_udtf` refuses a
    # class that says itself what columns it returns (SPARK-53286).
    function.evalType = PythonEvalType.SQL_ARROW_UDTF
    spark.udtf.register(name, function)


def parsed_attributes(text: Any) -> dict[str, Better]:
    """The attributes in a text such as `price lower, stars higher, medal (gold > silver; gold > wood)`."""
    found: dict[str, Better] = {}
    at = 0
    while isinstance(text, str) and at < len(text):
        entry = _ENTRY.match(text, at)
        if entry is None:
            break
        quoted, plain, direction, order = entry.groups()
        name = _unquoted(quoted, plain)
        if name in found:
            raise SettingError(f"{text!r} names {name} twice: a column has one way of being better.")
        chains = [[value.strip() for value in chain.split(">")] for chain in (order or "").split(";")]
        found[name] = cast(Direction, direction.lower()) if direction else {"order": chains}
        at = entry.end()
    if not found or at < len(text):
        raise SettingError(
            f"{text!r} does not say which columns count and which way is better: write 'price lower, stars higher', "
            "for a partial order 'medal (gold > silver; gold > wood)'."
        )
    return found


def parsed_group(text: Any) -> list[str]:
    """The columns in a text such as `city, stars`; none in one that is missing or empty."""
    found: list[str] = []
    at = 0
    while isinstance(text, str) and at < len(text.rstrip()):
        entry = _COLUMN.match(text, at)
        if entry is None:
            raise SettingError(f"{text!r} is no list of columns: write 'city, stars'.")
        found.append(_unquoted(*entry.groups()))
        at = entry.end()
    return found


def _unquoted(quoted: str | None, plain: str) -> str:
    return quoted.replace("``", "`") if quoted else plain


@dataclass
class _Analyzed(AnalyzeResult):
    """The table's columns, how its rows come together, and what is asked of them."""

    question: Question | None = None


class _SkylineFunction:
    """The rows of a table that no other row (of their group) beats."""

    def __init__(self, analyze_result: _Analyzed) -> None:
        assert analyze_result.question is not None
        self._held = Held(analyze_result.question)
        self._empty: pa.RecordBatch | None = None

    @staticmethod
    def analyze(rows: AnalyzeArgument, attributes: AnalyzeArgument, group: AnalyzeArgument | None = None) -> _Analyzed:
        """The columns are the table's; its rows come together by group, or all together."""
        if not rows.isTable or not isinstance(rows.dataType, StructType):
            raise SettingError("The first argument of skyline is a table: write skyline(table(hotels), 'price lower').")
        asked = asked_of(rows.dataType, parsed_attributes(attributes.value), parsed_group(group and group.value))
        names = [name.replace("`", "``") for name in rows.dataType.fieldNames()]
        return _Analyzed(
            schema=rows.dataType,
            withSinglePartition=not asked.group,
            partitionBy=[PartitioningColumn(f"`{names[place]}`") for place in asked.group],
            question=Question(asked.preferences, False, tuple(rows.dataType[place].name for place in asked.places)),
        )

    def eval(self, rows: "pa.RecordBatch", attributes: Any, group: Any = None) -> Batches:
        self._held.take(rows)
        # For a call that gives nothing PySpark makes an empty batch itself, in a schema that need not be the rows'.
        self._empty = rows.slice(0, 0)
        yield self._empty

    def terminate(self) -> Batches:
        self._held.reduce()
        yield from self._held.give()
        if self._empty is not None:
            yield self._empty

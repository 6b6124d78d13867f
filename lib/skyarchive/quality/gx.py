"""Great Expectations on Spark frames, the cheap way. Importing this module takes seconds: import it late."""

import logging
import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import great_expectations as gx
from great_expectations.core.batch_definition import BatchDefinition
from great_expectations.core.expectation_validation_result import ExpectationValidationResult
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.execution_engine import SparkDFExecutionEngine
from great_expectations.expectations import ExpectColumnValuesToNotBeNull
from great_expectations.expectations.expectation import ColumnMapExpectation, Expectation
from great_expectations.expectations.metrics import ColumnMapMetricProvider, column_condition_partial
from great_expectations.expectations.registry import get_expectation_impl
from pyspark.sql import Column
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Importing Great Expectations sends every Python warning of the process to logging; give them back.
logging.captureWarnings(False)
# What goes wrong while validating is in the results; its log lines would only repeat it on the terminal.
for _logger in ("great_expectations", "SQLQueryContextLogger"):
    logging.getLogger(_logger).setLevel(logging.CRITICAL)

VERDICT_ONLY: dict[str, Any] = {"result_format": "BOOLEAN_ONLY"}
"""Two aggregates for a whole suite, whatever its length: every format above it adds a job per expectation."""

_NUMBER = "number"


class ColumnValuesSatisfy(ColumnMapMetricProvider):
    """Rows where a Spark SQL predicate is true; false and unknown are unexpected."""

    condition_metric_name = "column_values.satisfy"
    condition_value_keys = ("predicate",)
    filter_column_isnull = False

    @column_condition_partial(engine=SparkDFExecutionEngine)
    def _spark(cls, column: Column, predicate: str, **_: Any) -> Column:
        return F.coalesce(F.expr(predicate), F.lit(False))


class ExpectColumnValuesToSatisfy(ColumnMapExpectation):
    """Each row holds a Spark SQL predicate, which may use other columns of the row: unlike a row condition or
    a column pair it shares the one aggregate of the suite."""

    predicate: str
    map_metric: ClassVar[str] = "column_values.satisfy"
    success_keys: ClassVar[tuple[str, ...]] = ("predicate", "mostly")
    args_keys: ClassVar[tuple[str, ...]] = ("column", "predicate")
    # Counts rows. The base class counts values: a column of nulls alone would pass whatever the predicate.
    _validate = ExpectColumnValuesToNotBeNull._validate


def build_expectation(kind: str, kwargs: dict[str, Any], text: str, why: str) -> Expectation:
    """An expectation object; a wrong or missing argument is a ValueError."""
    meta = {"notes": why} if why else {}
    expectation: Expectation = get_expectation_impl(kind)(**kwargs, description=text, meta=meta)
    return expectation


@cache
def _whole_frame() -> BatchDefinition[Any]:
    """One context in memory for the process: no files, no progress bars, no second copy of the frame."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False, metric_calculations=False)
    source = context.data_sources.add_spark("frames", persist=False)
    return source.add_dataframe_asset("frame").add_batch_definition_whole_dataframe("whole")


def validate(
    frame: "DataFrame", expectations: Sequence[Expectation], result_format: dict[str, Any]
) -> list[dict[str, Any]]:
    """The results of the expectations in their order, as JSON-ready dictionaries."""
    suite = gx.ExpectationSuite(name="suite")
    # Results come back with the ones that raised first: a number in the meta data restores the order.
    suite.expectations = [_numbered(expectation, n) for n, expectation in enumerate(expectations)]
    batch = _whole_frame().get_batch({"dataframe": frame})
    results = [_as_json(result) for result in batch.validate(suite, result_format=result_format).results]
    return sorted(results, key=lambda result: result["expectation_config"]["meta"].pop(_NUMBER))


def _numbered(expectation: Expectation, number: int) -> Expectation:
    return expectation.copy(update={"meta": {**(expectation.meta or {}), _NUMBER: number}})


def _as_json(result: ExpectationValidationResult) -> dict[str, Any]:
    """The result as JSON; its own conversion turns NaN, the very value to be shown, into null, and gives the
    exceptions of several metrics in another shape than one."""
    as_json: dict[str, Any] = result.to_json_dict()
    info = as_json["exception_info"]
    infos = [info] if "raised_exception" in info else list(info.values())
    message = next((i["exception_message"] for i in infos if i["raised_exception"]), None)
    as_json["exception_info"] = {
        "raised_exception": message is not None,
        "exception_message": message,
        "exception_traceback": "",  # its renderer wants a text
    }
    as_json["result"] = _plain(result.result)
    return as_json


def _plain(value: Any) -> Any:
    """JSON for every reader: what it cannot say (NaN, infinity, a time) becomes text."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def detailed(key_columns: Sequence[str], sample_rows: int) -> dict[str, Any]:
    """The format with counts and a sample of unexpected rows named by their key columns."""
    return {
        "result_format": "SUMMARY",
        "partial_unexpected_count": sample_rows,
        "unexpected_index_column_names": list(key_columns),
    }

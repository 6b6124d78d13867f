"""Parquet files and Delta tables: what their schemas tell before a row is read, and their rows as Spark reads them.

Spark is told the columns and types to read: what else a file holds, of whatever type, is nobody's business."""

from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from skyarchive.definition.bounds import NUMERIC_TYPES, TIME_TYPES
from skyarchive.definition.model import Definition
from skyarchive.errors import InputError
from skyarchive.steps.ingest.reading.files import RawFile

_PLAIN = {
    pa.bool_(): "boolean", pa.int8(): "tinyint", pa.int16(): "smallint", pa.int32(): "int", pa.int64(): "bigint",
    pa.uint8(): "smallint", pa.uint16(): "int", pa.uint32(): "bigint", pa.uint64(): "decimal(20,0)",
    pa.float32(): "float", pa.float64(): "double", pa.date32(): "date", pa.date64(): "date", pa.null(): "string",
    pa.string(): "string", pa.large_string(): "string", pa.string_view(): "string",
}  # fmt: skip
_MOST_DIGITS = 38
_PER_MICROSECOND = 1000


def parquet_schema(path: Path) -> pa.Schema:
    """The file's own columns and types. Times in the format that Spark and Impala once wrote, which Arrow calls
    nanoseconds, are microseconds to Spark."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        schema = file.schema_arrow
        old = {column.name for column in file.schema if column.physical_type == "INT96"}
    return pa.schema(
        [pa.field(field.name, pa.timestamp("us", tz="UTC")) if field.name in old else field for field in schema]
    )


def delta_schema(path: Path) -> pa.Schema:
    from deltalake import DeltaTable

    return pa.schema(DeltaTable(str(path)).schema().to_arrow())


def assert_fits(definition: Definition, schema: pa.Schema) -> None:
    """Refuse a schema whose columns are not what the definition says."""
    for name, column in definition.columns.items():
        alike = [found for found in schema.names if found.lower() == name.lower()]
        if len(alike) > 1 and name in alike:
            raise InputError(
                f"the column {name} is there twice ({', '.join(alike)}; upper and lower case are the same); "
                "which one counts? Take the other out."
            )
        if name in schema.names and not _fits(column.type, schema.field(name).type):
            raise InputError(f"the column {name} is {schema.field(name).type}, must be {column.type}; was it retyped?")


def _fits(declared: str, found: pa.DataType) -> bool:
    if pa.types.is_null(found):
        return True
    kind = _spark_type(found)
    if kind is None:
        return False
    if declared in NUMERIC_TYPES:
        return kind not in ("boolean", "date", "string") and not kind.startswith("timestamp")
    if declared in TIME_TYPES:
        return kind == "date" or kind.startswith("timestamp")
    return kind == declared


def _spark_type(found: pa.DataType) -> str | None:
    """As what Spark reads a column of this type; None: it cannot."""
    if pa.types.is_dictionary(found):
        found = found.value_type
    if pa.types.is_timestamp(found):
        return "timestamp_ntz" if found.tz is None else "timestamp"
    if pa.types.is_decimal(found):
        return f"decimal({found.precision},{found.scale})" if found.precision <= _MOST_DIGITS else None
    return _PLAIN.get(found)


def read_native_rows(spark: SparkSession, definition: Definition, files: list[RawFile], schema: pa.Schema) -> DataFrame:
    """The rows of Parquet files of one schema, or of one Delta table."""
    present = [name for name in definition.columns if name in schema.names]
    delta = definition.source.format == "delta"
    frame = _delta(spark, files[0]) if delta else _parquet(spark, files, schema, present)
    path = F.expr("url_decode(replace(_metadata.file_path, '+', '%2B'))")
    file = F.substring_index(path, f"{_raw_folder(files[0])}/", -1).alias("file")
    nothing = F.lit(None).cast("string")
    if delta:  # which does not number the rows of its files: they are in the order they are read in
        rows = frame.select(file, F.monotonically_increasing_id().alias("_place"), *present)
        number = F.row_number().over(Window.partitionBy("file").orderBy("_place")).cast("bigint")
        source: Column = F.lit(files[0].name)
    else:
        rows = frame.select(file, (F.col("_metadata.row_index") + 1).alias("_place"), *present)
        number, source = F.col("_place"), F.col("file")
    nanos = [] if delta else [name for name in present if _is_nanos(schema.field(name).type)]
    return rows.select(
        source.alias("_source"),
        "file",
        number.alias("row"),
        nothing.alias("_fault"),
        nothing.alias("_text"),
        *(_time(name).alias(name) if name in nanos else F.col(name) for name in present),
    )


def _delta(spark: SparkSession, file: RawFile) -> DataFrame:
    return spark.read.format("delta").load(str(file.path))


def _parquet(spark: SparkSession, files: list[RawFile], schema: pa.Schema, present: list[str]) -> DataFrame:
    types = {name: schema.field(name).type for name in present}
    columns = {name: "bigint" if _is_nanos(kind) else _spark_type(kind) for name, kind in types.items()}
    # A file without any column to read would have no rows.
    told = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    return spark.read.schema(told).parquet(*(str(file.path) for file in files))


def _is_nanos(found: pa.DataType) -> bool:
    return pa.types.is_timestamp(found) and found.unit == "ns"


def _time(name: str) -> Column:
    return F.timestamp_micros(F.floor(F.col(name) / F.lit(_PER_MICROSECOND)))


def _raw_folder(file: RawFile) -> str:
    return str(file.path).removesuffix(f"/{file.name}")

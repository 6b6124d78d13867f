"""The rows of raw files as one Spark frame: `_source`, `file`, `row`, `_fault`, `_text` and the definition's columns.

`_source` is the raw file's name; `file` differs from it only for a Delta table, which is many data files."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
from deltalake.exceptions import DeltaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from skyarchive.definition.model import Definition
from skyarchive.errors import InputError
from skyarchive.steps.ingest.reading.conn_log import conn_columns, conn_layout, read_conn_log
from skyarchive.steps.ingest.reading.files import RawFile, leads_nowhere
from skyarchive.steps.ingest.reading.native import assert_fits, delta_schema, parquet_schema, read_native_rows
from skyarchive.steps.ingest.reading.text import Batch, csv_layout, read_text

TEXT_FORMATS = frozenset({"csv", "conn_log"})


def inspect(definition: Definition, file: RawFile) -> pa.Schema | None:
    """Refuse a file whose columns are not the definition's; the schema it has, if it is no text."""
    try:
        if leads_nowhere(file.path):
            target = file.path.readlink()
            raise InputError(f"is a link to {target}, which leads nowhere; mend it or take it away.")
        return _INSPECT[definition.source.format](definition, file)
    except InputError as error:
        raise InputError(f"{definition.name}, file {file.name}: {error}") from error
    except PermissionError as error:
        raise InputError(
            f"{definition.name}, file {file.name}: permission denied. Give this user the right to read it."
        ) from error
    except (OSError, pa.ArrowException, DeltaError) as error:
        raise InputError(
            f"{definition.name}, file {file.name}: cannot be read, it seems truncated or damaged "
            f"({_first_line(error)}); fetch it again."
        ) from error


def _inspect_csv(definition: Definition, file: RawFile) -> None:
    _check_columns(definition, csv_layout(file.path, definition.source.delimiter).columns)


def _inspect_conn_log(definition: Definition, file: RawFile) -> None:
    _check_columns(definition, conn_columns(conn_layout(file.path)))


def _inspect_parquet(definition: Definition, file: RawFile) -> pa.Schema:
    if file.bytes == 0:
        raise InputError("is empty; remove it or fetch it again.")
    return _checked_schema(definition, parquet_schema(file.path))


def _inspect_delta(definition: Definition, file: RawFile) -> pa.Schema:
    return _checked_schema(definition, delta_schema(file.path))


_INSPECT = {
    "csv": _inspect_csv,
    "conn_log": _inspect_conn_log,
    "parquet": _inspect_parquet,
    "delta": _inspect_delta,
}


def _check_columns(definition: Definition, found: list[str]) -> None:
    missing = [name for name, column in definition.columns.items() if column.checked and name not in found]
    if missing:
        raise InputError(
            f"the column {missing[0]} is missing (all missing: {', '.join(missing)}); it has {', '.join(found)}. "
            "Was a column renamed?"
        )


def _checked_schema(definition: Definition, schema: pa.Schema) -> pa.Schema:
    _check_columns(definition, schema.names)
    assert_fits(definition, schema)
    return schema


def read_rows(spark: SparkSession, definition: Definition, files: list[RawFile]) -> DataFrame:
    """Every row of the files with its number; a column a file lacks is null, one the definition lacks is left."""
    schemas = {file: inspect(definition, file) for file in files}
    if definition.source.format in TEXT_FORMATS:
        return _read_text_rows(spark, definition, files)
    groups: dict[str, list[RawFile]] = {}
    for file, schema in schemas.items():
        assert schema is not None
        key = str(file.path) if definition.source.format == "delta" else schema.remove_metadata().to_string()
        groups.setdefault(key, []).append(file)
    frames = [read_native_rows(spark, definition, group, schemas[group[0]]) for group in groups.values()]
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionByName(frame, allowMissingColumns=True)
    return whole


def _read_text_rows(spark: SparkSession, definition: Definition, files: list[RawFile]) -> DataFrame:
    own = [*definition.columns, *sorted(definition.derive.reader_columns)]
    schema = "file string, row bigint, _fault string, _text string, " + ", ".join(f"`{c}` string" for c in own)
    listed = spark.createDataFrame([(file.name, str(file.path)) for file in files], "name string, path string")
    source = definition.source
    read = partial(_text_batches, own, source.format, source.delimiter, source.missing)
    rows = listed.repartition(len(files)).mapInArrow(read, schema)
    return rows.select(F.col("file").alias("_source"), *rows.columns)


def _text_batches(
    own: list[str], kind: str, delimiter: str, missing: list[str], listed: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Runs on the workers: the batches of every listed file. A file that breaks off ends in a row without a
    number, so that what reads on can refuse the file instead of failing without a word."""
    for batch in listed:
        for name, path in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            try:
                batches = (
                    read_conn_log(Path(path), missing)
                    if kind == "conn_log"
                    else read_text(Path(path), csv_layout(Path(path), delimiter))
                )
                for rows in batches:
                    yield _arrow(own, name, rows)
            except (OSError, pa.ArrowException, InputError) as error:
                yield _file_fault(own, name, f"the file breaks off or is damaged ({_first_line(error)})")


def _arrow(own: list[str], name: str, batch: Batch) -> pa.RecordBatch:
    count = len(batch.rows)
    empty = pa.nulls(count, pa.string())
    columns = [batch.columns.get(column, empty) for column in own]
    texts = empty if batch.texts is None else batch.texts
    file = pa.array([name] * count, pa.string())
    rows = pa.array(batch.rows, pa.int64())
    return pa.RecordBatch.from_arrays(
        [file, rows, batch.faults.cast(pa.string()), texts, *columns],
        ["file", "row", "_fault", "_text", *own],
    )


def _file_fault(own: list[str], name: str, fault: str) -> pa.RecordBatch:
    nothing = pa.nulls(1, pa.string())
    return pa.RecordBatch.from_arrays(
        [pa.array([name]), pa.nulls(1, pa.int64()), pa.array([fault]), nothing, *([nothing] * len(own))],
        ["file", "row", "_fault", "_text", *own],
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")

"""The records of all queries of an archive in one frame, and how they travel to the worker that puts them in order."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from skyarchive.arrivals.ordered import TIME, chance_column, group_column, left_out_column, part_column
from skyarchive.dataframes.columns import is_finite
from skyarchive.dataframes.records import (
    all_of,
    group_key,
    number_of,
    object_of,
    record_time,
    with_what_is_looked_back_at,
)
from skyarchive.definition.model import Definition
from skyarchive.definition.windows import WindowQuery

Batches = Iterator[pa.RecordBatch]
PACKED = "period string, records binary"
_TEXTS = ("file", "object")
_PACK_ROWS = 500_000
"""Records that travel together, about."""


def query_records(
    rows: DataFrame, definition: Definition, queries: Sequence[WindowQuery], carry: DataFrame | None
) -> DataFrame:
    """`period`, `file`, `row`, `object`, time and attributes of the rows that take part in a query. `rows` are raw rows
    that count, `carry` the states that the first of them start from."""
    looked = with_what_is_looked_back_at(rows, definition, carry)
    attributes = {name: attribute for query in queries for name, attribute in query.attributes.items()}
    values = looked.select(
        "period",
        "file",
        F.col("row").cast("bigint").alias("row"),
        object_of(definition).alias("object"),
        F.unix_micros(record_time(definition)).alias(TIME),
        *(number_of(name, attribute).alias(name) for name, attribute in attributes.items()),
        *(F.expr(query.where or "true").alias(part_column(number)) for number, query in enumerate(queries)),
        *(group_key(query.group).alias(group_column(number)) for number, query in enumerate(queries) if query.group),
        *(
            F.expr(query.chance).try_cast("double").alias(chance_column(number))
            for number, query in enumerate(queries)
            if query.chance is not None
        ),
    )
    parts = {part_column(number): _takes_part(number, query) for number, query in enumerate(queries)}
    whole = values.withColumns(parts)
    doubtful = [number for number, query in enumerate(queries) if query.levels]
    if doubtful:
        # Those that lack but a probability are counted.
        odd = {left_out_column(n): F.col(part_column(n)) & ~_is_probability(chance_column(n)) for n in doubtful}
        whole = whole.withColumns(odd)
        whole = whole.withColumns(
            {part_column(n): F.col(part_column(n)) & ~F.col(left_out_column(n)) for n in doubtful}
        )
        parts |= odd
    return whole.where(~all_of([~F.col(part) for part in parts]))


def _is_probability(name: str) -> Column:
    chance = F.col(name)
    return F.coalesce(is_finite(chance) & (chance > 0) & (chance <= 1), F.lit(False))


def _takes_part(number: int, query: WindowQuery) -> Column:
    asked = [F.coalesce(F.col(part_column(number)), F.lit(False)), F.col("object").isNotNull()]
    return all_of(asked + [is_finite(F.col(name)) for name in query.attributes])


def packed(records: DataFrame) -> DataFrame:
    """The same in a few large values: each a table, its texts told once."""
    return records.mapInArrow(_packed, PACKED)


def _packed(batches: Batches) -> Batches:
    """Runs on the workers."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= _PACK_ROWS:
            yield from _one_pack(held)
            held, rows = [], 0
    if rows:
        yield from _one_pack(held)


def _one_pack(batches: Sequence[pa.RecordBatch]) -> Batches:
    table = pa.Table.from_batches(batches)
    periods = table.column("period").unique().to_pylist()
    for period in periods:
        own = table if len(periods) == 1 else table.filter(pc.equal(table.column("period"), period))
        own = own.drop_columns("period").combine_chunks()
        for place, name in enumerate(own.column_names):
            if pa.types.is_string(own.schema.field(name).type):
                own = own.set_column(place, name, own.column(name).combine_chunks().dictionary_encode())
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, own.schema) as writer:
            writer.write_table(own)
        content = pa.array([sink.getvalue().to_pybytes()], pa.binary())
        yield pa.RecordBatch.from_arrays([pa.array([period], pa.string()), content], ["period", "records"])


def unpacked(batches: Batches) -> pa.Table | None:
    """All records that came, texts as dictionaries; None where none did."""
    tables = []
    for batch in batches:
        for period, content in zip(batch.column("period"), batch.column("records"), strict=True):
            with pa.ipc.open_stream(content.as_buffer()) as reader:
                own = reader.read_all()
            named = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), own.num_rows), [period.as_py()])
            tables.append(own.append_column("period", named))
    if not tables:
        return None
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()

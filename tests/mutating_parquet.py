"""What can happen to a Parquet file between whoever wrote it and us."""

import io
from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

Mutation = Callable[[Random, pa.Table], pa.Table]
NUMBERS = ["minutes", "points", "field_goals_made", "field_goals_attempted", "rebounds", "athlete_id", "game_id"]
CHECKED = [*NUMBERS, "season", "season_type", "game_date_time", "team_id"]


def _changed(table: pa.Table, name: str, values: Any, kind: pa.DataType | None = None) -> pa.Table:
    at = table.column_names.index(name)
    return table.set_column(at, name, pa.array(values, kind or table.schema.field(name).type))


def _values(chance: Random, table: pa.Table) -> pa.Table:
    name = chance.choice(CHECKED)
    kind = table.schema.field(name).type
    odd: list[Any] = [None]
    if pa.types.is_integer(kind):
        odd += [-1, 0, 2**31 - 1, -(2**31), 7]
    elif pa.types.is_floating(kind):
        odd += [float("nan"), float("inf"), -float("inf"), -0.0, -3.0, 1e300]
    else:  # microseconds: 1 BC, 148108, 10000, and yesterday
        odd += [-62_198_755_200_000_000, 4_611_686_018_427_000_000, 253_402_300_800_000_000, 1_260_000_000_000_000]
    values = table[name].cast(pa.int64()).to_pylist() if pa.types.is_timestamp(kind) else table[name].to_pylist()
    for _ in range(chance.randint(1, 3)):
        values[chance.randrange(len(values))] = chance.choice(odd)
    return _changed(table, name, pa.array(values, pa.int64()).cast(kind) if pa.types.is_timestamp(kind) else values)


def _retyped(chance: Random, table: pa.Table) -> pa.Table:
    name = chance.choice(NUMBERS)
    values = [None if value is None else int(value) for value in table[name].to_pylist()]
    kinds = [pa.int8(), pa.int16(), pa.int64(), pa.uint32(), pa.uint64(), pa.float32(), pa.float64(), pa.string(),
             pa.float16(), pa.decimal128(20, 2), pa.decimal256(50, 2), pa.bool_(), pa.duration("us"),
             pa.null()]  # fmt: skip
    kind = chance.choice(kinds)
    made: dict[Any, Callable[[int], Any]] = {
        pa.string(): str, pa.float16(): np.float16, pa.bool_(): bool, pa.null(): lambda value: None,
        pa.int8(): lambda value: value % 100, pa.int16(): lambda value: value % 10_000,
        pa.decimal128(20, 2): Decimal, pa.decimal256(50, 2): Decimal,
    }  # fmt: skip
    return _changed(table, name, [None if v is None else made.get(kind, lambda x: x)(v) for v in values], kind)


def _times(chance: Random, table: pa.Table) -> pa.Table:
    kinds = [pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "Europe/Berlin")]
    kind = chance.choice([*kinds, pa.date32(), pa.date64()])
    values = table["game_date_time"].cast(pa.timestamp("us")).cast(kind, safe=False)
    at = table.column_names.index("game_date_time")
    return table.set_column(at, "game_date_time", values)


def _extra(chance: Random, table: pa.Table) -> pa.Table:
    rows = table.num_rows
    extra = chance.choice([
        pa.array([b"abc"] * rows, pa.binary(3)), pa.array(np.ones(rows, np.float16)), pa.array([[1]] * rows),
        pa.array([{"a": 1}] * rows), pa.array([5] * rows, pa.time64("ns")), pa.nulls(rows),
        pa.array([5] * rows, pa.duration("s")),
    ])  # fmt: skip
    return table.append_column(chance.choice(["extra", "EXTRA_2", "POINTS", "period_"]), extra)


def _renamed(chance: Random, table: pa.Table) -> pa.Table:
    name = chance.choice(CHECKED)
    return table.rename_columns([n.upper() if n == name else n for n in table.column_names])


TABLES: dict[str, Mutation] = {
    "values": _values,
    "more values": lambda chance, table: _values(chance, _values(chance, table)),
    "retyped": _retyped,
    "times": _times,
    "an extra column": _extra,
    "renamed": _renamed,
    "dropped": lambda chance, table: table.drop_columns(chance.choice(CHECKED)),
    "twice": lambda chance, table: table.append_column(name := chance.choice(CHECKED), table[name]),
    "rows twice": lambda chance, table: pa.concat_tables([table, table.slice(0, chance.randint(1, 3))]),
    "rows dropped": lambda chance, table: table.slice(chance.randint(1, 9)),
    "no rows": lambda chance, table: table.slice(0, 0),
    "columns turned": lambda chance, table: table.select(chance.sample(table.column_names, len(table.column_names))),
}
BYTES = ("as they are", "flipped", "cut", "longer", "page", "text", "empty")


def packed(chance: Random, table: pa.Table) -> bytes:
    """The table as a Parquet file, written in one of many ways."""
    target = io.BytesIO()
    pq.write_table(
        table,
        target,
        compression=chance.choice(["none", "snappy", "zstd", "gzip", "lz4"]),
        use_dictionary=chance.random() < 0.5,
        row_group_size=chance.choice([7, 100, 10_000]),
        use_deprecated_int96_timestamps=chance.random() < 0.2,
        data_page_version=chance.choice(["1.0", "2.0"]),
    )
    return target.getvalue()


def damaged(chance: Random, content: bytes, how: str) -> bytes:
    changed = bytearray(content)
    if how == "flipped":
        for _ in range(chance.randint(1, 8)):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    elif how == "cut":
        del changed[chance.randrange(len(changed)) :]
    elif how == "longer":
        changed += chance.randbytes(50)
    elif how == "page":
        at = chance.randrange(4, len(changed) // 2)
        changed[at : at + 30] = b"\xff" * 30
    elif how == "text":
        return b"game_id,season\n1,2010\n"
    elif how == "empty":
        return b""
    return bytes(changed)


def corrected(chance: Random, content: bytes) -> bytes:
    """A Parquet file with a few other rows, as a late correction has them."""
    table = pq.read_table(io.BytesIO(content))
    for _ in range(chance.randint(1, 3)):
        name = chance.choice([field.name for field in table.schema if pa.types.is_primitive(field.type)])
        values = table[name].to_pylist()
        at = chance.randrange(len(values))
        plain = isinstance(values[at], int | float) and not isinstance(values[at], bool)
        values[at] = values[at] + chance.choice([1, -1]) if plain and chance.random() < 0.7 else None
        table = _changed(table, name, values)
        if chance.random() < 0.5:
            row = table.slice(chance.randrange(table.num_rows), 1)
            at = chance.randrange(table.num_rows)
            table = pa.concat_tables([table.slice(0, at), *([row] * chance.randint(0, 1)), table.slice(at + 1)])
    target = io.BytesIO()
    pq.write_table(table, target)
    return target.getvalue()

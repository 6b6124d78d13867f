"""Dirt of the synthetic archive: positions that are no positions, and a row twice."""

import math

import numpy as np
import pyarrow as pa

from skyarchive.generators.dirt_picks import picks, with_rows_after
from skyarchive.generators.options import GenerateOptions
from skyarchive.generators.seeds import stream

_SPOILT = {
    "nan_position": math.nan,
    "infinite_position": math.inf,
    "missing_position": None,
    "duplicate_row": None,
}
FAULTS = tuple(_SPOILT)


def dirty(table: pa.Table, options: GenerateOptions, period: str) -> pa.Table:
    """The block with faulty rows added after good ones of the same object and step."""
    rng = stream(options.seed, "synthetic", "dirt", period)
    placed = np.flatnonzero(~table["gone"].to_numpy())
    if len(placed) == 0:
        return table
    kinds, rows = zip(*picks(rng, placed, list(_SPOILT), round(options.dirt_share * len(placed))), strict=True)
    extra = table.take(pa.array(rows))
    place = table.schema.get_field_index("x0")
    values = [
        value if kind == "duplicate_row" else _SPOILT[kind]
        for kind, value in zip(kinds, extra["x0"].to_pylist(), strict=True)
    ]
    extra = extra.set_column(place, table.schema.field(place), pa.array(values, pa.float64(), from_pandas=False))
    return with_rows_after(table, list(rows), extra)

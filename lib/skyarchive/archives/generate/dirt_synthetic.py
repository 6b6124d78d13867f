"""Dirt of the synthetic archive: positions that are no positions, and a row twice."""

import math

import numpy as np
import pyarrow as pa

from skyarchive.archives.generate.dirt_picks import picks, with_rows_after
from skyarchive.archives.generate.options import GenerateOptions
from skyarchive.archives.generate.seeds import stream

FAULTS = ("nan_position", "infinite_position", "missing_position", "duplicate_row")


def dirty(table: pa.Table, options: GenerateOptions, period: str) -> pa.Table:
    """The block with faulty rows added after good ones of the same object and step."""
    if table.num_rows == 0:
        return table
    rng = stream(options.seed, "synthetic", "dirt", period)
    count = round(options.dirt_share * table.num_rows)
    placed = np.flatnonzero(~table["gone"].to_numpy())
    added = []
    for kind, row in picks(rng, placed if len(placed) else np.arange(table.num_rows), FAULTS, count):
        record = table.slice(row, 1).to_pylist()[0]
        if kind != "duplicate_row":
            record["x0"] = {"nan_position": math.nan, "infinite_position": math.inf}.get(kind)
        added.append((row, record))
    return with_rows_after(table, added)

"""Which rows get which fault, and getting added rows into their places."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa


def picks(rng: np.random.Generator, rows: np.ndarray, kinds: Sequence[str], count: int) -> list[tuple[str, int]]:
    """`count` pairs of kind and row, every kind at least once, on distinct rows while there are enough."""
    total = max(count, len(kinds))
    chosen = rng.choice(rows, total, replace=total > len(rows))
    return [(kinds[i % len(kinds)], int(row)) for i, row in enumerate(chosen)]


def with_rows_after(table: pa.Table, rows: list[int], extra: pa.Table) -> pa.Table:
    """The table with each extra row right after the row of it that `rows` says."""
    places = np.concatenate([np.arange(table.num_rows), rows])
    return pa.concat_tables([table, extra]).take(np.argsort(places, kind="stable"))


def with_lines_after(lines: list[str], added: list[tuple[int, str]]) -> list[str]:
    """The lines with each added line right after the line it is given with."""
    places = np.concatenate([np.arange(len(lines)), [row for row, _ in added]])
    together = lines + [line for _, line in added]
    return [together[i] for i in np.argsort(places, kind="stable")]

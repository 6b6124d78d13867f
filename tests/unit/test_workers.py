"""What Spark's Python workers do with the rows that pass them, in memory that does not grow with the rows."""

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from oracle import records as oracle
from skyarchive.dataframes.workers import GROUP, Question, reduced
from skyarchive.kernels.points.preferences import checked_preferences

LIMIT = 2 << 20
"""Bytes that a worker may hold."""
ROWS, PAYLOAD = 2_000, 1_000


def stream(n_batches: int, unbeaten: bool, seen: list[int]) -> Iterator[pa.RecordBatch]:
    """Batches of about 2 MB, made as they are asked for; notes what Arrow holds then."""
    chance = np.random.default_rng(3)
    for number in range(n_batches):
        x = np.arange(ROWS) + float(ROWS * number) if unbeaten else chance.random(ROWS)
        y = -x if unbeaten else chance.random(ROWS)
        payload = pa.array([b"x" * PAYLOAD] * ROWS)
        seen.append(pa.total_allocated_bytes())
        yield pa.RecordBatch.from_arrays([pa.array(x), pa.array(y), payload], ["x", "y", "payload"])


@pytest.mark.parametrize("unbeaten", [False, True])
def test_ten_times_more_rows_than_memory(unbeaten: bool) -> None:
    """Whether nearly all rows are beaten or none is: what has to stay goes on to the next worker."""
    question = Question(checked_preferences({"x": "lower", "y": "lower"}), grouped=False)
    n_batches = 10 * LIMIT // (ROWS * PAYLOAD) + 1
    sum(batch.num_rows for batch in reduced(question, LIMIT, stream(2, unbeaten, [])))  # compiled code is loaded
    seen: list[int] = []
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    given = sum(batch.num_rows for batch in reduced(question, LIMIT, stream(n_batches, unbeaten, seen)))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert given == ROWS * n_batches if unbeaten else 0 < given < ROWS
    # A batch on its way in, one on its way out, and what is compared with each other.
    assert max(seen) - before < 5 * LIMIT
    assert most < 5 * LIMIT


def test_groups_and_missing_values_are_kept_apart() -> None:
    """Rows without a group are a group of their own; a row that misses any attribute takes no part."""
    rows = [
        {"n": 0, "x": 2.0, "y": 2.0, GROUP: "a"}, {"n": 1, "x": 1.0, "y": 1.0, GROUP: None},
        {"n": 2, "x": 3.0, "y": 3.0, GROUP: None}, {"n": 3, "x": 0.0, "y": None, GROUP: "a"},
        {"n": 4, "x": None, "y": 0.0, GROUP: None}, {"n": 5, "x": 0.0, "y": float("nan"), GROUP: None},
        {"n": 6, "x": 2.0, "y": 2.0, GROUP: "a"}, {"n": 7, "x": 2.5, "y": 2.0, GROUP: "b"},
    ]  # fmt: skip
    ways = {"x": "lower", "y": "lower"}
    table = pa.Table.from_pylist(rows)
    for grouped in (False, True):
        question = Question(checked_preferences(ways), grouped)
        for size in (1, 3, len(rows)):
            given = list(reduced(question, None, iter(table.to_batches(size))))
            found = [n for batch in given for n in batch["n"].to_pylist()]
            assert sorted(found) == [row["n"] for row in oracle.unbeaten(rows, ways, [GROUP] if grouped else [])]

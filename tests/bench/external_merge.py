"""What the last merge of the tree takes of a worker: the rule that picks a plan stands on it.

No row beats another here, so all of them are held to the end: memory over what Python and the libraries take anyway,
by the bytes of the rows. Each size in a process of its own; seconds are the processor's.
"""

import multiprocessing
import resource
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from skyarchive.dataframes.workers import Question, reduced
from skyarchive.kernels.points.preferences import checked_preferences

BATCH_ROWS, PAYLOAD = 2_500, 4_000
"""Batches of about 10 MB; and bytes of a row beside what it is compared by."""
SIZES_MB = (64, 256, 512, 1024)
Row = dict[str, Any]


def _batches(count: int) -> Iterator[pa.RecordBatch]:
    """Every other batch has a row that another beats: what is left of it has to be copied."""
    for number in range(count):
        x = np.arange(BATCH_ROWS) + float(BATCH_ROWS * number)
        y = -x
        y[-1] += 1.5 * (number % 2)
        payload = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(PAYLOAD), BATCH_ROWS, [None, pa.py_buffer(b"x" * (BATCH_ROWS * PAYLOAD))]
        )
        yield pa.RecordBatch.from_arrays([pa.array(x), pa.array(y), payload], ["x", "y", "payload"])


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def merged(count: int) -> tuple[int, int, float]:
    """Megabytes taken by Python alone and at most, and seconds."""
    question = Question(checked_preferences({"x": "lower", "y": "lower"}), grouped=False)
    list(reduced(question, None, _batches(2)))  # the compiled code is loaded
    before, began = _peak_mb(), time.process_time()
    for _ in reduced(question, None, _batches(count)):
        pass
    return before, _peak_mb(), time.process_time() - began


def rows(quick: bool = False) -> Iterator[Row]:
    batch_bytes = next(_batches(1)).nbytes
    for size in SIZES_MB[: 2 if quick else None]:
        count = -(-(size << 20) // batch_bytes)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            before, peak, taken = pool.apply(merged, (count,))
        held = count * batch_bytes >> 20
        yield {
            "unbeaten_mb": held,
            "rows": count * BATCH_ROWS,
            "python_mb": before,
            "peak_mb": peak,
            "per_byte": round((peak - before) / held, 2),
            "seconds": round(taken, 1),
        }

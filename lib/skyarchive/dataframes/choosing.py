"""Which plan: the tree wherever its last merge fits into one worker.

The tree reads the rows once, the passes at least three times, so where both can do it the tree is the faster: in one
trial on two cores 5 to 18 times, for a million rows of which 1,900 to 13,000 were unbeaten (bench `external_plans`
tries it again). But the last merge of the tree holds all unbeaten rows at once, and the passes never do. In one trial
it took 1.0 to 1.5 bytes for each of theirs, beside 320 to 460 MB of Python and its libraries (bench `external_merge`):
512 MB of unbeaten rows make a worker of 1.1 GB, about what Spark gives an executor if nobody says more.

So the skyline of some random rows (the first ones may be the worst of all) and that of half of them are computed. How
it grew between them tells how large it will be for all rows: it grows with a power of their number, near 0 where
attributes agree and near 1 where they are at odds. If that many rows are more than a worker should hold, the passes it
is.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.dataframes.workers import Batches, Question
from skyarchive.kernels.points import unbeaten

PROBE = 20_000
"""Rows that are looked at."""
MOST_BYTES = 512 << 20
"""What the last merge may hold, see above."""
_SEED = 1
_WIDE = 256
"""Bytes of a row that is wide for a record."""
_MANY_ROWS = 10**10
"""More rows than are asked about: if the skyline of so many would fit, they need not be counted."""


def chosen_plan(
    rows: DataFrame, question: Question, count: int | None = None, parts: int = 1
) -> Literal["tree", "passes"]:
    """Looks at some rows, and counts all of them only if that matters and `count`, no less than their number, is not
    known. So few that even all of them would fit need no look. `parts`: skylines of so many parts of the rows are held
    together, not that of all rows."""
    if count is not None and count <= MOST_BYTES // _WIDE:
        return "tree"
    schema = "seen bigint, half bigint, members bigint, bytes bigint"
    drawn = rows.orderBy(F.rand(_SEED)).limit(PROBE)
    found = drawn.repartition(1).mapInArrow(partial(_probed, question), schema).collect()
    probe = Probe(*found[0]) if found else Probe(0, 0, 0, 0)
    if probe.expected_bytes(_MANY_ROWS, parts) <= MOST_BYTES:
        return "tree"
    return "tree" if probe.expected_bytes(rows.count() if count is None else count, parts) <= MOST_BYTES else "passes"


@dataclass(frozen=True)
class Probe:
    """What was seen: so many rows of so many bytes, with so many members, and those of the first half of them."""

    seen: int
    half: int
    members: int
    size: int

    def expected_bytes(self, rows: int, parts: int = 1) -> float:
        """Size of the skylines of `parts` equal parts of so many rows."""
        if not self.members:
            return 0.0
        growth = min(max(math.log2(self.members / self.half) if self.half else 1.0, 0.0), 1.0)
        return parts * self.members * (rows / parts / self.seen) ** growth * self.size / self.seen


def _probed(question: Question, batches: Batches) -> Iterator[pa.RecordBatch]:
    gathered = list(batches)
    if not gathered:
        return
    table = pa.Table.from_batches(gathered)
    costs, groups = question.costs(table), question.groups(table)
    half = table.num_rows // 2
    first = unbeaten([column[:half] for column in costs], None if groups is None else groups[:half])
    counts = [table.num_rows, int(first.sum()), int(unbeaten(costs, groups).sum()), table.nbytes]
    yield pa.RecordBatch.from_arrays([pa.array(np.array([n])) for n in counts], ["seen", "half", "members", "bytes"])

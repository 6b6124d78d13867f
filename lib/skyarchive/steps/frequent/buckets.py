"""From membership intervals to the intervals during which objects are frequent, for all queries in one reading.

Objects do not need each other: their intervals are dealt into buckets, and each bucket is one call per query of a
compiled kernel. Intervals that go over period borders are cut there, so what comes out are rows of the table.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.answers.intervals import Span, cut_at_borders
from skyarchive.definition.frequent import Query
from skyarchive.kernels.frequent import frequent_intervals

_ROWS = (
    "period string, theta decimal(9,6), window_size int, object string, first_snapshot bigint, last_snapshot bigint, "
    "continued_from boolean, continues_into boolean"
)
_THETA = pa.decimal128(9, 6)


def with_frequent_intervals(
    members: DataFrame, queries: Sequence[Query], spans: Sequence[Span], buckets: int
) -> DataFrame:
    """The rows of `frequent` of these periods. `members` are the rows of `skyline` of these periods and of all that
    their windows reach into; others may be missing."""
    compute = partial(_bucket_rows, queries=list(queries), spans=sorted(spans, key=lambda span: span.first))
    bucket = F.pmod(F.xxhash64("object"), F.lit(buckets)).alias("bucket")
    dealt = members.select(bucket, "object", "first_snapshot", "last_snapshot")
    return dealt.groupBy("bucket").applyInArrow(lambda rows: compute(rows), _ROWS)


def _bucket_rows(members: pa.Table, queries: list[Query], spans: list[Span]) -> pa.Table:
    """One bucket's rows of all queries."""
    table = members.combine_chunks()
    objects = table["object"].chunk(0).dictionary_encode()
    item = objects.indices.to_numpy()
    first, last = (table[name].to_numpy() for name in ("first_snapshot", "last_snapshot"))
    order = np.lexsort((first, item))
    sorted_rows = item[order], first[order], last[order]
    found = [_query_rows(sorted_rows, objects.dictionary, query, spans) for query in queries]
    return pa.concat_tables(found)


def _query_rows(
    members: tuple[np.ndarray, np.ndarray, np.ndarray], names: pa.Array, query: Query, spans: list[Span]
) -> pa.Table:
    # The snapshot before the first is asked for too: an interval that goes on from it begins there.
    begin, end = max(spans[0].first - 1, 0), spans[-1].last
    item, first, last = frequent_intervals(*members, query.window, query.needed, begin, end)
    pieces = cut_at_borders(first, last, spans)
    theta = pa.scalar(query.theta, _THETA)
    return pa.table(
        {
            "period": pa.array([span.period for span in spans], pa.string()).take(pa.array(pieces.span)),
            "theta": pa.repeat(theta, len(pieces.interval)),
            "window_size": pa.repeat(pa.scalar(query.window, pa.int32()), len(pieces.interval)),
            "object": names.take(pa.array(item[pieces.interval])),
            **pieces.columns,
        }
    )

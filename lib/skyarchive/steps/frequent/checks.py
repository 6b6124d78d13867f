"""What can be wrong with frequent intervals as a whole, counted per period by another engine than made them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import duckdb
import pyarrow as pa
from pyspark.sql import DataFrame

from skyarchive.answers.intervals import Span, spans_table
from skyarchive.answers.judging import FAULTS, SHOWN, Judged, Verdict, counted, sampled
from skyarchive.definition.frequent import Query
from skyarchive.store.duck import quoted

AUDITED = 12
"""Snapshots of every period that are counted again: more than of skylines, as it costs less."""
FIGURES = (
    "period string, overlapping bigint, outside bigint, unasked bigint, audited bigint, wrong bigint, "
    "wrong_start bigint"
)

_UNASKED = """
select period, 'unasked' as figure, count(*) as n from found anti join queries using (theta, window_size)
group by period
"""

_DIFFERENCES = """
with counted as (  -- by definition, snapshot by snapshot
    select s.period, s.snapshot, q.theta, q.window_size, m.object
    from samples s cross join queries q
    join {archive}.skyline m on m.first_snapshot <= s.snapshot and m.last_snapshot > s.snapshot - q.window_size
    where s.snapshot >= q.window_size - 1 and m.first_snapshot <= $last and m.last_snapshot >= $first
    group by all
    having sum(least(m.last_snapshot, s.snapshot) - greatest(m.first_snapshot, s.snapshot - q.window_size + 1) + 1)
        >= any_value(q.needed)
), told as (
    select s.period, s.snapshot, theta, window_size, object from samples s join found f on f.period = s.period
        and s.snapshot between first_snapshot and last_snapshot
), starts as (  -- those who are frequent at the last snapshot before a period and at its first
    select period, theta, window_size, object from counted c join spans using (period)
    where snapshot = opening - 1 and exists (
        from found f where f.period = c.period and f.theta = c.theta and f.window_size = c.window_size
            and f.object = c.object and f.first_snapshot = opening)
), continued as (
    select period, theta, window_size, object from found where continued_from
), inside as (
    from counted semi join (select period, snapshot from samples join spans using (period) where snapshot >= opening)
        using (period, snapshot)
)
select period, figure, count(*) as n, list(who order by who)[1:{shown}] as shown from (
    select period, 'wrong' as figure,
        object || ' at ' || snapshot || ' (' || theta || ' of ' || window_size || ')' as who
    from ((from inside except from told) union all (from told except from inside))
    union all
    select period, 'wrong_start', object || ' before ' || period || ' (' || theta || ' of ' || window_size || ')'
    from ((from starts except from continued) union all (from continued except from starts))
) group by period, figure order by all
"""


def judge(
    archive: str,
    tables: Mapping[tuple[str, str], str],
    queries: Sequence[Query],
    spans: Sequence[Span],
    found: DataFrame,
) -> Judged:
    """Count the faults of these rows of `frequent`, and count some snapshots of every period again in `skyline`.
    `tables`: how DuckDB reads `skyline` of these spans' periods and of all that their windows reach into."""
    look = partial(_look, archive, {span.period: span for span in spans}, list(queries))
    result = counted(found, [span.period for span in spans], tables, look)
    figures = ("overlapping", "outside", "unasked", "audited", "wrong", "wrong_start")
    return Judged([(span.period, *result.of(span.period, *figures)) for span in spans], result.misjudged)


def _look(
    archive: str,
    of_period: Mapping[str, Span],
    queries: list[Query],
    session: duckdb.DuckDBPyConnection,
    periods: list[str],
) -> Iterator[Verdict]:
    """Runs on the workers."""
    spans = [of_period[period] for period in periods]
    at = []
    for span in spans:
        sample = sampled(f"{archive} {span.period}", span.first, span.last, AUDITED)
        yield Verdict(span.period, "audited", len(sample) * len(queries))
        # The one before a period tells who goes on from there.
        at += [(span.period, snapshot) for snapshot in (span.first - 1, *sample)]
    asked = {
        "theta": pa.array([query.theta for query in queries], pa.decimal128(9, 6)),
        "window_size": [query.window for query in queries],
        "needed": [query.needed for query in queries],
    }
    session.register("spans", spans_table(spans))
    session.register("samples", pa.table({"period": [of for of, _ in at], "snapshot": [number for _, number in at]}))
    session.register("queries", pa.table(asked))
    faults = " union all ".join((FAULTS.format(key="theta, window_size, object"), _UNASKED))
    yield from (Verdict(*row) for row in session.execute(faults).fetchall())
    numbers = [number for _, number in at]
    reached = {"first": min(numbers) - max(query.window for query in queries), "last": max(numbers)}
    differences = _DIFFERENCES.format(archive=quoted(archive), shown=SHOWN)
    yield from (Verdict(*row) for row in session.execute(differences, reached).fetchall())

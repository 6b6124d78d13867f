"""What can be wrong with frequent intervals as a whole, counted per period by another engine than made them."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from skyarchive.frequency import Query
from skyarchive.lake import Lake
from skyarchive.skyline_checks import Judged, sampled
from skyarchive.steps.frequent import Span

AUDITED = 12
"""Snapshots of every period that are counted again: more than of skylines, as it costs less."""
FIGURES = (
    "period string, overlapping bigint, outside bigint, unasked bigint, audited bigint, wrong bigint, "
    "wrong_start bigint"
)

_FAULTS = """
with meetings as (
    select period, count(*) as n from (
        select period, first_snapshot <= 1 + lag(last_snapshot) over so_far as meets from found
        window so_far as (partition by period, theta, window_size, object order by first_snapshot))
    where meets group by period
), strays as (
    select period, count(*) as n from found join spans using (period)
    where first_snapshot < opening or last_snapshot > closing or (continued_from and first_snapshot > opening)
        or continues_into <> (last_snapshot = closing) group by period
), strangers as (
    select period, count(*) as n from found anti join queries using (theta, window_size) group by period
)
select period, coalesce(meetings.n, 0), coalesce(strays.n, 0), coalesce(strangers.n, 0)
from spans left join meetings using (period) left join strays using (period) left join strangers using (period)
order by period
"""

_DIFFERENCES = """
with counted as (  -- by definition, snapshot by snapshot
    select s.period, s.snapshot, q.theta, q.window_size, m.object
    from samples s cross join queries q
    join {archive}.skyline m on m.first_snapshot <= s.snapshot and m.last_snapshot > s.snapshot - q.window_size
    where m.period in (select period from reached) and s.snapshot >= q.window_size - 1
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
select period, 'audit', object || ' at ' || snapshot || ' (' || theta || ' of ' || window_size || ')'
from ((from inside except from told) union all (from told except from inside))
union all
select period, 'start', object || ' before ' || period || ' (' || theta || ' of ' || window_size || ')'
from ((from starts except from continued) union all (from continued except from starts))
order by all
"""


def judge(
    lake: Lake,
    archive: str,
    versions: dict[str, int],
    queries: Sequence[Query],
    spans: Sequence[Span],
    reached: Sequence[str],
    found: pa.Table,
) -> Judged:
    """Count the faults of these rows of `frequent`, and count some snapshots of every period again in `skyline`.
    `reached`: all periods that windows of these spans reach into, and the spans' own."""
    pinned = {(archive, "skyline"): versions["skyline"]}
    session = lake.connect(pinned, pinned)
    session.register("found", found)
    session.register("reached", pa.table({"period": pa.array(reached, pa.string())}))
    session.register("spans", _columns(spans, {"period": "period", "opening": "first", "closing": "last"}))
    session.register("queries", _queries(queries))
    samples = {span.period: sampled(f"{archive} {span.period}", span.first, span.last, AUDITED) for span in spans}
    # The one before a period tells who goes on from there.
    looked_at = [(span.period, at) for span in spans for at in [span.first - 1, *samples[span.period]]]
    named = zip(("period", "snapshot"), zip(*looked_at, strict=True), strict=True)
    session.register("samples", pa.table({name: pa.array(values) for name, values in named}))
    differences = session.execute(_DIFFERENCES.format(archive=archive)).fetchall()
    rows: list[tuple[Any, ...]] = []
    for period, *figures in session.execute(_FAULTS).fetchall():
        wrong = [sum(row[:2] == (period, kind) for row in differences) for kind in ("audit", "start")]
        rows.append((period, *figures, len(samples[period]) * len(queries), *wrong))
    misjudged = {span.period: [what for period, _, what in differences if period == span.period] for span in spans}
    return Judged(rows, misjudged)


def _columns(items: Sequence[Any], names: dict[str, str]) -> pa.Table:
    return pa.table({column: pa.array([getattr(item, name) for item in items]) for column, name in names.items()})


def _queries(queries: Sequence[Query]) -> pa.Table:
    theta = pa.array([query.theta for query in queries], pa.decimal128(9, 6))
    return _columns(queries, {"window_size": "window", "needed": "needed"}).append_column("theta", theta)

"""What can be wrong with computed intervals as a whole, counted per period by another engine than made them."""

from collections.abc import Iterator, Mapping
from functools import partial

import duckdb
import pyarrow as pa
from pyspark.sql import DataFrame

from skyarchive.answers.judging import FAULTS, SHOWN, Judged, Verdict, counted, sampled
from skyarchive.answers.positions import misjudged, positions_at
from skyarchive.definition.model import Definition
from skyarchive.store.duck import quoted

AUDITED = 3
"""Snapshots of every period that are computed again by brute force."""
FIGURES = (
    "period string, overlapping bigint, outside bigint, uncovered bigint, not_alive bigint, "
    "audited bigint, wrong bigint"
)

_SPANS = """
create table spans as select period, min(snapshot) as opening, max(snapshot) as closing from {archive}.snapshots
where period in (select period from periods) group by period order by period
"""
_FAULTS = """
with events as (
    select period, object, snapshot, gone from {archive}.updates where period in (select period from periods)
    union all
    select p.period, c.object, s.opening - 1, false
    from {archive}.carry c join periods p on c.period = p.before join spans s on s.period = p.period
    where c.object is not null and c.{attribute} is not null
), mortal as (
    select distinct period, object from events where gone
), turns as (  -- of those who die, the rows where they come or go
    select *, lag(gone, 1, true) over (partition by period, object order by snapshot) as was
    from events semi join mortal using (period, object) qualify gone <> was
), lives as (
    select period, object, min(snapshot) as born, max(closing) as died
    from events anti join mortal using (period, object) join spans using (period) group by period, object
    union all
    select period, object, snapshot,
        lead(snapshot, 1, closing + 1) over (partition by period, object order by snapshot) - 1
    from turns join spans using (period) qualify not gone
), changes as (
    select period, greatest(born, opening) as snapshot, 1 as alive, 0 as members
    from lives join spans using (period) where died >= opening
    union all select period, died + 1, -1, 0 from lives join spans using (period) where died >= opening
    union all select period, first_snapshot, 0, 1 from found
    union all select period, last_snapshot + 1, 0, -1 from found
), counted as (
    select period, snapshot, sum(sum(alive)) over so_far as alive, sum(sum(members)) over so_far as members,
        lead(snapshot, 1, closing + 1) over (partition by period order by snapshot) - snapshot as snapshots
    from changes join spans using (period) group by period, snapshot, closing
    window so_far as (partition by period order by snapshot)
)
{faults}
union all
select period, 'uncovered', sum(snapshots) from counted join spans using (period)
where alive > 0 and members = 0 and snapshot <= closing group by period
union all
select period, 'not_alive', count(*) from found f where not exists (
    select * from lives l where l.period = f.period and l.object = f.object
        and l.born <= f.first_snapshot and f.last_snapshot <= l.died) group by period
"""


def judge(
    definition: Definition, tables: Mapping[tuple[str, str], str], before: Mapping[str, str | None], found: DataFrame
) -> Judged:
    """Count the faults of these rows of `skyline`. `tables`: how DuckDB reads `updates`, `carry` and `snapshots`;
    `before`: every period and the one it starts from."""
    told = found.select("period", "object", "first_snapshot", "last_snapshot", "continued_from", "continues_into")
    result = counted(told, before, tables, partial(_look, definition, before))
    figures = ("overlapping", "outside", "uncovered", "not_alive", "audited", "wrong")
    return Judged([(period, *result.of(period, *figures)) for period in sorted(before)], result.misjudged)


def _look(
    definition: Definition, before: Mapping[str, str | None], session: duckdb.DuckDBPyConnection, periods: list[str]
) -> Iterator[Verdict]:
    """Runs on the workers."""
    starts = pa.array([before[period] for period in periods], pa.string())
    session.register("periods", pa.table({"period": pa.array(periods, pa.string()), "before": starts}))
    session.execute(_SPANS.format(archive=quoted(definition.name)))
    first, own = quoted(definition.attribute_names[0]), FAULTS.format(key="object")
    faults = _FAULTS.format(archive=quoted(definition.name), attribute=first, faults=own)
    yield from (Verdict(*row) for row in session.execute(faults).fetchall())
    for period, opening, closing in session.execute("from spans").fetchall():
        for snapshot in sampled(f"{definition.name} {period}", opening, closing, AUDITED):
            members = session.execute(
                "select object from found where period = ? and ? between first_snapshot and last_snapshot",
                [period, snapshot],
            ).fetchall()
            positions = positions_at(session, definition, period, before[period], snapshot)
            wrong = misjudged(positions, (row[0] for row in members))
            yield Verdict(period, "audited", 1)
            yield Verdict(period, "wrong", len(wrong), [f"{name} at {snapshot}" for name in wrong[:SHOWN]])

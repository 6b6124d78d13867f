"""Views: tables that are a query over other ones, in words that DuckDB and Spark both understand."""

from collections.abc import Mapping

SOURCES = {"reigns": ("skyline", "snapshots", "runs")}
"""The view and the tables it is made of."""

# A reign is known to end where its last interval does. One that reaches the end of its period lasts if no later period
# has skylines; else it is told up to the start of the period that follows, whose skylines either lack the object or are
# not computed. `runs` tells which periods have skylines (of the version that is read): one without living objects has
# no rows.
_REIGNS = """
with published as (
    select max(period) as last_period from {archive}.runs where step = 'skyline'
        and try_cast(regexp_extract(output_versions, '"skyline": *([0-9]+)', 1) as bigint) <= {skyline}
), starts as (
    select period, lead(min(time)) over (order by period) as next_start from {archive}.snapshots group by period
), ordered as (
    select *, case when first_snapshot = lag(last_snapshot) over (partition by object order by first_snapshot) + 1
        then 0 else 1 end as opens
    from {archive}.skyline
), numbered as (
    select *, sum(opens) over (partition by object order by first_snapshot rows unbounded preceding) as reign
    from ordered
), stitched as (
    select object, min(first_snapshot) as first_snapshot, max(last_snapshot) as last_snapshot,
        min(first_time) as first_time, max(last_time) as last_time, max(period) as last_period,
        max_by(continues_into, last_snapshot) as goes_on
    from numbered group by object, reign
), ended as (
    select r.*, case when not r.goes_on then coalesce(s.time, r.last_time)
        when r.last_period < p.last_period then n.next_start end as until
    from stitched r cross join published p
    left join starts n on n.period = r.last_period
    left join {archive}.snapshots s on s.period = r.last_period and s.snapshot = r.last_snapshot + 1
), measured as (
    select *, coalesce(until, last_time) - first_time as length from ended
)
select object, first_snapshot, last_snapshot, first_time, last_time,
    last_snapshot - first_snapshot + 1 as snapshots, until,
    cast(86400 * extract(day from length) + 3600 * extract(hour from length) + 60 * extract(minute from length)
        + floor(extract(second from length)) as double) / 86400 as days
from measured
"""
_QUERIES = {"reigns": _REIGNS}


def view_query(archive: str, view: str, versions: Mapping[str, int]) -> str:
    """The query behind a view of an archive whose tables are read at these versions. `reigns`: the intervals of
    `skyline`, stitched over period borders, each with the time `until` which it lasts (null: it goes on at the last
    snapshot whose skylines are published) and its length in `days` (up to that snapshot, while it goes on)."""
    return _QUERIES[view].format(archive=archive, **{table: versions[table] for table in SOURCES[view]})

"""Views: tables that are a query over another one, in words that DuckDB and Spark both understand."""

SOURCES = {"reigns": "skyline"}
"""The view and the table it is made of."""

_REIGNS = """
with ordered as (
    select *, case when first_snapshot = lag(last_snapshot) over (partition by object order by first_snapshot) + 1
        then 0 else 1 end as opens
    from {archive}.skyline
), numbered as (
    select *, sum(opens) over (partition by object order by first_snapshot rows unbounded preceding) as reign
    from ordered
)
select object, min(first_snapshot) as first_snapshot, max(last_snapshot) as last_snapshot,
    min(first_time) as first_time, max(last_time) as last_time,
    max(last_snapshot) - min(first_snapshot) + 1 as snapshots
from numbered group by object, reign
"""
_QUERIES = {"reigns": _REIGNS}


def view_query(archive: str, view: str) -> str:
    """The query behind a view of an archive. `reigns`: the intervals of `skyline`, stitched over period borders."""
    return _QUERIES[view].format(archive=archive)

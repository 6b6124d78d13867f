"""What can be wrong with computed intervals as a whole, counted per period by another engine than made them."""

import hashlib
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from skyarchive.definition import Definition
from skyarchive.duck import quoted
from skyarchive.lake import Lake
from skyarchive.positions import misjudged, positions_at

AUDITED = 3
"""Snapshots of every period that are computed again by brute force."""
FIGURES = (
    "period string, overlapping bigint, outside bigint, uncovered bigint, not_alive bigint, "
    "audited bigint, wrong bigint"
)

_FAULTS = """
with spans as (
    select period, min(snapshot) as opening, max(snapshot) as closing from {archive}.snapshots
    where period in (select period from periods) group by period
), events as (
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
), meetings as (
    select period, count(*) as n from (
        select period, first_snapshot <= 1 + lag(last_snapshot) over so_far as meets from found
        window so_far as (partition by period, object order by first_snapshot)) where meets group by period
), strays as (
    select period, count(*) as n from found join spans using (period)
    where first_snapshot < opening or last_snapshot > closing or (continued_from and first_snapshot > opening)
        or continues_into <> (last_snapshot = closing) group by period
), gaps as (
    select period, sum(snapshots) as n from counted join spans using (period)
    where alive > 0 and members = 0 and snapshot <= closing group by period
), ghosts as (
    select period, count(*) as n from found f where not exists (
        select * from lives l where l.period = f.period and l.object = f.object
            and l.born <= f.first_snapshot and f.last_snapshot <= l.died) group by period
)
select period, coalesce(meetings.n, 0), coalesce(strays.n, 0), coalesce(gaps.n, 0), coalesce(ghosts.n, 0)
from periods left join meetings using (period) left join strays using (period)
    left join gaps using (period) left join ghosts using (period)
order by period
"""


@dataclass(frozen=True)
class Judged:
    """The figures of every period as rows of a frame, and the misjudged objects by period for whoever looks."""

    rows: list[tuple[Any, ...]]
    misjudged: dict[str, list[str]]


def judge(
    lake: Lake, definition: Definition, versions: dict[str, int], before: dict[str, str | None], found: pa.Table
) -> Judged:
    """Count the faults of these intervals. `before`: every period and the one it starts from."""
    archive = definition.name
    pinned = {(archive, table): versions[table] for table in ("updates", "carry", "snapshots")}
    session = lake.connect(pinned, pinned)
    session.register("found", found)
    periods = pa.table({"period": list(before), "before": pa.array(list(before.values()), pa.string())})
    session.register("periods", periods)
    faults = _FAULTS.format(archive=archive, attribute=quoted(definition.attribute_names[0]))
    counted = session.execute(faults).fetchall()
    rows: list[tuple[Any, ...]] = []
    wrong: dict[str, list[str]] = {}
    for period, *figures in counted:
        spans = session.execute(
            f"select min(snapshot), max(snapshot) from {archive}.snapshots where period = ?", [period]
        ).fetchone()
        sample = sampled(f"{archive} {period}", *(spans or (0, -1)))
        wrong[period] = []
        for snapshot in sample:
            members = session.execute(
                "select object from found where period = ? and ? between first_snapshot and last_snapshot",
                [period, snapshot],
            ).fetchall()
            positions = positions_at(session, definition, period, before[period], snapshot)
            wrong[period] += [f"{name} at {snapshot}" for name in misjudged(positions, (row[0] for row in members))]
        rows.append((period, *figures, len(sample), len(wrong[period])))
    return Judged(rows, wrong)


def sampled(seed: str, first: int, last: int, count: int = AUDITED) -> list[int]:
    """The last snapshot, where every fault before it may show, and some others: always the same ones, so that a
    failure can be seen again."""
    span = last - first + 1
    draws = (int(hashlib.sha256(f"{seed} {n}".encode()).hexdigest(), 16) for n in range(count - 1))
    return sorted({last, *(first + draw % span for draw in draws)}) if span > 0 else []

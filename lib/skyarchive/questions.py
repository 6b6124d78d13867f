"""Questions to an archive, answered from its published tables without Spark."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import duckdb
import numpy as np

from skyarchive.definition import Definition
from skyarchive.errors import NotPublishedError, SettingError, SkyarchiveError
from skyarchive.lake import Lake
from skyarchive.output import Row
from skyarchive.positions import Positions, beats, directions, positions_at
from skyarchive.settings import Settings

_TABLES = ("updates", "carry", "snapshots", "objects", "skyline", "reigns", "runs")
_NUMBER = re.compile(r"\d{1,18}")


@dataclass(frozen=True)
class Moment:
    """One snapshot of the timeline."""

    period: str
    snapshot: int
    time: datetime
    label: str

    def __str__(self) -> str:
        return f"snapshot {self.snapshot} ({self.label}, {self.time:%Y-%m-%d %H:%M} UTC)"


@dataclass(frozen=True)
class Answer:
    """Columns and rows, and a sentence for people."""

    columns: list[str]
    rows: Sequence[Row]
    remark: str = ""


class Questions:
    """An archive that can be asked: who was unbeaten at a moment, why, for how long, and what changed."""

    def __init__(self, settings: Settings, definition: Definition) -> None:
        self.definition = definition
        self._lake = Lake(settings)
        self._schema = definition.name

    @cached_property
    def _session(self) -> duckdb.DuckDBPyConnection:
        published = self._lake.published_versions(self._schema)
        if "skyline" not in published:
            raise NotPublishedError(f"{self._schema} has no skylines yet; run: skyarchive run {self._schema}")
        return self._lake.connect([(self._schema, table) for table in _TABLES])

    def moment(self, text: str | None) -> Moment:
        """The snapshot of that number, or the last one at or before that time; the last of all if none is given."""
        if text is None:
            text = str(self._extent()[1])
        is_number = _NUMBER.fullmatch(text) is not None
        condition = "snapshot = ?" if is_number else "time <= ?"
        found = self._session.execute(
            f"select period, snapshot, time, label from {self._schema}.snapshots where {condition} "
            "order by snapshot desc limit 1",
            [int(text) if is_number else _time(text)],
        ).fetchone()
        if found is None:
            first, last = self._extent()
            begin, end = self._rows(f"select min(time), max(time) from {self._schema}.snapshots")[0]
            raise SettingError(
                f"{self._schema} has no snapshot at {text}: it has {first} to {last}, "
                f"from {begin:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC."
            )
        return Moment(*found)

    def _extent(self) -> tuple[int, int]:
        """The archive's first and last snapshot."""
        lowest, highest = self._rows(f"select min(snapshot), max(snapshot) from {self._schema}.snapshots")[0]
        return lowest, highest

    def skyline(self, at: str | None) -> Answer:
        """Who is unbeaten at a moment, with attributes and since when."""
        moment = self.moment(at)
        reigning = self._reigning(moment)
        positions = self._positions(moment)
        names = self._names(list(reigning), moment.period)
        where = dict(zip(positions.objects, positions.values.tolist(), strict=True))
        rows = [
            (name, names.get(name, name), *where[name], since, time)
            for name, (since, time) in sorted(reigning.items(), key=lambda item: (item[1], item[0]))
        ]
        columns = ["object", "name", *self.definition.attribute_names, "since_snapshot", "since"]
        is_unbeaten = f"{'is' if len(rows) == 1 else 'are'} unbeaten"
        return Answer(columns, rows, f"{len(rows)} of {len(positions.objects)} {is_unbeaten} at {moment}.")

    def why(self, who: str, at: str | None) -> Answer:
        """Who beats an object at a moment and by how much; or since when nobody does, and who comes nearest."""
        moment = self.moment(at)
        item = self._object(who, moment)
        positions = self._positions(moment)
        if item not in positions.objects:
            raise SkyarchiveError(f"{self._called(item, moment)} is not alive at {moment}.")
        own = positions.objects.index(item)
        reigning = self._reigning(moment)
        beating = np.flatnonzero(beats(positions.costs, positions.costs[own]))
        if len(beating):
            return self._beaten(moment, positions, own, beating, set(reigning))
        return self._unbeaten(moment, positions, own, reigning[item])

    def _beaten(
        self, moment: Moment, positions: Positions, own: int, beating: np.ndarray, reigning: set[str]
    ) -> Answer:
        ahead = positions.costs[own] - positions.costs[beating]
        # The unbeaten first, and of them those who are ahead most where they are ahead least.
        least = (ahead / _spread(positions)).min(axis=1)
        order = sorted(range(len(beating)), key=lambda n: (positions.objects[beating[n]] not in reigning, -least[n], n))
        item = positions.objects[own]
        names = self._names([item, *(positions.objects[at] for at in beating)], moment.period)
        rows = []
        for n in order:
            dominator = positions.objects[beating[n]]
            rows.append(
                (item, names.get(item, item), dominator, names.get(dominator, dominator), dominator in reigning,
                 *_compared(positions, own, beating[n]))
            )  # fmt: skip
        columns = ["object", "name", "dominator", "dominator_name", "dominator_unbeaten", *self._compared_columns()]
        remark = f"{names.get(item, item)} is beaten by {len(rows)} at {moment}."
        return Answer(columns, rows, remark)

    def _unbeaten(self, moment: Moment, positions: Positions, own: int, since: tuple[int, datetime]) -> Answer:
        item = positions.objects[own]
        behind = (positions.costs - positions.costs[own]) / _spread(positions)
        # A rival would beat it after catching up on every attribute: the nearest has least to catch up in the worst.
        to_catch_up = behind.max(axis=1)
        to_catch_up[own] = np.inf
        rival = int(np.argmin(to_catch_up)) if len(positions.objects) > 1 else None
        nearest = None if rival is None else positions.objects[rival]
        names = self._names([item, *([nearest] if nearest else [])], moment.period)
        compared = (
            [value for own_value in positions.values[own].tolist() for value in (own_value, None)]
            if rival is None
            else _compared(positions, own, rival)
        )
        row = (item, names.get(item, item), None, *since, nearest, names.get(nearest or "", nearest), *compared)
        columns = [
            "object", "name", "dominator", "since_snapshot", "since", "rival", "rival_name", *self._compared_columns(),
        ]  # fmt: skip
        remark = f"{row[1]} is unbeaten at {moment}, since snapshot {since[0]}."
        return Answer(columns, [row], remark)

    def _compared_columns(self) -> list[str]:
        """For each attribute the object's own value and how much better the other one is (negative: worse)."""
        return [column for name in self.definition.attribute_names for column in (name, f"{name}_ahead")]

    def reigns(self, top: int) -> Answer:
        """The longest reigns, by snapshots."""
        rows = self._rows(
            f"""
            select r.object, coalesce(n.name, r.object), r.snapshots, r.first_snapshot, r.last_snapshot,
                r.first_time, r.last_time, r.last_snapshot = (select max(last_snapshot) from {self._schema}.skyline)
            from {self._schema}.reigns r
            left join (select object, arg_max(name, period) as name from {self._schema}.objects group by object) n
                using (object)
            order by r.snapshots desc, r.first_snapshot, r.object limit ?
            """,
            [top],
        )
        columns = [
            "object", "name", "snapshots", "first_snapshot", "last_snapshot", "first_time", "last_time", "ongoing",
        ]  # fmt: skip
        return Answer(columns, rows)

    def all_reigns(self, objects: Sequence[str]) -> list[tuple[str, datetime, datetime]]:
        """Every reign of these objects, in order of time."""
        return self._rows(
            f"select object, first_time, last_time from {self._schema}.reigns "
            "where list_contains($objects, object) order by first_snapshot",
            {"objects": list(objects)},
        )

    def changes(self, start: str, end: str) -> Answer:
        """Who entered and who left after the first moment, up to the last; who left was beaten by whom, or is gone."""
        first, last = self.moment(start), self.moment(end)
        if first.snapshot > last.snapshot:
            raise SettingError(f"--from {start} is after --to {end}.")
        rows = self._rows(_changes_query(self.definition), {
            "first": first.snapshot, "last": last.snapshot, "first_period": first.period, "last_period": last.period,
            "before": self._before(first.period) or "",
        })  # fmt: skip
        columns = [
            "snapshot", "time", "label", "change", "object", "name", "reason", "replaced_by", "replaced_by_name",
        ]  # fmt: skip
        entered = sum(row[3] == "entered" for row in rows)
        remark = f"From {first} to {last}: {entered} entered, {len(rows) - entered} left."
        return Answer(columns, rows, remark)

    def _reigning(self, moment: Moment) -> dict[str, tuple[int, datetime]]:
        """The members at a moment, each with the beginning of its reign."""
        computed = self._rows(f"select 1 from {self._schema}.skyline where period = ? limit 1", [moment.period])
        if not computed and not self._is_computed(moment.period):
            raise NotPublishedError(
                f"The skylines of {self._schema} {moment.period} are not computed; "
                f"run: skyarchive run {self._schema} --periods {moment.period} --steps skyline"
            )
        found = self._rows(
            f"select object, first_snapshot, first_time from {self._schema}.reigns "
            "where ? between first_snapshot and last_snapshot",
            [moment.snapshot],
        )
        return {name: (since, time) for name, since, time in found}

    def _is_computed(self, period: str) -> bool:
        """Whether the step ran for a period: one in which nobody lived has no rows."""
        runs = f"select 1 from {self._schema}.runs where step = 'skyline' and period = ? limit 1"
        return bool(self._rows(runs, [period]))

    def _positions(self, moment: Moment) -> Positions:
        before = self._before(moment.period)
        return positions_at(self._session, self.definition, moment.period, before, moment.snapshot)

    def _before(self, period: str) -> str | None:
        found: str | None = self._rows(f"select max(period) from {self._schema}.carry where period < ?", [period])[0][0]
        return found

    def _object(self, who: str, moment: Moment) -> str:
        """An object by its own name: the identifier, or the name people know it by, or a part of that."""
        known = self._rows(
            f"select object, arg_max(name, period) from {self._schema}.objects where period <= ? group by object",
            [moment.period],
        )
        if any(who == item for item, _ in known):
            return who
        for fits in (lambda name: name == who.casefold(), lambda name: who.casefold() in name):
            found = sorted(item for item, name in known if fits(name.casefold()))
            if len(found) == 1:
                return found[0]
            if found:
                named = ", ".join(f"{item} ({dict(known)[item]})" for item in found[:5])
                raise SettingError(f"{who!r} may be {named}{' and others' if len(found) > 5 else ''}: give the object.")
        similar = difflib.get_close_matches(who, [name for _, name in known], 3)
        hint = f" Do you mean {' or '.join(map(repr, similar))}?" if similar else ""
        raise SettingError(f"{self._schema} has no object {who!r} up to {moment.period}.{hint}")

    def _called(self, item: str, moment: Moment) -> str:
        return self._names([item], moment.period).get(item, item)

    def _names(self, objects: list[str], period: str) -> dict[str, str]:
        """Names as they were known in a period."""
        return dict(
            self._rows(
                f"select object, arg_max(name, period) from {self._schema}.objects "
                "where period <= $period and list_contains($objects, object) group by object",
                {"period": period, "objects": objects},
            )
        )

    def _rows(self, sql: str, parameters: Any = None) -> list[Any]:
        return self._session.execute(sql, parameters).fetchall()


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise SettingError(
            f"{text!r} is neither a snapshot number nor a time: write 1234, 2010-06-17 or 2010-06-17T21:00."
        ) from error
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _spread(positions: Positions) -> np.ndarray:
    """How far apart the living are on each attribute: what makes differences comparable."""
    spread = positions.values.max(axis=0) - positions.values.min(axis=0)
    return np.where(spread > 0, spread, 1.0)


def _compared(positions: Positions, own: int, other: int) -> list[float]:
    """Attribute by attribute the own value, and how much better the other's is."""
    better = (positions.costs[own] - positions.costs[other]).tolist()
    return [value for pair in zip(positions.values[own].tolist(), better, strict=True) for value in pair]


def _changes_query(definition: Definition) -> str:
    """Entries and exits; who left is compared with the members of that snapshot, newcomers first."""
    schema = definition.name
    names = [f'"{name}"' for name in definition.attribute_names]
    signs = directions(definition)
    ours = [f"l.{name} * {sign:g}" for name, sign in zip(names, signs, strict=True)]
    theirs = [f"r.{name} * {sign:g}" for name, sign in zip(names, signs, strict=True)]
    nowhere_worse = " and ".join(f"{their} <= {our}" for our, their in zip(ours, theirs, strict=True))
    somewhere_better = " or ".join(f"{their} < {our}" for our, their in zip(ours, theirs, strict=True))
    columns = ", ".join(names)
    return f"""
    with log as (
        select object, snapshot, {columns} from {schema}.updates where period between $first_period and $last_period
        union all
        select object, -1, {columns} from {schema}.carry where period = $before and object is not null
    ), exits as (
        select object, last_snapshot + 1 as snapshot from {schema}.reigns
        where last_snapshot >= $first and last_snapshot < $last
    ), leavers as (
        select e.object, e.snapshot, {", ".join(f"p.{name}" for name in names)}
        from exits e asof left join log p on e.object = p.object and e.snapshot >= p.snapshot
    ), members as (
        select e.object as leaver, e.snapshot, m.object, m.first_snapshot = e.snapshot as is_new
        from (select distinct snapshot, object from exits) e
        join {schema}.reigns m on e.snapshot between m.first_snapshot and m.last_snapshot
    ), rivals as (
        select m.*, {", ".join(f"p.{name}" for name in names)}
        from members m asof join log p on m.object = p.object and m.snapshot >= p.snapshot
    ), replaced as (
        select l.object, l.snapshot, arg_max(r.object, (r.is_new, r.object)) as replaced_by
        from leavers l join rivals r on r.leaver = l.object and r.snapshot = l.snapshot
        where {nowhere_worse} and ({somewhere_better})
        group by l.object, l.snapshot
    ), events as (
        select first_snapshot as snapshot, 'entered' as change, object, null as reason, null as replaced_by
        from {schema}.reigns where first_snapshot > $first and first_snapshot <= $last
        union all
        select l.snapshot, 'left', l.object, case when l.{names[0]} is null then 'gone' else 'beaten' end, r.replaced_by
        from leavers l left join replaced r using (object, snapshot)
    ), names as (
        select object, arg_max(name, period) as name from {schema}.objects where period <= $last_period group by object
    )
    select e.snapshot, s.time, s.label, e.change, e.object, coalesce(n.name, e.object), e.reason, e.replaced_by,
        coalesce(o.name, e.replaced_by)
    from events e join {schema}.snapshots s using (snapshot)
    left join names n on n.object = e.object left join names o on o.object = e.replaced_by
    order by e.snapshot, e.change desc, e.object
    """

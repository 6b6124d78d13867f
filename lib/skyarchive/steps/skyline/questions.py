"""Who was unbeaten, why, for how long, and what changed: answered from the published tables without Spark."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import numpy as np

from skyarchive.answers.moments import Moment
from skyarchive.answers.positions import Positions, beats
from skyarchive.answers.questions import Answer, Questions
from skyarchive.errors import SettingError, SkyarchiveError
from skyarchive.steps.skyline.changes import changes_query

Measure = Literal["time", "snapshots"]
_MEASURES: dict[Measure, str] = {"time": "days", "snapshots": "snapshots"}
"""What a reign's length is told by, and the column that has it."""


class SkylineQuestions(Questions):
    """An archive that can be asked: who was unbeaten at a moment, why, for how long, and what changed."""

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
        remark = f"{len(rows)} of {len(positions.objects)} {is_unbeaten} at {moment}.{self._moments.outlook(moment)}"
        return Answer(columns, rows, remark)

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
        remark = f"{names.get(item, item)} is beaten by {len(rows)} at {moment}.{self._moments.outlook(moment)}"
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
        remark = f"{row[1]} is unbeaten at {moment}, since snapshot {since[0]}.{self._moments.outlook(moment)}"
        return Answer(columns, [row], remark)

    def _compared_columns(self) -> list[str]:
        """For each attribute the object's own value and how much better the other one is (negative: worse)."""
        return [column for name in self.definition.attribute_names for column in (name, f"{name}_ahead")]

    def reigns(self, top: int, by: Measure = "time", start: str | None = None, end: str | None = None) -> Answer:
        """The longest reigns, by time or by snapshots; only those that touch the span from `start` to `end`."""
        first, last, newest = self.moment(start) if start else None, self.moment(end), self.moment(None)
        if first and first.snapshot > last.snapshot:
            raise SettingError(f"--from {start} is after --to {end}.")
        rows = self._rows(
            f"""
            select r.object, coalesce(n.name, r.object), r.snapshots, r.first_snapshot, r.last_snapshot,
                r.first_time, r.last_time, r.until is null, r.until, r.days
            from {self._schema}.reigns r
            left join (select object, arg_max(name, period) as name from {self._schema}.objects group by object) n
                using (object)
            where r.last_snapshot >= $first and r.first_snapshot <= $last
            order by r.{_MEASURES[by]} desc, r.first_snapshot, r.object limit $top
            """,
            {"top": top, "first": first.snapshot if first else 0, "last": last.snapshot},
        )
        columns = [
            "object", "name", "snapshots", "first_snapshot", "last_snapshot", "first_time", "last_time", "ongoing",
            "until", "days",
        ]  # fmt: skip
        return Answer(columns, rows, f"Known up to {newest}.{self._moments.outlook(newest)}")

    def all_reigns(self, objects: Sequence[str]) -> list[tuple[str, datetime, datetime]]:
        """Every reign of these objects, in order of time: since when, and until when as far as is known."""
        return self._rows(
            f"select object, first_time, coalesce(until, last_time) from {self._schema}.reigns "
            "where list_contains($objects, object) order by first_snapshot",
            {"objects": list(objects)},
        )

    def changes(self, start: str, end: str) -> Answer:
        """Who entered and who left after the first moment, up to the last; who left was beaten by whom, or is gone."""
        first, last = self.moment(start), self.moment(end)
        if first.snapshot > last.snapshot:
            raise SettingError(f"--from {start} is after --to {end}.")
        self._moments.periods(first.snapshot, last.snapshot, "The changes reach into")
        rows = self._rows(changes_query(self.definition), {
            "first": first.snapshot, "last": last.snapshot, "first_period": first.period, "last_period": last.period,
            "before": self._moments.before(first.period) or "",
        })  # fmt: skip
        columns = [
            "snapshot", "time", "label", "change", "object", "name", "reason", "replaced_by", "replaced_by_name",
        ]  # fmt: skip
        entered = sum(row[3] == "entered" for row in rows)
        remark = f"From {first} to {last}: {entered} entered, {len(rows) - entered} left."
        return Answer(columns, rows, remark)

    def _reigning(self, moment: Moment) -> dict[str, tuple[int, datetime]]:
        """The members at a moment, each with the beginning of its reign."""
        found = self._rows(
            f"""
            select s.object, r.first_snapshot, r.first_time
            from {self._schema}.skyline s join {self._schema}.reigns r
                on s.object = r.object and s.first_snapshot between r.first_snapshot and r.last_snapshot
            where s.period = $period and $snapshot between s.first_snapshot and s.last_snapshot
            """,
            {"period": moment.period, "snapshot": moment.snapshot},
        )
        return {name: (since, time) for name, since, time in found}


def _spread(positions: Positions) -> np.ndarray:
    """How far apart the living are on each attribute: what makes differences comparable."""
    spread = positions.values.max(axis=0) - positions.values.min(axis=0)
    return np.where(spread > 0, spread, 1.0)


def _compared(positions: Positions, own: int, other: int) -> list[float]:
    """Attribute by attribute the own value, and how much better the other's is."""
    better = (positions.costs[own] - positions.costs[other]).tolist()
    return [value for pair in zip(positions.values[own].tolist(), better, strict=True) for value in pair]

"""Who was unbeaten often enough: any θ and window, answered from the published skylines without Spark."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from skyarchive.answers.moments import Moment
from skyarchive.answers.questions import Answer, Questions
from skyarchive.definition.frequent import Query
from skyarchive.errors import SettingError
from skyarchive.kernels.frequent import frequent_intervals
from skyarchive.wording import counted

_SEPARATOR = ".."
_REACHES = "The window reaches into"


@dataclass(frozen=True)
class Curve:
    """An object's count along some snapshots of the timeline."""

    object: str
    name: str
    times: list[datetime]
    counts: np.ndarray


class FrequentQuestions(Questions):
    """An archive that can be asked who was unbeaten in at least a share of the last snapshots."""

    def frequent_at(self, query: Query, at: str | None) -> Answer:
        """Who is frequent at a moment (the last one, if none is given), with counts, most frequent first."""
        moment = self.moment(at)
        self._assert_window(query)
        if moment.snapshot < query.window - 1:
            raise SettingError(
                f"There is no full window of {query.window} snapshots at {moment}: the first is at {query.window - 1}."
            )
        first = moment.snapshot - query.window + 1
        periods = self._moments.periods(first, moment.snapshot, _REACHES)
        found = self._rows(
            f"""
            select object, sum(least(last_snapshot, $at) - greatest(first_snapshot, $first) + 1)::bigint as count,
                bool_or(last_snapshot >= $at) as unbeaten
            from {self._schema}.skyline
            where list_contains($periods, period) and first_snapshot <= $at and last_snapshot >= $first
            group by object having count >= $needed order by count desc, object
            """,
            {"at": moment.snapshot, "first": first, "needed": query.needed, "periods": periods},
        )
        names = self._names([row[0] for row in found], moment.period)
        rows = [(item, names.get(item, item), count, count / query.window, now) for item, count, now in found]
        remark = (
            f"{counted(len(rows), 'was', 'were')} unbeaten in at least {query.needed} of the "
            f"{counted(query.window, 'snapshot', 'snapshots')} up to {moment}.{self._moments.outlook(moment)}"
        )
        return Answer(["object", "name", "count", "share", "unbeaten_now"], rows, remark)

    def frequent_over(self, query: Query, over: str | None) -> Answer:
        """The intervals within A..B (the whole archive, if nothing is given) during which objects are frequent."""
        start, end = self._range(query, over)
        objects, item, first, last = self._members(start.snapshot - query.window + 1, end.snapshot)
        # The snapshot before counts too: who is frequent there continues from it.
        found = frequent_intervals(item, first, last, query.window, query.needed, start.snapshot - 1, end.snapshot)
        own = found[2] >= start.snapshot
        who, begin, until = (column[own] for column in found)
        names = self._names([objects[at] for at in np.unique(who)], end.period)
        times = self._times([*np.maximum(begin, start.snapshot).tolist(), *until.tolist(), *(until + 1).tolist()])
        rows = []
        for at, opened, closed in zip(who.tolist(), begin.tolist(), until.tolist(), strict=True):
            from_before, opened = opened < start.snapshot, max(opened, start.snapshot)
            rows.append((objects[at], names.get(objects[at], objects[at]), opened, closed, times[opened],
                         times[closed], closed - opened + 1, from_before, closed == end.snapshot,
                         times[closed + 1] if closed < end.snapshot else None))  # fmt: skip
        rows.sort(key=lambda row: (row[2], row[0]))
        columns = ["object", "name", "first_snapshot", "last_snapshot", "first_time", "last_time", "snapshots",
                   "continued_from", "continues_into", "until"]  # fmt: skip
        remark = (
            f"From {start} to {end}: {counted(len(np.unique(who)), 'was', 'were')} at some time unbeaten in at least "
            f"{query.needed} of the last {counted(query.window, 'snapshot', 'snapshots')}.{self._moments.outlook(end)}"
        )
        return Answer(columns, rows, remark)

    def curves(self, query: Query, over: str | None, most: int, points: int) -> list[Curve]:
        """The counts of the objects that are frequent at most snapshots of A..B, most frequent first, at about so
        many points."""
        answer = self.frequent_over(query, over)
        total: dict[str, int] = {}
        for row in answer.rows:
            total[row[0]] = total.get(row[0], 0) + row[6]
        chosen = sorted(total, key=lambda name: (-total[name], name))[:most]
        names = {row[0]: row[1] for row in answer.rows}
        start, end = self._range(query, over)
        objects, item, first, last = self._members(start.snapshot - query.window + 1, end.snapshot)
        at = self._ticks(start.snapshot, end.snapshot, points)
        known = self._times(at.tolist())
        times = [known[snapshot] for snapshot in at.tolist()]
        curves = []
        for name in chosen:
            own = item == objects.index(name)
            curves.append(Curve(name, names[name], times, _counts(first[own], last[own], query.window, at)))
        return curves

    def _range(self, query: Query, over: str | None) -> tuple[Moment, Moment]:
        """The snapshots that are asked about; windows before the first full one are none."""
        self._assert_window(query)
        begin, separator, end = (over or _SEPARATOR).partition(_SEPARATOR)
        if not separator:
            raise SettingError(f"--over {over}: write A..B, two snapshot numbers or times; either may be left out.")
        first = self.moment(begin or str(self._moments.extent()[0]))
        last = self.moment(end or None)
        if first.snapshot > last.snapshot:
            raise SettingError(f"--over {over}: {first} is after {last}.")
        if last.snapshot < query.window - 1:
            raise SettingError(
                f"--over {over}: there is no full window of {query.window} snapshots up to {last}: the first is at "
                f"{query.window - 1}."
            )
        return max(first, self.moment(str(query.window - 1)), key=lambda moment: moment.snapshot), last

    def _assert_window(self, query: Query) -> None:
        snapshots = self._moments.extent()[1] + 1
        if query.window > snapshots:
            raise SettingError(
                f"--window {query.window} is longer than {self._schema}, which has {snapshots} snapshots."
            )

    def _members(self, first: int, last: int) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
        """The membership intervals that meet these snapshots, as the kernel takes them, and the objects' names."""
        # One more: who was frequent at the snapshot before is asked as well.
        first = max(first - 1, 0)
        columns: dict[str, Any] = self._session.execute(
            f"""
            select object, dense_rank() over (order by object) - 1 as item, first_snapshot, last_snapshot
            from {self._schema}.skyline
            where list_contains($periods, period) and first_snapshot <= $last and last_snapshot >= $first
            order by item, first_snapshot
            """,
            {"periods": self._moments.periods(first, last, _REACHES), "first": first, "last": last},
        ).fetchnumpy()
        item = columns["item"]
        objects = columns["object"][np.unique(item, return_index=True)[1]]
        return list(objects), item, columns["first_snapshot"], columns["last_snapshot"]

    def _ticks(self, first: int, last: int, points: int) -> np.ndarray:
        """Snapshots at even distances, and both sides of every border between periods: time may leap there."""
        borders = self._rows(
            f"select min(snapshot), max(snapshot) from {self._schema}.snapshots where snapshot between ? and ? "
            "group by period",
            [first, last],
        )
        even = np.linspace(first, last, min(points, last - first + 1)).round().astype(np.int64)
        return np.unique(np.concatenate([even, *(np.array(row, np.int64) for row in borders)]))

    def _times(self, snapshots: list[int]) -> dict[int, datetime]:
        return dict(
            self._rows(
                f"select snapshot, time from {self._schema}.snapshots "
                "semi join (select unnest($snapshots) as snapshot) using (snapshot)",
                {"snapshots": sorted(set(snapshots))},
            )
        )


def _counts(first: np.ndarray, last: np.ndarray, window: int, at: np.ndarray) -> np.ndarray:
    """In how many of the last `window` snapshots an object was a member: memberships up to now, less those up to a
    window ago. Both are straight lines between the borders of its intervals, which are in order."""
    borders = np.stack([first - 1, last], axis=1).ravel()
    lengths = np.cumsum(last - first + 1)
    so_far = np.stack([lengths - (last - first + 1), lengths], axis=1).ravel()
    return np.interp(at, borders, so_far) - np.interp(at - window, borders, so_far)

"""Which moments of an archive can be asked about: its snapshots, as far as their skylines are published."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from skyarchive.definition.model import Definition
from skyarchive.errors import DamagedError, NotPublishedError, SettingError
from skyarchive.pipeline.look import Look
from skyarchive.pipeline.step import step_named
from skyarchive.store.lake import Lake, TableName

_NUMBER = re.compile(r"\d{1,18}")
_LOG = ("updates", "snapshots", "carry")
"""What skylines are computed from."""


@dataclass(frozen=True)
class Moment:
    """One snapshot of the timeline."""

    period: str
    snapshot: int
    time: datetime
    label: str

    def __str__(self) -> str:
        return f"snapshot {self.snapshot} ({self.label}, {self.time:%Y-%m-%d %H:%M} UTC)"


class Moments:
    """An archive's tables as its published skylines know them, and the moments that can be asked about.

    Where a period was derived again and its skylines were not computed since, its timeline and its updates are those
    that they were computed from: an answer mixes nothing, and is what it was before.
    """

    def __init__(self, lake: Lake, definition: Definition, tables: Sequence[str]) -> None:
        lake = lake.at_rest()
        archive = self._archive = definition.name
        self._look = Look.read(lake, definition)
        self._ledger = self._look.ledger
        self._starts: dict[str, str | None] = {}
        self.computed = sorted(self._ledger.of("skyline"))
        if not self.computed:
            raise NotPublishedError(f"{archive} has no skylines yet; run: skyarchive run {archive}")
        self.session = lake.connect([(archive, table) for table in tables], earlier=self._earlier(lake))

    def _earlier(self, lake: Lake) -> dict[TableName, dict[str, int]]:
        """Of what changed since skylines were computed from it: the periods, with the versions before."""
        earlier: dict[TableName, dict[str, int]] = {(self._archive, table): {} for table in _LOG}
        carried: dict[int, list[str]] = {}
        for period in self.computed:
            versions = self._ledger.of("skyline")[period].input_versions
            if self._look.fits(step_named("skyline"), period) or not set(_LOG) <= set(versions):
                continue
            self._assert_kept(lake, period)
            version = versions["carry"]
            if version not in carried:
                log = lake.open(self._archive, "carry", version)
                carried[version] = [partition["period"] for partition in log.partitions()]
            before = max((known for known in carried[version] if known < period), default=None)
            self._starts[period] = before
            for table in _LOG:
                of_period = before if table == "carry" else period
                if of_period is not None:
                    earlier[self._archive, table][of_period] = versions[table]
        return earlier

    def _assert_kept(self, lake: Lake, period: str) -> None:
        """Refuse a period that lost what its skylines were computed from, mended or not: under the number of a version
        whose log was damaged there is another one."""
        computed = self._ledger.of("skyline")[period]
        for table in _LOG:
            if lake.made_at(self._archive, table, computed.input_versions[table]) > computed.started:
                raise DamagedError(
                    f"What the skylines of {self._archive} {period} were computed from was lost with the log of "
                    f"{self._archive}.{table}; run: skyarchive refresh {self._archive}"
                )

    def at(self, text: str | None) -> Moment:
        """The snapshot of that number, or the last one at or before that time; the last that has a skyline if none is
        given."""
        if text is None:
            text = str(self.extent()[1])
        is_number = _NUMBER.fullmatch(text) is not None
        moment = self._found(*(("snapshot = ?", int(text)) if is_number else ("time <= ?", _time(text))))
        if moment is None:
            first, last, begin, end = self._rows(
                f"select min(snapshot), max(snapshot), min(time), max(time) from {self._archive}.snapshots"
            )[0]
            raise SettingError(
                f"{self._archive} has no snapshot at {text}: it has {first} to {last}, "
                f"from {begin:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC."
            )
        if moment.period not in self.computed:
            raise NotPublishedError(
                f"The skylines of {self._archive} {moment.period} are not computed; {self._how(moment.period)}"
            )
        return moment

    def extent(self) -> tuple[int, int]:
        """The first and the last snapshot that have a skyline."""
        lowest, highest = self._rows(
            f"select min(snapshot), max(snapshot) from {self._archive}.snapshots where list_contains(?, period)",
            [self.computed],
        )[0]
        return lowest, highest

    def periods(self, first: int, last: int, what: str) -> list[str]:
        """The periods of these snapshots; an error if the skylines of one are not computed, or if one has come before
        others that are still numbered without it. `what` needs them."""
        found = self._rows(
            f"select period, min(snapshot), max(snapshot) from {self._archive}.snapshots "
            "where snapshot between ? and ? group by period order by period",
            [first, last],
        )
        missing = [period for period, _, _ in found if period not in self.computed]
        if missing:
            raise NotPublishedError(
                f"{what} {self._archive} {missing[0]}, whose skylines are not computed; {self._how(missing[0])}"
            )
        for (period, _, until), (later, begin, _) in pairwise(found):
            if begin <= until:
                raise NotPublishedError(
                    f"{what} {self._archive} {period} and {later}, whose snapshots have the same numbers until what "
                    f"changed is computed again; run: skyarchive refresh {self._archive}"
                )
        return [period for period, _, _ in found]

    def before(self, period: str) -> str | None:
        """The period that a period started from."""
        if period in self._starts:
            return self._starts[period]
        query = f"select max(period) from {self._archive}.carry where period < ?"
        found: str | None = self._rows(query, [period])[0][0]
        return found

    def outlook(self, last: Moment) -> str:
        """What is said of an answer up to the last moment, when there is more that has no skyline; else nothing."""
        if last.period in self._starts:
            return (
                f" The updates of {self._archive} {last.period} have changed since its skylines were computed; "
                f"run: skyarchive refresh {self._archive}"
            )
        waiting = sorted(period for period in self._ledger.of("derive") if period > self.computed[-1])
        if not waiting or last.period != self.computed[-1]:
            return ""
        return f" The skylines of {self._archive} {waiting[0]} are not computed yet; {self._how(waiting[0])}"

    def _how(self, period: str) -> str:
        return f"run: skyarchive run {self._archive} --periods {period} --steps skyline"

    def _found(self, condition: str, value: Any) -> Moment | None:
        row = self.session.execute(
            f"select period, snapshot, time, label from {self._archive}.snapshots where {condition} "
            "order by period desc, snapshot desc limit 1",
            [value],
        ).fetchone()
        return Moment(*row) if row else None

    def _rows(self, sql: str, parameters: Any = None) -> list[Any]:
        return self.session.execute(sql, parameters).fetchall()


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise SettingError(
            f"{text!r} is neither a snapshot number nor a time: write 1234, 2010-06-17 or 2010-06-17T21:00."
        ) from error
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)

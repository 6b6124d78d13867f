"""Records as they come: what they change, and a state that can be put away and taken up again."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.columns import Columns
from skyarchive.kernels.windows.changes import Changes, changes_of
from skyarchive.kernels.windows.checking import Records, checked
from skyarchive.kernels.windows.codes import Coder, Codes, coder_for
from skyarchive.kernels.windows.keeper import Keeper, Numbers
from skyarchive.kernels.windows.slots import KNOWN, MOMENT, NOBODY, RECORD
from skyarchive.kernels.windows.stays import Counters, Settled

_PIECE = 2**16
"""So many records are coded together."""
_WORN = 2.0
"""So many times as likely as when they were made may two records share a code before codes are made anew."""
_BEFORE = np.iinfo(np.int64).min
State = dict[str, NDArray[Any]]


class LiveWindow:
    """The skyline of the last while of a stream that goes on; `width` as in `window_stays`, `m` attributes."""

    def __init__(self, width: int, m: int) -> None:
        nothing = np.empty(0)
        checked(np.empty(0, np.int64), None, [nothing] * m, width)
        self.width, self.m = int(width), m
        self.fed = 0
        """Records so far: the number of the next one."""
        self.last = _BEFORE
        """The last moment."""
        self._keeper: Keeper | None = None
        self._grouped = False
        self._coder: Coder | None = None
        self._coded_at = 0
        self._crowding = np.zeros(m)

    def feed(
        self, moments: NDArray[np.int64], groups: NDArray[np.int32] | None, columns: Sequence[NDArray[np.float64]]
    ) -> Changes:
        """Takes further records in, and tells what changed since the last ones up to the moment of these, net per
        moment; numbers count all records from 0. Arguments as those of `window_stays`. The records of one moment are
        fed together."""
        records = checked(moments, groups, columns, self.width)
        if len(columns) != self.m:
            raise ValueError(f"there must be {self.m} columns, not {len(columns)}")
        if not len(records):
            return Changes(*np.empty((4, 0), np.int64))
        if records.moments[0] <= self.last:
            raise ValueError(f"records must come later than {self.last}, the last moment fed before")
        keeper = self._keeper_for(groups is not None)
        before, _ = keeper.held()
        told = self._told(before, records, self._take(keeper, records))
        self.fed += len(records)
        self.last = int(records.moments[-1])
        return told

    @property
    def tests(self) -> int:
        """Pairs of records compared so far."""
        return self._keeper.tests if self._keeper else 0

    @property
    def kept(self) -> int:
        """The most records kept at once so far."""
        return self._keeper.most if self._keeper else 0

    def _keeper_for(self, grouped: bool) -> Keeper:
        """Groups are two attributes more, the group and its negative: who is at least as good on both is of the same
        group."""
        if self._keeper is None:
            self._grouped = grouped
            self._keeper = Keeper(self.m + 2 * grouped)
        if self._grouped != grouped:
            raise ValueError("either all records of a stream have groups, or none has")
        return self._keeper

    def _take(self, keeper: Keeper, records: Records) -> Numbers:
        arrays = list(records.columns.arrays)
        if records.groups is not None:
            group = records.groups.astype(np.float64)
            arrays += [group, -group]
        columns = Columns(arrays)
        numbers = keeper.numbers(len(records), self.fed)
        codes = Codes(len(records), len(columns))
        everyone = np.arange(len(records), dtype=np.int32)
        for begin in range(0, len(records), _PIECE):
            end = min(begin + _PIECE, len(records))
            self._encode(keeper, columns, codes, begin, end)
            keeper.take(columns, records.moments, codes.blocks, everyone, begin, end, self.width, numbers)
        return numbers

    def _encode(self, keeper: Keeper, columns: Columns, codes: Codes, begin: int, end: int) -> None:
        """Codes of a piece, made anew when twice as many records have come as at the last time or a whole piece more;
        but not if the ones there are still tell the records of a whole piece apart."""
        at, is_whole = self.fed + begin, end - begin == _PIECE
        if self._coder is not None:
            codes.fill(self._coder, columns, begin, end)
            if at < min(2 * self._coded_at, self._coded_at + _PIECE):
                return
            if is_whole and (codes.crowding(begin, end) <= _WORN * self._crowding).all():
                return
        self._coder = coder_for(columns, begin, end)
        keeper.recode(self._coder)
        codes.fill(self._coder, columns, begin, end)
        self._coded_at = max(at, 1)
        self._crowding = codes.crowding(begin, end) if is_whole else np.zeros(len(columns))

    def _told(self, before: NDArray[np.int64], records: Records, numbers: Numbers) -> Changes:
        """The changes, given what was known about those kept before."""
        beaten_by = np.full(len(before), NOBODY)
        beaten_by[np.searchsorted(before[:, RECORD], numbers.elders[:, 0])] = numbers.elders[:, 1]
        return changes_of(
            before, beaten_by, records.moments, numbers.freed_by, numbers.beaten_by, self.fed, self.width, self.last
        )

    def state(self) -> State:
        """All there is to know to go on with, as arrays."""
        axes = self.m + 2 * self._grouped
        known, points = self._keeper.held() if self._keeper else (np.empty((0, KNOWN), np.int64), np.empty((0, axes)))
        alive = known[:, MOMENT] > self.last - self.width if self.fed else np.zeros(0, bool)
        stream = [self.width, self.m, self.fed, self.last, self._keeper is not None, self._grouped]
        return {"stream": np.array(stream, np.int64), "known": known[alive], "points": points[alive]}

    @classmethod
    def from_state(cls, state: Mapping[str, NDArray[Any]]) -> "LiveWindow":
        """One that goes on where the other was."""
        width, m, fed, last, is_begun, grouped = state["stream"].tolist()
        live = cls(width, m)
        live.fed, live.last = fed, last
        if is_begun:
            keeper = live._keeper_for(bool(grouped))
            points = np.ascontiguousarray(state["points"], np.float64)
            columns = Columns([np.ascontiguousarray(column) for column in points.T])
            live._coder = coder_for(columns, 0, len(points))
            keeper.refill(live._coder, points, np.ascontiguousarray(state["known"], np.int64))
        return live


def at_once(stream: Records, counters: Counters) -> Settled:
    """Who freed and who beat each of these records, which have no groups, when they come one after the other."""
    live = LiveWindow(stream.width, len(stream.columns))
    numbers = live._take(live._keeper_for(False), stream)
    counters.tests += live.tests
    counters.kept = max(counters.kept, live.kept)
    return np.arange(len(stream)), numbers.freed_by, numbers.beaten_by

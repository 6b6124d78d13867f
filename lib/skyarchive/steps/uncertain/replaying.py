"""The records that count at a moment, read from the raw rows without Spark, and how probable each of them is."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skyarchive.arrivals.moments import Extent, Moment
from skyarchive.arrivals.ordered import Asked, Ints, Records

if TYPE_CHECKING:
    from skyarchive.steps.uncertain.questions import UncertainQuestions

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Living:
    """The records that count at a moment, in the order they came."""

    records: Records
    asked: Asked
    first_number: int
    """The number of the first of them."""

    @property
    def chance(self) -> NDArray[np.float64]:
        """How probably each exists."""
        assert self.records.chance is not None
        return self.records.chance

    def likely(self, threshold: float) -> tuple[Ints, NDArray[np.float64]]:
        """Those that are in the skyline with at least this probability, the most probable first, and how probable."""
        from skyarchive.kernels.uncertain import top_k  # compiled code, which not every question needs

        count = len(self.records)
        if not count:
            return np.empty(0, np.int64), np.empty(0)
        every = slice(0, count)
        order = np.arange(count, dtype=np.int64)
        costs = self.records.costs(self.asked, every)
        return top_k(order, self.records.group_codes(every), costs, self.chance, count, count - 1, count,
                     threshold=threshold)  # fmt: skip

    @cached_property
    def _costs(self) -> NDArray[np.float64]:
        return np.column_stack(self.records.costs(self.asked, slice(0, len(self.records))))

    def beaten_by(self, at: int) -> Ints:
        """Those that beat one of them."""
        own = self._costs[at]
        found = (self._costs <= own).all(axis=1) & (self._costs < own).any(axis=1)
        if self.records.group is not None:
            found &= self.records.group.codes == self.records.group.codes[at]
        return np.flatnonzero(found)


def living_at(questions: "UncertainQuestions", moment: Moment) -> Living:
    """Who counts at a moment."""
    query = questions.query
    extents = _reached(questions, moment)
    periods = [extent.period for extent in extents]
    records = questions.raw().read(periods, questions.look.before(periods[0]), questions.facts)
    [asked] = Asked.of([query])
    moments = records.moments(asked)
    if query.counts_records:
        number = moment.number
        at = _last_by(records, moment) if number is None else number - extents[0].first_number
    else:
        assert moment.time is not None
        at = microseconds(moment)
    begin, end = np.searchsorted(moments, [at - query.width, at], "right").tolist()
    return Living(records.at(np.arange(begin, end)), asked, extents[0].first_number + begin)


def microseconds(moment: Moment) -> int:
    """Since 1970."""
    assert moment.time is not None
    return since_epoch(moment.time)


def since_epoch(time: datetime) -> int:
    """In microseconds."""
    return (time - _EPOCH) // timedelta(microseconds=1)


def _last_by(records: Records, moment: Moment) -> int:
    return int(np.searchsorted(records.time, microseconds(moment), "right")) - 1


def _reached(questions: "UncertainQuestions", moment: Moment) -> list[Extent]:
    """The periods with what counts at a moment."""
    place = questions.extents.index(moment.extent)
    first = place
    while first > 0 and _reaches_before(questions, questions.extents[first], moment):
        first -= 1
    return questions.extents[first : place + 1]


def _reaches_before(questions: "UncertainQuestions", extent: Extent, moment: Moment) -> bool:
    """Whether what came before a period counts still."""
    width = questions.query.width
    if questions.query.counts_records:
        least = moment.number if moment.number is not None else moment.extent.first_number - 1
        return extent.first_number > max(least - width + 1, 0)
    return microseconds(moment) - width < since_epoch(extent.first)

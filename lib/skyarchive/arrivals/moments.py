"""Which moments can be asked about: times, and when the record of a number came."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from skyarchive.definition.windows import WindowQuery
from skyarchive.errors import SettingError

_NUMBER = re.compile(r"\d{1,18}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHOWN_AS = "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True)
class Extent:
    """A period's records of a query: their numbers and times."""

    period: str
    first_number: int
    last_number: int
    first: datetime
    last: datetime


@dataclass(frozen=True)
class Moment:
    """When a question is about: in a period that has records, at a time or when the record of a number had come."""

    extent: Extent
    time: datetime | None
    """None where only its number counts."""
    number: int | None = None
    """Where the question was about a record."""
    is_beyond: bool = False
    """Whether the question was about a time after the last record, which is this one."""

    def is_after(self, other: "Moment") -> bool:
        """Whether it is later, as far as both tell the same of themselves."""
        if self.number is not None and other.number is not None:
            return self.number > other.number
        if self.time is not None and other.time is not None:
            return self.time > other.time
        return self.extent.first_number > other.extent.first_number

    def __str__(self) -> str:
        about = [] if self.number is None else [f"record {self.number}"]
        return ", ".join([*about, f"{self.time:{_SHOWN_AS}} UTC"] if self.time else about)


@dataclass(frozen=True)
class WindowMoments:
    """The moments of a query, as far as its stays are published."""

    archive: str
    query: WindowQuery
    extents: Sequence[Extent]
    """The periods that have records, in order."""
    time_of_record: Callable[[Extent, int], int]
    """When the record of a number came, in microseconds."""

    def at(self, text: str | None) -> Moment:
        """What a text means; the last record without one."""
        if text is None:
            return self._last()
        return self._of_record(int(text)) if _NUMBER.fullmatch(text) else self._at(text, _asked_time(text))

    def _last(self, *, is_beyond: bool = False) -> Moment:
        last = self.extents[-1]
        return Moment(last, last.last, last.last_number, is_beyond)

    def _at(self, text: str, time: datetime) -> Moment:
        if time < self.extents[0].first:
            raise SettingError(f"{self.archive} has no record at {text}: {self._from_to()}.")
        for extent in self.extents:
            if time <= extent.last:
                return Moment(extent, time)
        return self._last(is_beyond=True)

    def _of_record(self, number: int) -> Moment:
        for extent in self.extents:
            if number == extent.last_number:
                return Moment(extent, extent.last, number)
            if number < extent.last_number:
                is_enough = self.query.counts_records
                return Moment(extent, None if is_enough else time_of(self.time_of_record(extent, number)), number)
        raise SettingError(f"{self.archive} has no record {number}: {self._from_to()}.")

    def span(self, text: str, separator: str) -> tuple[Moment | None, Moment]:
        """The two moments of A..B, either of which may be left out; nothing for a beginning before the first record."""
        begin, found, end = text.partition(separator)
        if not found:
            raise SettingError(f"--over {text}: write A..B, two numbers of records or times; either may be left out.")
        first, last = self.at(begin) if begin else None, self.at(end or None)
        if first and first.is_after(last):
            raise SettingError(f"--over {text}: {first} is after {last}.")
        return first, last

    def _from_to(self) -> str:
        first, last = self.extents[0], self.extents[-1]
        return (
            f"the query {self.query.name} has records 0 to {last.last_number}, from {first.first:{_SHOWN_AS}} to "
            f"{last.last:{_SHOWN_AS}} UTC"
        )


def time_of(microseconds: int) -> datetime:
    """A time that is told in microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=microseconds)


def _asked_time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise SettingError(
            f"{text!r} is neither a record's number nor a time: write 1234, 2010-06-17 or 2010-06-17T21:00."
        ) from error
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)

"""Which periods a person means: 2014, 2010..2014, 2010.., 2010,2012, or all there are."""

import re
from dataclasses import dataclass
from datetime import date

from skyarchive.definition.model import Definition
from skyarchive.errors import SettingError
from skyarchive.names import checked_period

_KEYS = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}
"""How periods by the calendar are written."""
EXAMPLE = date(2014, 6, 15)
"""The day whose periods show what periods look like."""


@dataclass(frozen=True)
class Selection:
    """Named periods, or a range of those that are known."""

    text: str | None = None

    @property
    def named(self) -> list[str]:
        """The periods that are named one by one."""
        parts = [part.strip() for part in (self.text or "").split(",")]
        return [checked_period(part) for part in parts if part and ".." not in part]

    def check(self, definition: Definition) -> None:
        """Refuse what cannot be periods of the archive, which needs no look at any file."""
        for period in self.named:
            check_look(period, definition)

    def pick(self, known: list[str], definition: Definition) -> list[str]:
        """The selected periods in order. Single ones need not be known: the step says what it misses."""
        self.check(definition)
        if self.text is None:
            chosen = known
        else:
            parts = [part.strip() for part in self.text.split(",")]
            chosen = sorted({period for part in parts for period in _pick_part(part, known)})
        if not chosen:
            look = "" if known else f"; {look_of(definition)[0]}"
            raise SettingError(
                f"{definition.name} has no period in {self.text or 'its raw files'}; {listed(known)}{look}."
            )
        return chosen


def _pick_part(part: str, known: list[str]) -> list[str]:
    first, dots, last = part.partition("..")
    if not dots:
        return [checked_period(part)]
    if first:
        checked_period(first)
    if last:
        checked_period(last)
    if first and last and first > last:
        raise SettingError(f"{part!r} is a range from later to earlier; write {last}..{first}.")
    return [p for p in known if (not first or p >= first) and (not last or p <= last)]


def listed(known: list[str]) -> str:
    """Which periods there are, for a sentence: their look is told by it, too."""
    if not known:
        return "there are no raw files for it yet"
    return f"there is {known[0]}" if len(known) == 1 else f"there are {len(known)} from {known[0]} to {known[-1]}"


def check_look(period: str, definition: Definition) -> None:
    """Refuse what cannot be a period of the archive, whatever raw files there will be."""
    words, pattern = look_of(definition)
    if not re.fullmatch(pattern, period):
        raise SettingError(f"{period!r} is not a period of {definition.name}: {words}.")


def look_of(definition: Definition) -> tuple[str, str]:
    """What the archive's periods look like, in words and as a pattern."""
    period = definition.period
    if period.by == "block":
        return f"its periods are numbers of blocks of {period.size}, as 00012", r"\d{5,}"
    key = definition.schedule.key if period.by == "value" and definition.schedule else _KEYS.get(period.by)
    if key is not None:
        pattern = re.sub("%[md]", r"\\d{2}", re.escape(key).replace("%Y", r"\d{4}"))
        return f"its periods look like {EXAMPLE.strftime(key)}", pattern
    kind = definition.columns[period.column].type
    if kind in ("int", "bigint"):
        return f"its periods are the values of {period.column}, whole numbers", r"\d+"
    return f"its periods are the values of {period.column}", ".*"

"""Which periods a person means: 2014, 2010..2014, 2010.., 2010,2012, or all there are."""

from dataclasses import dataclass

from skyarchive.errors import SettingError
from skyarchive.names import checked_period


@dataclass(frozen=True)
class Selection:
    """Named periods, or a range of those that are known."""

    text: str | None = None

    @property
    def named(self) -> list[str]:
        """The periods that are named one by one."""
        parts = [part.strip() for part in (self.text or "").split(",")]
        return [checked_period(part) for part in parts if part and ".." not in part]

    def pick(self, known: list[str], archive: str) -> list[str]:
        """The selected periods in order. Single ones need not be known: the step says what it misses."""
        if self.text is None:
            chosen = known
        else:
            parts = [part.strip() for part in self.text.split(",")]
            chosen = sorted({period for part in parts for period in _pick_part(part, known)})
        if not chosen:
            raise SettingError(f"{archive} has no period in {self.text or 'its raw files'}; {listed(known)}.")
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

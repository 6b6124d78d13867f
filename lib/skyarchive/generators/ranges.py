"""Ranges of periods written out, for the archives whose periods follow from each other."""

from datetime import date, timedelta

from skyarchive.errors import SettingError
from skyarchive.names import checked_period

_MOST = 10_000


def written_out(text: str, archive: str) -> list[str]:
    """'2010..2012' as its years, '2024-04-19..2024-04-21' as its days, '00000..00002' as its blocks."""
    periods: list[str] = []
    for part in text.split(","):
        first, dots, last = (piece.strip() for piece in part.partition(".."))
        checked_period(first)
        if dots:
            checked_period(last)
            periods += _between(first, last, archive)
        else:
            periods.append(first)
    return periods


def _between(first: str, last: str, archive: str) -> list[str]:
    try:
        if archive == "tcp":
            begin, end = date.fromisoformat(first), date.fromisoformat(last)
            count = (end - begin).days + 1
            names = [(begin + timedelta(days=n)).isoformat() for n in range(min(count, _MOST))]
        else:
            count = int(last) - int(first) + 1
            names = [str(int(first) + n).zfill(len(first)) for n in range(min(count, _MOST))]
    except ValueError:
        raise SettingError(f"{first}..{last} is not a range of periods of {archive}.") from None
    if count < 1 or count > _MOST:
        raise SettingError(f"{first}..{last} holds {max(count, 0)} periods; give 1 to {_MOST}.")
    return names

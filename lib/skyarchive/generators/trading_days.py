"""Days on which New York trades."""

from datetime import date, timedelta
from functools import cache

import numpy as np


@cache
def trading_days(year: int) -> np.ndarray:
    """The year's weekdays without exchange holidays, as datetime64[D]."""
    holidays = np.array(sorted(_holidays(year)), "datetime64[D]")
    days = np.arange(np.datetime64(f"{year}-01-01"), np.datetime64(f"{year + 1}-01-01"))
    return days[np.is_busday(days, holidays=holidays)]


def _holidays(year: int) -> set[date]:
    fixed = {_observed(date(year, month, day)) for month, day in ((1, 1), (7, 4), (12, 25))}
    return fixed | {
        _nth_weekday(year, 1, 0, 3),  # Martin Luther King
        _nth_weekday(year, 2, 0, 3),  # Presidents
        _easter(year) - timedelta(days=2),  # Good Friday
        _nth_weekday(year, 6, 0, 1) - timedelta(days=7),  # Memorial Day: the last Monday of May
        _nth_weekday(year, 9, 0, 1),  # Labor Day
        _nth_weekday(year, 11, 3, 4),  # Thanksgiving
    }


def _observed(day: date) -> date:
    """A holiday on a Sunday is kept on Monday; on a Saturday on Friday, unless that is in the old year."""
    if day.weekday() == 6:
        return day + timedelta(days=1)
    if day.weekday() == 5 and (day.month, day.day) != (1, 1):
        return day - timedelta(days=1)
    return day


def _nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))


def _easter(year: int) -> date:
    """Easter Sunday by the anonymous Gregorian computus."""
    golden, century, rest = year % 19, year // 100, year % 100
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    shift = (golden + 11 * epact + 22 * weekday) // 451
    months = epact + weekday - 7 * shift + 114
    return date(year, months // 31, months % 31 + 1)

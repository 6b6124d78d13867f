"""When games are played: rounds of a regular season, dates, times and game ids."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from skyarchive.generators.nba_format import CLUBS, EAST, WEST

EASTERN = ZoneInfo("America/New_York")
TIP_OFFS = np.array([13 * 60, 18 * 60, 19 * 60, 19 * 60 + 30, 20 * 60, 20 * 60 + 30, 21 * 60, 22 * 60 + 30])
TIP_OFF_SHARES = np.array([0.03, 0.05, 0.25, 0.14, 0.28, 0.10, 0.05, 0.10])
SEASON_DAYS = 164
PLAYOFF_DAYS = 58
FIRST_PLAIN_ID = 400_000_000
IDS_A_SEASON = 100_000
REGULAR, PLAYOFFS = 2, 3


@dataclass(frozen=True)
class Games:
    """Games, one array entry each; `minute` counts from midnight, Eastern time."""

    day: np.ndarray
    minute: np.ndarray
    home: np.ndarray
    away: np.ndarray
    season_type: np.ndarray

    def __len__(self) -> int:
        return len(self.day)

    def take(self, index: np.ndarray) -> "Games":
        """The games at these indices."""
        return Games(*(values[index] for values in vars(self).values()))


def together(parts: list[Games]) -> Games:
    """The games of all parts."""
    return Games(*(np.concatenate(columns) for columns in zip(*(vars(p).values() for p in parts), strict=True)))


def opening_night(season: int) -> np.datetime64:
    """The last Tuesday of October before the year the season is named by."""
    last = date(season - 1, 10, 31)
    return np.datetime64(last - timedelta(days=(last.weekday() - 1) % 7), "D")


def regular_season(rng: np.random.Generator, season: int, rounds: int) -> Games:
    """Rounds in which every club plays once, spread over the winter; each opens with two at one time."""
    pairs = np.argsort(rng.random((rounds, len(CLUBS))), axis=1) + 1
    half = len(CLUBS) // 2
    first_day = np.arange(rounds) * SEASON_DAYS // rounds
    gap = max(1, SEASON_DAYS // rounds)
    offset = np.sort(rng.integers(0, gap, (rounds, half)), axis=1)
    offset[:, 1] = offset[:, 0]
    minute = rng.choice(TIP_OFFS, (rounds, half), p=TIP_OFF_SHARES)
    minute[:, 1] = minute[:, 0]
    day = opening_night(season) + (first_day[:, None] + offset).ravel()
    kind = np.full(rounds * half, REGULAR)
    return Games(day, minute.ravel(), pairs[:, :half].ravel(), pairs[:, half:].ravel(), kind)


def all_star_game(season: int) -> Games:
    """East against West, on a Sunday evening in February."""
    sunday = date(season, 2, 14)
    sunday += timedelta(days=(6 - sunday.weekday()) % 7)
    values = (np.datetime64(sunday, "D"), 20 * 60, WEST, EAST, REGULAR)
    return Games(*(np.array([value]) for value in values))


def playoff_round(
    rng: np.random.Generator, season: int, number: int, better: np.ndarray, other: np.ndarray, most: int
) -> Games:
    """All games a round's series may need, series by series; the better club has the home games to spare."""
    span = PLAYOFF_DAYS // 4
    start = opening_night(season) + SEASON_DAYS + 4 + number * span
    days = start + np.tile(np.arange(most) * span // most, len(better))
    host_is_better = np.tile(np.arange(most) % 4 < 2, len(better))
    strong, weak = np.repeat(better, most), np.repeat(other, most)
    home, away = np.where(host_is_better, strong, weak), np.where(host_is_better, weak, strong)
    minute = rng.choice(TIP_OFFS, len(home), p=TIP_OFF_SHARES)
    return Games(days, minute, home, away, np.full(len(home), PLAYOFFS))


def game_ids(season: int, games: Games) -> np.ndarray:
    """Ids as the league's feed made them: by date and home club up to 2012, then running numbers.
    The games come oldest first; a second home game of a club on a day gets an id of its own."""
    if season >= 2013:
        return FIRST_PLAIN_ID + (season - 2013) * IDS_A_SEASON + np.arange(len(games))
    days = games.day.astype("datetime64[D]")
    year = days.astype("datetime64[Y]").astype(int) + 1970
    month = days.astype("datetime64[M]").astype(int) % 12 + 1
    day = (days - days.astype("datetime64[M]")).astype(int) + 1
    ids = ((year - 1980) % 100) * 10_000_000 + month * 100_000 + day * 1000 + games.home
    order = np.argsort(ids, kind="stable")
    run = np.arange(len(ids)) - np.searchsorted(ids[order], ids[order])
    ids[order] += 100 * run
    return ids


def utc_micros(games: Games) -> np.ndarray:
    """Tip-off as microseconds since 1970 in UTC, daylight saving and all."""
    local = games.day.astype("datetime64[m]") + games.minute
    distinct, index = np.unique(local, return_inverse=True)
    instants = [moment.replace(tzinfo=EASTERN).timestamp() for moment in distinct.astype(datetime)]
    return (np.array(instants) * 1_000_000).astype(np.int64)[index]

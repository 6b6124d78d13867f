"""Players with careers: classes that enter year by year, grow, peak, fade and retire."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from skyarchive.generators import nba_names
from skyarchive.generators.nba_format import CLUBS
from skyarchive.generators.seeds import stream

CLASS_SIZE = 70
LONGEST_CAREER = 20
FIRST_CLASS = 1900
SQUAD = 15
"""Most players a club carries."""
FEWEST = 12
YEARS_WITH_A_CLUB = 4
PEAK_AGE = 27.0
POSITIONS = (("Point Guard", "PG"), ("Shooting Guard", "SG"), ("Small Forward", "SF"),
             ("Power Forward", "PF"), ("Center", "C"))  # fmt: skip

_FIRST = np.array(nba_names.FIRST.split(), object)
_LAST = np.array(nba_names.LAST.split(), object)

# Per minute at full skill, by position from point guard to center.
_RATES = {
    "shots": (0.29, 0.32, 0.30, 0.29, 0.26),
    "threes": (0.33, 0.36, 0.28, 0.10, 0.02),  # share of shots
    "fouled": (0.043, 0.041, 0.044, 0.052, 0.056),
    "offensive": (0.014, 0.020, 0.035, 0.065, 0.085),
    "defensive": (0.075, 0.085, 0.115, 0.165, 0.190),
    "assists": (0.190, 0.100, 0.075, 0.055, 0.045),
    "steals": (0.042, 0.036, 0.032, 0.025, 0.022),
    "blocks": (0.006, 0.009, 0.016, 0.032, 0.055),
    "turnovers": (0.075, 0.058, 0.054, 0.054, 0.060),
    "two": (0.46, 0.46, 0.47, 0.49, 0.51),  # chances to hit
    "three": (0.36, 0.37, 0.36, 0.32, 0.26),
    "free": (0.79, 0.80, 0.77, 0.72, 0.66),
}
_SPREAD = {"threes": 0.3, "two": 0.06, "three": 0.08, "free": 0.08}
_USUAL_SPREAD = 0.22
_GROWS_WITH_SKILL = ("shots", "fouled", "offensive", "defensive", "assists", "steals", "blocks")


@dataclass(frozen=True)
class Players:
    """Players of one class or one season, one array entry each."""

    ids: np.ndarray
    names: np.ndarray
    entered: np.ndarray
    seasons: np.ndarray
    entry_age: np.ndarray
    skill: np.ndarray
    position: np.ndarray
    jersey: np.ndarray
    rates: dict[str, np.ndarray]

    def take(self, index: np.ndarray) -> "Players":
        """The players at these indices."""
        arrays = {name: getattr(self, name)[index] for name in _ARRAYS}
        return Players(**arrays, rates={name: rate[index] for name, rate in self.rates.items()})

    def ability(self, season: int) -> np.ndarray:
        """Skill as age has it: rising to the peak, then falling."""
        age = self.entry_age + (season - self.entered)
        return np.maximum(self.skill * (1.0 - 0.004 * (age - PEAK_AGE) ** 2), 0.2)


_ARRAYS = ("ids", "names", "entered", "seasons", "entry_age", "skill", "position", "jersey")


@lru_cache(maxsize=256)
def entering(seed: int, year: int) -> Players:
    """The class that plays its first season in the given one."""
    rng = stream(seed, "nba", "class", year)
    skill = np.exp(rng.normal(0.0, 0.22, CLASS_SIZE))
    seasons = 1 + rng.poisson(np.clip(7.0 * (skill - 0.25), 0.3, 14.0))
    position = rng.integers(0, len(POSITIONS), CLASS_SIZE)
    rates = {}
    for name, by_position in _RATES.items():
        spread = rng.normal(0.0, _SPREAD.get(name, _USUAL_SPREAD), CLASS_SIZE)
        grown = skill**0.7 if name in _GROWS_WITH_SKILL else 1.0
        rates[name] = np.asarray(by_position)[position] * np.exp(spread) * grown
    for name in ("threes", "two", "three", "free"):
        rates[name] = np.clip(rates[name], 0.0, 0.95)
    return Players(
        ids=1 + (year - FIRST_CLASS) * CLASS_SIZE + np.arange(CLASS_SIZE),
        names=_names(seed, year),
        entered=np.full(CLASS_SIZE, year),
        seasons=np.minimum(seasons, LONGEST_CAREER),
        entry_age=rng.integers(19, 24, CLASS_SIZE),
        skill=skill,
        position=position,
        jersey=rng.integers(0, 56, CLASS_SIZE),
        rates=rates,
    )


def _names(seed: int, year: int) -> np.ndarray:
    """Names of a class, some of them borne by others too."""
    rng = stream(seed, "nba", "names", year)
    first = _FIRST[rng.integers(0, len(_FIRST), CLASS_SIZE)]
    return first + " " + _LAST[rng.integers(0, len(_LAST), CLASS_SIZE)]


def playing(seed: int, season: int) -> Players:
    """Everybody whose career covers the season."""
    classes = [entering(seed, year) for year in range(season - LONGEST_CAREER + 1, season + 1)]
    arrays = {name: np.concatenate([getattr(players, name) for players in classes]) for name in _ARRAYS}
    rates = {name: np.concatenate([players.rates[name] for players in classes]) for name in _RATES}
    everybody = Players(**arrays, rates=rates)
    return everybody.take(np.flatnonzero(everybody.entered + everybody.seasons > season))


def squads(seed: int, season: int, players: Players) -> np.ndarray:
    """Indices of players by club and place in the squad, the ablest first, -1 where a place is empty.
    The weakest of a squad too full are free, and join the squads too small."""
    ability = players.ability(season)
    ablest_first = np.argsort(-ability, kind="stable")
    club = _clubs(seed, season, players)[ablest_first]
    members = [list(ablest_first[club == i]) for i in range(len(CLUBS))]
    free = sorted((player for squad in members for player in squad[SQUAD:]), key=lambda i: ability[i])
    members = [squad[:SQUAD] for squad in members]
    full = np.full((len(CLUBS), SQUAD), -1)
    for squad in members:
        while len(squad) < FEWEST:
            squad.append(free.pop() if free else max(members, key=len).pop())
    for i, squad in enumerate(members):
        full[i, : len(squad)] = sorted(squad, key=lambda player: -ability[player])
    return full


def _clubs(seed: int, season: int, players: Players) -> np.ndarray:
    """The club a player would play for: the same for a stint of years, then anywhere."""
    stint = (season + players.ids) // YEARS_WITH_A_CLUB
    salt = int(stream(seed, "nba", "clubs").integers(1, 2**31))
    mixed = players.ids * 2654435761 + stint * 40503 * 65537 + salt  # a hash, multiplied and folded
    return ((mixed ^ (mixed >> 17)) * 0x9E3779B1 >> 20) % len(CLUBS)

"""What happens in a game: minutes and a box score for every player of both squads."""

from dataclasses import dataclass

import numpy as np

from skyarchive.generators.nba_players import Players

STARTERS = 5
GAME_MINUTES = 48
PLAYERS_ON_COURT = 5
MOST_MINUTES = 46
DRESSED = 12
MINUTES_BY_PLACE = np.array([36, 34, 33, 31, 29, 23, 19, 15, 11, 7, 4, 2, 0, 0, 0], float)
ABSENT, BENCHED, BLANK = 0.07, 0.02, 0.003
"""Chances to miss a game, to sit it out though able, and to be on the court for less than a minute."""


@dataclass(frozen=True)
class Box:
    """Box scores by game, side (0 away, 1 home) and place in the squad; minutes are NaN without play."""

    player: np.ndarray
    minutes: np.ndarray
    starter: np.ndarray
    absent: np.ndarray
    counts: dict[str, np.ndarray]

    @property
    def scores(self) -> np.ndarray:
        """Points by game and side."""
        return self.counts["points"].sum(axis=2)

    def take(self, games: np.ndarray) -> "Box":
        """The box scores of these games."""
        counts = {name: values[games] for name, values in self.counts.items()}
        return Box(self.player[games], self.minutes[games], self.starter[games], self.absent[games], counts)


def together(parts: list[Box]) -> Box:
    """The box scores of all parts."""
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("player", "minutes", "starter", "absent")
    }
    counts = {name: np.concatenate([part.counts[name] for part in parts]) for name in parts[0].counts}
    return Box(**arrays, counts=counts)


def play(rng: np.random.Generator, players: Players, ability: np.ndarray, squads: np.ndarray) -> Box:
    """Play games between squads, given as player indices by game, side and place (-1: nobody)."""
    there = squads >= 0
    absent = there & (rng.random(squads.shape) < ABSENT)
    absent[..., 0] &= ~absent[..., 1]  # somebody able always plays
    minutes, starter = _minutes(rng, there & ~absent)
    counts = _counts(rng, players, ability, squads, np.nan_to_num(minutes))
    _break_ties(counts)
    return Box(squads, minutes, starter, absent, counts)


def _minutes(rng: np.random.Generator, able: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whole minutes by the order of the able, about 240 a side; NaN for those who do not play."""
    place = np.cumsum(able, axis=2) - 1
    starter = able & (place < STARTERS)
    planned = np.where(able, MINUTES_BY_PLACE[place], 0.0) * np.exp(rng.normal(0.0, 0.18, able.shape))
    sits = (rng.random(able.shape) < BENCHED) & ~starter
    planned[sits | (place >= DRESSED)] = 0.0
    side = planned.sum(axis=2, keepdims=True)
    minutes = np.minimum(np.round(planned * (GAME_MINUTES * PLAYERS_ON_COURT) / side), MOST_MINUTES)
    minutes[minutes == 0] = np.nan
    blank = ~np.isnan(minutes) & ~starter & (rng.random(able.shape) < BLANK)
    minutes[blank] = 0.0
    return minutes, starter


def _counts(
    rng: np.random.Generator, players: Players, ability: np.ndarray, squads: np.ndarray, minutes: np.ndarray
) -> dict[str, np.ndarray]:
    """Counts follow the player's own rates, his form over the years and the minutes he gets."""
    form = (ability / players.skill)[squads]
    host = np.array([0.99, 1.01])[None, :, None]  # playing at home helps a little

    def drawn(rate: str) -> np.ndarray:
        return rng.poisson(players.rates[rate][squads] * form * host * minutes)

    def hit(attempts: np.ndarray, rate: str) -> np.ndarray:
        return rng.binomial(attempts, np.clip(players.rates[rate][squads] * host, 0.0, 0.95))

    shots = drawn("shots")
    threes = rng.binomial(shots, players.rates["threes"][squads])
    threes_made = hit(threes, "three")
    twos_made = hit(shots - threes, "two")
    free = 2 * drawn("fouled") - (rng.random(minutes.shape) < 0.1)
    free = np.where(minutes > 0, np.maximum(free, 0), 0)
    free_made = hit(free, "free")
    offensive, defensive = drawn("offensive"), drawn("defensive")
    return {
        "field_goals_made": twos_made + threes_made,
        "field_goals_attempted": shots,
        "three_point_field_goals_made": threes_made,
        "three_point_field_goals_attempted": threes,
        "free_throws_made": free_made,
        "free_throws_attempted": free,
        "offensive_rebounds": offensive,
        "defensive_rebounds": defensive,
        "rebounds": offensive + defensive,
        "assists": drawn("assists"),
        "steals": drawn("steals"),
        "blocks": drawn("blocks"),
        "turnovers": drawn("turnovers"),
        "fouls": np.minimum(rng.poisson(0.09 * minutes), 6),
        "points": 2 * twos_made + 3 * threes_made + free_made,
    }


def _break_ties(counts: dict[str, np.ndarray]) -> None:
    """No game ends even: the home side's busiest shooter makes one more at the end."""
    scores = counts["points"].sum(axis=2)
    even = np.flatnonzero(scores[:, 0] == scores[:, 1])
    shooter = counts["field_goals_attempted"][even, 1].argmax(axis=1)
    for name, more in (("field_goals_made", 1), ("field_goals_attempted", 1), ("points", 2)):
        counts[name][even, 1, shooter] += more

"""Seasons of player box scores as hoopR publishes them: careers, a schedule, playoffs, an all-star game."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from skyarchive.errors import SettingError
from skyarchive.generators import dirt_nba, nba_box, nba_games
from skyarchive.generators.files import write_parquet
from skyarchive.generators.nba_format import (
    CLUBS,
    PLUS_MINUS_SINCE,
    REASON_SINCE,
    headshot,
    schema,
    team_columns,
)
from skyarchive.generators.nba_players import POSITIONS, SQUAD, Players, playing, squads
from skyarchive.generators.options import GenerateOptions, year_of
from skyarchive.generators.seeds import stream

DEFAULT_PERIODS = ("2010", "2011", "2012")
FIRST, LAST = 1950, 2149
GAMES_A_CLUB = 20
"""In a regular season at size 1, so that regulars pass 30 games in their second; 82 is about size 4."""
LARGEST = 70.0
"""Above this size a club would have more home games on a day than game ids have room for."""
ALL_STARS = 12
PLAYOFF_CLUBS = 16
MOST_WINS = 4
REASONS = ("SPRAINED LEFT ANKLE", "PERSONAL REASONS", "RIGHT KNEE INJURY", "BACK SPASMS", "ILLNESS")
COACH = "COACH'S DECISION"
UNFLAGGED_SEASONS = range(2009, 2013)
"""Seasons whose files leave did_not_play false for nearly everybody."""


def generate(folder: Path, periods: list[str], options: GenerateOptions) -> list[Path]:
    """Write one file per season."""
    if options.size > LARGEST:
        raise SettingError(f"generate nba: size is {options.size:g}; use at most {LARGEST:g} and more seasons.")
    seasons = [year_of(period, "nba", FIRST, LAST) for period in periods]
    return [write_parquet(folder / f"player_box_{season}.parquet", _season(season, options)) for season in seasons]


def _season(season: int, options: GenerateOptions) -> pa.Table:
    players = playing(options.seed, season)
    squad = squads(options.seed, season, players)
    games, box = _played(season, players, squad, options)
    oldest_first = np.lexsort((games.home, games.minute, games.day))
    games, box = games.take(oldest_first), box.take(oldest_first)
    table = _table(season, games, box, players, stream(options.seed, "nba", "words", season))
    return dirt_nba.dirty(table, options, season) if options.dirt_share else table


def _played(
    season: int, players: Players, squad: np.ndarray, options: GenerateOptions
) -> tuple[nba_games.Games, nba_box.Box]:
    """The regular season, the all-star game, and the playoffs of its best clubs."""
    rng = stream(options.seed, "nba", "games", season)
    ability = players.ability(season)

    def play(games: nba_games.Games, sides: np.ndarray) -> nba_box.Box:
        return nba_box.play(rng, players, ability, sides[np.stack([games.away, games.home], axis=1) - 1])

    regular = nba_games.regular_season(rng, season, max(2, round(GAMES_A_CLUB * options.size)))
    stars = nba_games.all_star_game(season)
    with_stars = np.concatenate([squad, _all_stars(ability, squad)])
    parts = [(regular, play(regular, squad)), (stars, play(stars, with_stars))]
    alive = _best_clubs(*parts[0])
    wins = min(MOST_WINS, max(1, round(2 * options.size)))
    for number in range(PLAYOFF_CLUBS.bit_length() - 1):
        half = len(alive) // 2
        better, other = alive[:half], alive[half:][::-1]
        games = nba_games.playoff_round(rng, season, number, better, other, 2 * wins - 1)
        box = play(games, squad)
        needed, through = _decided(games, box, better, wins)
        parts.append((games.take(needed), box.take(needed)))
        alive = np.where(through, better, other)
    return nba_games.together([g for g, _ in parts]), nba_box.together([b for _, b in parts])


def _all_stars(ability: np.ndarray, squad: np.ndarray) -> np.ndarray:
    """The ablest of each conference, East then West."""
    chosen = np.full((2, SQUAD), -1)
    for row, east in enumerate((True, False)):
        members = squad[[team.east == east for team in CLUBS]].ravel()
        members = members[members >= 0]
        chosen[row, :ALL_STARS] = members[np.argsort(-ability[members], kind="stable")[:ALL_STARS]]
    return chosen


def _best_clubs(games: nba_games.Games, box: nba_box.Box) -> np.ndarray:
    """The clubs with the most wins, the best first."""
    home_won = box.scores[:, 1] > box.scores[:, 0]
    wins = np.bincount(np.where(home_won, games.home, games.away), minlength=len(CLUBS) + 1)[1:]
    return np.argsort(-wins, kind="stable")[:PLAYOFF_CLUBS] + 1


def _decided(games: nba_games.Games, box: nba_box.Box, better: np.ndarray, wins: int) -> tuple[np.ndarray, np.ndarray]:
    """Which games of the series are played before somebody has the wins, and whether the better club has."""
    most = 2 * wins - 1
    home_won = box.scores[:, 1] > box.scores[:, 0]
    better_won = (home_won == (games.home == np.repeat(better, most))).reshape(-1, most)
    for_better, for_other = np.cumsum(better_won, axis=1), np.cumsum(~better_won, axis=1)
    open_before = np.maximum(for_better - better_won, for_other - ~better_won) < wins
    return np.flatnonzero(open_before.ravel()), for_better[:, -1] >= wins


def _table(
    season: int, games: nba_games.Games, box: nba_box.Box, players: Players, rng: np.random.Generator
) -> pa.Table:
    """The season's rows, newest game first, the away side first, by place in the squad."""
    newest_first = np.arange(len(games))[::-1]
    there = box.player[newest_first] >= 0
    game = np.repeat(newest_first, there.sum(axis=(1, 2)))
    side = np.broadcast_to(np.arange(2)[None, :, None], there.shape)[there]
    scores = box.scores[game]
    teams = np.stack([games.away, games.home], axis=1)[game]
    row = np.arange(len(game))
    own, other = scores[row, side], scores[row, 1 - side]

    def flat(values: np.ndarray) -> np.ndarray:
        return values[newest_first][there]

    minutes = flat(box.minutes)
    out = np.isnan(minutes)
    columns = {
        "game_id": nba_games.game_ids(season, games)[game],
        "season": np.full(len(game), season),
        "season_type": games.season_type[game],
        "game_date": games.day[game].astype("datetime64[D]"),
        "game_date_time": nba_games.utc_micros(games)[game],
        "minutes": pa.array(minutes, mask=out),
        **{name: pa.array(flat(values).astype(np.int32), mask=out) for name, values in box.counts.items()},
        "starter": flat(box.starter),
        "active": flat(box.starter),
        "ejected": np.zeros(len(game), bool),
        "did_not_play": out & (season not in UNFLAGGED_SEASONS),
        "home_away": pa.array(np.array(["away", "home"], object)[side]),
        "team_winner": own > other,
        "team_score": own,
        "opponent_team_score": other,
        **team_columns(teams[row, side], teams[row, 1 - side]),
        **_athlete_columns(players, flat(box.player), rng),
        **_word_columns(season, rng, out, minutes, own - other, flat(box.absent)),
    }
    form = schema(season)
    return pa.Table.from_arrays([_typed(columns[field.name], field.type) for field in form], schema=form)


def _typed(values: np.ndarray | pa.Array, kind: pa.DataType) -> pa.Array:
    array = values if isinstance(values, pa.Array) else pa.array(values)
    return array.cast(pa.timestamp("us")).cast(kind) if pa.types.is_timestamp(kind) else array.cast(kind)


def _athlete_columns(players: Players, index: np.ndarray, rng: np.random.Generator) -> dict[str, pa.Array]:
    """What the files repeat about a player; a few pictures and shirt numbers are missing."""
    short = [f"{name[0]}. {name.partition(' ')[2]}" for name in players.names]
    count = len(players.ids)
    per_player = {
        "athlete_id": pa.array(players.ids),
        "athlete_display_name": pa.array(players.names),
        "athlete_short_name": pa.array(short),
        "athlete_headshot_href": pa.array([headshot(i) for i in players.ids], mask=rng.random(count) < 0.02),
        "athlete_jersey": pa.array([str(number) for number in players.jersey], mask=rng.random(count) < 0.02),
        "athlete_position_name": pa.array([POSITIONS[i][0] for i in players.position]),
        "athlete_position_abbreviation": pa.array([POSITIONS[i][1] for i in players.position]),
    }
    return {name: values.take(pa.array(index)) for name, values in per_player.items()}


def _word_columns(
    season: int,
    rng: np.random.Generator,
    out: np.ndarray,
    minutes: np.ndarray,
    margin: np.ndarray,
    absent: np.ndarray,
) -> dict[str, pa.Array]:
    """plus_minus, which is text, and since 2013 the reason for not playing (given to those who did too)."""
    share = np.nan_to_num(minutes) / nba_box.GAME_MINUTES
    difference = np.round(margin * share + rng.normal(0, 6, len(out)) * np.sqrt(share)).astype(int)
    signed = np.array([f"{value:+d}" if value else "0" for value in difference], object)
    if season < PLUS_MINUS_SINCE:
        signed[:] = "--"
    columns = {"plus_minus": pa.array(signed, mask=out)}
    if season >= REASON_SINCE:
        drawn = np.array(REASONS, object)[rng.integers(0, len(REASONS), len(out))]
        columns["reason"] = pa.array(np.where(absent, drawn, COACH))
    return columns

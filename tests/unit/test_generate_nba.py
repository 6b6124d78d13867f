"""Generated seasons: hoopR's columns and quirks, plausible games, careers over the years, and dirt."""

import math
from collections import Counter
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from skyarchive.generators import GenerateOptions, generate
from skyarchive.generators.dirt_nba import ODD_NAMES
from skyarchive.generators.nba_games import regular_season

SHARED = Path(__file__).parents[3] / "shared" / "data" / "nba"
COUNTED = ["field_goals", "three_point_field_goals", "free_throws"]
COLUMNS_2012 = """
game_id int32, season int32, season_type int32, game_date date32[day],
game_date_time timestamp[us, tz=America/New_York], athlete_id int32, athlete_display_name string,
team_id int32, team_name string, team_location string, team_short_display_name string, minutes double,
field_goals_made int32, field_goals_attempted int32, three_point_field_goals_made int32,
three_point_field_goals_attempted int32, free_throws_made int32, free_throws_attempted int32,
offensive_rebounds int32, defensive_rebounds int32, rebounds int32, assists int32, steals int32,
blocks int32, turnovers int32, fouls int32, plus_minus string, points int32, starter bool, ejected bool,
did_not_play bool, active bool, athlete_jersey string, athlete_short_name string,
athlete_headshot_href string, athlete_position_name string, athlete_position_abbreviation string,
team_display_name string, team_uid string, team_slug string, team_logo string, team_abbreviation string,
team_color string, team_alternate_color string, home_away string, team_winner bool, team_score int32,
opponent_team_id int32, opponent_team_name string, opponent_team_location string,
opponent_team_display_name string, opponent_team_abbreviation string, opponent_team_logo string,
opponent_team_color string, opponent_team_alternate_color string, opponent_team_score int32
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("nba")
    periods = [str(year) for year in range(2008, 2014)]
    return {int(p.stem[-4:]): p for p in generate("nba", folder, GenerateOptions(seed=1, periods=periods))}


@pytest.fixture(scope="module")
def rows(files: dict[int, Path]) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(path) for path in files.values()], ignore_index=True)


@pytest.fixture(scope="module")
def dirty(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    options = GenerateOptions(seed=1, periods=["2013"], dirt=True)
    [path] = generate("nba", tmp_path_factory.mktemp("dirty"), options)
    return pq.read_table(path).to_pandas(types_mapper=pd.ArrowDtype)


def described(path: Path) -> list[str]:
    return [f"{field.name} {field.type}" for field in pq.read_schema(path)]


def test_columns_are_those_of_hoopr(files: dict[int, Path]) -> None:
    expected = [part.strip() for part in COLUMNS_2012.replace("us, tz", "us; tz").split(",")]
    expected = [part.replace("us; tz", "us, tz") for part in expected]
    assert described(files[2012]) == expected
    with_reason = expected.copy()
    with_reason.insert(expected.index("active bool"), "reason string")
    assert described(files[2013]) == with_reason


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real files are not here")
@pytest.mark.parametrize("season", [2008, 2012, 2013])
def test_columns_are_those_of_the_real_file(files: dict[int, Path], season: int) -> None:
    real = pq.read_schema(SHARED / f"player_box_{season}.parquet").remove_metadata()
    assert pq.read_schema(files[season]).equals(real)


def test_rows_come_newest_game_first_with_one_row_per_player_and_game(rows: pd.DataFrame) -> None:
    for _, season in rows.groupby("season"):
        assert season.game_date_time.is_monotonic_decreasing
        games = season.game_id.to_numpy()
        assert (games[1:] != games[:-1]).sum() + 1 == season.game_id.nunique()
    assert not rows.duplicated(["game_id", "athlete_id"]).any()
    assert rows.athlete_id.notna().all()


def test_box_scores_add_up(rows: pd.DataFrame) -> None:
    played = rows[rows.minutes > 0]
    for kind in COUNTED:
        assert (played[f"{kind}_made"] <= played[f"{kind}_attempted"]).all()
    assert (played.three_point_field_goals_made <= played.field_goals_made).all()
    assert (played.rebounds == played.offensive_rebounds + played.defensive_rebounds).all()
    points = 2 * played.field_goals_made + played.three_point_field_goals_made + played.free_throws_made
    assert (played.points == points).all()
    sides = rows.groupby(["game_id", "team_id"]).agg(
        points=("points", "sum"), score=("team_score", "first"), won=("team_winner", "first"),
        minutes=("minutes", "sum"), other=("opponent_team_score", "first"), size=("minutes", "count"),
    )  # fmt: skip
    assert (sides.points == sides.score).all()
    assert (sides.won == (sides.score > sides.other)).all()
    assert (sides.score != sides.other).all()
    assert sides.minutes.between(215, 250).mean() > 0.99
    assert sides["size"].between(7, 12).all()
    assert 85 < sides.score.mean() < 112


def test_quirks_of_the_real_files_are_there(rows: pd.DataFrame) -> None:
    out = rows.minutes.isna()
    assert 0.05 < out.mean() < 0.3
    assert rows[out].points.isna().all()
    blank = rows[rows.minutes == 0]
    assert set(blank.season) == set(rows.season)
    assert (blank[["points", "rebounds", "field_goals_attempted"]] == 0).all(axis=None)
    assert set(rows[(rows.season == 2008) & ~out].plus_minus) == {"--"}
    assert rows[(rows.season == 2009) & ~out].plus_minus.str.fullmatch(r"[+-]\d+|0").all()
    assert (rows.minutes.dropna() % 1 == 0).all()
    assert set(rows.season_type) == {2, 3}
    stars = rows[~rows.team_id.between(1, 30)]
    assert set(stars.team_abbreviation) == {"EAST", "WEST"} and set(stars.team_id) == {31, 32}
    assert (stars.groupby("season").game_id.nunique() == 1).all()
    names = rows.drop_duplicates(["season", "athlete_id"]).groupby(["season", "athlete_display_name"]).size()
    assert set(names[names > 1].index.get_level_values("season")) == set(rows.season)
    assert rows.athlete_display_name.str.contains("'").any()
    assert rows.athlete_display_name.str.contains("[éèšćãžó]").any()


def test_game_times_are_evenings_in_new_york_and_some_games_share_one(rows: pd.DataFrame) -> None:
    games = rows.drop_duplicates("game_id")
    assert str(games.game_date_time.dt.tz) == "America/New_York"
    assert games.game_date_time.dt.hour.between(13, 22).all()
    assert (games.game_date_time.dt.date == games.game_date).all()
    assert games.groupby("season").game_date_time.apply(lambda times: times.duplicated().any()).all()
    start = games.groupby("season").game_date.min()
    assert [(day.year, day.month) for day in start] == [(season - 1, 10) for season in range(2008, 2014)]


def test_game_ids_are_made_as_the_feed_makes_them(rows: pd.DataFrame) -> None:
    home = rows[(rows.season == 2010) & (rows.home_away == "home")].drop_duplicates("game_id")
    made = home.game_date.map(lambda day: f"{day.year - 1980}{day:%m%d}") + home.team_id.map("{:03d}".format)
    assert (made.astype(int) == home.game_id).mean() > 0.95
    assert rows[rows.season == 2013].game_id.min() >= 400_000_000


def test_careers_go_on_over_the_seasons(rows: pd.DataFrame) -> None:
    clubs = rows[rows.team_id <= 30]
    by_season = clubs.groupby("season").athlete_id.agg(set)
    stay = [len(by_season[year] & by_season[year + 1]) / len(by_season[year]) for year in range(2008, 2013)]
    assert all(0.6 < share < 0.95 for share in stay)
    assert clubs.groupby("athlete_id").athlete_display_name.nunique().max() == 1
    assert clubs.groupby(["athlete_id", "season"]).team_id.nunique().max() == 1
    per_minute = clubs[clubs.minutes > 0].groupby(["athlete_id", "season"])[["points", "minutes"]].sum()
    per_minute = per_minute[per_minute.minutes > 200]
    rate = (per_minute.points / per_minute.minutes).unstack()
    assert rate[2010].corr(rate[2011]) > 0.6


def test_players_stay_with_a_club_for_some_years(rows: pd.DataFrame) -> None:
    club = rows[rows.team_id <= 30].groupby(["athlete_id", "season"]).team_id.first().unstack()
    both = club[[2010, 2011]].dropna()
    assert 0.55 < (both[2010] == both[2011]).mean() < 0.95


@pytest.mark.parametrize("seed", range(3))
def test_every_round_opens_with_two_games_at_one_time(seed: int) -> None:
    games = regular_season(np.random.default_rng(seed), 2010, rounds=5)
    day, minute = games.day.reshape(5, 15), games.minute.reshape(5, 15)
    assert (day[:, 0] == day[:, 1]).all() and (minute[:, 0] == minute[:, 1]).all()


def test_many_players_pass_thirty_games_in_two_seasons(rows: pd.DataFrame) -> None:
    counted = rows[rows.season.isin([2008, 2009]) & (rows.minutes > 0) & (rows.team_id <= 30)]
    assert (counted.groupby("athlete_id").size() > 30).sum() > 150


def test_size_scales_the_season(tmp_path: Path) -> None:
    games = {}
    for size in (0.1, 4.0):
        [path] = generate("nba", tmp_path / str(size), GenerateOptions(size=size, periods=["2010"]))
        table = pq.read_table(path, columns=["game_id", "athlete_id"]).to_pandas()
        assert not table.duplicated().any()
        games[size] = table.game_id.nunique()
    assert games[0.1] < 60
    assert 1200 < games[4.0] < 1400


def test_dirt_leaves_the_good_rows_and_adds_each_fault(files: dict[int, Path], dirty: pd.DataFrame) -> None:
    clean = pd.read_parquet(files[2013])
    added = len(dirty) - len(clean)
    assert 0.005 * len(clean) < added < 0.02 * len(clean)
    minutes = dirty.minutes.to_numpy(dtype=float, na_value=-0.5)
    played = (minutes > 0) | np.isnan(minutes)
    assert (dirty.athlete_id.isna() & played).any()
    assert (minutes < -0.5).any() and np.isnan(minutes).any() and np.isinf(minutes).any()
    assert (dirty.rebounds < 0).any()
    assert (dirty.field_goals_made > dirty.field_goals_attempted).any()
    assert dirty[dirty.athlete_id.notna()].duplicated().any()
    assert set(dirty.season) == {2012, 2013}
    assert set(dirty.season_type) == {2, 3, 5}
    assert set(ODD_NAMES) <= set(dirty.athlete_display_name)


def test_the_first_row_of_a_player_and_game_is_the_good_one(files: dict[int, Path], dirty: pd.DataFrame) -> None:
    clean = pq.read_table(files[2013]).to_pandas(types_mapper=pd.ArrowDtype)
    kept = dirty[(dirty.season == 2013) & (dirty.season_type != 5) & dirty.athlete_id.notna()]
    kept = kept.drop_duplicates(["game_id", "athlete_id"]).drop(columns="athlete_display_name")
    pd.testing.assert_frame_equal(
        kept.reset_index(drop=True), clean.drop(columns="athlete_display_name"), check_exact=True
    )


def test_every_fault_is_there_at_the_smallest_size(tmp_path: Path) -> None:
    options = GenerateOptions(size=0.01, dirt=0.0001, periods=["2005"])
    [path] = generate("nba", tmp_path, options)
    records = pq.read_table(path).to_pylist()
    found: Counter[str] = Counter()
    for record in records:
        minutes = record["minutes"]
        found["null"] += record["athlete_id"] is None
        found["nan"] += minutes is not None and math.isnan(minutes)
        found["inf"] += minutes == math.inf
        found["negative"] += minutes is not None and minutes < 0
        found["season"] += record["season"] == 2004 and record["game_date"].year <= 2004
        found["made"] += (record["field_goals_made"] or 0) > (record["field_goals_attempted"] or 0)
    assert min(found.values()) >= 1 and len(found) == 6
    assert max(r["game_date"] for r in records) - min(r["game_date"] for r in records) > timedelta(days=300)

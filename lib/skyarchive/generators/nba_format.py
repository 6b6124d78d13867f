"""The hoopR player box score format: its columns, and the clubs as it names them."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

EAST, WEST = 31, 32
"""Team ids of the all-star teams; the clubs are 1 to 30."""
REASON_SINCE = 2013
"""The first season whose file has the column `reason`."""
PLUS_MINUS_SINCE = 2009
"""Before it plus_minus is '--' for everybody who played."""
_HEADSHOT = "https://a.espncdn.com/i/headshots/nba/players/full/"
_LOGO = "https://a.espncdn.com/i/teamlogos/nba/500/"

COUNTS = (
    "field_goals_made", "field_goals_attempted", "three_point_field_goals_made",
    "three_point_field_goals_attempted", "free_throws_made", "free_throws_attempted", "offensive_rebounds",
    "defensive_rebounds", "rebounds", "assists", "steals", "blocks", "turnovers", "fouls",
)  # fmt: skip


class Team(NamedTuple):
    """A club (or all-star team) in the words of the files."""

    id: int
    location: str
    name: str
    abbreviation: str
    color: str
    alternate_color: str
    east: bool
    has_logo: bool

    @property
    def display_name(self) -> str:
        return f"{self.location} {self.name}"

    @property
    def logo(self) -> str | None:
        return f"{_LOGO}{self.abbreviation.lower()}.png" if self.has_logo else None


def _team(id: int, location: str, name: str, code: str, colors: str, east: int, logo: int = 1) -> Team:
    color, alternate = colors.split()
    return Team(id, location, name, code, color, alternate, bool(east), bool(logo))


TEAMS = (
    _team(1, "Atlanta", "Hawks", "ATL", "002B5C 000000", 1),
    _team(2, "Boston", "Celtics", "BOS", "006532 f1f2f3", 1),
    _team(3, "New Orleans", "Hornets", "NO", "0093B1 b4975a", 0, logo=0),
    _team(4, "Chicago", "Bulls", "CHI", "000000 000000", 1),
    _team(5, "Cleveland", "Cavaliers", "CLE", "061642 fdbb30", 1),
    _team(6, "Dallas", "Mavericks", "DAL", "0C479D c4ced3", 0),
    _team(7, "Denver", "Nuggets", "DEN", "0860A8 fdb927", 0),
    _team(8, "Detroit", "Pistons", "DET", "FA002C 006bb6", 1),
    _team(9, "Golden State", "Warriors", "GS", "00275D fdb927", 0),
    _team(10, "Houston", "Rockets", "HOU", "D40026 c4ced3", 0),
    _team(11, "Indiana", "Pacers", "IND", "061642 00275d", 1),
    _team(12, "LA", "Clippers", "LAC", "FA0028 f1f2f3", 0),
    _team(13, "Los Angeles", "Lakers", "LAL", "542582 552582", 0),
    _team(14, "Miami", "Heat", "MIA", "000000 000000", 1),
    _team(15, "Milwaukee", "Bucks", "MIL", "003813 f0ebd2", 1),
    _team(16, "Minnesota", "Timberwolves", "MIN", "0E3764 c4ced3", 0),
    _team(17, "New Jersey", "Nets", "NJ", "06143F ffffff", 1, logo=0),
    _team(18, "New York", "Knicks", "NY", "225EA8 f58426", 1),
    _team(19, "Orlando", "Magic", "ORL", "0860A8 c4ced3", 1),
    _team(20, "Philadelphia", "76ers", "PHI", "000000 f1f2f3", 1),
    _team(21, "Phoenix", "Suns", "PHX", "23006A f1f2f3", 0),
    _team(22, "Portland", "Trail Blazers", "POR", "000000 bac3c9", 0),
    _team(23, "Sacramento", "Kings", "SAC", "393996 8e9090", 0),
    _team(24, "San Antonio", "Spurs", "SA", "000000 061922", 0),
    _team(25, "Oklahoma City", "Thunder", "OKC", "C67C03 f05133", 0),
    _team(26, "Utah", "Jazz", "UTAH", "06143F fff21f", 0),
    _team(27, "Washington", "Wizards", "WSH", "0E3764 e31837", 1),
    _team(28, "Toronto", "Raptors", "TOR", "CE0F41 061922", 1),
    _team(29, "Memphis", "Grizzlies", "MEM", "5D76A8 7399c6", 0),
    _team(30, "Charlotte", "Bobcats", "CHA", "FE3310 008ca8", 1, logo=0),
    _team(EAST, "Eastern Conf", "All-Stars", "EAST", "1d428a ffffff", 1, logo=0),
    _team(WEST, "Western Conf", "All-Stars", "WEST", "c8102e ffffff", 0, logo=0),
)
CLUBS = TEAMS[:30]


def schema(season: int) -> pa.Schema:
    """The columns of a season's file, in order."""
    number, word, flag = pa.int32(), pa.string(), pa.bool_()
    fields = [
        ("game_id", number), ("season", number), ("season_type", number), ("game_date", pa.date32()),
        ("game_date_time", pa.timestamp("us", tz="America/New_York")), ("athlete_id", number),
        ("athlete_display_name", word), ("team_id", number), ("team_name", word), ("team_location", word),
        ("team_short_display_name", word), ("minutes", pa.float64()), *((name, number) for name in COUNTS),
        ("plus_minus", word), ("points", number), ("starter", flag), ("ejected", flag),
        ("did_not_play", flag),
        *([("reason", word)] if season >= REASON_SINCE else []), ("active", flag), ("athlete_jersey", word),
        ("athlete_short_name", word), ("athlete_headshot_href", word), ("athlete_position_name", word),
        ("athlete_position_abbreviation", word), ("team_display_name", word), ("team_uid", word),
        ("team_slug", word), ("team_logo", word), ("team_abbreviation", word), ("team_color", word),
        ("team_alternate_color", word), ("home_away", word), ("team_winner", flag), ("team_score", number),
        ("opponent_team_id", number), ("opponent_team_name", word), ("opponent_team_location", word),
        ("opponent_team_display_name", word), ("opponent_team_abbreviation", word),
        ("opponent_team_logo", word), ("opponent_team_color", word),
        ("opponent_team_alternate_color", word), ("opponent_team_score", number),
    ]  # fmt: skip
    return pa.schema(fields)


def team_columns(team_ids: np.ndarray, opponent_ids: np.ndarray) -> dict[str, pa.Array]:
    """Everything the files repeat about a row's team and its opponent."""
    own = {
        "team_name": [team.name for team in TEAMS],
        "team_location": [team.location for team in TEAMS],
        "team_short_display_name": [team.name for team in TEAMS],
        "team_display_name": [team.display_name for team in TEAMS],
        "team_uid": [f"s:40~l:46~t:{team.id}" for team in TEAMS],
        "team_slug": [team.display_name.lower().replace(" ", "-") for team in TEAMS],
        "team_logo": [team.logo for team in TEAMS],
        "team_abbreviation": [team.abbreviation for team in TEAMS],
        "team_color": [team.color for team in TEAMS],
        "team_alternate_color": [team.alternate_color for team in TEAMS],
    }
    columns = {name: pa.array(values).take(pa.array(team_ids - 1)) for name, values in own.items()}
    for name in ("name", "location", "display_name", "abbreviation", "logo", "color", "alternate_color"):
        columns[f"opponent_team_{name}"] = pa.array(own[f"team_{name}"]).take(pa.array(opponent_ids - 1))
    return columns | {"team_id": pa.array(team_ids), "opponent_team_id": pa.array(opponent_ids)}


def headshot(athlete_id: int) -> str:
    """Address of a player's picture, as the files carry it."""
    return f"{_HEADSHOT}{athlete_id}.png"

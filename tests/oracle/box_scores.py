"""nba: careers from box scores."""

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pyarrow.parquet as pq

from oracle.common import (
    Derived,
    File,
    Ledger,
    in_name_order,
    named_period,
    objects_frame,
    refused_frame,
    snapshots_frame,
)

ATTRIBUTES = ["points_per_minute", "rebounds_per_minute", "field_goal_ratio"]
USED_NUMBERS = [
    "minutes", "points", "rebounds", "field_goals_made", "field_goals_attempted",
    "assists", "steals", "blocks",
]  # fmt: skip
SUMMED = ["minutes", "points", "rebounds", "field_goals_made", "field_goals_attempted"]
COLUMNS = [
    "game_id", "season", "season_type", "game_date_time", "athlete_id", "athlete_display_name", "team_id",
    *USED_NUMBERS,
]  # fmt: skip
MORE_THAN_GAMES = 30

Row = dict[str, Any]


def nba(files: Iterable[File]) -> Derived:
    """One snapshot per counted game; a player's totals so far, from his 31st game on."""
    rows, refused = _accepted(files)
    counted = [row for row in rows if _counts(row)]
    games: dict[tuple[str, Any], list[Row]] = defaultdict(list)
    for row in counted:
        games[row["period"], row["game_id"]].append(row)
    in_order = sorted(
        (period, min(row["game_date_time"] for row in played), game_id) for (period, game_id), played in games.items()
    )

    ledger = Ledger(ATTRIBUTES)
    snapshots = []
    names: dict[tuple[str, str], str | None] = {}
    totals: dict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(["games", *SUMMED], 0.0))
    for snapshot, (period, time, game_id) in enumerate(in_order):
        snapshots.append((period, snapshot, time, str(game_id)))
        for row in games[period, game_id]:
            player = str(int(row["athlete_id"]))
            names[period, player] = row["athlete_display_name"]
            career = totals[player]
            career["games"] += 1
            for column in SUMMED:
                career[column] += row[column] or 0
            if career["games"] > MORE_THAN_GAMES and career["field_goals_attempted"] > 0:
                ledger.tell(period, snapshot, player, _position(career))
    return Derived(snapshots_frame(snapshots), ledger.frame(), objects_frame(names), refused_frame(refused))


def _position(career: dict[str, float]) -> tuple[float, float, float]:
    return (
        career["points"] / career["minutes"],
        career["rebounds"] / career["minutes"],
        career["field_goals_made"] / career["field_goals_attempted"],
    )


def _counts(row: Row) -> bool:
    team = row["team_id"]
    minutes = row["minutes"]
    played = minutes is not None and minutes > 0
    return row["season_type"] in (2, 3) and team is not None and 1 <= team <= 30 and played


def _accepted(files: Iterable[File]) -> tuple[list[Row], list[tuple[str | None, str, int, str]]]:
    """All rows without a fault, each with its period, and the refused ones."""
    accepted, refused, seen = [], [], set()
    for path in in_name_order(files):
        rows = pq.read_table(path, columns=COLUMNS).to_pylist()
        file_period = named_period(path)
        first_season = min((str(row["season"]) for row in rows if row["season"] is not None), default=None)
        for place, row in enumerate(rows, start=1):
            row["period"] = None if row["season"] is None else str(row["season"])
            kind = _fault(row, file_period)
            key = (row["period"], row["game_id"], row["athlete_id"])
            if kind is None and key in seen:
                kind = "duplicate"
            if kind is None:
                seen.add(key)
                accepted.append(row)
            else:
                refused.append((file_period or row["period"] or first_season, path.name, place, kind))
    return accepted, refused


def _fault(row: Row, file_period: str | None) -> str | None:
    """The first fault of a row, looked at alone."""
    if row["athlete_id"] is None:
        return "athlete"
    values = [row[column] for column in USED_NUMBERS if row[column] is not None]
    if any(not math.isfinite(value) or value < 0 for value in values):
        return "number"
    made, attempted = row["field_goals_made"], row["field_goals_attempted"]
    if made is not None and attempted is not None and made > attempted:
        return "made_attempted"
    if file_period is not None and row["period"] != file_period:
        return "other_period"
    if row["period"] is None:
        return "period"
    return None

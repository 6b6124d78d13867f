"""Dirt of box scores: faulty rows, a game of another kind, and names that are hard to carry."""

import math
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skyarchive.generators.dirt_picks import picks, with_rows_after
from skyarchive.generators.options import GenerateOptions
from skyarchive.generators.seeds import stream

FAULTS = (
    "null_athlete", "negative_minutes", "nan_minutes", "infinite_minutes", "negative_count",
    "made_above_attempted", "duplicate_player", "other_season",
)  # fmt: skip
ODD_NAMES = (
    'Dwayne "Ace" Fontaine',
    "Marcus Wright, Jr.",
    "Luka\nKovač",
    "姚 明",
    "Robert'); drop table x;--",
)
OTHER_KIND = 5
"""season_type of games that are neither regular season nor playoffs."""
_YEAR = timedelta(days=364)  # keeps the weekday


def dirty(table: pa.Table, options: GenerateOptions, season: int) -> pa.Table:
    """The season with faulty rows after good ones of the same game, a game of another kind, and odd names.
    Who plays how well in the rows that count stays as it was."""
    rng = stream(options.seed, "nba", "dirt", season)
    rows = np.flatnonzero((pc.fill_null(table["minutes"], 0).to_numpy() > 0) & (table["team_id"].to_numpy() <= 30))
    table = _with_odd_names(table, rng)
    picked = picks(rng, rows, FAULTS, round(options.dirt_share * table.num_rows))
    chosen = [row for _, row in picked]
    records = table.take(pa.array(chosen)).to_pylist()
    for (kind, _), record in zip(picked, records, strict=True):
        _spoil(record, kind)
    faulty = pa.Table.from_pylist(records, schema=table.schema)
    return pa.concat_tables([_other_game(table), with_rows_after(table, chosen, faulty)])


def _spoil(record: dict[str, Any], kind: str) -> None:
    match kind:
        case "null_athlete":
            record.update({name: None for name in record if name.startswith("athlete_")})
        case "negative_minutes":
            record["minutes"] = -record["minutes"]
        case "nan_minutes":
            record["minutes"] = math.nan
        case "infinite_minutes":
            record["minutes"] = math.inf
        case "negative_count":
            record["rebounds"] = -1 - record["rebounds"]
        case "made_above_attempted":
            record["field_goals_made"] = record["field_goals_attempted"] + 1
        case "other_season":
            record["season"] -= 1
            record["game_date"] -= _YEAR
            record["game_date_time"] -= _YEAR


def _with_odd_names(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    """A few players bear odd names in every row of theirs."""
    ids = table["athlete_id"].to_numpy()
    chosen = rng.choice(np.unique(ids), len(ODD_NAMES), replace=False)
    names = table["athlete_display_name"].to_numpy(zero_copy_only=False).astype(object)
    for athlete, name in zip(chosen, ODD_NAMES, strict=True):
        names[ids == athlete] = name
    place = table.schema.get_field_index("athlete_display_name")
    return table.set_column(place, table.schema.field(place), pa.array(names, pa.string()))


def _other_game(table: pa.Table) -> pa.Table:
    """The newest game again, a day later, as a game that does not count."""
    last = table.filter(pc.equal(table["game_id"], table["game_id"][0]))
    records = last.to_pylist()
    free_id = pc.max(table["game_id"]).as_py() + 1
    for record in records:
        record.update(game_id=free_id, season_type=OTHER_KIND)
        record["game_date"] += timedelta(days=1)
        record["game_date_time"] += timedelta(days=1)
    return pa.Table.from_pylist(records, schema=table.schema)

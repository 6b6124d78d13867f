"""Small box scores as hoopR writes them, with whatever a test changes in them."""

from typing import Any

import pyarrow as pa


def box(rows: int, season: int = 2010, **changes: Any) -> pa.Table:
    """Rows of one game of one season with the columns the definition checks."""
    columns: dict[str, Any] = {
        "game_id": pa.array([1] * rows, pa.int32()),
        "season": pa.array([season] * rows, pa.int32()),
        "season_type": pa.array([2] * rows, pa.int32()),
        "game_date_time": pa.array([1_260_000_000_000_000] * rows, pa.timestamp("us", tz="America/New_York")),
        "athlete_id": pa.array(range(100, 100 + rows), pa.int32()),
        "athlete_display_name": pa.array([f'"Q", O\'{n}\n' for n in range(rows)]),
        "team_id": pa.array([1] * rows, pa.int32()),
        "minutes": pa.array([30.0] * rows, pa.float64()),
    }
    for name in ("field_goals_made", "field_goals_attempted", "rebounds", "assists", "steals", "blocks", "points"):
        columns[name] = pa.array([5] * rows, pa.int32())
    return pa.table(columns | changes)

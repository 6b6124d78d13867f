"""The archive of work shifts, which may not have taken place: its definition, and its probable stays by definition."""

from pathlib import Path
from typing import Any

from oracle import uncertain_table as oracle
from oracle.windows_table import Query, Record
from shifts import SHIFTS, YEARS, Rows, records

DOUBTS = (
    SHIFTS[: SHIFTS.index("windows:")].replace("shifts", "doubts")
    + """
uncertain:
  - name: recent
    last: 20 records
    attributes: &ways
      cost: {better: lower}
      half: {better: higher, value: made / 2}
    probability: made / 5
    thresholds: [0.2, 0.05, 0.9]
    top: 3
  - name: while
    last: 25 seconds
    attributes: *ways
    where: who <> 's3'
    group: town
    probability: case when who = 's0' then 1 else 0.4 end
    thresholds: [0.4]
"""
)
QUERIES = {"recent": (Query("recent", 20, True), [0.2, 0.05, 0.9]), "while": (Query("while", 25 * 10**6, False), [0.4])}


def known(folder: Path, query: str) -> list[tuple[Record, float]]:
    """The records of a query in their order, each with how probably it exists."""
    found: list[tuple[Record, float]] = []
    for row in records(folder):
        chance = row["half"] * 2 / 5 if query == "recent" else 1.0 if row["object"] == "s0" else 0.4
        if not 0 < chance <= 1 or (query == "while" and row["object"] == "s3"):
            continue
        group = row["town"] if query == "while" else "all"
        costs = (row["cost"], -row["half"])
        found.append((Record(row["period"], row["time"], row["file"], row["row"], row["object"], group, costs), chance))
    return sorted(found, key=lambda it: (it[0].period, it[0].time, it[0].file, it[0].row))


def left_out(folder: Path, year: str) -> int:
    """The records of a year without a probability in `recent`."""
    return sum(row["period"] == year and not 0 < row["half"] * 2 / 5 <= 1 for row in records(folder))


def truth(folder: Path) -> list[dict[str, Any]]:
    """All rows of the table; times in microseconds since 2001."""
    found: Rows = []
    for name, (query, thresholds) in QUERIES.items():
        found += oracle.table(known(folder, name), query, thresholds, YEARS)
    return found

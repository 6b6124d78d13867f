"""An archive of work shifts with windows over them, as files say it, and its stays by definition."""

import csv
import math
import random
from pathlib import Path
from typing import Any

from oracle import windows_table as oracle

SHIFTS = """
name: shifts
title: Shifts
source: {format: csv, files: "*.csv", period_in_name: '(\\d+)'}
period: {column: year}
columns:
  year: {type: int, required: true}
  second: {type: bigint, required: true}
  who: {type: string, required: true}
  cost: {type: double}
  made: {type: bigint}
  town: {type: string}
  open: {type: boolean}
  id: {type: int}
counts: open
unique: [year, id]
object: {column: who}
derive: {method: updates, order: {by: [second], start: "2001-01-01T00:00:00Z"}}
attributes:
  cost: {better: lower}
windows:
  - name: recent
    last: 20 records
    attributes: &ways
      cost: {better: lower}
      half: {better: higher, value: made / 2}
  - {name: while, last: 25 seconds, attributes: *ways, where: who <> 's3', group: town}
"""
YEARS = ["2001", "2002", "2003", "2004", "2005"]
NAMES = ["year", "second", "who", "cost", "made", "town", "open", "id"]
Rows = list[dict[str, Any]]


def write_shifts(folder: Path, seed: int = 0) -> None:
    """Years with ties and several shifts at one time, in files without order; in 2003 nobody takes part."""
    chance = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    second = 0
    for year in YEARS:
        rows = []
        for _ in range(90 if year != "2003" else 3):
            made = chance.randint(0, 6)
            cost = chance.choice(["", "NaN", "-0.0", "0", *[str(made + chance.randint(-1, 2))] * 8])
            rows.append([year, second, f"s{chance.randint(0, 3)}", "" if year == "2003" else cost,
                         made if chance.random() < 0.95 else "", chance.choice(["X", "Y", ""]),
                         chance.random() < 0.9, len(rows)])  # fmt: skip
            second += chance.choice([0, 0, 1, 1, 4])
        second += chance.choice([1, 40])
        chance.shuffle(rows)
        write_rows(folder / f"shifts{year}.csv", rows)


def write_rows(path: Path, rows: list[list[Any]]) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(NAMES)
        out.writerows(rows)


def read_rows(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))[1:]


def records(folder: Path) -> Rows:
    """The rows that count and miss nothing, as the files have them."""
    found: Rows = []
    for year in YEARS:
        for number, values in enumerate(read_rows(folder / f"shifts{year}.csv"), start=1):
            row = dict(zip(NAMES, values, strict=True))
            cost = float(row["cost"]) if row["cost"] else math.nan
            if row["open"] != "True" or math.isnan(cost) or not row["made"]:
                continue
            found.append({"period": year, "time": int(row["second"]) * 10**6, "file": f"shifts{year}.csv",
                          "row": number, "object": row["who"], "town": row["town"] or "(none)", "cost": cost + 0.0,
                          "half": int(row["made"]) / 2})  # fmt: skip
    return found


def truth(folder: Path) -> list[oracle.Row]:
    """All rows of the table; times in microseconds since 2001."""
    found = []
    for query in (oracle.Query("recent", 20, True), oracle.Query("while", 25 * 10**6, False)):
        own = [
            oracle.Record(row["period"], row["time"], row["file"], row["row"], row["object"],
                          row["town"] if query.name == "while" else "all", (row["cost"], -row["half"]))
            for row in records(folder) if query.name == "recent" or row["object"] != "s3"
        ]  # fmt: skip
        found += oracle.table(own, query, YEARS)
    return sorted(found, key=lambda row: (row["query"], row["period"], row["file"], row["row"]))

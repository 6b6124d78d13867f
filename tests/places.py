"""A small archive with everything that makes skylines hard, and what they are by definition."""

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from oracle import skylines as oracle

if TYPE_CHECKING:
    from conftest import Home

PLACES = """
name: places
title: Places with many equals
source: {format: csv, files: "*.csv"}
period: {column: step, by: block, size: 15}
columns:
  step: {type: bigint, required: true}
  item: {type: string, required: true}
  cost: {type: double}
  worth: {type: double}
  closed: {type: boolean}
object: {column: item}
derive: {method: updates, order: {by: [step]}, gone: closed}
frequent:
  - {theta: 1, window: 3}
  - {theta: 0.7, window: 10}
  - {theta: 0.3, window: 25}
  - {theta: 0.35, window: 32}
attributes:
  cost: {better: lower}
  worth: {better: higher}
"""
PERIODS = ["00000", "00001", "00002", "00003"]
Rows = list[dict[str, Any]]


def write_places(folder: Path) -> None:
    """Steps 0..59 with ties, equal places, closings, a time when all are closed, and a period where nothing moves
    but one place that is beaten before and after."""
    chance = random.Random(5)
    lines = ["step,item,cost,worth,closed"]
    for step in range(60):
        for item in range(9):
            if step == 40:
                lines.append(f"{step},p{item},,,true")
            elif (step, item) == (35, 8) or chance.random() < (0.3 if step < 30 else 0.02 if step < 40 else 0.8):
                closed = chance.random() < 0.15
                cost = chance.choice(["-0.0", "0", "1", "2", "3"])
                lines.append(f"{step},p{item},{cost},{chance.randint(0, 4)},{str(closed).lower()}")
    folder.mkdir(parents=True)
    (folder / "places.csv").write_text("\n".join(lines) + "\n")


def rows(home: "Home", sql: str) -> Rows:
    answer = home.workshop("places").lake.query(sql)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def truth(home: "Home") -> tuple[list[set[str]], list[dict[str, Any]]]:
    """Every snapshot's skyline by definition, and the timeline."""
    timeline = rows(home, "select * from places.snapshots order by snapshot")
    updates = rows(home, "select * from places.updates order by snapshot, object")
    names = sorted({row["object"] for row in updates})
    cost = [np.nan if row["cost"] is None else row["cost"] for row in updates]
    worth = [np.nan if row["worth"] is None else -row["worth"] for row in updates]
    log = oracle.Log(
        np.array([row["snapshot"] for row in updates], np.int32),
        np.array([names.index(row["object"]) for row in updates], np.int32),
        [np.array(cost), np.array(worth)],
        len(timeline),
    )
    return [{names[item] for item in members} for members in oracle.skylines(log)], timeline

"""`make bench`: what ingest and derive cost on generated data, and what part of it validation is.

Prints a table and writes it to bench/results.json. Figures of one run are comparable with each other, not with
those of another machine or hour.
"""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from skyarchive.archives.generate import GenerateOptions, default_periods, generate
from skyarchive.catalog import Catalog
from skyarchive.ledger import Publication
from skyarchive.output import render
from skyarchive.running import run_steps
from skyarchive.selection import Selection
from skyarchive.settings import Settings
from skyarchive.status import STEPS
from skyarchive.workshop import Workshop

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results.json"
# The first archive also pays for Spark's start and warm-up, so a small one goes first and is not reported.
WARM_UP = ("tcp", {"periods": ["2024-04-18"], "size": 0.2})
CASES: list[tuple[str, dict[str, Any]]] = [
    ("nba", {"periods": [str(year) for year in range(2010, 2015)]}),
    ("stocks", {"periods": [str(year) for year in range(2008, 2011)]}),
    ("tcp", {"periods": [f"2024-04-{day}" for day in range(19, 22)], "size": 2.0}),
    ("synthetic", {"objects": 5000, "snapshots": 3000, "moves": 0.025, "block": 1000}),
]


def measure(folder: Path, archive: str, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Every period by itself, one after the other, as a nightly schedule runs them."""
    settings = Settings(warehouse=str(folder / "warehouse"), raw=str(folder / "raw"))
    asked = GenerateOptions(**options)
    generate(archive, settings.raw_folder / archive, asked)
    workshop = Workshop(settings, Catalog(settings).get(archive))
    for period in asked.periods or default_periods(archive, asked):
        run_steps(workshop, Selection(period), STEPS)
    ledger = workshop.ledger()
    return [_row(archive, step, list(ledger.of(step).values())) for step in STEPS]


def _row(archive: str, step: str, runs: list[Publication]) -> dict[str, Any]:
    seconds = sum(run.seconds for run in runs)
    checking = sum(run.details["seconds"]["checking"] for run in runs)
    return {
        "archive": archive,
        "step": step,
        "periods": len(runs),
        "rows_in": sum(run.rows_in for run in runs),
        "rows_out": sum(run.rows_out for run in runs),
        "seconds": round(seconds, 1),
        "first_period_s": round(runs[0].seconds, 1),
        "last_period_s": round(runs[-1].seconds, 1),
        "validation_share": round(checking / seconds, 3),
    }


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="skyarchive-bench-"))
    try:
        measure(folder / "warm-up", *WARM_UP)
        rows = [row for archive, options in CASES for row in measure(folder / archive, archive, options)]
    finally:
        shutil.rmtree(folder)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    render(list(rows[0]), [tuple(row.values()) for row in rows], "table", title="Period by period, warm")


if __name__ == "__main__":
    main()

"""`make bench`: what the steps cost on generated data, the kernels against others, the skyline step against no kernel,
frequent objects against counting, unbeaten rows of large tables against SQL, moocore and only reading, probabilistic
windows against a scan.

Prints tables and writes them to bench/results.json. Figures of one run are comparable with each other, not with
those of another machine or hour.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import external_kernels
import external_merge
import external_step
import frequent_step
import kernels
import monitoring
import scheduled_run
import skyline_step
import uncertain
import windows

from skyarchive.answers.output import render
from skyarchive.definition.catalog import Catalog
from skyarchive.definition.selection import Selection
from skyarchive.generators import GenerateOptions, default_periods, generate
from skyarchive.pipeline.running import run_steps
from skyarchive.pipeline.workshop import Workshop
from skyarchive.settings import Settings
from skyarchive.store.ledger import Publication

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
        run_steps(workshop, Selection(period), workshop.steps)
    ledger = workshop.ledger()
    return [_row(archive, step, list(ledger.of(step).values())) for step in workshop.steps]


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


def steps() -> list[dict[str, Any]]:
    folder = Path(tempfile.mkdtemp(prefix="skyarchive-bench-"))
    try:
        measure(folder / "warm-up", *WARM_UP)
        rows = [row for archive, options in CASES for row in measure(folder / archive, archive, options)]
    finally:
        shutil.rmtree(folder)
    return rows


TABLES: dict[str, tuple[str, Callable[[bool], Iterable[dict[str, Any]]]]] = {
    "kernels": ("Kernels on one core, warm: how many times faster", kernels.rows),
    "counters": ("Dominance tests saved by MBR pruning (SYN)", kernels.counters),
    "external_kernels": ("Skylines of files in bounded memory, window 1 %, one core", external_kernels.rows),
    "uncertain_kernels": ("Probabilistic windows, q 0.3, one core: how many times faster", uncertain.rows),
    "uncertain_paper": ("Probabilistic windows: records kept, members, elements per second", uncertain.paper),
    "monitoring": ("Watching live: messages as shares of everybody reporting every time", monitoring.rows),
    "monitoring_quality": ("Watching live: recall and precision", monitoring.quality),
    "windows_kernels": ("The last while on one core: how many times as long as only writing records", windows.rows),
    "windows_paper": ("The last while, the paper's shapes: microseconds for a record and records kept", windows.paper),
    "skyline_step": ("The skyline step on Spark: how many times slower", skyline_step.rows),
    "frequent_step": ("Frequent objects: how many times as long", frequent_step.rows),
    "external_step": ("Unbeaten rows on Spark: how many times faster", external_step.rows),
    "external_plans": ("Unbeaten rows on Spark: how many times slower the other plan is", external_step.plans),
    "external_merge": ("Unbeaten rows on Spark: what the last merge takes of a worker", external_merge.rows),
    "scheduled_run": ("One small period through Airflow's scheduler, warm: seconds", scheduled_run.rows),
    "steps": ("Period by period, warm", lambda quick: steps()),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", choices=[[], *TABLES], help="only these")
    parser.add_argument("--quick", action="store_true", help="logs ten times shorter")
    chosen = parser.parse_args()
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    RESULTS.parent.mkdir(exist_ok=True)
    for name in chosen.tables or TABLES:
        title, measured = TABLES[name]
        rows = list(measured(chosen.quick))
        render(list(rows[0]), [tuple(row.values()) for row in rows], "table", title=title)
        results[name] = rows  # kept at once: a long run that is stopped has not been for nothing
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Answers that the driver could not hold: a comet beats all places at every other step, so that all of their intervals
end and begin anew with each of its few updates."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

from conftest import Home
from skyarchive.definition.selection import Selection
from skyarchive.pipeline.running import run_steps

COMETS = """
name: comets
title: Places that all shine but when a comet is there
source: {format: csv, files: "*.csv"}
period: {column: step, by: block, size: 60000}
columns:
  step: {type: bigint, required: true}
  item: {type: string, required: true}
  cost: {type: double}
  worth: {type: double}
  closed: {type: boolean}
object: {column: item}
derive: {method: updates, order: {by: [step]}, gone: closed}
frequent:
  - {theta: 1, window: 1}
attributes:
  cost: {better: lower}
  worth: {better: higher}
"""
LIMIT = "spark.driver.maxResultSize"
ROW_BYTES = 40
"""What an interval takes at the very least: its object, two numbers, two times, two flags."""


def write_comets(folder: Path, places: int, visits: int) -> None:
    lines = ["step,item,cost,worth,closed"]
    lines += [f"0,p{n},{n},{n},false" for n in range(places)]
    for visit in range(visits):
        lines += [f"{2 * visit + 1},comet,-1,{places},false", f"{2 * visit + 2},comet,,,true"]
    folder.mkdir(parents=True)
    (folder / "comets.csv").write_text("\n".join(lines) + "\n")


@contextmanager
def results_limited(spark: SparkSession, size: int) -> Iterator[None]:
    """While open, a job fails that brings more than that to the driver."""
    live = spark.sparkContext._jsc.sc().conf()
    before = live.get(LIMIT, "1g")
    live.set(LIMIT, str(size))
    try:
        yield
    finally:
        live.set(LIMIT, before)


@contextmanager
def most_memory() -> Iterator[list[int]]:
    """By how many bytes this process, without Spark's JVM and workers, grows at most while open."""
    process, ended, grown = psutil.Process(), threading.Event(), [0]
    start = process.memory_info().rss

    def watch() -> None:
        while not ended.wait(0.02):
            grown[0] = max(grown[0], process.memory_info().rss - start)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield grown
    finally:
        ended.set()
        watching.join()


def run_beyond(home: Home, spark: SparkSession, places: int, visits: int) -> int:
    """Compute intervals that take at least ten times what the driver may be given; how much it grew."""
    definitions = home.folder / "definitions"
    definitions.mkdir(exist_ok=True)
    (definitions / "comets.yaml").write_text(COMETS)
    home.settings = replace(home.settings, archives=str(definitions))
    write_comets(home.raw / "comets", places, visits)
    workshop = home.workshop("comets")
    assert [outcome.refused for outcome in run_steps(workshop, Selection(), ["ingest", "derive"])] == [{}, {}]
    intervals = places * (visits + 1) + visits
    with results_limited(spark, intervals * ROW_BYTES // 10), most_memory() as grown:
        outcomes = run_steps(workshop, Selection(), ["skyline", "frequent"])
    assert [outcome.refused for outcome in outcomes] == [{}, {}]
    for table in ("skyline", "frequent"):
        assert list(workshop.lake.query(f"select count(*) from comets.{table}").rows) == [(intervals,)]
    return grown[0]


def test_the_answer_stays_with_the_workers(home: Home, spark: SparkSession) -> None:
    run_beyond(home, spark, places=300, visits=250)


@pytest.mark.thorough
def test_intervals_ten_times_the_drivers_memory(home: Home, spark: SparkSession, places: Home) -> None:
    """`places` has been run before: what is imported and compiled once is there."""
    n_places, visits = 4000, 2000
    grown = run_beyond(home, spark, n_places, visits)
    assert grown < n_places * visits * ROW_BYTES / 10

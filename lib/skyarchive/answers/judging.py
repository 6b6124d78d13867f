"""Judging an interval table before it is published, by another engine than made it.

The rows stay with Spark's workers, however many they are: one worker looks into all rows of a period, with a session of
DuckDB that reads the published tables beside them and puts on disk what memory cannot hold. What comes to the driver
are numbers, and the names of a few who are misjudged.
"""

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
from pyspark.sql import DataFrame

from skyarchive.store.duck import add_view, new_session

SHOWN = 5
"""Misjudged objects of a period and figure that are told by name."""
_VERDICTS = "period string, figure string, n bigint, shown array<string>"
_MOST_TASKS = 200

FAULTS = """
select period, 'overlapping' as figure, count(*) as n from (
    select period, first_snapshot <= 1 + lag(last_snapshot) over so_far as meets from found
    window so_far as (partition by period, {key} order by first_snapshot)) where meets group by period
union all
select period, 'outside', count(*) from found join spans using (period)
where first_snapshot < opening or last_snapshot > closing or (continued_from and first_snapshot > opening)
    or continues_into <> (last_snapshot = closing) group by period
"""
"""Rows that begin before or just when another of their `key` has ended, and rows that lie outside of their period or
are wrong about its borders. `spans` has the `opening` and `closing` snapshot of every period."""


@dataclass(frozen=True)
class Judged:
    """The figures of every period as rows of a frame, and some of the misjudged objects by period for whoever looks."""

    rows: list[tuple[Any, ...]]
    misjudged: dict[str, list[str]]

    def told(self, period: str) -> str:
        """Some of what is misjudged, to be added to the reasons of a period that fails."""
        shown = self.misjudged[period][:SHOWN]
        return f"\n  misjudged: {', '.join(shown)}" if shown else ""


@dataclass(frozen=True)
class Verdict:
    """How many are wrong in a period in one way, and the names of some."""

    period: str
    figure: str
    n: int
    shown: Sequence[str] = ()


Look = Callable[[duckdb.DuckDBPyConnection, list[str]], Iterator[Verdict]]
"""Looks into some periods, of which the session has the rows to be judged as `found`. Runs on the workers."""


@dataclass(frozen=True)
class Counted:
    """What all verdicts come to."""

    figures: dict[tuple[str, str], int]
    misjudged: dict[str, list[str]]

    def of(self, period: str, *figures: str) -> list[int]:
        """These figures of a period."""
        return [self.figures.get((period, figure), 0) for figure in figures]


def counted(found: DataFrame, periods: Collection[str], tables: Mapping[tuple[str, str], str], look: Look) -> Counted:
    """Have the workers look into these rows, and into periods that have none. `tables`: by archive and name how DuckDB
    reads what it looks into beside them."""
    # A row without anything else brings every period to the worker that has its rows.
    named = found.sparkSession.createDataFrame(pa.table({"period": pa.array(periods, pa.string())}))
    tasks = min(len(periods), _MOST_TASKS)
    told = found.unionByName(named, allowMissingColumns=True).repartition(tasks, "period")
    answer = told.mapInArrow(lambda batches: _looked_into(batches, tables, look, tasks), _VERDICTS).collect()
    figures: dict[tuple[str, str], int] = {}
    misjudged: dict[str, list[str]] = {period: [] for period in periods}
    for period, figure, n, shown in answer:
        figures[period, figure] = figures.get((period, figure), 0) + n
        misjudged[period] += shown
    return Counted(figures, misjudged)


def _looked_into(
    batches: Iterator[pa.RecordBatch], tables: Mapping[tuple[str, str], str], look: Look, tasks: int
) -> Iterator[pa.RecordBatch]:
    """Runs on the workers."""
    first = next(batches, None)
    if first is None:
        return
    with new_session() as session:
        session.execute(f"set threads = {max((os.cpu_count() or 1) // tasks, 1)}")
        for name, query in tables.items():
            add_view(session, *name, query)
        session.register("stream", pa.RecordBatchReader.from_batches(first.schema, _with_first(first, batches)))
        session.execute("create table told as from stream")
        session.execute("create view found as from told where first_snapshot is not null")
        periods = [row[0] for row in session.execute("select distinct period from told order by period").fetchall()]
        verdicts = [(v.period, v.figure, v.n, list(v.shown)) for v in look(session, periods)]
    kinds = (pa.string(), pa.string(), pa.int64(), pa.list_(pa.string()))
    columns = zip(*verdicts, strict=True) if verdicts else ((),) * len(kinds)
    arrays = [pa.array(values, kind) for values, kind in zip(columns, kinds, strict=True)]
    yield pa.RecordBatch.from_arrays(arrays, ["period", "figure", "n", "shown"])


def _with_first(first: pa.RecordBatch, others: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from others


def sampled(seed: str, first: int, last: int, count: int) -> list[int]:
    """The last snapshot, where every fault before it may show, and some others: always the same ones, so that a
    failure can be seen again."""
    span = last - first + 1
    draws = (int(hashlib.sha256(f"{seed} {n}".encode()).hexdigest(), 16) for n in range(count - 1))
    return sorted({last, *(first + draw % span for draw in draws)}) if span > 0 else []

"""What can be wrong with the unbeaten records of a period, counted and compared by brute force.

The answer stays where it is, with Spark's workers, however large it may be: keys are counted there, and a few audited
records go to it, not it to them.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from skyarchive.answers.judging import Judged
from skyarchive.kernels.points.orders import PartialOrder
from skyarchive.kernels.points.preferences import Preference

AUDITED = 200
"""About so many records of every period's answer, of the answer before it and of all its records are audited."""
FIGURES = "period string, repeated bigint, strangers bigint, audited bigint, beaten bigint, missed bigint"


@dataclass(frozen=True)
class Answers:
    """The answers of consecutive periods and what they were found in. All frames have a `period`: in `before` it is the
    period that starts from these records."""

    found: DataFrame
    before: DataFrame
    records: DataFrame
    raw: DataFrame

    @classmethod
    def of(
        cls, found: DataFrame, start: DataFrame | None, records: DataFrame, raw: DataFrame, periods: Sequence[str]
    ) -> "Answers":
        """`start` is the answer before the first of the periods."""
        following = dict(pairwise(periods))
        before = found.withColumn("period", _by_period(following)).where("period is not null")
        if start is not None:
            before = before.unionByName(start.withColumn("period", F.lit(periods[0])))
        return cls(found, before, records, raw)


def judge(
    answers: Answers, preferences: tuple[Preference, ...], periods: Sequence[str], sizes: Mapping[str, Sequence[int]]
) -> Judged:
    """Count the faults of the answers. `sizes`: per period how many records the answer has, the one before it, and
    (about) the period itself."""
    with ThreadPoolExecutor(1) as beside:  # small jobs are mostly waiting
        counting = beside.submit(_counted, answers)
        audited = _audited(answers, sizes)
        is_there, is_beaten = _compared(answers.found, audited, preferences)
    counted = counting.result()
    period, inside = audited.column("period").to_numpy(), audited.column("inside").to_numpy()
    rows: list[tuple[Any, ...]] = []
    wrong: dict[str, list[str]] = {}
    for now in periods:
        beaten = (period == now) & inside & is_beaten
        missed = (period == now) & ~inside & ~is_there & ~is_beaten
        wrong[now] = [_named(row) for row in audited.filter(pa.array(beaten | missed)).to_pylist()]
        figures = (int((period == now).sum()), int(beaten.sum()), int(missed.sum()))
        rows.append((now, *counted.get(now, (0, 0)), *figures))
    return Judged(rows, wrong)


def _counted(answers: Answers) -> dict[str, tuple[int, int]]:
    """Per period the records that are there twice, and those that are neither its own nor of the answer before."""
    key = ["period", "file", "row"]
    known = answers.raw.select(*key, F.lit(0).alias("n")).union(answers.before.select(*key, F.lit(0)))
    seen = answers.found.select(*key, F.lit(1)).union(known.select(*key, "n")).toDF(*key, "n")
    each = seen.groupBy(*key).agg(F.sum("n").alias("n"), F.min("n").alias("least")).where("n > 0")
    counted = each.groupBy("period").agg(F.sum(F.col("n") - 1), F.sum(F.col("least") * F.col("n")))
    return {period: (repeated, strangers) for period, repeated, strangers in counted.collect()}


def _audited(answers: Answers, sizes: Mapping[str, Sequence[int]]) -> pa.Table:
    """Some records, always the same ones, so that a failure can be seen again; `inside`: of the answer itself."""
    columns = answers.found.columns
    some = []
    for place, frame in enumerate((answers.found, answers.before, answers.records)):
        one_in = _by_period({period: max(counts[place] // AUDITED, 1) for period, counts in sizes.items()})
        picked = frame.where(F.pmod(F.xxhash64("file", "row"), one_in) == 0)
        some.append(picked.select(*columns, F.lit(place == 0).alias("inside")))
    return some[0].unionByName(some[1]).unionByName(some[2]).toArrow().combine_chunks()


def _by_period(values: Mapping[str, Any]) -> Column:
    """A value for the period of the row; null where there is none."""
    if not values:
        return F.lit(None).cast("string")
    return F.create_map(*(F.lit(part) for pair in values.items() for part in pair))[F.col("period")]


def _compared(
    found: DataFrame, audited: pa.Table, preferences: tuple[Preference, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Which of the audited are in the answer of their period, and which does a record of it beat."""
    met = found.mapInArrow(partial(_met, audited, preferences), "number bigint, is_there boolean, is_beaten boolean")
    is_there, is_beaten = np.zeros((2, audited.num_rows), bool)
    for number, there, beaten in met.groupBy("number").agg(F.max("is_there"), F.max("is_beaten")).collect():
        is_there[number], is_beaten[number] = there, beaten
    return is_there, is_beaten


def _met(
    audited: pa.Table, preferences: tuple[Preference, ...], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Runs on the workers: what a part of the answers says of the audited."""
    rows = audited.to_pylist()
    of_period: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        of_period.setdefault(row["period"], []).append(number)
    is_there, is_beaten = np.zeros((2, len(rows)), bool)
    for batch in batches:
        for period in batch.column("period").unique().to_pylist():
            part = _Part(batch.filter(pc.equal(batch.column("period"), period)), preferences)
            for number in of_period.get(period, ()):
                is_there[number] |= part.has(rows[number])
                is_beaten[number] |= part.beats(rows[number])
    numbers = pa.array(np.arange(len(rows)))
    names = ["number", "is_there", "is_beaten"]
    yield pa.RecordBatch.from_arrays([numbers, pa.array(is_there), pa.array(is_beaten)], names)


class _Part:
    """Records of one answer, compared by the definition of 'beats' alone."""

    def __init__(self, rows: pa.RecordBatch, preferences: tuple[Preference, ...]) -> None:
        self._preferences = preferences
        names = ["group_key", "file", "row", *(preference.column for preference in preferences)]
        self._columns = {name: rows.column(name).to_numpy(zero_copy_only=False) for name in names}

    def has(self, row: Mapping[str, Any]) -> bool:
        places = np.flatnonzero(self._columns["row"] == row["row"])
        return bool((self._columns["file"][places] == row["file"]).any())

    def beats(self, row: Mapping[str, Any]) -> bool:
        nowhere_worse = self._columns["group_key"] == row["group_key"]
        equal = np.ones(len(nowhere_worse), bool)
        for preference in self._preferences:
            values, own = self._columns[preference.column], row[preference.column]
            nowhere_worse = nowhere_worse & _at_least_as_good(values, own, preference)
            equal &= values == own
        return bool((nowhere_worse & ~equal).any())


def _at_least_as_good(values: np.ndarray, own: Any, preference: Preference) -> np.ndarray:
    better = preference.better
    if isinstance(better, PartialOrder):
        return np.isin(values, np.array([it for it in better.values if better.at_least_as_good(it, own)], object))
    return values >= own if better == "higher" else values <= own


def _named(row: Mapping[str, Any]) -> str:
    return f"{row['object']} in {row['file']}, row {row['row']}"

"""What can be wrong with the stays of some periods as a whole, counted where they are, with Spark's workers."""

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from skyarchive.answers.judging import Judged
from skyarchive.arrivals.ordered import Asked
from skyarchive.arrivals.samples import Sample

FIGURES = (
    "period string, repeated bigint, strangers bigint, wrong_start bigint, unaudited bigint, audited bigint, "
    "wrong bigint"
)


@dataclass(frozen=True)
class Stays:
    """Rows of the table, and what they were found in. Steps say what tells their rows apart, and find members again."""

    KEY: ClassVar[tuple[str, ...]] = ("query", "file", "row")
    """What tells those apart who may be in the answer."""
    KEPT: ClassVar[tuple[str, ...]] = ()
    """What a stay tells alike in all its periods."""

    found: DataFrame
    before: DataFrame | None
    """Published rows of the periods that come before."""
    records: DataFrame | None
    """Of all periods that were looked at; none where nothing was."""
    following: Mapping[tuple[str, str], str]
    """By period and query the next one that has records; of the published ones before, too."""
    samples: Sequence[Sample]
    queries: Sequence[Asked]
    expected: Collection[tuple[str, str]]
    """The periods and queries whose members are to be found again."""

    periods: Sequence[str]

    def judged(self) -> Judged:
        """The faults of these periods, counted."""
        with ThreadPoolExecutor(3) as pool:  # small jobs are mostly waiting
            counting = [pool.submit(ask) for ask in (self.repeated, self._strangers, self._wrong_starts)]
            wrong, shown = self._misjudged()
            repeated, strangers, starts = (it.result() for it in counting)
        sampled = {(sample.period, sample.query) for sample in self.samples}
        rows = []
        for period in self.periods:
            unaudited = sum(of == period for of, _ in set(self.expected) - sampled)
            audited = sum(sample.period == period for sample in self.samples)
            own = (repeated.get(period, 0), strangers.get(period, 0), starts.get(period, 0))
            rows.append((period, *own, unaudited, audited, wrong.get(period, 0)))
        return Judged(rows, {period: shown.get(period, []) for period in self.periods})

    def repeated(self) -> dict[str, int]:
        """Records that are there twice: each has one stay at most."""
        each = self.found.groupBy("period", *self.KEY).count().where("count > 1")
        return dict(each.groupBy("period").count().collect())

    def _strangers(self) -> dict[str, int]:
        """Members that are no records."""
        if self.records is None:
            return {}
        known = self.records.select("file", "row")
        looked_at = self.found.where(F.col("period").isin(sorted({period for period, _ in self.expected})))
        return dict(looked_at.join(known, ["file", "row"], "left_anti").groupBy("period").count().collect())

    def _wrong_starts(self) -> dict[str, int]:
        """Stays that go on from a period and not into the next one, or the other way round, or otherwise."""
        ends = self.found if self.before is None else self.found.unionByName(self.before)
        ends = ends.where("continues_into").withColumn("period", self._following())
        ends = ends.where(F.col("period").isin(list(self.periods)))
        starts = self.found.where("continued_from")
        sides = [
            side.select("period", *self.KEY, *self.KEPT, F.lit(n).alias("n")) for side, n in ((ends, 1), (starts, -1))
        ]
        each = sides[0].unionByName(sides[1]).groupBy("period", *self.KEY, *self.KEPT).agg(F.sum("n").alias("n"))
        return dict(each.where("n <> 0").groupBy("period").count().collect())

    def _following(self) -> Column:
        pairs = [part for (period, query), after in self.following.items() for part in (f"{period} {query}", after)]
        if not pairs:
            return F.lit(None).cast("string")
        return F.create_map(*map(F.lit, pairs))[F.concat_ws(" ", "period", "query")]

    def verdicts(self) -> DataFrame:
        """For every period how many are in the answer at a sampled moment and should not be, or the other way round,
        and the names of some."""
        raise NotImplementedError

    def _misjudged(self) -> tuple[dict[str, int], dict[str, list[str]]]:
        if self.records is None or not self.samples:
            return {}, {}
        wrong: dict[str, int] = {}
        shown: dict[str, list[str]] = {}
        for period, count, names in self.verdicts().collect():
            wrong[period] = wrong.get(period, 0) + count
            shown.setdefault(period, []).extend(names)
        return wrong, shown

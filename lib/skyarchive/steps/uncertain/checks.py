"""What uncertain is judged by: a record is a member once at a time, and members are found again by direct products."""

from typing import ClassVar

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.arrivals.checks import Stays
from skyarchive.steps.uncertain.auditing import verdicts


class LikelyStays(Stays):
    """Rows of `uncertain`."""

    KEY: ClassVar[tuple[str, ...]] = ("query", "threshold", "file", "row")
    KEPT: ClassVar[tuple[str, ...]] = ("group_key", "object", "arrived", "entered", "entered_at", "entered_because")

    def repeated(self) -> dict[str, int]:
        """Stays that begin before the record's stay before has ended."""
        so_far = Window.partitionBy("period", *self.KEY).orderBy("entered", "entered_at")
        ended = {name: F.lag(name).over(so_far) for name in ("left", "left_at", "continues_into")}
        meets = ended["continues_into"] | (ended["left"] > F.col("entered")) | (ended["left_at"] > F.col("entered_at"))
        wrong = self.found.withColumn("_meets", meets).where("_meets")
        return dict(wrong.groupBy("period").count().collect())

    def verdicts(self) -> DataFrame:
        assert self.records is not None
        return verdicts(self.records, self.found, self.samples, self.queries)

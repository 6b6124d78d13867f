"""What windows is judged by: a record has one stay at most, and members are found again by brute force."""

from typing import ClassVar

from pyspark.sql import DataFrame

from skyarchive.arrivals.checks import Stays
from skyarchive.steps.windows.auditing import verdicts


class WindowStays(Stays):
    """Rows of `windows`."""

    KEPT: ClassVar[tuple[str, ...]] = (
        "group_key", "object", "arrived", "entered", "entered_at", "entered_because", "freed_by_file", "freed_by_row",
    )  # fmt: skip

    def verdicts(self) -> DataFrame:
        assert self.records is not None
        return verdicts(self.records, self.found, self.samples, self.queries)

"""What was found in the raw rows of each period: accepted ones, refused ones by reason, files that break off."""

from collections import Counter
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.steps.ingest.reading.text import UNENDED
from skyarchive.store.fingerprints import Content, Told
from skyarchive.wording import counted

_SHOWN = 300
"""Characters of a refused row that an error shows."""
_TOLD = 5
"""Reasons that an error tells."""


@dataclass
class Summary:
    """What was found in one period."""

    content: Content = field(default_factory=Content)
    """The accepted rows."""
    refused: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    """Of every reason the first row."""
    unplaced: Counter[str] = field(default_factory=Counter)
    """By file, refused rows that are only here because it is the first period of the file."""
    doubtful: int = 0
    """Rows refused because their file does not end with a line end: each may be whole."""
    damaged: dict[str, str] = field(default_factory=dict)
    """By file, why it could not be read to its end."""

    @property
    def rows(self) -> int:
        return self.content.rows

    def refused_share(self, rows_of_file: dict[str, int]) -> float:
        """The greatest share of refused rows: of the period's own rows, or of a file's. Rows whose period cannot
        be read are their file's fault, not that of the few rows its first period may have. Doubtful ones may be
        whole."""
        own = self.refused.total() - self.unplaced.total() - self.doubtful
        shares = [own / max(1, self.rows + own)]
        shares += [count / (count + rows_of_file[file]) for file, count in self.unplaced.items()]
        return max(shares)

    @property
    def reasons(self) -> str:
        """The refused rows by reason, for whoever has to mend the file."""
        return "".join(
            f"\n  {counted(count, 'row', 'rows')}: {reason}; the first is {self.examples[reason]}"
            for reason, count in self.refused.most_common(_TOLD)
        )


def summarised(rows: DataFrame, told: Told, periods: list[str]) -> dict[str, Summary]:
    """Counts and content of every period, in one pass. Groups are added up: whatever tells them apart (a reason, a
    file), those of one period may be several."""
    damaged = F.col("row").isNull().alias("damaged")
    file = F.when(damaged | F.col("_unplaced"), F.col("_source")).alias("file")
    place = F.struct("_source", "row", F.substring("_record", 1, _SHOWN))
    example = F.min(F.when(F.col("_reason").isNotNull(), place))
    found = rows.groupBy("period", "_reason", damaged, file).agg(example, *told.sums()).collect()
    summaries = {period: Summary() for period in periods}
    for period, reason, is_damaged, source, example, *sums in found:
        summary = summaries[period]
        if is_damaged:
            summary.damaged[source] = reason
        elif reason is None:
            summary.content += told.content(*sums)
        else:
            count = sums[0]
            summary.refused[reason] += count
            summary.examples.setdefault(reason, "row {1} of {0}: {2}".format(*example))
            if reason == UNENDED:
                summary.doubtful += count
            elif source is not None:
                summary.unplaced[source] += count
    return summaries

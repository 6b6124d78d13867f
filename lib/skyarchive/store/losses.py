"""Published versions whose log entry was damaged or is gone: which rows of `runs` no longer count because of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RowKey = tuple[str, str]
"""(run_id, period): one row of `runs`."""
LOST = "lost"
"""Key of `runs.details` that says, once the log is mended, why the row does not count."""

WITHDRAWN = "withdrawn"
"""The same of a row that publishes nothing, because a table was made anew without its period."""


@dataclass(frozen=True)
class Listing:
    """One version of one table that a row of `runs` lists."""

    run_id: str
    period: str
    step: str
    table: str
    version: int

    @property
    def key(self) -> RowKey:
        return self.run_id, self.period


def lost_rows(listings: Sequence[Listing], whole: Mapping[str, int]) -> dict[RowKey, Listing]:
    """The rows that publish what is lost. `listings` are in the order of their runs; `whole` has every damaged table's
    last whole version, -1 for none.

    A run that had nothing to write lists the version that it found. It still counts where the last whole version was
    published: no lost commit was of its period, so what it found there is what that version has, too.
    """
    found: dict[RowKey, Listing] = {}
    for table, last in whole.items():
        of_table = [listing for listing in listings if listing.table == table]
        lost = [listing for listing in of_table if listing.version > last]
        if any(listing.version == last for listing in of_table):
            made_by: dict[int, str] = {}
            for listing in lost:
                made_by.setdefault(listing.version, listing.run_id)
            periods = {listing.period for listing in lost if listing.run_id in made_by.values()}
            lost = [listing for listing in lost if listing.period in periods]
        found |= {listing.key: listing for listing in lost}
    return found


def told(archive: str, lost: Listing) -> str:
    """Why a row does not count."""
    return f"{archive}.{lost.table}, version {lost.version}, was lost with its log entry; run {lost.step} again"

"""Why a step did not publish a period, kept where `status` finds it without Spark."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from skyarchive.names import sql_text
from skyarchive.store.lake import Lake
from skyarchive.store.ledger import Ledger

TABLE = "refusals"
Key = tuple[str, str]
"""(step, period)."""


@dataclass(frozen=True)
class Refusal:
    """One step of one period that was refused or failed, and has not been published since."""

    archive: str
    step: str
    period: str
    time: datetime
    sentence: str
    run_id: str | None
    """The run whose checks failed: its rows in `quality` say more. None: it did not come to a check."""

    @property
    def short(self) -> str:
        """The reason on one line: of failed checks how many there were, and the first."""
        lines = self.sentence.splitlines()
        return " ".join(line.strip() for line in lines[: 2 if self.run_id else 1])

    @property
    def command(self) -> str:
        """The command that shows more."""
        if self.run_id:
            query = f"select * from {self.archive}.quality where run_id = {sql_text(self.run_id)} and not success"
        else:
            query = (
                f"select time, step, sentence from {self.archive}.{TABLE} where period = {sql_text(self.period)} "
                "order by time desc"
            )
        return f'skyarchive sql "{query}"'

    def __str__(self) -> str:
        return f"{self.step} was refused on {self.time:%Y-%m-%d %H:%M} UTC: {self.short} See: {self.command}"


def last_refusals(lake: Lake, archive: str, ledger: Ledger | None = None) -> dict[Key, Refusal]:
    """The last refusal of every step and period that it was not published after."""
    lake = lake.at_rest()
    if TABLE not in lake.tables(archive):
        return {}
    ledger = Ledger.read(lake, archive) if ledger is None else ledger
    newest = (
        f"select step, period, time, sentence, run_id from {archive}.{TABLE} "
        "qualify row_number() over (partition by step, period order by time desc) = 1 order by period"
    )
    found = (Refusal(archive, *row) for row in lake.query(newest).rows)
    return {(it.step, it.period): it for it in found if not _published_since(ledger, it)}


def _published_since(ledger: Ledger, refusal: Refusal) -> bool:
    published = ledger.of(refusal.step).get(refusal.period)
    return published is not None and published.started > refusal.time


def newest(refusals: Mapping[Key, Refusal], period: str, steps: Collection[str]) -> Refusal | None:
    """Of a period's refusals by these steps the last one."""
    own = [refusals[step, period] for step in steps if (step, period) in refusals]
    return max(own, key=lambda refusal: refusal.time, default=None)

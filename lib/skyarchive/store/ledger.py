"""What has been published: the rows of `runs`, newest first, read without Spark."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from skyarchive.names import sql_text
from skyarchive.store.lake import Lake
from skyarchive.store.logs import RUNS
from skyarchive.store.losses import LOST, WITHDRAWN, Listing, RowKey, told

_COLUMNS = (
    "period", "run_id", "step", "started", "seconds", "rows_in", "rows_out", "input_versions", "output_versions",
    "parameters", "code_version", "input_fingerprints", "output_fingerprints", "details",
)  # fmt: skip
_JSON = (
    "input_versions",
    "output_versions",
    "parameters",
    "input_fingerprints",
    "output_fingerprints",
    "details",
)


@dataclass(frozen=True)
class Publication:
    """One step's published result for one period."""

    period: str
    run_id: str
    step: str
    started: datetime
    seconds: float
    rows_in: int
    rows_out: int
    input_versions: dict[str, Any]
    output_versions: dict[str, int]
    parameters: dict[str, Any]
    code_version: str
    input_fingerprints: dict[str, str]
    output_fingerprints: dict[str, str]
    details: dict[str, Any]


@dataclass(frozen=True)
class Ledger:
    """The newest publication of every step and period of an archive."""

    archive: str
    by_step: dict[str, dict[str, Publication]]
    versions: dict[str, int]
    """The published version of each table."""
    lost: dict[tuple[str, str], str] = field(default_factory=dict)
    """By step and period, what was published and cannot be read any more, where nothing was published since."""

    @classmethod
    def read(cls, lake: Lake, archive: str) -> "Ledger":
        """What is published at one moment."""
        lake = lake.at_rest()
        by_step: dict[str, dict[str, Publication]] = {}
        lost: dict[tuple[str, str], tuple[datetime, str]] = {}
        if RUNS in lake.tables(archive):
            unmended = lake.lost(archive)
            for row in lake.told_by_runs(archive, _newest(unmended)):
                values = dict(zip(_COLUMNS, row, strict=True))
                values |= {name: json.loads(values[name]) for name in _JSON}
                step, period = values["step"], values["period"]
                listing = unmended.get((values["run_id"], period))
                why = told(archive, listing) if listing else values["details"].get(LOST)
                why = why or values["details"].get(WITHDRAWN)
                if why is not None:
                    lost[step, period] = values["started"], why
                    continue
                by_step.setdefault(step, {})[period] = Publication(**values)
        since = {key: why for key, (started, why) in lost.items() if not _published_since(by_step, key, started)}
        return cls(archive, by_step, lake.published_versions(archive), since)

    def of(self, step: str) -> dict[str, Publication]:
        return self.by_step.get(step, {})

    def with_published(self, publication: Publication) -> "Ledger":
        """The same with one more publication, the newest of its step and period."""
        of_step = self.of(publication.step) | {publication.period: publication}
        return replace(self, by_step=self.by_step | {publication.step: of_step})


def _newest(lost: Mapping[RowKey, Listing]) -> str:
    """The newest row of every step and period that counts, and the newest that was lost."""
    keys = "".join(f", ({sql_text(run_id)}, {sql_text(period)})" for run_id, period in lost)
    is_lost = f"(json_extract(details, '$.{LOST}') is not null or (run_id, period) in (('', ''){keys}))"
    return (
        f"select {', '.join(_COLUMNS)} from {RUNS} "
        f"qualify row_number() over (partition by step, period, {is_lost} order by started desc) = 1 order by period"
    )


def _published_since(by_step: Mapping[str, Mapping[str, Publication]], key: tuple[str, str], started: datetime) -> bool:
    step, period = key
    published = by_step.get(step, {}).get(period)
    return published is not None and published.started > started

"""What has been published: the rows of `runs`, newest first, read without Spark."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from skyarchive.lake import Lake

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

    @classmethod
    def read(cls, lake: Lake, archive: str) -> "Ledger":
        by_step: dict[str, dict[str, Publication]] = {}
        if "runs" in lake.tables(archive):
            newest = (
                f"select {', '.join(_COLUMNS)} from {archive}.runs "
                "qualify row_number() over (partition by step, period order by started desc) = 1 order by period"
            )
            for row in lake.query(newest).rows:
                values = dict(zip(_COLUMNS, row, strict=True))
                values |= {name: json.loads(values[name]) for name in _JSON}
                by_step.setdefault(values["step"], {})[values["period"]] = Publication(**values)
        return cls(archive, by_step, lake.published_versions(archive))

    def of(self, step: str) -> dict[str, Publication]:
        return self.by_step.get(step, {})

    def period_before(self, period: str) -> str | None:
        """The ingested period that the given one starts from."""
        earlier = [known for known in self.of("ingest") if known < period]
        return max(earlier, default=None)

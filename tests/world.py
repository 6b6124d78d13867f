"""A raw folder and a warehouse that tell of runs nobody ran: what `status` makes of them needs no Spark."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from delta_log import RUNS, Archive, SparkTable, run
from skyarchive.definition.catalog import Catalog
from skyarchive.definition.frequent import Query
from skyarchive.definition.model import Definition
from skyarchive.pipeline.look import NOTHING, Look
from skyarchive.pipeline.status import PeriodStatus, period_statuses
from skyarchive.pipeline.step import names_of, step_named
from skyarchive.settings import Settings
from skyarchive.steps.ingest.reading.files import files_fingerprint, raw_files
from skyarchive.store.ledger import Ledger, Publication

SCHEMA = pa.schema([*RUNS, *((name, pa.string()) for name in ("input_fingerprints", "output_fingerprints", "details"))])
TABLE = pa.schema([("period", pa.string()), ("x", pa.int64())])
NAMED = "player_box_{}.parquet"
SNAPSHOTS, WINDOW = 7, 5
"""Of every period, and of the query: it reaches into the period before and no further."""


class World:
    """A raw folder and a warehouse that tell of runs nobody ran."""

    def __init__(self, folder: Path) -> None:
        self.settings = Settings(warehouse=str(folder / "warehouse"), raw=str(folder / "raw"))
        self.definition: Definition = (
            Catalog(Settings(raw="no such folder"))
            .get("nba")
            .model_copy(
                update={
                    "frequent": [Query.model_validate({"theta": "0.5", "window": WINDOW})],
                    "external": None,
                    "windows": [],
                    "uncertain": [],
                }
            )
        )
        archive = Archive(folder / "warehouse")
        self.runs = archive.table("runs", SCHEMA)
        self.tables = {name: archive.table(name, TABLE) for name in ("raw", "updates", "skyline", "frequent")}
        self.clock = datetime(2026, 1, 1, tzinfo=UTC)
        self.ends: dict[str, str] = {}
        self.ledger = Ledger("nba", {}, {})
        """What was published so far."""

    def put(self, period: str, content: str = "") -> None:
        path = self.settings.raw_folder / "nba" / NAMED.format(period)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content or period, encoding="utf-8")

    def clear(self, period: str) -> None:
        (self.settings.raw_folder / "nba" / NAMED.format(period)).unlink()

    def commit(self, step: str, period: str) -> int:
        """What a run leaves that was killed before it published."""
        table: SparkTable = self.tables[{"ingest": "raw", "derive": "updates"}.get(step, step)]
        return table.replace(period, [{"x": 1}], run("killed", step, period))

    def ingest(self, period: str, content: str = "rows") -> None:
        outputs = {"raw": content} | {f"raw.{column}": content for column in self.definition.columns}
        self.publish_ingested(period, outputs)

    def publish_ingested(self, period: str, outputs: dict[str, str]) -> None:
        files = [file for file in raw_files(self.settings, self.definition) if file.period == period]
        inputs = {"files": files_fingerprint(files)}
        self._publish("ingest", period, {"raw": self.commit("ingest", period)}, inputs, outputs)

    def derive(self, period: str, before: str | None = None, end: str | None = None, updates: str = "") -> None:
        starts = {"carry": self.ends[before] if before else NOTHING}
        self.ends[period] = end or f"end of {period}"
        outputs = {"updates": updates, "snapshots": "", "carry": self.ends[period]}
        self._publish("derive", period, {"updates": self.commit("derive", period)}, starts, outputs)
        self.ends[f"start of {period}"] = starts["carry"]
        self.ends[f"updates {period}"] = updates

    def skyline(self, period: str, content: str = "") -> None:
        inputs = {"updates": self.ends[f"updates {period}"], "snapshots": "", "carry": self.ends[f"start of {period}"]}
        self._publish("skyline", period, {"skyline": self.commit("skyline", period)}, inputs, {"skyline": content})

    def frequent(self, period: str) -> None:
        self._publish("frequent", period, {"frequent": self.commit("frequent", period)}, {}, {"frequent": ""})

    def _publish(
        self, step: str, period: str, versions: dict[str, int], inputs: dict[str, str], outputs: dict[str, str]
    ) -> None:
        self.clock += timedelta(minutes=1)
        if step in names_of(self.definition):
            inputs = Look(self.definition, self.ledger).inputs(step_named(step), period) | inputs
        texts: dict[str, Any] = {"output_versions": versions, "input_versions": {}, "parameters": {},
                 "details": {"snapshots": SNAPSHOTS, "files": []},
                 "input_fingerprints": inputs, "output_fingerprints": outputs}  # fmt: skip
        row: dict[str, Any] = {name: json.dumps(value) for name, value in texts.items()}
        told: dict[str, Any] = {
            "run_id": f"run {self.clock}",
            "step": step,
            "code_version": "0.1.0",
            "started": self.clock,
        }
        told |= {"rows_in": 100, "rows_out": 90, "seconds": 1.0}
        row |= told
        self.ledger.by_step.setdefault(step, {})[period] = Publication(period=period, **told, **texts)
        self.runs.append(period, [row], run(row["run_id"], step, period))

    def all(self) -> dict[str, PeriodStatus]:
        return {status.period: status for status in period_statuses(self.settings, self.definition)}

    def told(self) -> dict[str, tuple[str, str]]:
        return {period: (status.state, status.why) for period, status in self.all().items()}

"""A raw folder and a warehouse that tell of runs nobody ran: what `status` makes of them needs no Spark."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from delta_log import RUNS, Archive, SparkTable, run
from skyarchive.catalog import Catalog
from skyarchive.definition import Definition
from skyarchive.frequency import Query
from skyarchive.lake import Lake
from skyarchive.ledger import Ledger
from skyarchive.looking_back import frequent_inputs
from skyarchive.reading.files import files_fingerprint, raw_files
from skyarchive.settings import Settings
from skyarchive.status import NOTHING, PeriodStatus, period_statuses

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
                update={"frequent": [Query.model_validate({"theta": "0.5", "window": WINDOW})], "external": None}
            )
        )
        archive = Archive(folder / "warehouse")
        self.runs = archive.table("runs", SCHEMA)
        self.tables = {name: archive.table(name, TABLE) for name in ("raw", "updates", "skyline", "frequent")}
        self.clock = datetime(2026, 1, 1, tzinfo=UTC)
        self.ends: dict[str, str] = {}

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
        files = [file for file in raw_files(self.settings, self.definition) if file.period == period]
        self._publish("ingest", period, {"raw": self.commit("ingest", period)}, {"files": files_fingerprint(files)},
                      {"raw": content})  # fmt: skip
        self.ends[f"raw {period}"] = content

    def derive(self, period: str, before: str | None = None, end: str | None = None, updates: str = "") -> None:
        starts = {"raw": self.ends[f"raw {period}"], "carry": self.ends[before] if before else NOTHING}
        self.ends[period] = end or f"end of {period}"
        outputs = {"updates": updates, "snapshots": "", "carry": self.ends[period]}
        self._publish("derive", period, {"updates": self.commit("derive", period)}, starts, outputs)
        self.ends[f"start of {period}"] = starts["carry"]
        self.ends[f"updates {period}"] = updates

    def skyline(self, period: str, content: str = "") -> None:
        inputs = {"updates": self.ends[f"updates {period}"], "snapshots": "", "carry": self.ends[f"start of {period}"]}
        self._publish("skyline", period, {"skyline": self.commit("skyline", period)}, inputs, {"skyline": content})

    def frequent(self, period: str) -> None:
        inputs = frequent_inputs(self.definition, Ledger.read(Lake(self.settings), "nba"), period)
        self._publish("frequent", period, {"frequent": self.commit("frequent", period)}, inputs, {"frequent": ""})

    def _publish(
        self, step: str, period: str, versions: dict[str, int], inputs: dict[str, str], outputs: dict[str, str]
    ) -> None:
        self.clock += timedelta(minutes=1)
        inputs = inputs | {"definition": self.definition.fingerprint(step)}
        texts = {"output_versions": versions, "input_versions": {}, "parameters": {},
                 "details": {"snapshots": SNAPSHOTS, "files": []},
                 "input_fingerprints": inputs, "output_fingerprints": outputs}  # fmt: skip
        row: dict[str, Any] = {name: json.dumps(value) for name, value in texts.items()}
        row |= {"run_id": f"run {self.clock}", "step": step, "code_version": "0.1.0", "started": self.clock}
        row |= {"rows_in": 100, "rows_out": 90, "seconds": 1.0}
        self.runs.append(period, [row], run(row["run_id"], step, period))

    def all(self) -> dict[str, PeriodStatus]:
        return {status.period: status for status in period_statuses(self.settings, self.definition)}

    def told(self) -> dict[str, tuple[str, str]]:
        return {period: (status.state, status.why) for period, status in self.all().items()}

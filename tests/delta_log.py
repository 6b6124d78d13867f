"""Small Delta tables written by hand the way Spark writes them, for tests that shall not start a JVM.

As Spark does: the period stands in the path and in partitionValues only, timestamps are INT96, the run
is a JSON text under `userMetadata`, metrics are texts, and an empty frame adds no file.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_DELTA_TYPES = {
    "string": "string", "int64": "long", "double": "double", "bool": "boolean",
    "timestamp[us, tz=UTC]": "timestamp", "decimal128(9, 6)": "decimal(9,6)",
}  # fmt: skip

_TIME = 1_700_000_000_000
_TEXTS = ("run_id", "step", "input_versions", "output_versions", "parameters", "code_version")
_COUNTS = ("rows_in", "rows_out")
RUNS = pa.schema(
    [
        ("period", pa.string()),
        *((name, pa.string()) for name in _TEXTS),
        *((name, pa.int64()) for name in _COUNTS),
        ("started", pa.timestamp("us", "UTC")),
        ("seconds", pa.float64()),
    ]
)


class SparkTable:
    """One table; every method is a commit and returns its version."""

    def __init__(self, folder: Path, schema: pa.Schema, partitioned: bool = True) -> None:
        self.folder, self.schema, self.partitioned = folder, schema, partitioned
        self.versions: list[set[str]] = []

    def replace(self, period: str, rows: Sequence[Mapping[str, Any]], run: Mapping[str, Any] | None = None) -> int:
        """The period's rows in place of those it had."""
        old = {path for path in self.files if path.startswith(f"period={period}/")}
        return self._write(period, rows, old if self.partitioned else self.files, run)

    def append(self, period: str, rows: Sequence[Mapping[str, Any]], run: Mapping[str, Any] | None = None) -> int:
        return self._write(period, rows, set(), run)

    def restore(self, version: int) -> int:
        return self._commit("RESTORE", self.versions[version], {}, None)

    def add_column(self, name: str, kind: pa.DataType) -> None:
        """The next commit's files and schema have one column more."""
        self.schema = self.schema.append(pa.field(name, kind))

    @property
    def files(self) -> set[str]:
        return self.versions[-1] if self.versions else set()

    def _write(
        self, period: str, rows: Sequence[Mapping[str, Any]], old: set[str], run: Mapping[str, Any] | None
    ) -> int:
        new = set()
        if rows:
            data = pa.Table.from_pylist([{"period": period, **row} for row in rows], schema=self.schema)
            name = f"part-{len(self.versions):05d}.c000.snappy.parquet"
            path = f"period={period}/{name}" if self.partitioned else name
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            data = data.drop_columns("period") if self.partitioned else data
            pq.write_table(data, self.folder / path, use_deprecated_int96_timestamps=True)
            new = {path}
        return self._commit("WRITE", (self.files - old) | new, {"numOutputRows": str(len(rows))}, run)

    def _commit(self, operation: str, files: set[str], metrics: dict[str, str], run: Mapping[str, Any] | None) -> int:
        version = len(self.versions)
        info = {
            "timestamp": _TIME + 1000 * version,
            "operation": operation,
            "operationMetrics": metrics,
        }
        if run is not None:
            info["userMetadata"] = json.dumps(run)
        actions: list[dict[str, Any]] = [
            {"commitInfo": info},
            {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
            {"metaData": self._metadata()},
        ]
        actions += [{"remove": {"path": path, "dataChange": True}} for path in sorted(self.files - files)]
        actions += [{"add": self._add(path)} for path in sorted(files - self.files)]
        log = self.folder / "_delta_log" / f"{version:020d}.json"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("".join(json.dumps(action) + "\n" for action in actions), encoding="utf-8")
        self.versions.append(files)
        return version

    def _metadata(self) -> dict[str, Any]:
        fields = [
            {"name": f.name, "type": _DELTA_TYPES[str(f.type)], "nullable": True, "metadata": {}} for f in self.schema
        ]
        return {
            "id": "e1fe24dc-b132-41e0-8705-bd19a22a45da", "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps({"type": "struct", "fields": fields}), "configuration": {},
            "partitionColumns": ["period"] if self.partitioned else [], "createdTime": _TIME,
        }  # fmt: skip

    def _add(self, path: str) -> dict[str, Any]:
        period = path.partition("/")[0].removeprefix("period=")
        return {
            "path": path, "partitionValues": {"period": period} if self.partitioned else {},
            "size": (self.folder / path).stat().st_size, "modificationTime": _TIME, "dataChange": True,
        }  # fmt: skip


def run(run_id: str, step: str, period: str) -> dict[str, Any]:
    """The userMetadata of a step's commit."""
    return {
        "run_id": run_id, "step": step, "archive": "nba", "periods": [period], "code_version": "0.1.0",
        "parameters": {}, "input_versions": {},
    }  # fmt: skip


class Archive:
    """An archive in a warehouse: its tables, and the runs that publish them."""

    def __init__(self, warehouse: Path, name: str = "nba") -> None:
        self.folder = warehouse / name
        self.runs = SparkTable(self.folder / "runs", RUNS)

    def table(self, name: str, schema: pa.Schema, partitioned: bool = True) -> SparkTable:
        return SparkTable(self.folder / name, schema, partitioned)

    def publish(self, run_id: str, period: str, **versions: int) -> None:
        """The row of `runs` that makes these versions of these tables visible."""
        row = {
            "run_id": run_id,
            "step": "derive",
            "output_versions": json.dumps(versions),
            "input_versions": "{}",
        }
        self.runs.append(period, [row], run(run_id, "derive", period))

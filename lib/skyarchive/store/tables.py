"""The one place where Spark reads and writes Delta tables: by version, by period, one commit at a time."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema, write_deltalake
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from skyarchive.definition.model import Definition
from skyarchive.errors import LockError, SchemaError
from skyarchive.names import periods_predicate
from skyarchive.settings import Settings
from skyarchive.stderr import without_panics
from skyarchive.store.contracts import TableContract, table_contract
from skyarchive.store.lake import Lake
from skyarchive.store.versions import UNVERSIONED

RETENTION_DAYS = 3650
"""VACUUM destroys what old versions need: results stay reproducible for ten years."""
_PROPERTIES = {
    "delta.logRetentionDuration": f"interval {RETENTION_DAYS} days",
    "delta.deletedFileRetentionDuration": f"interval {RETENTION_DAYS} days",
    "delta.checkpointInterval": "30",
    "delta.dataSkippingNumIndexedCols": "4",  # periods are partitions; bounds of sixty columns cost more than the rows
    "delta.enableDeletionVectors": "false",  # readers without Spark take the data files as they are
}


@dataclass(frozen=True)
class Commit:
    """What a commit says of itself (userMetadata)."""

    run_id: str
    step: str
    archive: str
    periods: list[str]
    code_version: str
    parameters: dict[str, Any] = field(default_factory=dict)
    input_versions: dict[str, Any] = field(default_factory=dict)

    def metadata(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


class Tables:
    """The Delta tables of one archive. What delta-rs does does not start Spark."""

    def __init__(self, settings: Settings, definition: Definition, session: Callable[[], SparkSession]):
        self._session = session
        self._settings = settings
        self._root = Path(settings.warehouse) / definition.name
        self._definition = definition
        self._lake = Lake(settings)

    @property
    def _spark(self) -> SparkSession:
        return self._session()

    def contract(self, table: str) -> TableContract:
        return table_contract(self._definition, table)

    def read(self, table: str, version: int, periods: list[str] | None = None) -> DataFrame:
        """The table at a version, whole or only some periods."""
        frame = self._spark.read.format("delta").option("versionAsOf", version).load(self._path(table))
        contract = self.contract(table)
        if contract.grows:
            frame = _grown(frame, contract)
        contract.compare(frame.schema)
        return frame.where(periods_predicate(periods)) if periods else frame

    def replace(self, table: str, frame: DataFrame, periods: list[str], commit: Commit) -> int:
        """Replace exactly these periods in one commit; the version it made."""
        return self._write(table, frame, commit, "overwrite", replaceWhere=periods_predicate(periods))

    def clear(self, table: str, periods: list[str], commit: Commit) -> int:
        """Leave these periods without rows; no commit where they have none."""
        self._ensure(self.contract(table))
        log = self._lake.open(self._definition.name, table)
        if not log.file_uris(file_pruning_predicate=periods_predicate(periods)):
            return log.version()
        return self.replace(table, self.rows_frame(table, []), periods, commit)

    def note(self, table: str, rows: list[dict[str, Any]], commit: Commit, *, anew: bool = False) -> None:
        """Add a few rows to a table that describes the runs, or write it anew. Not a job for Spark: its commit
        takes a second, that of delta-rs some milliseconds."""
        contract = self.contract(table)
        self._ensure(contract, grows=True)
        schema = pa.schema(Schema.from_json(contract.delta_schema))
        with without_panics(self._settings):
            write_deltalake(
                self._path(table),
                pa.Table.from_pylist(rows, schema),
                mode="overwrite" if anew else "append",
                schema_mode="merge",  # a table made before a column came gets it
                commit_properties=CommitProperties(custom_metadata={"userMetadata": commit.metadata()}),
            )

    def rows_frame(self, table: str, rows: list[dict[str, Any]]) -> DataFrame:
        """Rows of plain values as a frame of that table."""
        contract = self.contract(table)
        values = [tuple(row[column] for column in contract.columns) for row in rows]
        schema = ", ".join(f"`{column}` {kind}" for column, kind in contract.columns.items())
        return self._spark.createDataFrame(values, schema).coalesce(1)

    def discard_unpublished(self) -> list[str]:
        """Put tables back to their published version where a run left a commit and never published it."""
        archive = self._definition.name
        published = self._lake.publications(archive)
        discarded = []
        for table in self._lake.tables(archive):
            version, metadata = self._lake.last_commit(archive, table)
            if table in UNVERSIONED or not metadata.get("run_id") or version in published.get(table, ()):
                continue
            # Version 0 is the empty table: its creation writes no rows.
            last_good = max(published.get(table, {0}))
            with without_panics(self._settings):
                self._lake.open(archive, table).restore(last_good)
            discarded.append(table)
        return discarded

    def _write(self, table: str, frame: DataFrame, commit: Commit, mode: str, **options: str) -> int:
        contract = self.contract(table)
        self._ensure(contract)
        writer = contract.conform(frame).write.format("delta").mode(mode)
        if contract.grows:
            options["mergeSchema"] = "true"
        before = self._lake.open(self._definition.name, table).version()
        writer.option("userMetadata", commit.metadata()).options(**options).save(self._path(table))
        version, made = self._lake.last_commit(self._definition.name, table)
        if version != before and (version, made.get("run_id")) != (before + 1, commit.run_id):  # no rows: no commit
            # A killed writer's Spark may outlive it, and the archive's lock, by a moment.
            raise LockError(
                f"{self._definition.name}.{table} was written by another process as well; nothing was published. Run "
                "this again: it discards both."
            )
        return version

    def _ensure(self, contract: TableContract, *, grows: bool = False) -> None:
        """Make the table if it is not there; if it is, its columns must be the contract's. One that `grows` may lack
        columns that can be null: they came later, and the next write adds them."""
        path = self._path(contract.table)
        if self._lake.log(self._definition.name, contract.table).has_entries:
            try:
                found = self._lake.column_types(contract.archive, contract.table)
                if contract.grows:
                    contract.compare_grown(found)
                else:
                    contract.compare_types(contract.optional | found if grows else found)
            except SchemaError as error:
                raise SchemaError(
                    f"{error} The table was made under another definition of {contract.archive}: give the new one "
                    f"another name, or move {self._root} away and run again."
                ) from error
            return
        # delta-rs makes an empty table in milliseconds; Spark, whose first write raises its protocol, in half a second.
        checks = {f"delta.constraints.{name}": text for name, text in contract.checks.items()}
        DeltaTable.create(
            path,
            Schema.from_json(contract.delta_schema),
            partition_by=["period"] if contract.partitioned else None,
            description=contract.about,
            configuration=_PROPERTIES | checks,
            raise_if_key_not_exists=False,
        )

    def _path(self, table: str) -> str:
        return str(self._root / table)


def _grown(frame: DataFrame, contract: TableContract) -> DataFrame:
    """The contract's columns, null where they have not come yet."""
    there = set(frame.columns)
    return frame.select(
        *(F.col(c) if c in there else F.lit(None).cast(kind).alias(c) for c, kind in contract.columns.items())
    )

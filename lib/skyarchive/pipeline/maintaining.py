"""Care of an archive's tables: small files become larger ones, what nobody can need any more is deleted.

Compacting writes a new version with the same rows, which counts only once a row of `runs` lists it, like any other.
"""

from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable

from skyarchive.errors import SettingError
from skyarchive.pipeline.publishing import PeriodRecord, Run
from skyarchive.pipeline.workshop import Workshop
from skyarchive.stderr import without_panics
from skyarchive.store.tables import RETENTION_DAYS
from skyarchive.store.versions import UNVERSIONED

STEP = "maintain"
EVERY_PERIOD = "all"
"""What `runs` has as the period of work on whole tables."""


@dataclass(frozen=True)
class Care:
    """What was done to one table, and its size after it."""

    table: str
    version: int
    rows: int
    files: int
    bytes: int
    files_compacted: int
    files_deleted: int

    def described(self) -> dict[str, Any]:
        return asdict(self)


def maintain(workshop: Workshop, keep_days: int = RETENTION_DAYS) -> list[Care]:
    """Compact and vacuum every table. Files that a version of the last `keep_days` needs stay."""
    if keep_days < RETENTION_DAYS:
        raise SettingError(
            f"The tables keep what their versions need for {RETENTION_DAYS} days; {keep_days} days would destroy "
            "published results. Give a longer time."
        )
    archive, lake = workshop.archive, workshop.lake
    with workshop.noting():
        workshop.tables.discard_unpublished()
        run = Run(workshop, STEP, {"keep_days": keep_days})
        commit = CommitProperties(custom_metadata={"userMetadata": run.commit([]).metadata()})
        cared = []
        for table in lake.tables(archive):
            with workshop.progress.phase(f"{archive}: {STEP}, {table}"), without_panics(workshop.settings):
                cared.append(_care_for(table, lake.open(archive, table), keep_days, commit))
        run.output_versions = {care.table: care.version for care in cared if care.table not in UNVERSIONED}
        rows = sum(care.rows for care in cared)
        tables = {"tables": [care.described() for care in cared]}
        run.publish({EVERY_PERIOD: PeriodRecord(rows, rows, {}, {}, tables)})
    return cared


def _care_for(table: str, log: DeltaTable, keep_days: int, commit: CommitProperties) -> Care:
    compacted = log.optimize.compact(commit_properties=commit)
    deleted = log.vacuum(24 * keep_days, full=True)
    if deleted:  # only then: a vacuum makes two commits, also of nothing
        log.vacuum(24 * keep_days, dry_run=False, full=True, commit_properties=commit)
    log.update_incremental()
    files = pa.table(log.get_add_actions(flatten=True))
    return Care(
        table=table,
        version=log.version(),
        rows=pc.sum(files["num_records"]).as_py() or 0,
        files=files.num_rows,
        bytes=pc.sum(files["size_bytes"]).as_py() or 0,
        files_compacted=compacted["numFilesRemoved"],
        files_deleted=len(deleted),
    )

"""Tables whose log was damaged are made whole again: what cannot be read is moved aside, and what was published with it
is published no more, so that `status` asks for it and `run` or `refresh` computes it again.

A version that is lost keeps its number, with an entry that changes nothing: no later commit may be taken for it.
"""

import json
import os
import time
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties

from skyarchive.errors import DamagedError, InputError
from skyarchive.names import sql_text
from skyarchive.pipeline.workshop import Workshop, code_version
from skyarchive.store.contracts import table_names
from skyarchive.store.data_files import unreadable
from skyarchive.store.losses import LOST, told
from skyarchive.store.tables import Commit
from skyarchive.store.versions import UNVERSIONED

STEP = "mend"
ASIDE = "_damaged"
"""Folder of an archive for what could not be read."""


def mend(workshop: Workshop) -> None:
    """Mend every table of the archive, which the caller holds. Those about the runs come first: they tell of the
    others."""
    present = workshop.lake.tables(workshop.archive)
    for table in [*UNVERSIONED, *(name for name in table_names() if name not in UNVERSIONED)]:
        if table in present:
            _mend(workshop, table)
        elif table not in UNVERSIONED and workshop.lake.lost_versions(workshop.archive, table):
            # It begins anew, with the numbers that the lost versions had.
            _unpublish(workshop, table)
            workshop.progress.say(f"{workshop.archive}.{table}: the table is gone; what was in it has to run again.")


def _mend(workshop: Workshop, table: str) -> None:
    if _is_damaged(workshop, table):
        _mend_checkpoints(workshop, table)
    log = workshop.lake.log(workshop.archive, table)
    last = next(log.whole(), None)
    lost = [] if table in UNVERSIONED else workshop.lake.lost_versions(workshop.archive, table)
    until = max([log.last, *lost])
    if last != until:
        _unpublish(workshop, table)
        _set_aside(workshop, table, last, until)
    if table in UNVERSIONED and last is not None:
        _forget_broken_data(workshop, table)


def mend_damaged(workshop: Workshop) -> None:
    """The same for whoever does not hold the archive, and before it is asked what is stale."""
    tables = workshop.lake.tables(workshop.archive)
    if any(_is_damaged(workshop, table) for table in tables) or workshop.lake.lost(workshop.archive):
        with workshop.noting():
            pass  # holding an archive mends it


def _is_damaged(workshop: Workshop, table: str) -> bool:
    """Whether its log cannot be read, or, where nobody could compute them again, rows of it."""
    try:
        workshop.lake.open(workshop.archive, table)
    except DamagedError:
        return True
    return table in UNVERSIONED and bool(_broken_data(workshop, table))


def _mend_checkpoints(workshop: Workshop, table: str) -> None:
    """A checkpoint only repeats what the entries say."""
    log = workshop.lake.log(workshop.archive, table)
    broken = [path for paths in log.checkpoints.values() for path in paths if not _can_be_read(path)]
    hint = log.folder / "_last_checkpoint"
    _move_aside(workshop, table, [*broken, *([hint] if hint.exists() else [])])


def _can_be_read(checkpoint: Path) -> bool:
    try:
        with checkpoint.open("rb") as content:
            pq.read_table(content)
    except PermissionError as error:
        raise InputError(f"{checkpoint} cannot be read: {error.strerror}. Give this user the right to.") from error
    except Exception:  # pyarrow has errors of many kinds
        return False
    return True


def _unpublish(workshop: Workshop, table: str) -> None:
    """The rows of `runs` that publish what is lost with this table's log list nothing any more, and say why."""
    archive, lake = workshop.archive, workshop.lake
    for (run_id, period), lost in lake.lost(archive).items():
        if lost.table == table:
            lake.open(archive, "runs").update(
                new_values={"output_versions": "{}", "details": json.dumps({LOST: told(archive, lost)})},
                predicate=f"run_id = {sql_text(run_id)} and period = {sql_text(period)}",
                commit_properties=_properties(workshop),
            )


def _set_aside(workshop: Workshop, table: str, last: int | None, until: int) -> None:
    """Every entry after the last whole version makes place for one that changes nothing; without any whole version
    the table begins anew."""
    archive = workshop.archive
    log = workshop.lake.log(archive, table)
    if last is None:
        _move_aside(workshop, table, [log.folder])
        workshop.progress.say(f"{archive}.{table}: no version of it can be read any more; its log is in {ASIDE}.")
        return
    for version in range(last + 1, until + 1):
        entry = log.entry(version)
        kept = _move_aside(workshop, table, [path for path in log.belonging_to(version) if path != entry])
        _replace(workshop, entry, kept)
    workshop.progress.say(
        f"{archive}.{table}: version {last} is its last whole one; what came after it is in {_aside(workshop, table)}."
    )


def _replace(workshop: Workshop, entry: Path, kept: Path) -> None:
    """In one moment, so that a kill in between leaves the damaged entry or none that is."""
    info = {
        "timestamp": int(time.time() * 1000),
        "operation": "MEND",
        "operationParameters": {},
        "userMetadata": _commit(workshop).metadata(),
    }
    new = entry.with_name(f".{entry.name}.new")
    new.write_text(json.dumps({"commitInfo": info}) + "\n", encoding="utf-8")
    if entry.exists():
        os.link(entry, kept / entry.name)
    new.replace(entry)


def _forget_broken_data(workshop: Workshop, table: str) -> None:
    """Rows of a table about the runs whose data file is gone are gone: what they published is published no more."""
    broken = _broken_data(workshop, table)
    if broken:
        _move_aside(workshop, table, [path for path in broken if path.exists()])
        workshop.lake.open(workshop.archive, table).repair(commit_properties=_properties(workshop))
        workshop.progress.say(f"{workshop.archive}.{table}: {len(broken)} of its data files are no more.")


def _broken_data(workshop: Workshop, table: str) -> list[Path]:
    """Data files that are missing, not of the size that the log says, or nonsense to who reads them."""
    found = pa.table(workshop.lake.open(workshop.archive, table).get_add_actions())
    sizes = zip(found["path"].to_pylist(), found["size_bytes"].to_pylist(), strict=True)
    paths = {workshop.lake.root / workshop.archive / table / unquote(path): size for path, size in sizes}
    broken = [path for path, size in paths.items() if not path.exists() or path.stat().st_size != size]
    return broken + [Path(file) for file in unreadable([str(path) for path in paths if path not in broken])]


def _move_aside(workshop: Workshop, table: str, paths: list[Path]) -> Path:
    folder = _aside(workshop, table) / f"{time.time_ns()}"
    folder.mkdir(parents=True)
    for path in paths:
        path.replace(folder / path.name)
    return folder


def _aside(workshop: Workshop, table: str) -> Path:
    return workshop.lake.root / workshop.archive / ASIDE / table


def _commit(workshop: Workshop) -> Commit:
    return Commit(f"{STEP}-{time.time_ns()}", STEP, workshop.archive, [], code_version())


def _properties(workshop: Workshop) -> CommitProperties:
    return CommitProperties(custom_metadata={"userMetadata": _commit(workshop).metadata()})

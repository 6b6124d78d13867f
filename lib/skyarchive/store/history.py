"""What a table's log says of its commits: which run made them, and when."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skyarchive.store.log_files import commit_info

UNREADABLE = "UNREADABLE"
"""Operation of a commit whose entry is damaged."""


@dataclass(frozen=True)
class Commit:
    """One version of a table and the run that made it; `rows` is what the commit wrote."""

    version: int
    time: datetime
    operation: str
    step: str | None
    periods: list[str]
    rows: int | None
    run_id: str | None
    published: bool


def commit_of(version: int, entry: Path, published: bool) -> Commit:
    """The commit that a log entry tells of."""
    info = commit_info(entry)
    made_by = run_of(info)
    rows = (info.get("operationMetrics") or {}).get("numOutputRows")
    seconds = info["timestamp"] // 1000 if "timestamp" in info else int(entry.stat().st_mtime)
    return Commit(
        version=version,
        time=datetime.fromtimestamp(seconds, UTC),
        operation=info.get("operation", UNREADABLE),
        step=made_by.get("step"),
        periods=made_by.get("periods") or [],
        rows=None if rows is None else int(rows),
        run_id=made_by.get("run_id"),
        published=published,
    )


def run_of(info: Mapping[str, Any]) -> dict[str, Any]:
    """The run that a commit's userMetadata describes; nothing for a commit made by other hands."""
    try:
        metadata = json.loads(info.get("userMetadata") or "{}")
    except json.JSONDecodeError:
        return {}
    return metadata if isinstance(metadata, dict) else {}

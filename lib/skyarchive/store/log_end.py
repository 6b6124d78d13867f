"""The newest versions of a Delta log, found without reading the names of all that came before.

`_last_checkpoint` names a version close to the end, and those after it are asked for one by one. That costs the same
after ten years as after ten days. Whatever looks unusual is not judged here: there is no answer then, and the whole log
is read.
"""

import json
import os
from dataclasses import dataclass
from itertools import count
from pathlib import Path

HINT = "_last_checkpoint"
DIGITS = 20
_AHEAD = 60
"""So many versions in a row that are not there are the end. Twice the versions from one checkpoint to the next: a hole
as long as this would have swallowed a checkpoint, and the hint would name a later one."""
_FAR = 120
"""Versions after the checkpoint: with more, the hint is so old that the whole log tells more cheaply."""


@dataclass(frozen=True)
class End:
    """Every version from a checkpoint to the last one: all have their entries."""

    checkpoint: int
    last: int

    def reaches(self, version: int) -> bool:
        return self.checkpoint <= version <= self.last


def entry_of(folder: Path, version: int) -> Path:
    """Where a version's entry is, or would be."""
    return folder / f"{version:0{DIGITS}d}.json"


def find_end(folder: Path) -> End | None:
    """The end of the log in this folder; None where only the whole log tells."""
    checkpoint = _last_checkpoint(folder)
    if checkpoint is None or not is_there(entry_of(folder, checkpoint)):
        return None
    last = checkpoint
    for version in count(checkpoint + 1):
        if is_there(entry_of(folder, version)):
            if version != last + 1 or version > checkpoint + _FAR:
                return None
            last = version
        elif version > last + _AHEAD:
            return End(checkpoint, last)
    return None


def is_there(path: Path) -> bool:
    """As a listing of its folder shows it: a link to nowhere is."""
    return os.path.lexists(path)


def _last_checkpoint(folder: Path) -> int | None:
    """The version of the checkpoint that the log says is its last, if that is one whole file that is there."""
    try:
        hint = json.loads((folder / HINT).read_bytes())
    except (OSError, ValueError):
        return None
    version = hint.get("version") if isinstance(hint, dict) else None
    if type(version) is not int or not 0 <= version < 10**DIGITS:
        return None
    # Checkpoints in parts have other names, and some of their parts may be missing.
    return version if is_there(entry_of(folder, version).with_suffix(".checkpoint.parquet")) else None

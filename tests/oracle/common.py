"""What all archives share: the answer's tables, the rule of real changes, reading names and numbers."""

import gzip
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

File = str | Path
Position = tuple[float, ...]


@dataclass(frozen=True)
class Derived:
    """The derived tables of a whole archive, and the rows that were refused on the way."""

    snapshots: pd.DataFrame
    """period, snapshot, time (UTC), label."""
    updates: pd.DataFrame
    """period, snapshot, object, the attributes, gone; sorted by snapshot and object."""
    objects: pd.DataFrame
    """period, object, name."""
    refused: pd.DataFrame
    """period, file (base name), row (1-based data record), kind (a short word)."""


class Ledger:
    """Collects `updates`: what is told of an object is a row only if it differs from what was told last."""

    def __init__(self, attributes: Sequence[str]) -> None:
        self.attributes = list(attributes)
        self.rows: list[tuple[Any, ...]] = []
        self.last: dict[str, Position] = {}

    def tell(self, period: str, snapshot: int, name: str, position: Sequence[float] | None) -> None:
        """The object's position at this snapshot; None, or any value that is not finite: it is not alive."""
        alive = position is not None and all(math.isfinite(value) for value in position)
        if not alive or position is None:
            if name in self.last:
                del self.last[name]
                self.rows.append((period, snapshot, name, *[math.nan] * len(self.attributes), True))
            return
        # Adding 0.0 turns -0.0 into 0.0, which is the same position.
        now = tuple(float(value) + 0.0 for value in position)
        if self.last.get(name) != now:
            self.last[name] = now
            self.rows.append((period, snapshot, name, *now, False))

    def tell_all(self, period: str, snapshot: int, alive: Mapping[str, Sequence[float]]) -> None:
        """Everybody who is alive at this snapshot; who is not among them is not."""
        for name in set(self.last) - set(alive):
            self.tell(period, snapshot, name, None)
        for name, position in alive.items():
            self.tell(period, snapshot, name, position)

    def frame(self) -> pd.DataFrame:
        columns = ["period", "snapshot", "object", *self.attributes, "gone"]
        frame = pd.DataFrame(self.rows, columns=columns)
        types = {"snapshot": "int64", "gone": "bool"} | dict.fromkeys(self.attributes, "float64")
        return frame.astype(types).sort_values(["snapshot", "object"], ignore_index=True)


def snapshots_frame(rows: Iterable[tuple[str, int, datetime | pd.Timestamp, str]]) -> pd.DataFrame:
    """The `snapshots` table from (period, snapshot, time, label); a time without a zone is UTC."""
    frame = pd.DataFrame(rows, columns=["period", "snapshot", "time", "label"])
    times = [pd.to_datetime(time, utc=True) for time in frame["time"]]
    frame["time"] = pd.Series(times, dtype="datetime64[us, UTC]", index=frame.index)
    return frame.astype({"snapshot": "int64"})


def objects_frame(names: Mapping[tuple[str, str], str | None]) -> pd.DataFrame:
    """The `objects` table from {(period, object): name}."""
    rows = [(*key, names[key]) for key in sorted(names)]
    return pd.DataFrame(rows, columns=["period", "object", "name"])


def refused_frame(rows: Iterable[tuple[str | None, str, int, str]]) -> pd.DataFrame:
    """The refused rows from (period, file, row, kind), in file and row order."""
    frame = pd.DataFrame(rows, columns=["period", "file", "row", "kind"]).astype({"row": "int64"})
    return frame.sort_values(["file", "row"], ignore_index=True)


def in_name_order(files: Iterable[File]) -> list[Path]:
    """Files by base name: 'the first stays' means first in this order."""
    return sorted(map(Path, files), key=lambda path: (path.name, str(path)))


def named_period(path: Path) -> str | None:
    """The year a file is named for: its name holds exactly one number of four digits."""
    numbers = re.findall(r"(?<!\d)\d{4}(?!\d)", path.name)
    return numbers[0] if len(numbers) == 1 else None


def number(text: str) -> float | None:
    """The finite number a text says, or None; Python's own 1_000 is not a number here."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and text.isascii() and "_" not in text else None


def open_text(path: Path) -> TextIO:
    """A text file, gzipped or not, with its line ends as they are."""
    content = path.read_bytes()
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    return io.StringIO(content.decode("utf-8-sig", errors="replace"), newline="")

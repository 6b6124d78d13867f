"""The skyline of files that are larger than memory, by any of the methods."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, get_args

import numpy as np

from skyarchive.errors import SettingError
from skyarchive.kernels.external.bnl import block_nested_loops
from skyarchive.kernels.external.counters import Counters
from skyarchive.kernels.external.less import sorted_elimination
from skyarchive.kernels.external.planar import deterministic
from skyarchive.kernels.external.rand import fixed_window, lexicographic, streaming
from skyarchive.kernels.external.source import Paths, Source
from skyarchive.kernels.external.streams import Workspace
from skyarchive.kernels.points.preferences import Better

Method = Literal["fixed-window", "streaming", "lexicographic", "quantiles", "bnl", "less"]
BATCH_ROWS = 8192


@dataclass(frozen=True)
class Found:
    """Positions of the rows in the skyline, ascending, and what it took to find them."""

    rows: np.ndarray
    counters: Counters


def external_skyline(
    source: Paths,
    columns: Mapping[str, Better] | Sequence[str],
    method: Method = "fixed-window",
    *,
    window: int = 10_000,
    seed: int = 0,
    batch_rows: int = BATCH_ROWS,
    temporary: str | Path | None = None,
) -> Found:
    """The rows of Parquet or Arrow files that no other row beats, by their position (from 0, over all the files).

    `source`: a file, a folder of files, or several, in their order. `columns`: what to compare by, each with what is
    better, as in `skyarchive.skyline` (a list of names: lower). Rows that lack one take no part; all copies of
    a skyline row are in the answer. Memory holds about `window` points and a few batches of `batch_rows` rows, and
    the answer; what has to wait is written to a folder in `temporary` (the system's, if not given).

    Methods give the same answer. Of RAND: fixed-window; streaming (guesses the window itself and ignores `window`);
    lexicographic (what it finds does not hang on the order of the rows); quantiles (two columns only, nothing left
    to chance, so `seed` is ignored). To compare with: bnl and less.
    """
    if method not in get_args(Method):
        raise SettingError(f"method must be one of {', '.join(get_args(Method))}, not {method!r}")
    for name, number, least in (("window", window, 1), ("batch_rows", batch_rows, 1), ("seed", seed, 0)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
            raise SettingError(f"{name} must be a whole number of at least {least}, not {number!r}")
    rows = Source(source, columns, batch_rows)
    if method == "quantiles" and rows.width != 2:
        raise SettingError(
            f"method quantiles is for two columns, not {rows.width} (a partial order may count as several); "
            "use fixed-window"
        )
    counters = Counters()
    with TemporaryDirectory(prefix="skyarchive-", dir=temporary) as folder:
        found = list(_found(rows, method, window, Workspace(Path(folder), batch_rows, counters, seed)))
    return Found(np.sort(np.concatenate([np.empty(0, np.int64), *found])), counters)


def _found(source: Source, method: Method, window: int, work: Workspace) -> Iterator[np.ndarray]:
    """Ids as the method finds them."""
    if method == "fixed-window":
        return fixed_window(source, window, work)
    if method == "streaming":
        return streaming(source, work)
    if method == "lexicographic":
        return lexicographic(source, window, work)
    if method == "quantiles":
        return deterministic(source, window, work)
    if method == "bnl":
        return block_nested_loops(source, window, work)
    return sorted_elimination(source, window, work)

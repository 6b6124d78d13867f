"""RAND beside BNL and LESS on files: what each counts and takes, for rows as they come and in two orders that hurt.

The paper's set-up: window 1 % of the rows, smaller is better everywhere, a million points of five attributes, and its
real data sets where the files are at hand. Two orders as in its section 6.2: by decreasing entropy and by the first
attribute, largest first. Files are Arrow's, in the system's cache, and seconds are the processor's: time is computing,
not waiting for a disk or for others.
"""

import time
from collections.abc import Callable, Iterator
from math import ceil, log2
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from skyarchive.kernels.external import Found, Method, external_skyline
from skyarchive.kernels.external.rand import SAMPLES_PER_POINT

SEED = 1
STATIC = Path(__file__).resolve().parents[3] / "shared" / "data" / "static"
"""Folder of the paper's real data sets; left out where it is not there."""
METHODS: tuple[Method, ...] = ("fixed-window", "bnl", "less")
WINDOW_SHARE = 100
"""The window is the rows divided by this."""
BATCH_ROWS = 8192
WIDTH = 5
SPREAD = 8.0
"""How far anti-correlated points lie from their plane, at most, as a multiple of their distance to the best corner:
a skyline of about two windows. Nearer to the plane it grows to a tenth of all rows, and the bench would take long."""
Row = dict[str, Any]


def independent(n: int) -> np.ndarray:
    return np.random.default_rng(SEED).random((n, WIDTH))


def correlated(n: int) -> np.ndarray:
    """Around a diagonal: who is good in one attribute is good in all."""
    chance = np.random.default_rng(SEED)
    return chance.normal(0.5, 0.16, (n, 1)) + chance.normal(0, 0.05, (n, WIDTH))


def anti_correlated(n: int) -> np.ndarray:
    """Beyond a plane: who is good in one attribute is bad in others."""
    chance = np.random.default_rng(SEED)
    return chance.dirichlet(np.ones(WIDTH), n) * (1 + SPREAD * chance.random((n, 1)))


GENERATED = {"independent": independent, "correlated": correlated, "anti-correlated": anti_correlated}
FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "house": ("house_data-endresma-modified.txt", {}),
    "nba": ("nba-U-8-17264.csv", {"delimiter": ",", "usecols": range(8)}),
    "island": ("island-raHit.data", {"skiprows": 1}),
}


def by_entropy(points: np.ndarray) -> np.ndarray:
    low, high = points.min(axis=0), points.max(axis=0)
    return points[np.argsort(-np.log1p((points - low) / (high - low)).sum(axis=1), kind="stable")]


def by_first(points: np.ndarray) -> np.ndarray:
    return points[np.argsort(-points[:, 0], kind="stable")]


ORDERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "as it is": lambda points: points,
    "entropy, worst first": by_entropy,
    "first attribute, worst first": by_first,
}


def _stored(points: np.ndarray, folder: Path) -> Path:
    table = pa.table({f"x{axis}": points[:, axis] for axis in range(points.shape[1])})
    path = folder / "points.arrow"
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=BATCH_ROWS)
    return path


def expected_passes(rows: int, members: int, window: int) -> int:
    """The most that the paper's theorem 8 expects of RAND: 2 log n eliminations, three passes each, for as many windows
    as 24 rows per skyline point fill."""
    return ceil(3 * 2 * log2(rows) * ceil(SAMPLES_PER_POINT * members / window))


def _window(points: np.ndarray) -> int:
    return max(len(points) // WINDOW_SHARE, 1)


def _run(path: Path, points: np.ndarray, method: Method) -> tuple[Found, float]:
    columns = [f"x{axis}" for axis in range(points.shape[1])]
    window = _window(points)
    start = time.process_time()
    found = external_skyline(path, columns, method, window=window, seed=SEED, batch_rows=BATCH_ROWS)
    return found, time.process_time() - start


def compared(data: str, points: np.ndarray, folder: Path) -> Iterator[Row]:
    """All methods on all orders; `slower`: the time in this order by the time as it is."""
    own: dict[Method, float] = {}
    for order, arranged in ORDERS.items():
        path = _stored(arranged(points), folder)
        sizes = set()
        for method in METHODS:
            found, seconds = _run(path, points, method)
            own.setdefault(method, seconds)
            sizes.add(len(found.rows))
            counters = found.counters
            yield {
                "data": f"{data} {len(points)} x {points.shape[1]}",
                "order": order,
                "method": "RAND" if method == "fixed-window" else method.upper(),
                "skyline": len(found.rows),
                "passes": counters.passes,
                "bound": expected_passes(len(points), len(found.rows), _window(points)) if method == METHODS[0] else "",
                "reads": counters.sequential_reads,
                "random_reads": counters.random_reads,
                "rows_read": counters.rows_read,
                "comparisons": counters.comparisons,
                "seconds": round(seconds, 2),
                "slower": round(seconds / own[method], 1),
            }
        if len(sizes) != 1:
            raise AssertionError(f"the methods differ on {data}, {order}: {sizes}")


def _data(quick: bool) -> Iterator[tuple[str, np.ndarray]]:
    for name, (file, options) in FILES.items():
        if (STATIC / file).is_file():
            points = np.loadtxt(STATIC / file, **options)
            yield name, points[:: 10 if quick else 1]
    for name, made in GENERATED.items():
        yield name, made(100_000 if quick else 1_000_000)


def rows(quick: bool = False) -> Iterator[Row]:
    """The table. `quick`: a tenth of the rows."""
    with TemporaryDirectory(prefix="skyarchive-bench-") as name:
        folder = Path(name)
        warm = independent(1000)
        for method in METHODS:
            _run(_stored(warm, folder), warm, method)  # the compiled code is loaded
        for data, points in _data(quick):
            yield from compared(data, points, folder)

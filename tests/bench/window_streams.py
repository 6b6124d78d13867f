"""Streams for the bench of sliding windows: real ones where they are at hand, the usual made-up ones, the paper's."""

import gzip
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from skyarchive.generators import GenerateOptions, generate

SEED = 1
REAL = Path(__file__).resolve().parents[3] / "shared" / "data"
BAND = 0.025
"""How far the sum of an anti-correlated point of the paper is from that of its plane, at most: found by the sizes of
its skylines, which the paper tells (at three and four attributes)."""
_BOX = ["points", "rebounds", "assists", "steals", "blocks"]
_CONNECTION = ["duration", "orig_bytes", "resp_bytes"]


@dataclass(frozen=True)
class Stream:
    """Records as the kernels take them, for windows of a number of records."""

    moments: np.ndarray
    columns: list[np.ndarray]

    @property
    def axes(self) -> int:
        return len(self.columns)

    def __len__(self) -> int:
        return len(self.moments)

    def first(self, length: int) -> "Stream":
        return Stream(self.moments[:length], [column[:length] for column in self.columns])


def _by_number(points: np.ndarray) -> Stream:
    return Stream(np.arange(len(points)), list(np.ascontiguousarray(points.T)))


@cache
def nba() -> Stream:
    """Box scores in the order of the games; higher is better."""
    files = sorted((REAL / "nba").glob("*.parquet")) or _generated(
        "nba", GenerateOptions(periods=[str(year) for year in range(2002, 2015)])
    )
    wanted = ["game_date", "game_id", "minutes", *_BOX]
    rows = pd.concat([pd.read_parquet(file, columns=wanted) for file in files]).dropna()
    rows = rows.sort_values(["game_date", "game_id"], kind="stable")
    return _by_number(-rows[_BOX].to_numpy(float))


@cache
def tcp() -> Stream:
    """Connections by time; higher is better."""
    files = sorted((REAL / "tcp").glob("*.log.gz")) or _generated("tcp", GenerateOptions(size=3.0))
    parts = []
    for file in files:
        with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as text:
            header = next(line for line in text if line.startswith(("ts", "#fields")))
            names = header.removeprefix("#fields").split()
            parts.append(
                pd.read_csv(text, sep="\t", names=names, na_values="-", comment="#", usecols=["ts", *_CONNECTION])
            )
    rows = pd.concat(parts).dropna().sort_values("ts", kind="stable")
    return _by_number(-rows[_CONNECTION].to_numpy(float))


def _generated(archive: str, options: GenerateOptions) -> list[Path]:
    return generate(archive, Path(tempfile.mkdtemp(prefix="skyarchive-bench-")), options)


def independent(axes: int, length: int) -> Stream:
    return _by_number(np.random.default_rng([SEED, axes]).random((length, axes)))


def correlated(axes: int, length: int) -> Stream:
    """Close to the diagonal."""
    rng = np.random.default_rng([SEED, axes])
    return _by_number(rng.random((length, 1)) + rng.normal(0, 0.05, (length, axes)))


def anticorrelated(axes: int, length: int) -> Stream:
    """The usual generator's: around planes that stand near each other, spread along them."""
    rng = np.random.default_rng([SEED, axes])
    return _by_number(_on_plane(rng, axes, length) + rng.normal(0, 0.05, (length, 1)))


def nearly_a_plane(axes: int, length: int) -> Stream:
    """The paper's anti-correlated points have skylines of sizes that only a thin band gives."""
    rng = np.random.default_rng([SEED, axes])
    return _by_number(_on_plane(rng, axes, length) + rng.uniform(-BAND, BAND, (length, 1)) / axes)


def _on_plane(rng: np.random.Generator, axes: int, length: int) -> np.ndarray:
    points = rng.random((length, axes))
    return points - points.mean(axis=1, keepdims=True) + 0.5

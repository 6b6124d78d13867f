"""Skylines of files: every method gives what the definition gives, whatever the order, in the memory it was given."""

from collections.abc import Mapping
from math import ceil, log2
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet as pq

from oracle.skylines import skyline as oracle_skyline
from skyarchive.errors import InputError, SettingError
from skyarchive.kernels.external import Method, external_skyline
from skyarchive.kernels.external.counters import Counters
from skyarchive.kernels.external.improving import improved_in_order, improved_lexicographically
from skyarchive.kernels.external.rand import eliminate_points
from skyarchive.kernels.external.scores import Score
from skyarchive.kernels.external.source import Better, Source
from skyarchive.kernels.external.streams import Spill, Workspace
from skyarchive.kernels.orders import PartialOrder

METHODS = list(get_args(Method))
GENERAL = [method for method in METHODS if method != "quantiles"]


def names(width: int) -> list[str]:
    return [f"x{axis}" for axis in range(width)]


def stored(points: np.ndarray, path: Path, block_rows: int = 100) -> Path:
    """A file with the points; the suffix says which format."""
    table = pa.table({name: column for name, column in zip(names(points.shape[1]), points.T, strict=True)})
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=block_rows)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=block_rows)
    return path


def expected(points: np.ndarray) -> list[int]:
    here = {row: tuple(point) for row, point in enumerate(points.tolist()) if not np.isnan(point).any()}
    return sorted(oracle_skyline(here)) if here else []


def methods_for(width: int) -> list[Method]:
    return METHODS if width == 2 else GENERAL


def anti_correlated(n: int, width: int, seed: int, spread: float = 0.1) -> np.ndarray:
    """Points near a plane: what is good in one attribute is bad in another."""
    chance = np.random.default_rng(seed)
    points = chance.dirichlet(np.ones(width), n)
    return points * (1 + spread * chance.random((n, 1)))


def random_points(seed: int) -> np.ndarray:
    """Of any shape: few or many, with ties, duplicates, missing values, infinities; in some order or none."""
    chance = np.random.default_rng(seed)
    n, width = int(chance.choice([0, 1, 2, 30, 300, 700])), int(chance.integers(1, 9))
    kind = chance.integers(4)
    if kind == 0:
        points = chance.random((n, width))
    elif kind == 1:
        points = chance.integers(0, 4, (n, width)).astype(float)
    elif kind == 2:
        points = anti_correlated(n, width, seed) if n else np.empty((0, width))
    else:
        points = np.repeat(chance.normal(0, 1, (1, width)), n, axis=0)
    if n and chance.random() < 0.3:
        points = points[chance.integers(0, n, n)]
    if chance.random() < 0.3:
        points[chance.random(points.shape) < 0.05] = chance.choice([np.nan, np.inf, -np.inf, -0.0, 0.0])
    if chance.random() < 0.5:
        points = points[np.argsort(-points.sum(axis=1))]
    return points


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_files(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 10):
        points = random_points(seed)
        chance = np.random.default_rng(seed)
        path = stored(points, tmp_path / f"{seed}{chance.choice(['.parquet', '.arrow'])}")
        window, batch_rows = int(chance.choice([1, 7, 64, 65, 1000])), int(chance.choice([1, 13, 128, 5000]))
        if window == 1:  # one skyline point per pass: let it not take forever
            batch_rows = max(batch_rows, 128)
        wanted = expected(points)
        for method in methods_for(points.shape[1]):
            found = external_skyline(
                path, names(points.shape[1]), method, window=window, batch_rows=batch_rows, seed=seed
            )
            assert found.rows.tolist() == wanted, (seed, method, window, batch_rows)

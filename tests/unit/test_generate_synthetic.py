"""The synthetic archive: an update log of real changes, the same whatever follows, at speed."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skyarchive.generators import GenerateOptions, generate

LIVELY: dict[str, Any] = {
    "objects": 300,
    "attributes": 2,
    "snapshots": 90,
    "block": 30,
    "moves": 0.2,
    "births": 0.02,
    "deaths": 0.02,
}


def frame_of(paths: list[Path]) -> pd.DataFrame:
    return pa.concat_tables([pq.read_table(path) for path in paths]).to_pandas()


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    paths = generate("synthetic", tmp_path_factory.mktemp("synthetic"), GenerateOptions(seed=5, **LIVELY))
    assert [path.name for path in paths] == [f"block_0000{i}.parquet" for i in range(3)]
    return frame_of(paths)


def test_columns(tmp_path: Path) -> None:
    [path] = generate("synthetic", tmp_path, GenerateOptions(objects=5, attributes=4, snapshots=3))
    expected = pa.schema(
        [
            ("step", pa.int64()),
            ("object", pa.int64()),
            *((f"x{i}", pa.float64()) for i in range(4)),
            ("gone", pa.bool_()),
        ]
    )
    assert pq.read_schema(path).equals(expected)


def test_rows_are_in_order_one_per_object_and_step(log: pd.DataFrame) -> None:
    keys = list(zip(log.step, log.object, strict=True))
    assert keys == sorted(set(keys))
    assert log.step.min() == 0 and log.step.max() == 89


def test_blocks_hold_their_own_steps(tmp_path: Path) -> None:
    for block, path in enumerate(generate("synthetic", tmp_path, GenerateOptions(seed=5, **LIVELY))):
        steps = pq.read_table(path)["step"].to_numpy()
        assert (steps // 30 == block).all()


def test_everybody_is_inserted_at_step_0_and_positions_are_in_the_box(log: pd.DataFrame) -> None:
    start = log[log.step == 0]
    assert start.object.tolist() == list(range(300))
    assert not start.gone.any()
    placed = log[~log.gone]
    assert placed[["x0", "x1"]].notna().all(axis=None)
    assert placed[["x0", "x1"]].to_numpy().min() >= 0 and placed[["x0", "x1"]].to_numpy().max() <= 100


def test_only_the_living_change_or_go_and_every_row_is_a_change(log: pd.DataFrame) -> None:
    living: dict[int, tuple[float, float]] = {}
    ever: set[int] = set()
    for point, x0, x1, gone in zip(log.object, log.x0, log.x1, log.gone, strict=True):
        if gone:
            assert math.isnan(x0) and math.isnan(x1)
            del living[point]
        else:
            assert point in living or point not in ever
            assert living.get(point) != (x0, x1)
            if point in living:
                assert max(abs(x0 - living[point][0]), abs(x1 - living[point][1])) < 5.02
            living[point] = (x0, x1)
            ever.add(point)
    assert len(ever) > 500 and len(living) < len(ever)


def test_a_move_that_rounding_undoes_is_no_row(tmp_path: Path) -> None:
    options = GenerateOptions(objects=200, attributes=1, snapshots=200, moves=0.9)
    log = frame_of(generate("synthetic", tmp_path, options))
    assert len(log) > 30_000
    assert not (log.groupby("object").x0.diff() == 0).any()


def test_rates_are_those_asked_for(log: pd.DataFrame) -> None:
    first = log.groupby("object").step.min()
    born, gone = (first > 0).sum(), log.gone.sum()
    assert 0.8 < born / (0.02 * 300 * 89) < 1.2
    assert 0.8 < gone / (0.02 * 300 * 89) < 1.25
    moved = len(log) - gone - len(first)
    assert 0.9 < moved / (0.2 * 300 * 89) < 1.1


def test_a_block_does_not_depend_on_what_follows(tmp_path: Path) -> None:
    long = generate("synthetic", tmp_path / "long", GenerateOptions(seed=5, **LIVELY))
    short = generate("synthetic", tmp_path / "short", GenerateOptions(seed=5, **{**LIVELY, "snapshots": 45}))
    assert short[0].read_bytes() == long[0].read_bytes()
    cut = frame_of([long[1]])
    pd.testing.assert_frame_equal(frame_of([short[1]]), cut[cut.step < 45].reset_index(drop=True))


@pytest.mark.parametrize(("moves", "rows"), [(0.0, 50), (1.0, 50 * 20)], ids=["nobody moves", "everybody moves"])
def test_the_ends_of_the_scale(tmp_path: Path, moves: float, rows: int) -> None:
    paths = generate("synthetic", tmp_path, GenerateOptions(objects=50, snapshots=20, block=10, moves=moves))
    assert frame_of(paths).shape[0] == rows


def test_everybody_can_die(tmp_path: Path) -> None:
    options = GenerateOptions(objects=50, snapshots=20, block=10, deaths=1.0)
    log = frame_of(generate("synthetic", tmp_path, options))
    assert log[log.step == 1].gone.all() and len(log) == 100
    assert log.step.max() == 1


def test_a_move_changes_every_attribute_a_little(log: pd.DataFrame) -> None:
    steps = log[~log.gone].groupby("object").x0.diff().dropna()
    assert 1.5 < steps.abs().mean() < 3.5


def test_dirt_adds_positions_that_are_none_and_a_row_twice(tmp_path: Path, log: pd.DataFrame) -> None:
    paths = generate("synthetic", tmp_path, GenerateOptions(seed=5, dirt=True, **LIVELY))
    table = pa.concat_tables([pq.read_table(path) for path in paths])
    x0, gone = table["x0"].to_pylist(), table["gone"].to_pylist()
    missing = [x is None and not g for x, g in zip(x0, gone, strict=True)]
    faulty = [m or (x is not None and not math.isfinite(x)) for x, m in zip(x0, missing, strict=True)]
    assert any(missing)
    assert any(x is not None and math.isnan(x) for x in x0)
    assert math.inf in x0
    good = table.filter(pa.array(np.logical_not(faulty))).to_pandas()
    assert good.duplicated().any()
    pd.testing.assert_frame_equal(good.drop_duplicates().reset_index(drop=True), log)
    assert len(log) < len(table) < 1.03 * len(log)

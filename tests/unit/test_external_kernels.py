"""Skylines of files: every method gives what the definition gives, whatever the order, in the memory it was given."""

import tracemalloc
from collections.abc import Mapping
from math import ceil, log2
from pathlib import Path
from typing import get_args

import moocore
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
from skyarchive.kernels.external.planar import best_of_buckets, eliminate_by_quantiles
from skyarchive.kernels.external.rand import eliminate_points
from skyarchive.kernels.external.scores import Score
from skyarchive.kernels.external.source import Better, Source
from skyarchive.kernels.external.streams import Spill, Workspace
from skyarchive.kernels.points.orders import PartialOrder

METHODS = list(get_args(Method))
GENERAL = [method for method in METHODS if method != "quantiles"]


def names(width: int) -> list[str]:
    return [f"x{axis}" for axis in range(width)]


def stored(points: np.ndarray, path: Path, block_rows: int = 100) -> Path:
    """A file with the points; the suffix says which format."""
    table = pa.table(dict(zip(names(points.shape[1]), points.T, strict=True)))
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
        wanted = expected(points)
        # A window that is small beside the skyline makes many rounds, and small batches many reads.
        window, batch_rows = int(chance.choice([20, 64, 65, 1000])), int(chance.choice([37, 128, 5000]))
        for method in methods_for(points.shape[1]):
            found = external_skyline(
                path, names(points.shape[1]), method, window=window, batch_rows=batch_rows, seed=seed
            )
            assert found.rows.tolist() == wanted, (seed, method, window, batch_rows)


VALUES = st.sampled_from([-1.0, -0.0, 0.0, 1.0, 2.0, np.inf, -np.inf, np.nan])
ROWS = st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[VALUES] * width), max_size=25).map(
    lambda rows: np.array(rows, float).reshape(-1, width)
))  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, st.integers(1, 5), st.integers(1, 7), st.integers(0, 3))
def test_any_small_file(tmp_path: Path, points: np.ndarray, window: int, batch_rows: int, seed: int) -> None:
    path = stored(points, tmp_path / "points.arrow", block_rows=4)
    for method in methods_for(points.shape[1]):
        found = external_skyline(path, names(points.shape[1]), method, window=window, batch_rows=batch_rows, seed=seed)
        assert found.rows.tolist() == expected(points), method


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_rows_changes_nothing(method: Method, tmp_path: Path) -> None:
    points = anti_correlated(1500, 2, seed=1, spread=0.3).round(2)
    wanted = sorted(map(tuple, points[expected(points)]))
    orders = [np.argsort(points[:, 0]), np.argsort(-points.sum(axis=1)), np.random.default_rng(0).permutation(1500)]
    for order in orders:
        path = stored(points[order], tmp_path / "points.arrow")
        rows = external_skyline(path, names(2), method, window=50, batch_rows=128).rows
        assert sorted(map(tuple, points[order][rows])) == wanted


def test_several_files_and_folders(tmp_path: Path) -> None:
    points = np.random.default_rng(0).random((500, 3))
    first = stored(points[:123], tmp_path / "a.parquet")
    second = stored(points[123:], tmp_path / "b.arrow")
    (tmp_path / "notes.txt").write_text("not for us")
    for source in ([first, second], tmp_path, str(tmp_path)):
        assert external_skyline(source, names(3), window=20).rows.tolist() == expected(points)


def test_many_duplicates_leave_in_one_round(tmp_path: Path) -> None:
    """A window far smaller than the number of equal rows must not mean a round for each window of them."""
    points = np.repeat(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]]), 4000, axis=0)
    path = stored(points, tmp_path / "points.arrow", 1000)
    for method in ("fixed-window", "streaming", "lexicographic", "quantiles"):
        found = external_skyline(path, names(2), method, window=16)
        assert found.rows.tolist() == list(range(8000)), method
        assert found.counters.passes <= 9, method


ORDER = PartialOrder.from_pairs([("a", "c"), ("b", "c"), ("b", "d")], others=["e"])


def test_directions_and_partial_orders(tmp_path: Path) -> None:
    chance = np.random.default_rng(4)
    for seed in range(4):
        n = 120
        price, stars = chance.integers(1, 9, n), chance.integers(1, 5, n).astype(float)
        grade = [None if chance.random() < 0.1 else str(value) for value in chance.choice(list("abcde"), n)]
        stars[chance.random(n) < 0.1] = np.nan
        here = [row for row in range(n) if grade[row] is not None and not np.isnan(stars[row])]

        def not_worse(a: int, b: int) -> bool:
            return bool(price[a] <= price[b] and stars[a] >= stars[b] and ORDER.at_least_as_good(grade[a], grade[b]))  # noqa: B023

        wanted = [b for b in here if not any(not_worse(a, b) and not not_worse(b, a) for a in here)]
        column = pa.array(grade)
        table = pa.table({"price": price, "grade": column.dictionary_encode() if seed % 2 else column, "stars": stars})
        pq.write_table(table, tmp_path / "hotels.parquet")
        columns: Mapping[str, Better] = {"price": "lower", "grade": ORDER, "stars": "higher"}
        for method in GENERAL:
            found = external_skyline(tmp_path / "hotels.parquet", columns, method, window=10, batch_rows=50, seed=seed)
            assert found.rows.tolist() == wanted, method


def work_in(folder: Path, seed: int, batch_rows: int = 500) -> Workspace:
    return Workspace(folder, batch_rows, Counters(), seed)


def worst_first(points: np.ndarray) -> np.ndarray:
    return points[np.argsort(-points.sum(axis=1))]


def datasets() -> dict[str, np.ndarray]:
    chance = np.random.default_rng(8)
    random = chance.random((3000, 3))
    staircase = np.repeat(np.column_stack([np.arange(30.0), -np.arange(30.0)]), 100, axis=0) + chance.random((3000, 1))
    return {"random": random, "worst first": worst_first(random), "staircase": worst_first(staircase)}


@pytest.mark.parametrize("name", datasets())
@pytest.mark.parametrize("improve", [improved_in_order, improved_lexicographically])
def test_a_quarter_is_left_after_one_elimination(name: str, improve: object, tmp_path: Path) -> None:
    """Lemma 2: with 24 rows drawn for each skyline point, at most n / 4 stay, on average."""
    points = datasets()[name]
    wanted = set(expected(points))
    drawn = 24 * len(wanted)
    assert drawn < len(points)
    source = Source(stored(points, tmp_path / "points.arrow"), names(points.shape[1]), 500)
    shares = []
    for seed in range(8):
        *found, left = eliminate_points(source, drawn, work_in(tmp_path, seed), improve)  # type: ignore[arg-type]
        assert isinstance(left, Spill)
        assert set(np.concatenate(found).tolist()) <= wanted  # type: ignore[arg-type]
        shares.append(left.rows / len(points))
    assert np.mean(shares) <= 0.25


@pytest.mark.parametrize("name", datasets())
@pytest.mark.parametrize("window", [24, 100])
def test_passes_are_within_the_expected_bound(name: str, window: int, tmp_path: Path) -> None:
    """Theorem 8: 2 log n eliminations with a window for 24 m rows, or 24 m / w times as many, of three passes each."""
    points = datasets()[name]
    n, m = len(points), len(expected(points))
    path = stored(points, tmp_path / "points.arrow")
    for method in ("fixed-window", "lexicographic"):
        passes, comparisons = [], []
        for seed in range(5):
            counters = external_skyline(path, names(points.shape[1]), method, window=window, seed=seed).counters
            passes.append(counters.passes)
            comparisons.append(counters.comparisons)
            assert counters.random_reads == counters.passes
        assert np.mean(passes) <= 3 * 2 * log2(n) * ceil(24 * m / window)
        assert np.mean(comparisons) <= 3 * 4 * 24 * n * max(m, window)


@pytest.mark.parametrize("name", datasets())
def test_streaming_takes_few_passes(name: str, tmp_path: Path) -> None:
    """Theorem 7: every elimination halves the stream or doubles the guess, which stays below 2 m."""
    points = datasets()[name]
    n, m = len(points), len(expected(points))
    path = stored(points, tmp_path / "points.arrow")
    for seed in range(5):
        counters = external_skyline(path, names(points.shape[1]), "streaming", seed=seed).counters
        assert counters.passes <= 3 * (ceil(log2(n)) + ceil(log2(m)))
        assert counters.most_points <= 24 * 2 * m * ceil(log2(n * log2(n)))


@pytest.mark.parametrize("n_buckets", [4, 16, 64])
def test_quantiles_find_many_or_eliminate_many(n_buckets: int, tmp_path: Path) -> None:
    """Lemma 13: of a skyline point for every other bucket and a quarter of the stream gone, one holds at least. Points
    in bands: the first one of a bucket says nothing about how good its best one is."""
    chance = np.random.default_rng(0)
    for m in (1, 5, 200):
        first = chance.random(4000)
        second = np.ceil((1 - first) * m) / m + chance.random(4000) ** 3
        points = worst_first(np.column_stack([first, second]))
        source = Source(stored(points, tmp_path / "points.arrow"), names(2), 500)
        *found, left = eliminate_by_quantiles(source, n_buckets, work_in(tmp_path, 0))
        assert isinstance(left, Spill)
        rows: np.ndarray = np.concatenate(found)  # type: ignore[arg-type]
        assert set(rows.tolist()) <= set(expected(points))
        assert len(rows) >= n_buckets / 2 or left.rows <= 0.75 * len(points)


def test_the_best_point_of_each_bucket(tmp_path: Path) -> None:
    """The best in the second attribute, of several the best in the first: it alone tells what beats its bucket."""
    points = np.random.default_rng(1).integers(0, 40, (900, 2)).astype(float)
    borders = np.array([0.0, 3.0, 4.0, 20.0, 39.0])
    source = Source(stored(points, tmp_path / "points.arrow"), names(2), 100)
    wanted = []
    for low, high in zip(borders, [*borders[1:], np.inf], strict=True):
        inside = points[(points[:, 0] >= low) & (points[:, 0] < high)]
        wanted.append(min(inside.tolist(), key=lambda point: (point[1], point[0])))
    assert best_of_buckets(source, borders, work_in(tmp_path, 0)).tolist() == wanted


def test_what_a_drawn_row_becomes_is_in_the_skyline(tmp_path: Path) -> None:
    """And by the lexicographic pass it becomes the same whatever the order of the stream."""
    chance = np.random.default_rng(2)
    points = anti_correlated(600, 3, seed=2, spread=0.8).round(2)
    skyline = {tuple(point) for point in points[expected(points)]}
    drawn = points[chance.choice(600, 50, replace=False)]
    score = Score.of([drawn], 3)
    lexicographic = []
    for seed in range(4):
        shuffled = points[np.random.default_rng(seed).permutation(600)]
        source = Source(stored(shuffled, tmp_path / "points.arrow"), names(3), 100)
        in_order = improved_in_order(source, drawn, score, work_in(tmp_path, 0))
        assert {tuple(point) for point in in_order} <= skyline
        lexicographic.append(improved_lexicographically(source, drawn, score, work_in(tmp_path, 0)))
    best = [min(tuple(p) for p in points.tolist() if all(np.array(p) <= one)) for one in drawn]
    for winners in lexicographic:
        assert {tuple(point) for point in winners} == set(best) <= skyline


@pytest.mark.parametrize("method", [method for method in METHODS if method != "streaming"])
def test_the_window_is_never_exceeded(method: Method, tmp_path: Path) -> None:
    """Neither by count nor by what Python's arrays take, however many rows there are."""
    window, batch_rows = 1000, 500
    points = anti_correlated(60_000, 2, seed=3, spread=2e-3)
    path = stored(worst_first(points), tmp_path / "points.arrow", 500)
    external_skyline(path, names(2), method, window=window, batch_rows=batch_rows)  # the compiled code is loaded
    tracemalloc.start()
    try:
        found = external_skyline(path, names(2), method, window=window, batch_rows=batch_rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.rows) > 0
    assert found.counters.most_points <= window
    answer = 2 * found.rows.nbytes
    of_a_point = 3 * 8
    assert peak - answer < 8 * (window + 2 * batch_rows) * of_a_point < points.nbytes / 2


def test_seeds_repeat(tmp_path: Path) -> None:
    path = stored(np.random.default_rng(0).random((2000, 4)), tmp_path / "points.arrow")
    one, same, other = (external_skyline(path, names(4), window=30, seed=seed) for seed in (1, 1, 2))
    assert one.counters == same.counters != other.counters
    assert one.rows.tolist() == other.rows.tolist()


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    path = stored(anti_correlated(500, 3, 0), tmp_path / "points.arrow")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    for method in GENERAL:
        external_skyline(path, names(3), method, window=20, temporary=scratch)
        assert not list(scratch.iterdir())


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"window": 0}, "window must be a whole number of at least 1, not 0"),
        ({"window": 2.5}, "window must be a whole number"),
        ({"batch_rows": 0}, "batch_rows must be"),
        ({"seed": -1}, "seed must be a whole number of at least 0, not -1"),
        ({"method": "best"}, "method must be one of fixed-window, streaming, .* not 'best'"),
        ({"method": "quantiles", "columns": ["x", "y", "z"]}, "for two columns, not 3"),
        ({"source": pa.table({"x": [1]})}, "source must be the path of a file or folder, .* not a Table"),
        ({"source": [1]}, "source must be the path"),
        ({"columns": []}, "at least one column"),
        ({"columns": "x"}, "list of names"),
        ({"columns": ["x", "x"]}, "must differ"),
        ({"columns": ["x", "nope"]}, "has no column nope; it has x, y, z, name, large"),
        (
            {"columns": ["x", "name"]},
            "column name of .* is string, which has no lower and higher: give it a partial order",
        ),
        ({"columns": {"x": "best"}}, "x: 'best' is no direction; write lower, higher"),
    ],
)
def test_wrong_settings(changed: dict[str, object], named: str, tmp_path: Path) -> None:
    path = _odd_table(tmp_path)
    arguments = {"source": path, "columns": ["x", "y"], **changed}
    with pytest.raises(SettingError, match=named):
        external_skyline(**arguments)  # type: ignore[arg-type]


def _odd_table(folder: Path) -> Path:
    numbers = {name: [1.0, 2.0] for name in "xyz"}
    pq.write_table(pa.table({**numbers, "name": ["a", "q"], "large": [2**62 + 2**60, 0]}), folder / "odd.parquet")
    return folder / "odd.parquet"


def test_whole_numbers_that_no_double_tells_apart(tmp_path: Path) -> None:
    numbers = np.arange(40)
    columns = {"start": -(2**60) + numbers * 7 % 10, "other": 2**54 + numbers * 3 % 10}
    pq.write_table(pa.table(columns), tmp_path / "large.parquet")
    small = np.column_stack([numbers * 7 % 10, numbers * 3 % 10]).astype(float)
    for method in METHODS:
        assert external_skyline(tmp_path / "large.parquet", list(columns), method, window=3).rows.tolist() == expected(
            small
        )


def test_wrong_input(tmp_path: Path) -> None:
    path = _odd_table(tmp_path)
    with pytest.raises(InputError, match="column name has the value 'q', which its partial order does not name"):
        external_skyline(path, {"x": "lower", "name": ORDER})
    with pytest.raises(InputError, match="column large has 5764607523034234880: whole numbers are told apart up to"):
        external_skyline(path, ["large"])
    with pytest.raises(InputError, match=r"none\.parquet cannot be read"):
        external_skyline(tmp_path / "none.parquet", ["x"])
    (tmp_path / "text.csv").write_text("x,y")
    with pytest.raises(InputError, match="neither a Parquet nor an Arrow"):
        external_skyline(tmp_path / "text.csv", ["x"])
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"broken\.parquet cannot be read"):
        external_skyline(tmp_path / "broken.parquet", ["x"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no files to read"):
        external_skyline(tmp_path / "empty", ["x"])


HOUSE = Path(__file__).parents[3] / "shared" / "data" / "static" / "house_data-endresma-modified.txt"


@pytest.mark.thorough
@pytest.mark.skipif(not HOUSE.is_file(), reason="needs the real data sets in ../shared")
def test_the_papers_house_data(tmp_path: Path) -> None:
    """All methods against another library; the paper's window, and its orders."""
    points = np.loadtxt(HOUSE)
    for arranged in (points, worst_first(points), points[np.argsort(-points[:, 0])]):
        path = stored(arranged, tmp_path / "house.arrow", 8192)
        wanted = np.flatnonzero(moocore.is_nondominated(arranged, keep_weakly=True)).tolist()
        for method in GENERAL:
            found = external_skyline(path, names(points.shape[1]), method, window=len(points) // 100)
            assert found.rows.tolist() == wanted, method

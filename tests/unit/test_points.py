"""Unbeaten points in memory, and a round of the passes, against the definition."""

from collections.abc import Callable

import numpy as np
import pytest

from oracle import records as oracle
from skyarchive.kernels.points import rounds, spared, strong_points, unbeaten

ODD = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324]
Draw = Callable[[np.random.Generator, int, int], np.ndarray]
DATA: dict[str, Draw] = {
    "independent": lambda chance, n, d: chance.random((n, d)),
    "few values": lambda chance, n, d: chance.integers(0, 4, (n, d)).astype(float),
    "odd values": lambda chance, n, d: chance.choice(ODD, (n, d)),
    "all equal": lambda chance, n, d: np.ones((n, d)),
    "at odds": lambda chance, n, d: (lambda x: x - x.mean(axis=1, keepdims=True))(chance.random((n, d))),
    # Sums of floats are equal for points of which one beats the other: 1e16 + 1 is 1e16.
    "lost digits": lambda chance, n, d: chance.choice([1e16, -1e16, 1.0, 2.0, 3.0], (n, d)),
}


def columns_of(points: np.ndarray) -> list[np.ndarray]:
    return [np.ascontiguousarray(points[:, axis]) for axis in range(points.shape[1])]


def truth(points: np.ndarray, group: np.ndarray | None = None) -> np.ndarray:
    """By definition, a point at a time."""
    whole = ~np.isnan(points).any(axis=1)
    answer = np.zeros(len(points), bool)
    for row in np.flatnonzero(whole):
        others = points[whole & (True if group is None else group == group[row])]
        answer[row] = not ((others <= points[row]).all(axis=1) & (others < points[row]).any(axis=1)).any()
    return answer


def test_the_truth_is_the_oracle_s() -> None:
    chance = np.random.default_rng(3)
    points = chance.integers(0, 4, (60, 3)).astype(float)
    rows = [{"at": n, "a": a, "b": b, "c": c} for n, (a, b, c) in enumerate(points.tolist())]
    found = oracle.unbeaten(rows, {"a": "lower", "b": "lower", "c": "lower"})
    assert {row["at"] for row in found} == set(np.flatnonzero(truth(points)))


@pytest.mark.parametrize("data", DATA)
def test_any_number_of_columns_and_rows(data: str) -> None:
    chance = np.random.default_rng(1)
    for dimensions in (1, 2, 3, 4, 5, 8, 16):
        for n in (0, 1, 2, 40, 150):
            points = DATA[data](chance, n, dimensions)
            columns = columns_of(points)
            before = [column.copy() for column in columns]
            assert (unbeaten(columns) == truth(points)).all(), (dimensions, n)
            assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(columns, before, strict=True))
            group = chance.integers(0, 4, n)
            assert (unbeaten(columns, group) == truth(points, group)).all(), (dimensions, n)


@pytest.mark.parametrize("data", ["independent", "few values", "all equal", "at odds"])
def test_enough_points_for_every_pass(data: str) -> None:
    chance = np.random.default_rng(2)
    for n, dimensions in ((9000, 3), (3000, 4)):  # swept, and compared with members
        points = DATA[data](chance, n, dimensions)
        found = unbeaten(columns_of(points))
        assert (found == truth(points)).all()
        mixed = chance.permutation(len(points))
        assert (unbeaten(columns_of(points[mixed])) == found[mixed]).all()


def test_more_places_in_order_than_one_number_holds() -> None:
    """Ranks of groups and attributes that have more combinations than 64 bits: here two rows in every group."""
    chance = np.random.default_rng(6)
    points = chance.random((40_000, 2, 3))
    beaten_by_other = np.stack(
        [(points[:, 1] < points[:, 0]).all(axis=1), (points[:, 0] < points[:, 1]).all(axis=1)], axis=1
    )
    mixed = chance.permutation(80_000)
    group = np.repeat(np.arange(40_000), 2)[mixed]
    found = unbeaten(columns_of(points.reshape(-1, 3)[mixed]), group)
    assert (found == ~beaten_by_other.ravel()[mixed]).all()


def test_strong_points_beat_only_the_beaten() -> None:
    chance = np.random.default_rng(4)
    for name in ("independent", "few values", "odd values"):
        points = DATA[name](chance, 3000, 3)
        columns = columns_of(points)
        member = truth(points)
        strong = strong_points([column[member] for column in columns], columns)
        left = spared(columns, strong)
        assert left[member].all()
        assert name == "odd values" or left.mean() < 0.5
        assert spared(columns, np.empty((0, 3))).all()


def test_a_round_finds_skyline_points_and_judges_by_them() -> None:
    chance = np.random.default_rng(5)
    for trial in range(60):
        points = DATA["few values" if trial % 2 else "independent"](chance, 80, 1 + trial % 5)
        group = chance.integers(0, 3, len(points))
        picked = chance.choice(len(points), 7)
        best = rounds.improved(columns_of(points), group, points[picked], group[picked])
        member = truth(points, group)
        for target, of, found in zip(points[picked], group[picked], best, strict=True):
            dominators = points[(points <= target).all(axis=1) & (group == of)]
            assert found.tolist() == min(dominators.tolist())
            assert member[(points == found).all(axis=1) & (group == of)].all()
        standing = rounds.standing(columns_of(points), group, best, group[picked])
        for row, point in enumerate(points):
            rivals = best[group[picked] == group[row]]
            equal = (rivals == point).all(axis=1).any()
            beaten = ((rivals <= point).all(axis=1) & (rivals < point).any(axis=1)).any()
            assert standing[row] == (rounds.EQUAL if equal else rounds.BEATEN if beaten else rounds.FREE)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([], "1 to 64, not 0"),
        ([np.zeros(3), np.zeros(2)], r"columns\[1\] has 2 values"),
        ([np.zeros(3, np.int64)], "float64 array, not int64"),
        ([[1.0]], "not list"),
    ],
)
def test_wrong_columns_are_told(columns: list, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        unbeaten(columns)
    with pytest.raises(ValueError, match="one number per row"):
        unbeaten([np.zeros(3)], np.zeros(2))

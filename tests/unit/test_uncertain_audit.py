"""Probable members found again: by products over few that suffice, and each way in which an answer can be wrong."""

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from skyarchive.arrivals.ordered import Asked
from skyarchive.arrivals.samples import Sample
from skyarchive.steps.uncertain.auditing import _compared, mattering, products

LEVELS = (Decimal("0.3"), Decimal("0.05"))
ASKED = Asked(0, "q", 50, True, {"x": 1.0, "y": -1.0}, True, LEVELS)


def some(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points with ties, groups and probabilities, some of them certain."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 400))
    points = draw.integers(0, int(draw.choice([4, 30])), (n, 2)).astype(float)
    if seed % 3 == 0:
        points[:, 1] = points[:, 0] + draw.integers(-2, 3, n)
    chance = np.where(draw.random(n) < 0.1, 1.0, draw.random(n) * 0.9 + 0.05)
    return points, draw.integers(0, 2, n), chance


def by_definition(points: np.ndarray, groups: np.ndarray, chance: np.ndarray) -> np.ndarray:
    found = chance.copy()
    for at in range(len(points)):
        beats = (points <= points[at]).all(axis=1) & (points < points[at]).any(axis=1) & (groups == groups[at])
        for other in np.flatnonzero(beats):
            found[at] *= 1 - chance[other]
    return found


@pytest.mark.parametrize("seed", range(60))
def test_those_that_matter_are_enough(seed: int) -> None:
    points, groups, chance = some(seed)
    whole, floor = by_definition(points, groups, chance), float(min(LEVELS))
    every = np.arange(len(points))
    np.testing.assert_allclose(chance * products(points, groups, chance, every, every), whole, rtol=1e-12, atol=1e-300)
    kept = mattering([points[:, 0], points[:, 1]], groups, chance, ASKED)
    rows = np.flatnonzero(kept)
    assert not (whole[~kept] >= floor).any()
    likely = chance[rows] * products(points, groups, chance, rows, rows)
    members = whole[rows] >= floor
    np.testing.assert_allclose(likely[members], whole[rows][members], rtol=1e-12)
    assert (likely[~members] < floor).all()
    if len(points) > 100 and seed % 3:
        assert len(rows) < len(points)


def told(change: dict[str, Any] | None = None, drop: bool = False, counts: tuple[int, int] = (300, 400)) -> int:
    """How much is wrong of an answer in which one member is changed or missing."""
    points, groups, chance = some(4)
    likely = by_definition(points, groups, chance)
    rows: list[dict[str, Any]] = []
    for at, own in enumerate(likely):
        record = {"sample": 0, "group_key": str(groups[at]), "file": "f", "row": at + 1, "object": "o",
                  "x": points[at, 0], "y": -points[at, 1], "alive": 0, "come": 0}  # fmt: skip
        nothing = {"chance": None, "threshold": None, "probability": None, "greatest": None}
        rows.append(record | nothing | {"is_member": False, "chance": chance[at]})
        for threshold in (0.3, 0.05):
            if own >= threshold:
                claim = {"is_member": True, "threshold": threshold, "probability": own, "greatest": own}
                rows.append(record | nothing | claim)
    nobody = dict.fromkeys(rows[0]) | {"sample": 0, "is_member": False, "alive": counts[0], "come": counts[1]}
    last = max(at for at, row in enumerate(rows) if row["is_member"])
    if drop:
        del rows[last]
    else:
        rows[last] |= change or {}
    sample = Sample("p", "q", 7, None, (0, "f", 1), 300, 400)
    return int(_compared([sample], [ASKED], pa.Table.from_pylist([*rows, nobody]))["wrong"][0].as_py())


def test_each_fault_is_told() -> None:
    assert told() == 0
    assert told(drop=True) == 1
    assert told({"probability": 0.9999}) == 1
    assert told({"greatest": 0.01}) == 1
    assert told({"object": "other"}) == 1
    assert told({"x": 99.0}) == 1
    assert told({"row": 9999}) == 2  # a stranger, and one missing
    assert told({"probability": None}) == 0  # who entered earlier may be as probable as can be now
    assert told(counts=(299, 400)) == 1
    assert told(counts=(300, 401)) == 1

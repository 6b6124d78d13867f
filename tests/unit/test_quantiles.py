"""The quantile summary keeps its promise: ranks to within the error, in little memory, whatever the order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyarchive.errors import SettingError
from skyarchive.kernels.external.quantiles import QuantileSummary

SHARES = np.linspace(0, 1, 41)


def summary_of(values: np.ndarray, error: float, batch: int) -> QuantileSummary:
    summary = QuantileSummary(error)
    for start in range(0, len(values), batch):
        summary.add(values[start : start + batch])
    return summary


def assert_within_error(values: np.ndarray, error: float, batch: int) -> QuantileSummary:
    """Of equal values one has the rank that was asked for if any of their ranks is close enough."""
    summary = summary_of(values, error, batch)
    ordered, n = np.sort(values), len(values)
    for share, answer in zip(SHARES, summary.quantiles(SHARES), strict=True):
        wanted = min(max(int(np.ceil(share * n)), 1), n)
        first = np.searchsorted(ordered, answer, side="left") + 1
        last = np.searchsorted(ordered, answer, side="right")
        assert first <= last, "a value that was never added"
        assert first - error * n <= wanted <= last + error * n, (share, answer, first, last, wanted)
    return summary


@pytest.mark.parametrize("error", [0.2, 0.01, 0.001])
@pytest.mark.parametrize("order", ["random", "up", "down", "zigzag", "ties"])
def test_error_and_size(error: float, order: str) -> None:
    chance = np.random.default_rng(5)
    n = 30_000
    values = chance.normal(0, 1, n)
    if order == "up":
        values.sort()
    elif order == "down":
        values = -np.sort(values)
    elif order == "zigzag":
        values = np.sort(values)
        values = np.column_stack([values[: n // 2], values[n // 2 :][::-1]]).reshape(-1)
    elif order == "ties":
        values = chance.integers(0, 6, n).astype(float)
    summary = assert_within_error(values, error, batch=int(chance.integers(1, 3000)))
    assert summary.count == n
    assert len(summary) <= 11 / (2 * error) * np.log2(2 * error * n), "the paper's bound on the size"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-5, 20).map(float) | st.sampled_from([np.inf, -np.inf]), min_size=1, max_size=200),
    st.sampled_from([0.5, 0.1, 0.03]),
    st.integers(1, 50),
)
def test_any_values(values: list[float], error: float, batch: int) -> None:
    assert_within_error(np.array(values), error, batch)


def test_least_and_largest_are_exact() -> None:
    values = np.random.default_rng(0).random(5000)
    summary = summary_of(values, 0.1, 100)
    assert summary.quantiles(np.array([0.0]))[0] >= values.min()
    assert len(summary) < 100
    assert {values.min(), values.max()} <= set(summary._values)


def test_wrong_use() -> None:
    for error in (0, 1, -0.1, np.nan):
        with pytest.raises(SettingError, match="error must be between 0 and 1"):
            QuantileSummary(error)
    with pytest.raises(ValueError, match="nothing was added"):
        QuantileSummary(0.1).quantiles(SHARES)

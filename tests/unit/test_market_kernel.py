"""Beta and slope: the kernel against the slow oracle, and in halves against in one go."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import prices
from oracle.common import Ledger
from skyarchive.kernels.market import changes, positions
from skyarchive.steps.derive.methods.market import _derive_bucket
from skyarchive.steps.derive.methods.parts import BEFORE

DECIMALS = 9
FINE = settings(max_examples=60, deadline=None)
HISTORY = ["closes", "returns", "markets"]

# A market is a table of days by tickers: a power of two (its returns are exact) or no row that day.
quotes = st.sampled_from([1.0, 2.0, 4.0, 8.0, 16.0, float("nan")])
markets = st.integers(1, 4).flatmap(
    lambda tickers: st.lists(st.lists(quotes, min_size=tickers, max_size=tickers), min_size=5, max_size=16)
)
windows = st.integers(2, 4)


def table(market: list[list[float]]) -> pd.DataFrame:
    """date (the snapshot), ticker, close of every quote, by ticker and date."""
    rows = [(day, f"T{k}", close) for day, closes in enumerate(market) for k, close in enumerate(closes)]
    frame = pd.DataFrame(rows, columns=["date", "ticker", "close"]).dropna()
    return frame.sort_values(["ticker", "date"], ignore_index=True)


def expected(rows: pd.DataFrame, window: int) -> pd.DataFrame:
    """The oracle's return, market, beta and slope of every row."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prices, "WINDOW", window)
        patch.setattr(prices, "DECIMALS", DECIMALS)
        return prices.with_positions(rows)


def computed(rows: pd.DataFrame, window: int, decimals: int = DECIMALS) -> tuple[np.ndarray, np.ndarray]:
    start = np.append(0, rows.groupby("ticker").size().cumsum().to_numpy())
    columns = [rows[name].to_numpy(np.float64) for name in ("close", "return", "market")]
    before = [column.copy() for column in columns]
    close, returns, market = columns
    found = positions(start, start[:-1], close, returns, market, window, decimals)
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(before, columns, strict=True))
    return found


@given(market=markets, window=windows)
@FINE
def test_positions_are_the_oracles(market: list[list[float]], window: int) -> None:
    rows = expected(table(market), window)
    beta, slope = computed(rows, window)
    np.testing.assert_allclose(beta, rows["beta"], rtol=1e-9, atol=2e-9)
    np.testing.assert_allclose(np.where(np.isnan(beta), np.nan, slope), slope, rtol=0)
    alive = ~np.isnan(beta)
    np.testing.assert_allclose(slope[alive], rows["slope"][alive], rtol=1e-9, atol=2e-9)


@given(market=markets, window=windows, alive=st.booleans())
@FINE
def test_changes_are_what_differs_from_what_was_told_last(market: list[list[float]], window: int, alive: bool) -> None:
    rows = expected(table(market), window)
    beta, slope = computed(rows, window, decimals=0)
    tickers = rows["ticker"].unique()
    start = np.append(0, rows.groupby("ticker").size().cumsum().to_numpy())
    begin = np.full(len(tickers), 1.0 if alive else np.nan)
    ledger = Ledger(["beta", "slope"])
    ledger.last = {ticker: (1.0, 1.0) for ticker in tickers if alive}
    for day in range(len(market)):
        today = np.flatnonzero((rows["date"] == day).to_numpy() & ~np.isnan(beta))
        ledger.tell_all("", day, {rows["ticker"][i]: (beta[i], slope[i]) for i in today})
    snapshot = rows["date"].to_numpy(np.int64)
    found = changes(start, start[:-1], snapshot, beta, slope, begin, begin, 0, len(market) - 1)
    told = sorted(zip(found[1], (tickers[k] for k in found[0]), *found[2:], strict=True), key=lambda row: row[:2])
    wanted = ledger.frame()[["snapshot", "object", "beta", "slope"]].itertuples(index=False, name=None)
    assert [repr(tuple(map(plain, row))) for row in told] == [repr(tuple(map(plain, row))) for row in wanted]


def plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def bucket(rows: pd.DataFrame, carry: pa.Table, window: int, first: int, ends: list[int]) -> pd.DataFrame:
    """The deriver's own way through the kernel, over rows and what was carried in."""
    names = {"object": "ticker", "snapshot": "date", "close": "close", "return": "return", "market": "market"}
    kinds = [pa.string(), pa.int64(), *[pa.float64()] * 3]
    columns = [
        pa.array(rows[own].tolist(), kind, from_pandas=True) for own, kind in zip(names.values(), kinds, strict=True)
    ]
    found = _derive_bucket(window, DECIMALS, first, ends, pa.table(columns, list(names)), carry)
    return found.to_pandas().sort_values(["place", "snapshot", "object"], ignore_index=True)


def carried(states: pd.DataFrame) -> pa.Table:
    lists = pa.list_(pa.float64())
    schema = pa.schema(
        [("object", pa.string()), ("beta", pa.float64()), ("slope", pa.float64()), *((n, lists) for n in HISTORY)]
    )
    return pa.Table.from_pandas(states[schema.names], schema, preserve_index=False)


def contents(frame: pd.DataFrame) -> list[str]:
    """Rows as text, exact to the last bit."""
    return [
        repr([x.tolist() if isinstance(x, np.ndarray) else x for x in row]) for row in frame.itertuples(index=False)
    ]


def assert_halves_are_the_whole(rows: pd.DataFrame, window: int, middle: int, last: int) -> None:
    nothing = carried(pd.DataFrame(columns=["object", "beta", "slope", *HISTORY]))
    whole = bucket(rows, nothing, window, 0, [middle, last])
    states = whole[whole["place"] == 0]

    early = bucket(rows[rows["date"] <= middle], nothing, window, 0, [middle])
    assert contents(early[early["place"] == 0]) == contents(states)
    late = bucket(rows[rows["date"] > middle], carried(states), window, middle + 1, [last])
    ends = [late[late["place"] == 0], whole[whole["place"] == 1]]
    assert contents(ends[0].drop(columns="place")) == contents(ends[1].drop(columns="place"))
    halves = pd.concat([early[early["place"] == BEFORE], late[late["place"] == BEFORE]])
    assert contents(halves) == contents(whole[whole["place"] == BEFORE])
    assert (states["closes"].map(len) <= window).all()
    assert len(states) == rows[rows["date"] <= middle]["ticker"].nunique()


@given(market=markets, window=windows, cut=st.integers(0, 15))
@FINE
def test_two_halves_are_the_whole(market: list[list[float]], window: int, cut: int) -> None:
    assert_halves_are_the_whole(expected(table(market), window), window, cut % len(market) - 1, len(market) - 1)


def test_a_half_without_snapshots_carries_on_what_was() -> None:
    rows = expected(table([[1, 1], [2, 1], [4, 1], [4, 1]]), 2)
    assert_halves_are_the_whole(rows, 2, 3, 3)


def one(closes: list[float], market: list[float], window: int, decimals: int = 2) -> tuple[list[float], list[float]]:
    """Beta and slope of one ticker's rows."""
    close = np.array(closes)
    returns = np.append(np.nan, close[1:] / close[:-1] - 1)
    start = np.array([0, len(close)])
    beta, slope = positions(start, start[:-1], close, returns, np.array(market), window, decimals)
    return beta.tolist(), slope.tolist()


def test_a_row_needs_a_windows_rows_before_it() -> None:
    beta, slope = one([1, 2, 1, 2, 4], [np.nan, 0.5, -0.25, 0.5, 0.5], 3)
    assert np.isnan(beta[:3]).all() and np.isnan(slope[:3]).all()
    assert beta[3:] == [2.0, 2.0] and slope[3:] == [0.0, 1.5]
    # A history that was cut short has a first return; its row counts for nothing all the same.
    start, close, returns = np.array([0, 3]), np.array([1.0, 2.0, 1.0]), np.array([0.5, 1.0, -0.5])
    assert np.isnan(positions(start, start[:-1], close, returns, returns, 3, 2)).all()


def test_a_market_that_stands_still_leaves_nobody_alive() -> None:
    # Three times 0.1 divided by 3 is not 0.1: the rounding must not pass for a movement.
    assert np.isnan(one([1, 2, 3, 5, 4], [np.nan, 0.1, 0.1, 0.1, 0.1], 3)).all()


def test_nothing_comes_out_as_minus_zero_or_unrounded() -> None:
    beta, slope = one([1000, 999.9999, 1000, 999.9999], [np.nan, 1, -1, 1], 2)
    assert [str(value) for value in (beta[2], slope[3])] == ["0.0", "0.0"]
    beta, slope = one([1, 2, 3.333, 4], [np.nan, 0.1, 0.5, 0.3], 2)
    assert all(round(value, 2) == value for value in beta[2:] + slope[2:]) and slope[2:] == [1.33, 0.67]


def test_only_the_rows_asked_for_are_computed() -> None:
    close = np.array([1.0, 2.0, 1.0, 4.0, 2.0])
    returns = np.append(np.nan, close[1:] / close[:-1] - 1)
    start = np.array([0, 5])
    whole, _ = positions(start, np.array([0]), close, returns, returns * 2, 2, 2)
    late, _ = positions(start, np.array([3]), close, returns, returns * 2, 2, 2)
    assert np.isnan(late[:3]).all() and late[3:].tolist() == whole[3:].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [(5, 5, [(0, 5)]), (5, 9, [(0, 5)]), (5, 4, [])],
)
def test_who_has_no_row_is_gone_at_the_first_snapshot_if_there_is_one(
    first: int, last: int, told: list[tuple[int, int]]
) -> None:
    none, alive = np.empty(0), np.array([1.0])
    start, rows = np.array([0, 0]), np.empty(0, np.int64)
    code, snapshot, beta, _ = changes(start, start[:1], rows, none, none, alive, alive, first, last)
    assert list(zip(code.tolist(), snapshot.tolist(), strict=True)) == told and np.isnan(beta).all()

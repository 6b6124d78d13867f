"""stocks: beta and slope from daily prices."""

import csv
import re
import sys
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from oracle.common import (
    Derived,
    File,
    Ledger,
    in_name_order,
    named_period,
    number,
    objects_frame,
    open_text,
    refused_frame,
    snapshots_frame,
)

ATTRIBUTES = ["beta", "slope"]
HEADER = ["date", "ticker", "open", "high", "low", "close", "volume"]
WINDOW = 200
DECIMALS = 2

Refused = tuple[str | None, str, int, str]


def stocks(files: Iterable[File]) -> Derived:
    """One snapshot per date with a row; a ticker is alive with a row that day and 200 earlier ones."""
    prices, refused = _accepted(files)
    ledger = Ledger(ATTRIBUTES)
    snapshots = []
    positions = dict(tuple(with_positions(prices).groupby("date")))
    for snapshot, day in enumerate(sorted(prices["date"].unique())):
        snapshots.append((day[:4], snapshot, pd.Timestamp(day), day))
        today = positions[day][["ticker", "beta", "slope"]]
        alive = {ticker: (beta, slope) for ticker, beta, slope in today.itertuples(index=False)}
        ledger.tell_all(day[:4], snapshot, alive)
    tickers = prices.assign(period=prices["date"].str[:4])[["period", "ticker"]].drop_duplicates()
    names = {(period, ticker): ticker for period, ticker in tickers.itertuples(index=False)}
    return Derived(snapshots_frame(snapshots), ledger.frame(), objects_frame(names), refused_frame(refused))


def with_positions(prices: pd.DataFrame) -> pd.DataFrame:
    """The rows by ticker and date, with beta and slope, NaN where there are none."""
    rows = prices.sort_values(["ticker", "date"], ignore_index=True)
    rows["return"] = rows["close"] / rows.groupby("ticker")["close"].shift(1) - 1
    # A ticker's first row has no return (NaN), which the mean leaves out.
    rows["market"] = rows.groupby("date")["return"].transform("mean")
    rows["beta"] = np.nan
    rows["slope"] = np.nan
    for _, own in rows.groupby("ticker"):
        if len(own) > WINDOW:
            later = own.index[WINDOW:]
            rows.loc[later, "beta"] = betas(own["return"].to_numpy()[1:], own["market"].to_numpy()[1:])
            rows.loc[later, "slope"] = slopes(own["close"].to_numpy()[1:])
    return rows


def betas(returns: np.ndarray, market: np.ndarray) -> np.ndarray:
    """Sample covariance over sample variance of the market, for every full window, rounded."""
    own = np.lib.stride_tricks.sliding_window_view(returns, WINDOW)
    others = np.lib.stride_tricks.sliding_window_view(market, WINDOW)
    with np.errstate(all="ignore"):
        apart = others - others.mean(axis=1, keepdims=True)
        covariance = ((own - own.mean(axis=1, keepdims=True)) * apart).sum(axis=1) / (WINDOW - 1)
        variance = (apart**2).sum(axis=1) / (WINDOW - 1)
        beta = covariance / variance
    # The mean of equal numbers need not be exactly that number, so 'no variance' is asked of the numbers.
    constant = others.max(axis=1) == others.min(axis=1)
    return _rounded(np.where(constant, np.nan, beta))


def slopes(closes: np.ndarray) -> np.ndarray:
    """Least-squares slope over 0..199 for every full window, rounded."""
    apart = np.arange(WINDOW) - (WINDOW - 1) / 2
    with np.errstate(all="ignore"):
        windows = np.lib.stride_tricks.sliding_window_view(closes, WINDOW)
        centred = windows - windows.mean(axis=1, keepdims=True)
        return _rounded((centred * apart).sum(axis=1) / (apart**2).sum())


def _rounded(values: np.ndarray) -> np.ndarray:
    return np.array([round(value, DECIMALS) for value in values.tolist()])


def _accepted(files: Iterable[File]) -> tuple[pd.DataFrame, list[Refused]]:
    """date, ticker and close of every row without a fault, and the refused rows."""
    kept: list[tuple[str, str, float, str, int]] = []
    refused: list[Refused] = []
    for path in in_name_order(files):
        _read(path, kept, refused)
    prices = pd.DataFrame(kept, columns=["date", "ticker", "close", "file", "row"])
    again = prices.duplicated(["date", "ticker"], keep="first")
    for day, _, _, file, row in prices[again].itertuples(index=False):
        refused.append((day[:4], file, row, "duplicate"))
    return prices.loc[~again, ["date", "ticker", "close"]], refused


def _read(path: Path, kept: list[tuple[str, str, float, str, int]], refused: list[Refused]) -> None:
    """Adds one file's rows to those kept and those refused."""
    file_period = named_period(path)
    faulty, years = [], set()
    with open_text(path) as text:
        records = (record for record in csv.reader(text) if record)
        header = next(records, None)
        if header is not None and header != HEADER:
            raise ValueError(f"{path}: the header is {header}, not {HEADER}")
        for row, record in enumerate(records, start=1):
            year = record[0][:4] if _is_date(record[0]) else None
            years.add(year)
            kind = _fault(record, year, file_period)
            if kind is None:
                kept.append((sys.intern(record[0]), sys.intern(record[1]), float(record[5]), path.name, row))
            else:
                faulty.append((file_period or year, path.name, row, kind))
    first_year = min((year for year in years if year is not None), default=None)
    refused += [(period or first_year, file, row, kind) for period, file, row, kind in faulty]


def _fault(record: list[str], year: str | None, file_period: str | None) -> str | None:
    """The first fault of a row, looked at alone."""
    if len(record) != len(HEADER):
        return "fields"
    if year is None:
        return "date"
    if not record[1]:
        return "ticker"
    values = [number(text) for text in record[2:]]
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return "number"
    opening, high, low, close, volume = numbers
    if min(opening, low, volume) < 0:
        return "negative"
    if close <= 0:
        return "close"
    if high < low:
        return "high_low"
    if file_period is not None and year != file_period:
        return "other_period"
    return None


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True

"""Generated prices: the csv form, betas, listings, prices that join up over the years, and dirt."""

import csv
import gzip
import io
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skyarchive.generators import GenerateOptions, generate
from skyarchive.generators.dirt_stocks import ODD_NAMES
from skyarchive.generators.trading_days import trading_days

SHARED = Path(__file__).parents[3] / "shared" / "data" / "stocks"
HEADER = "date,ticker,open,high,low,close,volume"
ROW = re.compile(r"\d{4}-\d\d-\d\d,[A-Z]{1,5}([.$][A-Z])?(,\d+\.\d{1,5}){4},\d+")


def lines_of(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return generate("stocks", tmp_path_factory.mktemp("stocks"), GenerateOptions(seed=1))


@pytest.fixture(scope="module")
def prices(files: list[Path]) -> pd.DataFrame:
    return pd.concat([pd.read_csv(path, keep_default_na=False) for path in files], ignore_index=True)


@pytest.fixture(scope="module")
def dirty(tmp_path_factory: pytest.TempPathFactory) -> str:
    options = GenerateOptions(seed=1, dirt=True, periods=["2005"])
    [path] = generate("stocks", tmp_path_factory.mktemp("dirty"), options)
    return gzip.decompress(path.read_bytes()).decode()


def test_lines_have_the_form_of_the_real_ones(files: list[Path]) -> None:
    assert [path.name for path in files] == [f"nyse_daily_{year}.csv.gz" for year in (2004, 2005, 2006)]
    for path in files:
        header, *rows = lines_of(path)
        assert header == HEADER
        assert all(ROW.fullmatch(row) for row in rows)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real files are not here")
def test_the_form_fits_the_real_file() -> None:
    header, *rows = lines_of(SHARED / "nyse_daily_2004.csv.gz")
    assert header == HEADER
    assert all(ROW.fullmatch(row) for row in rows)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real files are not here")
@pytest.mark.parametrize("year", [2005, 2006, 2008, 2011])
def test_trading_days_are_the_real_ones(year: int) -> None:
    real = pd.read_csv(SHARED / f"nyse_daily_{year}.csv.gz", usecols=["date"]).date.unique()
    assert sorted(real) == [str(day) for day in trading_days(year)]


def test_a_year_has_about_252_trading_days_and_no_holidays() -> None:
    assert all(len(trading_days(year)) in range(250, 255) for year in range(1990, 2100))
    closed = [
        "2004-01-01",
        "2004-04-09",
        "2004-07-05",
        "2004-11-25",
        "2004-12-24",
        "2006-01-02",
        "2006-05-29",
    ]
    assert not any(np.datetime64(day) in trading_days(int(day[:4])) for day in closed)


def test_prices_make_sense(prices: pd.DataFrame) -> None:
    assert (prices.low > 0).all()
    assert (prices.high >= prices[["open", "close", "low"]].max(axis=1)).all()
    assert (prices.low <= prices[["open", "close"]].min(axis=1)).all()
    assert not prices.duplicated(["date", "ticker"]).any()
    assert prices.groupby(prices.date.str[:4]).ticker.apply(lambda names: names.is_monotonic_increasing).all()
    idle = prices[prices.volume == 0]
    assert 0 < len(idle) < 0.002 * len(prices)
    assert (idle.open == idle.close).all()


def test_coverage_grows_and_tickers_come_and_go(prices: pd.DataFrame) -> None:
    tickers = prices.groupby(prices.date.str[:4]).ticker.nunique()
    assert 20 <= tickers["2004"] <= 32 and 45 <= tickers["2006"] <= 64
    span = prices.groupby("ticker").date.agg(["min", "max"])
    assert (span["min"] == "2005-02-25").sum() > 15
    assert ((span["min"] > "2004-01-02") & (span["min"] != "2005-02-25")).sum() >= 1
    assert (span["max"] < "2006-12-29").sum() >= 1
    assert prices.ticker.str.contains(r"[.$]").any()


def test_returns_follow_the_market_by_different_betas(prices: pd.DataFrame) -> None:
    returns = prices.pivot(index="date", columns="ticker", values="close").pct_change(fill_method=None)
    market = returns.mean(axis=1)
    assert 0.006 < market.std() < 0.02
    whole = returns.loc[:, returns.count() > 400]
    beta = whole.apply(lambda own: own.cov(market) / market.var())
    assert 0.8 < beta.mean() < 1.2
    assert beta.std() > 0.25
    assert whole.corrwith(market).median() > 0.3
    assert whole.std().between(0.005, 0.06).all()


def test_prices_join_up_from_year_to_year(prices: pd.DataFrame) -> None:
    """The step over new year is a day's step, not another path."""
    for year in (2004, 2005):
        last = prices[prices.date == str(trading_days(year)[-1])].set_index("ticker").close
        first = prices[prices.date == str(trading_days(year + 1)[0])].set_index("ticker").close
        step = (first / last - 1).dropna()
        assert len(step) > 20
        assert step.abs().max() < 0.25 and step.abs().median() < 0.04


def test_size_scales_the_tickers(tmp_path: Path) -> None:
    [path] = generate("stocks", tmp_path, GenerateOptions(size=5, periods=["2006"]))
    assert 220 < len({line.split(",")[1] for line in lines_of(path)[1:]}) <= 320


def faults(row: list[str]) -> set[str]:
    """What is wrong with a row, by its own look."""
    if len(row) != 7:
        return {"fields"}
    found = set()
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", row[0]):
        found.add("date")
    elif not row[0].startswith("2005"):
        found.add("year")
    try:
        numbers = [float(value) for value in row[2:]]
    except ValueError:
        return found | ({"text"} if row[5] else {"empty"})
    close, high, low = numbers[3], numbers[1], numbers[2]
    checks = {"nan": np.isnan(close), "inf": np.isinf(close), "negative": close < 0, "zero": close == 0,
              "high<low": high < low, "high<close": low <= high < close,
              "open=low=0": numbers[0] == low == 0 < close,
              "volume": numbers[4] == 0}  # fmt: skip
    return found | {name for name, holds in checks.items() if holds}


def test_dirt_has_each_fault_and_quirk(dirty: str) -> None:
    rows = list(csv.reader(io.StringIO(dirty)))[1:]
    found = Counter(fault for row in rows for fault in faults(row))
    expected = {"fields", "date", "year", "text", "empty", "nan", "inf", "negative", "zero", "high<low",
                "high<close", "open=low=0", "volume"}  # fmt: skip
    assert set(found) == expected
    assert {4, 8} <= {len(row) for row in rows}
    whole = Counter(tuple(row) for row in rows)
    assert max(whole.values()) == 2
    names = {next(csv.reader(io.StringIO(name)))[0] for name in ODD_NAMES}
    assert names <= {row[1] for row in rows}


def test_dirt_is_small_and_leaves_the_closes(files: list[Path], dirty: str) -> None:
    clean = [line.split(",") for line in lines_of(files[1])[1:]]
    rows = list(csv.reader(io.StringIO(dirty)))[1:]
    assert 0.008 < (len(rows) - len(clean)) / len(clean) < 0.02
    known = {row[1] for row in clean}
    refusable = {"fields", "date", "year", "text", "empty", "nan", "inf", "negative", "zero", "high<low"}
    good = [row for row in rows if not faults(row) & refusable and row[1] in known]
    first = {(row[0], row[1]): row[5] for row in reversed(good)}
    assert first == {(row[0], row[1]): row[5] for row in clean}


def test_every_fault_is_there_at_the_smallest_size(tmp_path: Path) -> None:
    [path] = generate("stocks", tmp_path, GenerateOptions(size=0.01, dirt=0.0001, periods=["2005"]))
    rows = list(csv.reader(io.StringIO(gzip.decompress(path.read_bytes()).decode())))[1:]
    found = {fault for row in rows for fault in faults(row)}
    assert {"fields", "date", "year", "text", "nan", "inf", "negative", "zero", "high<low"} <= found

"""Years of daily prices: a market, tickers that follow it by their betas, listings and delistings."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from skyarchive.generators import dirt_stocks
from skyarchive.generators.files import joined, lines_as_bytes, text, write_gzip
from skyarchive.generators.options import GenerateOptions, year_of
from skyarchive.generators.seeds import stream
from skyarchive.generators.trading_days import trading_days

HEADER = "date,ticker,open,high,low,close,volume"
DEFAULT_PERIODS = ("2004", "2005", "2006")
FIRST, LAST = 1990, 2099
"""Prices compound from the first year on, so that they join up whichever years are written."""
TICKERS = 64
EARLY, JUMP = 0.4, 0.35
"""Shares of the tickers listed from the beginning and on the day coverage jumps; the rest come one by one."""
JUMP_DAY = np.datetime64("2005-02-25")
LISTING = (np.datetime64("2003-06-01"), np.datetime64("2019-01-01"))
DELISTED = 0.25
DELISTING = (np.datetime64("2004-03-01"), np.datetime64("2020-01-01"))
NEVER = np.datetime64("2200-01-01")
MARKET_DRIFT, MARKET_SWING = 0.0003, 0.010
PULL = 0.15
"""How much of the way back to its first price a ticker goes in a year: no price explodes or vanishes."""
IDLE = 0.0005
"""Chance of a day without trade: volume 0, and every price the close."""


@dataclass(frozen=True)
class Tickers:
    """Tickers, one array entry each."""

    names: np.ndarray
    beta: np.ndarray
    own_drift: np.ndarray
    own_swing: np.ndarray
    first_close: np.ndarray
    volume: np.ndarray
    listed: np.ndarray
    delisted: np.ndarray


def generate(folder: Path, periods: list[str], options: GenerateOptions) -> list[Path]:
    """Write one file per year."""
    years = [year_of(period, "stocks", FIRST, LAST) for period in periods]
    tickers = _tickers(options)
    written = []
    for year, closes in _closes(tickers, options, max(years)):
        if year in years:
            lines = _lines(tickers, year, closes, options)
            if options.dirt_share:
                lines = dirt_stocks.dirty(lines, options, year)
            written.append(write_gzip(folder / f"nyse_daily_{year}.csv.gz", lines_as_bytes([HEADER], lines)))
    return written


def _tickers(options: GenerateOptions) -> Tickers:
    """The tickers of all times, by name."""
    rng = stream(options.seed, "stocks", "tickers")
    count = max(8, round(TICKERS * options.size))
    early, jump = round(EARLY * count), round(JUMP * count)
    listed = np.full(count, np.datetime64(f"{FIRST}-01-01"))
    listed[early : early + jump] = JUMP_DAY
    listed[early + jump :] = _spread(rng, count - early - jump, LISTING)
    delisted = np.full(count, NEVER)
    leaving = rng.choice(np.arange(early), min(early, max(1, round(DELISTED * count))), replace=False)
    delisted[leaving] = _spread(rng, len(leaving), DELISTING)
    shuffled = rng.permutation(count)
    swing = np.exp(rng.normal(np.log(0.016), 0.4, count))
    return Tickers(
        names=_names(rng, count),
        beta=np.clip(rng.normal(1.0, 0.45, count), -0.5, 3.0),
        own_drift=rng.normal(0.0, 0.0004, count),
        own_swing=swing,
        first_close=np.exp(rng.normal(np.log(15.0), 0.8, count)),
        volume=np.exp(rng.normal(np.log(400_000), 1.6, count)),
        listed=listed[shuffled],
        delisted=delisted[shuffled],
    )


def _spread(rng: np.random.Generator, count: int, between: tuple[np.datetime64, np.datetime64]) -> np.ndarray:
    """Days spread evenly with some jitter, so that every year has its part."""
    first, last = between
    share = (np.arange(count) + rng.random(count)) / max(count, 1)
    return first + (share * (last - first).astype(int)).astype(int)


def _names(rng: np.random.Generator, count: int) -> np.ndarray:
    """Distinct ticker symbols, some of them share classes (X.B) and preferreds (X$C), in order."""
    letters = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    names = {"".join(rng.choice(letters, int(rng.choice([1, 2, 3, 3, 3, 4])))) for _ in range(2 * count)}
    plain = sorted(names)
    endings = ["", "", "", "", "", "", "", ".A", ".B", "$C", "$D", ""]
    classed = {name + endings[i % len(endings)] for i, name in enumerate(plain)}
    while len(classed) < count:
        classed.add("".join(rng.choice(letters, 5)))
    chosen = rng.choice(sorted(classed), count, replace=False)
    return np.sort(chosen).astype(object)


def _closes(tickers: Tickers, options: GenerateOptions, last: int) -> Iterator[tuple[int, np.ndarray]]:
    """Unrounded closes (ticker by day) of every year up to the last, each going on from the one before."""
    level = np.log(tickers.first_close)
    for year in range(FIRST, last + 1):
        days = len(trading_days(year))
        market = stream(options.seed, "stocks", "market", year).standard_t(5, days)
        market = MARKET_DRIFT + MARKET_SWING * market / np.sqrt(5 / 3)
        own = stream(options.seed, "stocks", "own", year).standard_normal((len(level), days))
        returns = tickers.beta[:, None] * market + tickers.own_swing[:, None] * own
        drift = tickers.own_drift + PULL * (np.log(tickers.first_close) - level) / days
        logs = level[:, None] + np.cumsum(returns + drift[:, None], axis=1)
        level = logs[:, -1]
        yield year, np.exp(np.clip(logs, np.log(0.05), np.log(1e6)))


def _lines(tickers: Tickers, year: int, closes: np.ndarray, options: GenerateOptions) -> list[str]:
    """The year's rows by ticker, then day, for the days a ticker is listed."""
    rng = stream(options.seed, "stocks", "days", year)
    days = trading_days(year)
    swing = tickers.own_swing[:, None] * closes
    idle = rng.random(closes.shape) < IDLE
    opens = np.maximum(closes + rng.normal(0, 0.6, closes.shape) * swing, 0.5 * closes)
    high = np.maximum(opens, closes) + rng.exponential(0.35, closes.shape) * swing
    low = np.minimum(opens, closes) - np.minimum(rng.exponential(0.35, closes.shape) * swing, 0.4 * closes)
    volume = tickers.volume[:, None] * np.exp(rng.normal(0, 0.5, closes.shape))
    here = (days[None, :] >= tickers.listed[:, None]) & (days[None, :] < tickers.delisted[:, None])
    ticker, day = np.nonzero(here)

    def priced(values: np.ndarray) -> pa.Array:
        return text(_as_quoted(np.where(idle, closes, values)[here]))

    columns = [
        text(pa.array(days)).take(pa.array(day)),
        pa.array(tickers.names).take(pa.array(ticker)),
        *(priced(values) for values in (opens, high, low, closes)),
        text(np.where(idle, 0, np.maximum(volume, 1)).astype(np.int64)[here]),
    ]
    return joined(columns, ",")


def _as_quoted(prices: np.ndarray) -> np.ndarray:
    """Rounded as the files are: five digits or so, and at least two decimals."""
    decimals = np.select([prices < 1, prices < 10, prices < 100], [5, 4, 3], 2)
    scale = 10.0**decimals
    return np.maximum(np.rint(prices * scale), 1) / scale

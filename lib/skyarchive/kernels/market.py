"""Beta and slope of every object's last closes, and when its position changes."""

import numpy as np

from skyarchive.kernels.compiling import allocating

NO_POSITION = np.nan


@allocating
def _beta(returns: np.ndarray, market: np.ndarray) -> float:
    """Covariance over variance, in two passes: rolling sums would drift."""
    n = len(returns)
    mean_return = 0.0
    mean_market = 0.0
    moved = False
    for i in range(n):
        moved = moved or market[i] != market[0]
        mean_return += returns[i]
        mean_market += market[i]
    mean_return /= n
    mean_market /= n
    covariance = 0.0
    variance = 0.0
    for i in range(n):
        difference = market[i] - mean_market
        covariance += (returns[i] - mean_return) * difference
        variance += difference * difference
    # A market that stood still has no variance, though rounding may leave a trace of one.
    return covariance / variance if moved else np.nan


@allocating
def _slope(closes: np.ndarray) -> float:
    """Least-squares slope over 0, 1, ... n-1."""
    n = len(closes)
    middle = (n - 1) / 2.0
    total = 0.0
    for i in range(n):
        total += (i - middle) * closes[i]
    return total / (n * (n * n - 1.0) / 12.0)


@allocating
def _rounded(value: float, scale: float) -> float:
    """Rounded to 1/scale, ties to even. Nine more digits are rounded first, so that floating error does not
    decide a tie; adding zero makes -0.0 plain 0.0."""
    return np.rint(np.rint(value * scale * 1e9) / 1e9) / scale + 0.0


@allocating
def positions(start, fresh, close, returns, market, window, decimals):  # type: ignore[no-untyped-def]
    """Position (beta, slope) of every row; NaN where the object is not alive.

    Rows stand object by object in time order: object k's are start[k] .. start[k+1]-1, of which those from
    fresh[k] on are asked for; the earlier ones are its history. A row needs `window` rows before it.
    """
    scale = 10.0**decimals
    beta = np.full(len(close), np.nan)
    slope = np.full(len(close), np.nan)
    for k in range(len(fresh)):
        for i in range(max(fresh[k], start[k] + window), start[k + 1]):
            first = i - window + 1
            b = _beta(returns[first : i + 1], market[first : i + 1])
            s = _slope(close[first : i + 1])
            if np.isfinite(b) and np.isfinite(s):
                beta[i] = _rounded(b, scale)
                slope[i] = _rounded(s, scale)
    return beta, slope


@allocating
def changes(start, fresh, snapshot, beta, slope, begin_beta, begin_slope, first, last):  # type: ignore[no-untyped-def]
    """The update rows: object, snapshot, beta, slope; NaN means gone.

    `begin_*` is each object's position just before snapshot `first` (NaN: not alive). An object without a
    row at a snapshot of first..last is not alive at it.
    """
    room = 2 * len(snapshot) + 2 * len(fresh)
    out_object = np.empty(room, np.int64)
    out_snapshot = np.empty(room, np.int64)
    out_beta = np.empty(room)
    out_slope = np.empty(room)
    count = 0
    for k in range(len(fresh)):
        now_beta, now_slope, at = begin_beta[k], begin_slope[k], first - 1
        for i in range(fresh[k], start[k + 1] + 1):
            arrives = snapshot[i] if i < start[k + 1] else last + 1
            if not np.isnan(now_beta) and arrives > at + 1:
                now_beta, now_slope = np.nan, np.nan
                out_object[count], out_snapshot[count] = k, at + 1
                out_beta[count], out_slope[count] = np.nan, np.nan
                count += 1
            if i == start[k + 1]:
                break
            at = arrives
            was_alive, is_alive = not np.isnan(now_beta), not np.isnan(beta[i])
            if was_alive != is_alive or (is_alive and (beta[i] != now_beta or slope[i] != now_slope)):
                out_object[count], out_snapshot[count] = k, at
                out_beta[count], out_slope[count] = beta[i], slope[i]
                count += 1
            now_beta, now_slope = beta[i], slope[i]
    return out_object[:count], out_snapshot[:count], out_beta[:count], out_slope[:count]

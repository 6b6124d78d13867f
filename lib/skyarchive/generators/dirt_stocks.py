"""Dirt of daily prices: the odd rows of the real files, and rows to be refused."""

import numpy as np

from skyarchive.generators.dirt_picks import picks, with_lines_after
from skyarchive.generators.options import GenerateOptions
from skyarchive.generators.seeds import stream
from skyarchive.generators.trading_days import trading_days

QUIRKS = ("open_and_low_zero", "high_below_close", "no_volume")
"""Changed in place, and no reason to refuse a row: the close stays as it was."""
FAULTS = (
    "too_few_fields", "too_many_fields", "text_in_number", "empty_number", "nan_price", "infinite_price",
    "negative_price", "zero_price", "high_below_low", "duplicate_row", "malformed_date", "other_year",
)  # fmt: skip
ODD_NAMES = ('"QUO""TE"', '"COM,MA"', '"NEW\nLINE"', "ÜNÏCØDÉ", "'; drop table x;--")
"""Tickers as a csv file carries them; each has one row."""
_QUIRK_PART = 5
"""One changed row for so many added ones."""
_SOME_DAY = 100


def dirty(lines: list[str], options: GenerateOptions, year: int) -> list[str]:
    """The year with odd rows in place and faulty ones added after good ones of the same ticker and day."""
    rng = stream(options.seed, "stocks", "dirt", year)
    count = round(options.dirt_share * len(lines))
    rows = np.arange(len(lines))
    lines = list(lines)
    for kind, row in picks(rng, rows, QUIRKS, count // _QUIRK_PART):
        lines[row] = ",".join(_odd(lines[row].split(","), kind))
    added = [(row, _spoilt(lines[row].split(","), kind, year)) for kind, row in picks(rng, rows, FAULTS, count)]
    for name, row in zip(ODD_NAMES, rng.choice(rows, len(ODD_NAMES)), strict=True):
        fields = lines[row].split(",")
        added.append((int(row), ",".join([fields[0], name, *fields[2:]])))
    return with_lines_after(lines, added)


def _odd(fields: list[str], kind: str) -> list[str]:
    day, ticker, opened, high, low, close, volume = fields
    match kind:
        case "open_and_low_zero":
            opened = low = "0.0"
        case "high_below_close":  # and not below the low, which would be a fault
            opened = high = low = f"{0.9 * float(close):.4f}"
        case "no_volume":
            opened = high = low = close
            volume = "0"
    return [day, ticker, opened, high, low, close, volume]


def _spoilt(fields: list[str], kind: str, year: int) -> str:
    day, low, close = fields[0], fields[4], fields[5]
    match kind:
        case "too_few_fields":
            fields = fields[:4]
        case "too_many_fields":
            fields = [*fields, "0"]
        case "text_in_number":
            fields[5] = "n/a"
        case "empty_number":
            fields[5] = ""
        case "nan_price":
            fields[5] = "NaN"
        case "infinite_price":
            fields[3] = fields[5] = "inf"
        case "negative_price":
            fields[4] = fields[5] = f"-{close}"
        case "zero_price":
            fields[2:6] = ["0.0"] * 4
        case "high_below_low":
            fields[3], fields[4] = f"{float(low) / 10:.4f}", low if float(low) > 0 else close
        case "malformed_date":
            fields[0] = day.replace("-", "/13/", 1)
        case "other_year":
            fields[0] = str(trading_days(year - 1)[_SOME_DAY])
    return ",".join(fields)

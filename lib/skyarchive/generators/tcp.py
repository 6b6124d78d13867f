"""Days of connections as Zeek logs them, with a plain header line, or as LBL-CONN-7 text."""

from datetime import date
from pathlib import Path

import numpy as np

from skyarchive.errors import SettingError
from skyarchive.generators import dirt_tcp, tcp_format, tcp_traffic
from skyarchive.generators.files import lines_as_bytes, write_gzip
from skyarchive.generators.options import GenerateOptions
from skyarchive.generators.seeds import stream

FIRST_YEAR, LAST_YEAR = 1971, 2099
_RECENT = ("2024-04-19", "2024-04-20", "2024-04-21")
DEFAULT_PERIODS = {"zeek": _RECENT, "plain": _RECENT, "lbl": ("1993-09-16", "1993-09-17", "1993-09-18")}


def generate(folder: Path, periods: list[str], options: GenerateOptions) -> list[Path]:
    """Write one file per UTC day."""
    days = [_day(period) for period in periods]
    return [_write(folder, day, options) for day in days]


def _day(period: str) -> np.datetime64:
    try:
        day = date.fromisoformat(period)
    except ValueError:
        day = None
    if day is None or day.isoformat() != period or not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise SettingError(
            f"{period!r} is not a period of tcp: use a day from {FIRST_YEAR}-01-01 to {LAST_YEAR}-12-31."
        )
    return np.datetime64(day, "D")


def _write(folder: Path, day: np.datetime64, options: GenerateOptions) -> Path:
    lbl = options.flavour == "lbl"
    traffic = tcp_traffic.of_day(options, day, v6=not lbl)
    rng = stream(options.seed, "tcp", "words", str(day))
    if lbl:
        head, lines, foot = [], tcp_format.lbl_lines(traffic, day), []
    else:
        zeek = options.flavour == "zeek"
        head = tcp_format.zeek_header(day) if zeek else tcp_format.plain_header()
        lines = tcp_format.conn_lines(traffic, day, rng, by_end=zeek)
        foot = tcp_format.zeek_footer(day) if zeek else []
    if options.dirt_share:
        lines = dirt_tcp.dirty(lines, options, day)
    name = f"lbl-conn-{day}.txt.gz" if lbl else f"conn_{day}.log.gz"
    return write_gzip(folder / name, lines_as_bytes(head, lines, foot))

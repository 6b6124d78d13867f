"""Seeded raw files in exactly the formats of the real archives, at any size, with dirt on request."""

from collections.abc import Callable
from pathlib import Path

from skyarchive.errors import SettingError
from skyarchive.generators import nba, stocks, synthetic, tcp
from skyarchive.generators.options import FLAVOURS, GenerateOptions
from skyarchive.names import checked_period

__all__ = ["ARCHIVES", "FLAVOURS", "GenerateOptions", "default_periods", "generate"]

_GENERATORS: dict[str, Callable[[Path, list[str], GenerateOptions], list[Path]]] = {
    "nba": nba.generate,
    "stocks": stocks.generate,
    "tcp": tcp.generate,
    "synthetic": synthetic.generate,
}
ARCHIVES = tuple(_GENERATORS)


def default_periods(archive: str, options: GenerateOptions) -> list[str]:
    """The periods written when none are named."""
    match archive:
        case "nba":
            return list(nba.DEFAULT_PERIODS)
        case "stocks":
            return list(stocks.DEFAULT_PERIODS)
        case "tcp":
            return list(tcp.DEFAULT_PERIODS[options.flavour])
        case "synthetic":
            return synthetic.all_periods(options)
    raise SettingError(f"{archive!r} has no generator; there is one for {', '.join(ARCHIVES)}.")


def generate(archive: str, folder: Path, options: GenerateOptions) -> list[Path]:
    """Write the archive's raw files into its raw folder, one per period, and say which."""
    fallback = default_periods(archive, options)
    periods = fallback if options.periods is None else sorted({checked_period(p) for p in options.periods})
    if not periods:
        raise SettingError(f"generate {archive}: no periods are named; name some, or leave them out.")
    return _GENERATORS[archive](folder, periods, options)

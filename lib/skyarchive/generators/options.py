"""What a generator is asked for, checked before anything is written."""

from collections.abc import Sequence
from dataclasses import dataclass

from skyarchive.errors import SettingError

FLAVOURS = ("zeek", "plain", "lbl")
DEFAULT_DIRT = 0.01
MOST_DIRT = 0.5
DEFAULT_OBJECTS = 1000
MOST_ATTRIBUTES = 64
LONGEST_BLOCK = 65536


@dataclass(frozen=True)
class GenerateOptions:
    """How much of which raw data. Equal options give byte-identical files."""

    periods: Sequence[str] | None = None
    """Names of the periods to write; without it the archive's own three (synthetic: all of them)."""
    seed: int = 0
    """Everything random follows from it."""
    size: float = 1.0
    """Scale: 1 is a demo (about 340 games a season, 60 tickers, 6000 connections a day)."""
    dirt: bool | float = False
    """Faulty and odd rows to add: a share of the rows, or True for 1 %; each kind at least once."""
    flavour: str = "zeek"
    """tcp only: as Zeek writes it, with one plain header line, or LBL-CONN-7 text."""
    objects: int | None = None
    """synthetic only: objects at step 0 (N); by default 1000 times the size."""
    attributes: int = 3
    """synthetic only: coordinates per object (m)."""
    snapshots: int = 300
    """synthetic only: steps of the whole archive (T)."""
    moves: float = 0.1
    """synthetic only: share of the living that moves in a step."""
    births: float = 0.0
    """synthetic only: new objects per step, as a share of `objects`."""
    deaths: float = 0.0
    """synthetic only: share of the living that goes in a step."""
    block: int = 100
    """synthetic only: steps per period."""

    def __post_init__(self) -> None:
        self._require(self.seed >= 0, "seed", "a whole number from 0")
        self._require(0 < self.size <= 1000, "size", "a number above 0 and at most 1000")
        self._require(0 <= self.dirt_share <= MOST_DIRT, "dirt", f"true, false or a share up to {MOST_DIRT}")
        self._require(self.flavour in FLAVOURS, "flavour", f"one of {', '.join(FLAVOURS)}")
        self._require(self.objects is None or self.objects >= 1, "objects", "a whole number from 1")
        self._require(
            1 <= self.attributes <= MOST_ATTRIBUTES, "attributes", f"a whole number from 1 to {MOST_ATTRIBUTES}"
        )
        self._require(self.snapshots >= 1, "snapshots", "a whole number from 1")
        self._require(1 <= self.block <= LONGEST_BLOCK, "block", f"a whole number from 1 to {LONGEST_BLOCK}")
        for name in ("moves", "births", "deaths"):
            self._require(0 <= getattr(self, name) <= 1, name, "a share from 0 to 1")

    def _require(self, holds: bool, name: str, allowed: str) -> None:
        if not holds:
            raise SettingError(f"generate: {name} is {getattr(self, name)!r}; it must be {allowed}.")

    @property
    def dirt_share(self) -> float:
        """The share of dirty rows to add, 0 for clean files."""
        return DEFAULT_DIRT if self.dirt is True else float(self.dirt)

    @property
    def object_count(self) -> int:
        """Objects at step 0 of the synthetic archive."""
        return self.objects if self.objects is not None else max(1, round(DEFAULT_OBJECTS * self.size))


def year_of(period: str, archive: str, first: int, last: int) -> int:
    """The period as a year the archive can have."""
    if not (period.isascii() and period.isdecimal() and len(period) == 4 and first <= int(period) <= last):
        raise SettingError(f"{period!r} is not a period of {archive}: use a year from {first} to {last}.")
    return int(period)

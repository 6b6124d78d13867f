"""Which way is better on each attribute, checked once, and the attributes' values as costs: smaller is better."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from skyarchive.errors import SettingError
from skyarchive.kernels.points import MOST_COLUMNS, costs
from skyarchive.kernels.points.orders import PartialOrder, chains_of

Direction = Literal["lower", "higher"]
Better = Direction | PartialOrder | Mapping[str, Any]
"""What an attribute can be given as: a direction, a partial order, or `{"order": [[best, ..., worst], ...]}`."""


@dataclass(frozen=True)
class Preference:
    """One attribute and which of its values are better."""

    column: str
    better: Direction | PartialOrder

    @property
    def width(self) -> int:
        """How many columns of costs it makes."""
        return self.better.width if isinstance(self.better, PartialOrder) else 1

    def costs(self, values: pa.Array) -> list[np.ndarray]:
        """Its values as float64 columns, all smaller or equal exactly for what is at least as good; NaN if missing."""
        if isinstance(self.better, PartialOrder):
            return costs.places(values, self.better, self.column)
        numbers = costs.numbers(values, self.column)
        return [-numbers if self.better == "higher" else numbers]


def checked_preferences(attributes: Mapping[str, Better]) -> tuple[Preference, ...]:
    """The preferences that a mapping of column to `lower`, `higher` or a partial order says."""
    if not isinstance(attributes, Mapping) or not attributes:
        raise SettingError('The attributes must be given as column and direction, such as {"price": "lower"}.')
    found = tuple(Preference(column, checked_better(column, better)) for column, better in attributes.items())
    width = sum(preference.width for preference in found)
    if width > MOST_COLUMNS:
        raise SettingError(f"The attributes need {width} columns of costs; {MOST_COLUMNS} are possible.")
    return found


def checked_better(column: str, better: Better) -> Direction | PartialOrder:
    """A direction or a partial order; anything else is told with what is allowed."""
    if better == "lower" or better == "higher":
        return better
    if isinstance(better, PartialOrder):
        return better
    if isinstance(better, Mapping) and set(better) == {"order"}:
        try:
            return PartialOrder.from_chains(chains_of(better["order"]))
        except SettingError as error:
            raise SettingError(f"{column}: {error}") from None
    raise SettingError(
        f"{column}: {better!r} is no direction; write lower, higher, or a partial order such as "
        "{'order': [['gold', 'silver', 'bronze'], ['gold', 'wood']]}, best values first."
    )

"""Unbeaten rows by definition: each compared with each other. Slow, and nothing to get wrong."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Better = str | Iterable[tuple[Any, Any]]
"""`lower`, `higher`, or pairs (better, worse)."""


def is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_better(one: Any, other: Any, better: Better) -> bool:
    if better == "lower":
        return one < other
    if better == "higher":
        return one > other
    pairs = set(better)
    reached, ahead = set(), [one]
    while ahead:
        ahead = [worse for strong, worse in pairs if strong in ahead and worse not in reached]
        reached |= set(ahead)
    return other in reached


def beats(one: Row, other: Row, attributes: Mapping[str, Better]) -> bool:
    wins = [is_better(one[name], other[name], better) for name, better in attributes.items()]
    ties = [one[name] == other[name] for name in attributes]
    return all(win or tie for win, tie in zip(wins, ties, strict=True)) and any(wins)


def unbeaten(rows: Sequence[Row], attributes: Mapping[str, Better], group: Sequence[str] = ()) -> list[Row]:
    """The rows that no other of their group beats, without those that miss an attribute."""
    whole = [row for row in rows if not any(is_missing(row[name]) for name in attributes)]
    return [
        row for row in whole
        if not any(beats(other, row, attributes) for other in whole if all(other[g] == row[g] for g in group))
    ]  # fmt: skip

"""Frequent objects by definition: every snapshot's window counted from scratch. Slow, and nothing to get wrong."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from oracle.skylines import intervals


def frequent(answers: Sequence[set[Any]], theta: str, window: int) -> list[set[Any]]:
    """Per snapshot, who is in at least θ·s of the last s answers; nobody before there are s."""
    share = Fraction(theta)
    found: list[set[Any]] = []
    for at in range(len(answers)):
        last = answers[at - window + 1 : at + 1] if at >= window - 1 else []
        known = set().union(*last)
        found.append({item for item in known if sum(item in members for members in last) >= share * window})
    return found


def frequent_rows(answers: Sequence[set[str]], periods: Sequence[str], queries: Sequence[tuple[str, int]]) -> list[Any]:
    """The table as the definition of its columns gives it; `periods` names the period of every snapshot."""
    rows = []
    for theta, window in queries:
        right = frequent(answers, theta, window)
        for period in sorted(set(periods)):
            first, last = periods.index(period), len(periods) - 1 - periods[::-1].index(period)
            names = sorted(set().union(*right[first : last + 1]))
            numbered = [{names.index(item) for item in members} for members in right[first : last + 1]]
            rows += [
                (period, Fraction(theta), window, names[item], begin + first, end + first,
                 begin == 0 and first > 0 and names[item] in right[first - 1], end + first == last)
                for item, begin, end in intervals(numbered)
            ]  # fmt: skip
    return sorted(rows)

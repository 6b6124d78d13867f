"""Values of which some are better than others and some cannot be compared, as columns of numbers.

A partial order is a few total ones read together (a realizer): a is at least as good as b exactly where every column
has a number for a that is not above the one for b. With an attribute's values replaced by these columns, every kernel
that compares numbers works on partially ordered attributes as it is.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from random import Random

import numpy as np

from skyarchive.errors import InputError, SettingError

Value = Hashable


@dataclass(frozen=True)
class PartialOrder:
    """A partial order over the values that are named in it.

    `values` in the order they were first named; bit j of `worse[i]` says that value i is better than value j.
    """

    values: tuple[Value, ...]
    worse: tuple[int, ...]

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[Value, Value]], others: Iterable[Value] = ()) -> "PartialOrder":
        """From pairs (better, worse), and all that follows from them; `others` are not compared with anything."""
        given = [_checked_chain(pair) for pair in pairs]
        if wrong := next((pair for pair in given if len(pair) != 2), None):
            raise SettingError(f"a pair of a partial order is two values, better and worse, not {list(wrong)!r}")
        return cls.from_chains([*given, *([value] for value in others)])

    @classmethod
    def from_chains(cls, chains: Iterable[Sequence[Value]]) -> "PartialOrder":
        """From chains of values, each better than all after it. A chain of one names a value and says no more."""
        given = [_checked_chain(chain) for chain in chains]
        number = {value: at for at, value in enumerate(dict.fromkeys(value for chain in given for value in chain))}
        if not number:
            raise SettingError("a partial order must name at least one value, such as [[gold, silver, bronze]]")
        direct = [0] * len(number)
        for chain in given:
            for better, worse in pairwise(chain):
                direct[number[better]] |= 1 << number[worse]
        values = tuple(number)
        return cls(values, tuple(_closure(values, direct)))

    def at_least_as_good(self, a: Value, b: Value) -> bool:
        """Whether a is b or better than b."""
        one, other = self._number(a), self._number(b)
        return one == other or bool(self.worse[one] >> other & 1)

    def columns(self) -> dict[Value, tuple[float, ...]]:
        """Numbers for every value: a is at least as good as b iff none of a's is above b's in its place."""
        return {value: tuple(row) for value, row in zip(self.values, self._table.T.tolist(), strict=True)}

    @property
    def width(self) -> int:
        """How many columns it takes; 1 for a total order."""
        return len(self._table)

    def costs(self, values: Iterable[Value | None], name: str) -> np.ndarray:
        """The columns (a row each) of an attribute's values. Missing ones become NaN; `name` is for the complaint
        about a value that the order does not name."""
        places = np.array([-1 if _is_missing(value) else self._number(value, name) for value in values], np.int64)
        return np.where(places >= 0, self._table[:, places], np.nan)

    @cached_property
    def _table(self) -> np.ndarray:
        """The place of every value (column) in each linear extension (row)."""
        table = np.empty((0, len(self.values)))
        for extension in realizer(self.worse):
            place = np.empty(len(extension))
            place[extension] = np.arange(len(extension))
            table = np.vstack([table, place])
        return table

    @cached_property
    def _numbers(self) -> dict[Value, int]:
        return {value: at for at, value in enumerate(self.values)}

    def _number(self, value: Value, name: str | None = None) -> int:
        found = self._numbers.get(value)
        if found is None:
            where = f"column {name} has the value {value!r}, which its" if name else f"{value!r} is unknown: the"
            known = ", ".join(map(repr, self.values[:_NAMED])) + (", ..." if len(self.values) > _NAMED else "")
            raise InputError(f"{where} partial order does not name; it names {known}")
        return found


_NAMED = 10
"""So many known values are listed in a complaint."""


def realizer(worse: Sequence[int]) -> list[list[int]]:
    """Linear extensions, best value first, of a transitive order, such that every two values that cannot be compared
    stand one way round in one and the other way round in another.

    The fewest of a few greedy attempts: the least possible number is hard to find.
    """
    chance = Random(0)
    numbers = range(len(worse))
    orders = [numbers[::-1], numbers, *(chance.sample(numbers, len(numbers)) for _ in range(_ATTEMPTS - 2))]
    best: list[list[int]] = []
    for order in orders:
        found = _greedy_realizer(worse, order)
        if not best or len(found) < len(best):
            best = found
        if len(best) <= 2:
            break
    return best


_ATTEMPTS = 8
"""More of them save a column now and then; each column saved is saved in every comparison of two rows."""


def _greedy_realizer(worse: Sequence[int], order: Sequence[int]) -> list[list[int]]:
    """Each extension puts right as many as it can of the pairs that none before it has."""
    n = len(worse)
    full = (1 << n) - 1
    better = [sum(1 << i for i in range(n) if worse[i] >> j & 1) for j in range(n)]
    # Bit j of missing[i]: i and j cannot be compared, and i was not put before j yet.
    missing = [full & ~(worse[i] | better[i] | 1 << i) for i in range(n)]
    extensions: list[list[int]] = []
    while not extensions or any(missing):
        extension = _extension(list(worse), list(better), missing, order)
        after = full
        for value in extension:
            after &= ~(1 << value)
            missing[value] &= ~after
        extensions.append(extension)
    return extensions


def _extension(worse: list[int], better: list[int], missing: Sequence[int], order: Sequence[int]) -> list[int]:
    """One linear extension. In the given order every value is put before all the `missing` ones that may still come
    after it: they are not better than it, so no cycle can arise, and the first one with any always succeeds."""
    for value in order:
        later = missing[value] & ~(worse[value] | better[value])
        if later:
            for other in _bits(later):
                later |= worse[other]
            earlier = better[value] | 1 << value
            for other in _bits(earlier):
                worse[other] |= later
            for other in _bits(later):
                better[other] |= earlier
    # Whoever is better than another is also better than all that one is better than: it counts more.
    return sorted(range(len(worse)), key=lambda value: (-worse[value].bit_count(), value))


def _closure(values: Sequence[Value], direct: Sequence[int]) -> list[int]:
    """For each value all that are worse, directly or through others."""
    worse: list[int | None] = [None] * len(direct)
    for start in range(len(direct)):
        path = [start]
        while path:
            value = path[-1]
            unknown = next((other for other in _bits(direct[value]) if worse[other] is None), None)
            if unknown is None:
                worse[value] = _all_below(direct[value], worse)
                path.pop()
            elif unknown in path:
                raise SettingError(_complaint([values[at] for at in path[path.index(unknown) :]]))
            else:
                path.append(unknown)
    return [below or 0 for below in worse]


def _all_below(direct: int, worse: Sequence[int | None]) -> int:
    found = direct
    for other in _bits(direct):
        found |= worse[other] or 0
    return found


def _complaint(cycle: Sequence[Value]) -> str:
    said = " better than ".join(map(repr, [*cycle, cycle[0]]))
    return f"a partial order must have no cycle, but says {said}; remove one of these"


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _checked_chain(chain: Sequence[Value]) -> tuple[Value, ...]:
    if isinstance(chain, str | bytes) or not isinstance(chain, Iterable):
        raise SettingError(f"a partial order is made of lists of values, best first, not of {chain!r}")
    values = tuple(chain)
    for value in values:
        if _is_missing(value):
            raise SettingError(f"a partial order cannot name {value!r}: rows without a value take no part")
        if not isinstance(value, Hashable):
            raise SettingError(f"a partial order cannot name {value!r}: only single values, such as texts and numbers")
    return values


def _is_missing(value: object) -> bool:
    return value is None or value != value


def chains_of(order: object) -> list[Sequence[Value]]:
    """The chains of an order as people write it: a list of chains of values, best first, or one such chain."""
    if not isinstance(order, list | tuple) or not order:
        raise SettingError("an order is a list of chains of values, best first, such as [[gold, silver], [gold, wood]]")
    nested = [isinstance(entry, list | tuple) for entry in order]
    if any(nested) and not all(nested):
        raise SettingError(f"an order is a list of values or a list of such lists, not a mixture: {list(order)!r}")
    return list(order) if all(nested) else [order]

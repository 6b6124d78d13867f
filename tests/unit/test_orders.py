"""Partial orders: what follows from the pairs, what is refused, and that the columns say exactly the order."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyarchive.errors import InputError, SettingError
from skyarchive.kernels.points.orders import PartialOrder

Pair = tuple[int, int]


def reachable(pairs: Sequence[Pair], start: int) -> set[int]:
    """By walking the pairs, again and again."""
    seen, edge = {start}, {start}
    while edge:
        edge = {worse for better, worse in pairs if better in edge} - seen
        seen |= edge
    return seen


def assert_agrees(order: PartialOrder, pairs: Sequence[Pair]) -> None:
    """The closure and the columns against the definition, for all pairs of values."""
    columns = order.columns()
    assert list(columns) == list(order.values)
    assert {len(row) for row in columns.values()} == {order.width}
    for a, b in product(order.values, repeat=2):
        wanted = b in reachable(pairs, int(a))  # type: ignore[call-overload]
        assert order.at_least_as_good(a, b) == wanted, (a, b)
        assert all(mine <= theirs for mine, theirs in zip(columns[a], columns[b], strict=True)) == wanted, (a, b)


@st.composite
def acyclic_pairs(draw: st.DrawFn) -> list[Pair]:
    """Pairs that all go down in some hidden order."""
    n = draw(st.integers(2, 9))
    hidden = draw(st.permutations(range(n)))
    places = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda pair: pair[0] < pair[1])
    return [(hidden[a], hidden[b]) for a, b in draw(st.lists(places, min_size=1, max_size=20))]


@settings(max_examples=120, deadline=None)
@given(acyclic_pairs(), st.integers(0, 3))
def test_columns_say_exactly_the_order(pairs: list[Pair], n_others: int) -> None:
    assert_agrees(PartialOrder.from_pairs(pairs, others=range(100, 100 + n_others)), pairs)


def test_many_values() -> None:
    chance = np.random.default_rng(3)
    for share in (0.0, 0.02, 0.1, 0.5):
        pairs = [(a, b) for a in range(60) for b in range(a + 1, 60) if chance.random() < share]
        assert_agrees(PartialOrder.from_pairs(pairs, others=range(60)), pairs)


def test_subsets_need_a_column_per_element() -> None:
    """The known worst case of its size: no fewer columns are possible, no more are needed."""
    pairs = [(a, b) for a, b in product(range(16), repeat=2) if a != b and a & b == a]
    order = PartialOrder.from_pairs(pairs)
    assert_agrees(order, pairs)
    assert order.width == 4


def test_widths_of_simple_orders() -> None:
    assert PartialOrder.from_chains([["gold", "silver", "bronze"]]).columns() == {
        "gold": (0.0,),
        "silver": (1.0,),
        "bronze": (2.0,),
    }
    assert PartialOrder.from_chains([["only"]]).columns() == {"only": (0.0,)}
    assert PartialOrder.from_chains([[value] for value in range(50)]).width == 2
    assert PartialOrder.from_pairs([("a", "c"), ("b", "c")]).width == 2


def test_chains_are_their_pairs() -> None:
    assert PartialOrder.from_chains([[1, 2, 3], [4, 3], [5]]) == PartialOrder.from_pairs(
        [(1, 2), (2, 3), (4, 3), (1, 3)], others=[5]
    )


def test_costs_of_a_column() -> None:
    order = PartialOrder.from_pairs([("a", "c"), ("b", "c")])
    columns = order.columns()
    costs = order.costs(["c", None, "a", "c", float("nan")], "grade")
    assert costs.shape == (2, 5)
    assert np.isnan(costs[:, [1, 4]]).all()
    assert costs[:, [0, 2, 3]].T.tolist() == [list(columns[value]) for value in "cac"]
    assert order.costs([], "grade").shape == (2, 0)


@pytest.mark.parametrize(
    ("pairs", "named"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], r"'a' better than 'b' better than 'c' better than 'a'"),
        ([("x", "a"), ("a", "b"), ("b", "a")], r"says 'a' better than 'b' better than 'a';"),
        ([("a", "a")], r"'a' better than 'a'"),
    ],
)
def test_cycles_are_refused_and_shown(pairs: list[tuple[str, str]], named: str) -> None:
    with pytest.raises(SettingError, match=named):
        PartialOrder.from_pairs(pairs)


def test_unknown_values_are_named_with_their_column() -> None:
    order = PartialOrder.from_pairs([("gold", "silver")])
    with pytest.raises(InputError, match=r"column medal has the value 'bronze', which .* names 'gold', 'silver'"):
        order.costs(["gold", "bronze"], "medal")
    with pytest.raises(InputError, match="'bronze' is unknown"):
        order.at_least_as_good("gold", "bronze")


@pytest.mark.parametrize(
    ("chains", "named"),
    [
        ([], "at least one value"),
        ([[]], "at least one value"),
        (["gold"], "lists of values, best first, not of 'gold'"),
        ([3], "lists of values, best first, not of 3"),
        ([["gold", None]], "cannot name None"),
        ([["gold", float("nan")]], "cannot name nan"),
        ([["gold", ["silver"]]], r"cannot name \['silver'\]"),
    ],
)
def test_what_is_no_order(chains: list[list[str]], named: str) -> None:
    with pytest.raises(SettingError, match=named):
        PartialOrder.from_chains(chains)


def test_a_pair_has_two_values() -> None:
    with pytest.raises(SettingError, match=r"two values, better and worse, not \[1, 2, 3\]"):
        PartialOrder.from_pairs([(1, 2, 3)])  # type: ignore[list-item]

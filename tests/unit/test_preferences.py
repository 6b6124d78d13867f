"""Which way is better: costs of every kind of value, partial orders, and clear errors; what SQL texts mean."""

import datetime
import decimal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyarchive.dataframes.choosing import MOST_BYTES, Probe
from skyarchive.dataframes.skylines import parsed_attributes
from skyarchive.errors import InputError, SettingError
from skyarchive.kernels.points.costs import MOST_WHOLE
from skyarchive.kernels.points.preferences import checked_preferences


@pytest.mark.parametrize(
    "values",
    [
        [3, 1, None],
        [3.5, -1.0, None],
        [True, False, None],
        [datetime.date(2024, 2, 1), datetime.date(1969, 2, 1), None],
        [datetime.datetime(2024, 2, 1, 12), datetime.datetime(2024, 2, 1, 11), None],
        [decimal.Decimal("3.50"), decimal.Decimal("-1.25"), None],
        [datetime.timedelta(2), datetime.timedelta(1), None],
    ],
)
def test_values_of_every_kind(values: list) -> None:
    lower, higher = checked_preferences({"a": "lower", "b": "higher"})
    (costs,), (negative,) = lower.costs(pa.array(values)), higher.costs(pa.array(values))
    assert costs.dtype == np.float64
    assert costs[0] > costs[1] and np.isnan(costs[2])
    assert negative[0] < negative[1] and np.isnan(negative[2])


WHOLE = st.integers(-MOST_WHOLE, MOST_WHOLE) | st.integers(-5, 5).flatmap(
    lambda step: st.sampled_from([2**53, -(2**53), 2**61, -(2**61), 10**18, MOST_WHOLE - 5, 0]).map(
        lambda start: start + step
    )
)


@given(st.lists(st.none() | WHOLE, min_size=1, max_size=20), st.sampled_from(["int64", "timestamp", "decimal"]))
def test_whole_numbers_that_differ_stay_different(values: list[int | None], kind: str) -> None:
    column = pa.array(values, pa.int64())
    if kind == "timestamp":
        column = column.cast(pa.timestamp("us"))
    elif kind == "decimal":
        values = [value if value is None else value % 10**18 * (1 if value > 0 else -1) for value in values]
        column = pa.array([value if value is None else decimal.Decimal(value) / 100 for value in values])
        column = column.cast(pa.decimal128(18, 2))
    (lower,) = checked_preferences({"a": "lower"})
    for cut in (0, len(values) // 2):  # of a slice, too
        (costs,) = lower.costs(column.slice(cut))
        for value, cost in zip(values[cut:], costs, strict=True):
            assert np.isnan(cost) == (value is None)
            for other, its in zip(values[cut:], costs, strict=True):
                if value is not None and other is not None:
                    assert (value < other, value == other) == (cost < its, cost == its)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (pa.array([0, MOST_WHOLE + 1, -5]), MOST_WHOLE + 1),
        (pa.array([-(2**63), 7]), -(2**63)),
        (pa.array([2**64 - 1, 7], pa.uint64()), 2**64 - 1),
    ],
)
def test_whole_numbers_too_large_to_be_told_apart(values: pa.Array, told: int) -> None:
    (lower,) = checked_preferences({"bytes": "lower"})
    with pytest.raises(InputError, match=f"column bytes has {told}: whole numbers are told apart up to {MOST_WHOLE}"):
        lower.costs(values)


def test_a_dictionary_may_name_values_that_no_row_has() -> None:
    (medal,) = checked_preferences({"medal": {"order": ["gold", "silver"]}})
    values = pa.DictionaryArray.from_arrays(pa.array([2, None, 0], pa.int8()), ["gold", "tin", "silver"])
    np.testing.assert_array_equal(medal.costs(values), [[1, np.nan, 0]])


def test_a_partial_order_as_costs() -> None:
    (medal,) = checked_preferences({"medal": {"order": [["gold", "silver"], ["gold", "wood"]]}})
    table = np.column_stack(medal.costs(pa.array(["wood", "gold", None, "silver"])))

    def at_least_as_good(one: int, other: int) -> bool:
        return bool((table[one] <= table[other]).all())

    wood, gold, missing, silver = range(4)
    assert at_least_as_good(gold, silver) and at_least_as_good(gold, wood) and not at_least_as_good(silver, gold)
    assert not at_least_as_good(wood, silver) and not at_least_as_good(silver, wood)
    assert np.isnan(table[missing]).all()
    (chain,) = checked_preferences({"medal": {"order": ["gold", "silver", "wood"]}})
    assert chain.width == 1
    with pytest.raises(InputError, match="column medal has the value 'tin'"):
        medal.costs(pa.array(["tin"]))


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({}, "such as"),
        ({"a": "up"}, "a: 'up' is no direction; write lower, higher"),
        ({"a": {"order": []}}, "a: an order is a list of chains"),
        ({"a": {"order": [["x", "y"], ["y", "x"]]}}, "a: .*x.*y"),
        ({"a": {"order": ["x", ["y"]]}}, "not a mixture"),
        ({"a": {"orders": ["x"]}}, "no direction"),
        ({f"a{n}": "lower" for n in range(65)}, "65 columns of costs; 64 are possible"),
    ],
)
def test_wrong_preferences_are_told(attributes: dict, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        checked_preferences(attributes)


def test_attributes_as_sql_writes_them() -> None:
    text = "price lower,`my stars` higher , medal (gold > silver > bronze; gold>wood)"
    order = {"order": [["gold", "silver", "bronze"], ["gold", "wood"]]}
    assert parsed_attributes(text) == {"price": "lower", "my stars": "higher", "medal": order}
    for wrong in ("", None, "price", "price lower stars higher", "price lower; stars higher"):
        with pytest.raises(SettingError, match="which way is better"):
            parsed_attributes(wrong)


def test_the_skyline_s_size_follows_its_growth() -> None:
    # As many again with twice the rows: every second one stays unbeaten.
    at_odds = Probe(20_000, 5_000, 10_000, 2_000_000)
    assert at_odds.expected_bytes(40_000_000) == 20_000_000 * 100 > MOST_BYTES
    assert at_odds.expected_bytes(40_000_000, parts=8) == 20_000_000 * 100
    in_accord = Probe(20_000, 900, 900, 2_000_000)
    assert in_accord.expected_bytes(40_000_000) == 900 * 100
    assert in_accord.expected_bytes(40_000_000, parts=8) == 8 * 900 * 100  # each part has as many
    assert Probe(20_000, 0, 0, 2_000_000).expected_bytes(40_000_000) == 0


def test_importing_the_package_is_light() -> None:
    code = "import sys, skyarchive; print(sorted({'pyspark', 'numba', 'pyarrow', 'pandas'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"

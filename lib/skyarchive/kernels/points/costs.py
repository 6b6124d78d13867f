"""Columns of Arrow tables as costs: float64 columns in which a smaller number is better, NaN where a value is missing.

Numbers that differ stay different. A double holds whole numbers up to 2^53; those beyond are counted on in doubles, one
for each, which keeps their order (and nothing but their order is asked for).
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skyarchive.errors import InputError
from skyarchive.kernels.points.orders import PartialOrder

_PLAIN = 1 << 53
"""Up to here the doubles are the whole numbers themselves."""
_PLAIN_BITS, _INFINITE_BITS = (int(np.float64(value).view(np.int64)) for value in (_PLAIN, np.inf))
MOST_WHOLE = _PLAIN + _INFINITE_BITS - _PLAIN_BITS - 1
"""The largest whole number for which there is a double left: about 4.4e18."""
_MOST_DIGITS = 18
"""Decimals of so many digits are whole numbers of their last place; longer ones are taken for the nearest double."""


def numbers(values: pa.Array, name: str) -> np.ndarray:
    """Numbers, dates, times and truth values, smaller ones first; `name` is for the complaint about one too large."""
    kind = values.type
    if pa.types.is_floating(kind) or (pa.types.is_decimal(kind) and kind.precision > _MOST_DIGITS):
        return _doubles(values if pa.types.is_float64(kind) else pc.cast(values, pa.float64(), safe=False))
    whole = _unscaled(values) if pa.types.is_decimal(kind) else _whole(values, name)
    costs = _counted(whole, name)
    if values.null_count:
        costs[values.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return costs


def places(values: pa.Array, order: PartialOrder, name: str) -> list[np.ndarray]:
    """The columns of partially ordered values; a value that the order does not name is an error about column `name`."""
    coded = values if isinstance(values, pa.DictionaryArray) else values.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    used = np.unique(codes[codes >= 0])  # a dictionary may name more values than occur
    table = np.full((order.width, len(coded.dictionary) + 1), np.nan)  # the last place is for missing ones
    table[:, used] = order.costs(coded.dictionary.take(pa.array(used)).to_pylist(), name)
    return [column[codes] for column in table]


def comparable(kind: pa.DataType) -> bool:
    """Whether values of that type have a lower and a higher."""
    return any(is_kind(kind) for is_kind in _COMPARABLE)


_COMPARABLE = (
    pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean,
    pa.types.is_date, pa.types.is_timestamp, pa.types.is_duration,
)  # fmt: skip


def _doubles(values: pa.Array) -> np.ndarray:
    return (values.fill_null(np.nan) if values.null_count else values).to_numpy(zero_copy_only=False)


def _whole(values: pa.Array, name: str) -> np.ndarray:
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    try:
        return _filled(values.cast(pa.int64()))
    except pa.ArrowInvalid:  # of the kinds that can be compared, only unsigned numbers do not fit
        raise _too_large(name, pc.max(values).as_py()) from None


def _unscaled(values: pa.Array) -> np.ndarray:
    """Decimals as multiples of their last place."""
    wide = values.cast(pa.decimal128(values.type.precision, values.type.scale))
    words = np.frombuffer(wide.buffers()[1], np.int64)[2 * wide.offset :: 2]  # of two words each the lower one
    return np.where(values.is_valid().to_numpy(zero_copy_only=False), words[: len(wide)], 0)


def _filled(whole: pa.Array) -> np.ndarray:
    return (whole.fill_null(0) if whole.null_count else whole).to_numpy(zero_copy_only=False)


def _counted(whole: np.ndarray, name: str) -> np.ndarray:
    """A double for every whole number, in their order."""
    costs = whole.astype(np.float64)
    low, high = int(whole.min(initial=0)), int(whole.max(initial=0))
    if max(-low, high) > MOST_WHOLE:
        raise _too_large(name, low if -low > high else high)
    if max(-low, high) > _PLAIN:
        beyond = np.abs(whole) > _PLAIN
        counted = (np.abs(whole[beyond]) - _PLAIN + _PLAIN_BITS).view(np.float64)
        costs[beyond] = np.copysign(counted, costs[beyond])
    return costs


def _too_large(name: str, value: int) -> InputError:
    return InputError(
        f"column {name} has {value}: whole numbers are told apart up to {MOST_WHOLE}; "
        "make it a double if it need not be so exact"
    )

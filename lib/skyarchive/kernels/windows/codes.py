"""One byte for a value: the better value never has the greater code, so codes propose and values decide.

Whole numbers of a small range are their own codes, and equal codes are equal values then. Of any others the distance
from one end of the attribute's range, plus a unit, is read as the bits of a float, which grow like a logarithm; their
leading part is looked up in a table that gives each code about the same share of a sample. Which end to count from is
the sample's choice: from the wrong one, where few values are, most share one code.

Codes stand in blocks of 64 records, attribute by attribute.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.columns import Columns, column, fill_sample
from skyarchive.kernels.compiling import entry_point, inlined
from skyarchive.kernels.windows.lanes import LANES, after, bits_of, start

CODES = 256
CELLS = 4096
"""Entries of a table: some hundred for each doubling of the distance."""
SAMPLE = 2048
_LOOKED_AT = 64
"""Blocks that tell how crowded codes are."""
_FARTHEST = 2.0**-40
"""The smallest unit, as a share of the range: with a smaller one too few cells are left for each doubling."""
_ORIGIN, _SIGN, _UNIT = range(3)
_BASE, _SHIFT = range(2)
_WHOLE = -1
"""As shift: whole numbers."""


class Coder(NamedTuple):
    """How values become codes; a row per attribute."""

    scale: NDArray[np.float64]
    """Origin, sign and unit: the distance is (value - origin) * sign + unit."""
    bits: NDArray[np.int64]
    """The unit's own bits, and how many places the difference to them is shifted."""
    table: NDArray[np.uint8]


@inlined
def _encode_whole(values, begin, end, origin, codes):  # type: ignore[no-untyped-def]
    """Values that are whole numbers, most likely; whether they are."""
    broken = np.int64(0)
    for row in range(begin, end):
        place = min(max(values[row] - origin, 0.0), CODES - 1.0)
        codes[row - begin] = np.uint8(np.int32(place))
        broken |= np.float64(np.int32(place)) != place
    return broken == 0


@inlined
def _encode_any(values, begin, end, origin, sign, unit, base, shift, table, codes):  # type: ignore[no-untyped-def]
    for row in range(begin, end):
        distance = max((values[row] - origin) * sign, 0.0)
        codes[row - begin] = table[min((bits_of(distance + unit) - base) >> shift, CELLS - 1)]


@entry_point
def _encode(addresses, begin, end, scale, bits, table, blocks, exact):  # type: ignore[no-untyped-def]
    """Codes of the rows from `begin`, where a block begins, to `end`. An attribute is `exact` if, of all its values so
    far, equal codes are equal values: all codes but the first and the last."""
    axes = len(addresses)
    for axis in range(axes):
        values = column(addresses, axis)
        origin, sign, unit = scale[axis, _ORIGIN], scale[axis, _SIGN], scale[axis, _UNIT]
        base, shift = bits[axis, _BASE], bits[axis, _SHIFT]
        lookup = after(start(table), axis * CELLS)
        is_whole = shift == _WHOLE
        for row in range(begin, end, LANES):
            codes = after(start(blocks), (row // LANES * axes + axis) * LANES)
            if shift == _WHOLE:
                is_whole &= _encode_whole(values, row, min(row + LANES, end), origin, codes)
            else:
                _encode_any(values, row, min(row + LANES, end), origin, sign, unit, base, shift, lookup, codes)
        exact[axis] &= is_whole


class Codes:
    """Of the records of a stream, filled in piece by piece."""

    def __init__(self, length: int, axes: int) -> None:
        self.blocks = np.empty((-(-length // LANES), axes, LANES), np.uint8)
        self.exact = np.ones(axes, np.int64)
        """Whether an attribute's equal codes, but for the first and the last, are equal values."""

    def fill(self, coder: Coder, columns: Columns, begin: int, end: int) -> None:
        """Of the rows from `begin`, where a block begins, to `end`."""
        _encode(columns.addresses, begin, end, *coder, self.blocks, self.exact)

    def crowding(self, begin: int, end: int) -> NDArray[np.float64]:
        """How likely two of these rows share a code, by attribute, told by some of the whole blocks."""
        first, n_blocks = begin // LANES, (end - begin) // LANES
        some = self.blocks[first : first + n_blocks : max(n_blocks // _LOOKED_AT, 1)]
        counts = [np.bincount(some[:, axis].ravel(), minlength=CODES) for axis in range(some.shape[1])]
        return (np.array(counts, float) ** 2).sum(axis=1) / max(len(some) * LANES, 1) ** 2


def encoded(coder: Coder, columns: Columns, length: int) -> Codes:
    """The codes of all of these rows."""
    codes = Codes(length, len(columns))
    codes.fill(coder, columns, 0, length)
    return codes


@entry_point
def _sample(addresses, begin, length, sample):  # type: ignore[no-untyped-def]
    return fill_sample(addresses, begin, length, sample)


def coder_for(columns: Columns, begin: int, end: int) -> Coder:
    """Made for these rows; right for any."""
    sample = np.empty((len(columns), SAMPLE))
    taken = _sample(columns.addresses, begin, end - begin, sample) if end > begin else 0
    coder = Coder(
        np.ones((len(columns), 3)),
        np.zeros((len(columns), 2), np.int64),
        np.zeros((len(columns), CELLS), np.uint8),
    )
    for axis, values in enumerate(sample[:, :taken]):
        if taken:
            _fit(coder, axis, np.sort(values))
    return coder


def _fit(coder: Coder, axis: int, values: NDArray[np.float64]) -> None:
    """The way, of two, by which fewer pairs of the sample (sorted) share a code; none is needed for whole numbers."""
    with np.errstate(over="ignore"):
        spare = CODES - 2 - (values[-1] - values[0])
    if spare >= 0 and (values == np.floor(values)).all():
        coder.scale[axis] = values[0] - spare // 2 - 1, 1.0, 1.0  # what the sample has not seen finds room at both ends
        coder.bits[axis] = 0, _WHOLE
        return
    fewest = np.inf
    for scale, bits, table, shared in _ways(values):
        if shared < fewest:
            fewest = shared
            coder.scale[axis], coder.bits[axis], coder.table[axis] = scale, bits, table


def _ways(values: NDArray[np.float64]) -> Iterator[tuple[tuple[float, ...], tuple[int, int], NDArray[np.uint8], int]]:
    for sign, origin in ((1.0, values[0]), (-1.0, values[-1])):
        with np.errstate(over="ignore"):
            distance = np.minimum((values - origin) * sign, np.finfo(float).max / 4)
        unit = _unit(distance)
        base, top = (int(np.float64(end).view(np.int64)) for end in (unit, distance.max() + unit))
        shift = max(((top - base) // CELLS).bit_length(), 0)
        cells = np.minimum(((distance + unit).view(np.int64) - base) >> shift, CELLS - 1)
        table = _table(cells, falling=sign < 0)
        shared = int((np.bincount(table[cells]).astype(float) ** 2).sum())
        yield (origin, sign, unit), (base, shift), table, shared


def _unit(distance: NDArray[np.float64]) -> float:
    """A distance below which there is little to tell apart."""
    apart = np.sort(distance[distance > 0])
    if not len(apart):
        return 1.0
    return max(float(apart[len(apart) // 10]) / 8, float(apart[-1]) * _FARTHEST, np.finfo(float).tiny)


def _table(cells: NDArray[np.int64], falling: bool) -> NDArray[np.uint8]:
    """A code for every cell, given those of a sample: one for each cell in use if that is possible."""
    used, sizes = np.unique(cells, return_counts=True)
    if len(used) < CODES:
        codes = np.searchsorted(used, np.arange(CELLS), side="left" if falling else "right")
    else:
        up_to = np.concatenate([[0], np.cumsum(sizes)])
        codes = up_to[np.searchsorted(used, np.arange(CELLS))] * (CODES - 1) // up_to[-1]
    return (CODES - 1 - codes if falling else codes).astype(np.uint8)

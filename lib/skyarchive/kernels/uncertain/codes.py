"""Points as one or two whole numbers that are compared in all attributes at once.

A code holds a field per attribute; the field's number never decreases with the value, and its highest bit is free. With
that bit set in one code, subtracting another leaves it set exactly where the one's field is not less than the other's.
So two subtractions tell of many points at once that neither can beat the other; exact values decide about the rest.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from skyarchive.kernels.columns import Columns
from skyarchive.kernels.compiling import inlined, keep_apart
from skyarchive.kernels.compiling import inner as kept

LANES = 64
"""Points compared at once: as many as a mask has bits."""
FIELDS = 8
"""At most, of one word of a code."""
HIGHEST, SHIFT, MOST, DEAD = 0, 1, 2, 3
"""Places in a form: the free bits, a field's bits, the greatest number of a field, and the code that neither beats any
nor is beaten."""


def form_of(width: int) -> NDArray[np.uint64]:
    """How codes of so many attributes are made up. There are two fields at least: dead codes need them."""
    fields = max(-(-width // words_of(width)), 2)
    shift = 64 // fields
    highest = sum(1 << (shift * field + shift - 1) for field in range(fields))
    largest = (1 << (shift - 1)) - 1
    return np.array([highest, shift, largest - 1, largest], np.uint64)  # the first field worse than any, others better


def words_of(width: int) -> int:
    return -(-width // FIELDS)


def scales_of(columns: Columns) -> NDArray[np.float64]:
    """float64[m, 2]: what is subtracted from half of a value, and the factor that then makes it a field's number.
    Half, for the distance of two values can be too large for a float."""
    scales = np.zeros((len(columns), 2))
    most = float(form_of(len(columns))[MOST]) - 1
    for axis, column in enumerate(columns.arrays):
        if len(column):
            low, high = column.min() / 2, column.max() / 2
            scales[axis] = low, min(most / (high - low), 1e300) if high > low else 0.0
    return scales


@inlined
def field(value, scales, axis, most):  # type: ignore[no-untyped-def]
    """A value's number: from 1 to `most`. Values beyond the scale share the outermost."""
    place = (value * 0.5 - scales[axis, 0]) * scales[axis, 1]
    return np.uint64(1 + np.int64(min(max(place, 0.0), most - 1.0)))


@kept
def candidates(codes, word, start, mine, highest):  # type: ignore[no-untyped-def]
    """Which of the codes from `start` on may stand for points that beat mine, and which for points mine beats: two
    masks; the last of the lanes is bit 0."""
    keep_apart()  # type: ignore[call-arg]
    lifted = mine | highest
    beating = np.uint64(0)
    beaten = np.uint64(0)
    for lane in range(LANES):
        other = codes[word, np.uintp(start + lane)]
        bit = np.uint64(1) << np.uint64(LANES - 1 - lane)
        beating |= bit if ((lifted - other) & highest) == highest else np.uint64(0)
        beaten |= bit if (((other | highest) - mine) & highest) == highest else np.uint64(0)
    return beating, beaten


@intrinsic
def lowest_bit(_context: Any, mask: Any) -> Any:
    """Which bit of a mask that is not 0 is its lowest, as int64: mixed with an unsigned number it would be a float."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.int64(mask), generate

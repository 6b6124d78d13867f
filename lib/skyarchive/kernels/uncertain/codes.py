"""Points as few whole numbers that are compared in all attributes at once, many points at a time.

A word of a code holds a field per attribute; the field's number never decreases with the value, and its highest bit is
free. With that bit set in one word, subtracting another leaves it set exactly where the one's number is not less than
the other's. So two subtractions tell of many points at once that neither can beat the other; exact values decide about
the rest.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from skyarchive.kernels.columns import Columns
from skyarchive.kernels.compiling import inlined

LANES = 64
"""Points compared at once: as many as a mask has bits."""
FIELDS = 5
"""At most, of one word: with narrower fields than six bits too many points look alike."""
BITS = 32
"""Of a word."""
BINS = 1024
"""Of equal width, from which values are put into numbers by a table."""
SAMPLE = 2048
OFTEN = 32
"""Ranks are closed every so many arrivals."""
HIGHEST, LOWEST, SHIFT, DEAD = 0, 1, 2, 3
"""Places in a form: the free bits, the fields' lowest bits, a field's width, and the word that neither beats any nor is
beaten."""


class Filter(NamedTuple):
    """How records are made into codes, and how often ranks are closed: neither changes an answer."""

    form: NDArray[np.uint32]
    scales: NDArray[np.float64]
    """float64[m, 2]: what is subtracted from half of a value, and the factor that then makes it the place of a bin.
    Half, for the distance of two values can be too large for a float."""
    table: NDArray[np.uint16]
    """uint16[m, BINS]: the bins' numbers."""
    often: int = OFTEN


def words_of(width: int) -> int:
    """Words of a code of so many attributes."""
    return -(-width // FIELDS)


def fields_of(width: int) -> int:
    """Fields of a word; two at least: dead words need them."""
    return max(-(-width // words_of(width)), 2)


def form_of(width: int) -> NDArray[np.uint32]:
    """How codes of so many attributes are made up."""
    shift = BITS // fields_of(width)
    lowest = sum(1 << shift * field for field in range(fields_of(width)))
    # A dead word is worse than any in its first field and better than any in the others.
    return np.array([lowest << shift - 1, lowest, shift, (1 << shift - 1) - 1], np.uint32)


def filter_of(columns: Columns) -> Filter:
    """For columns like these: a number stands for about as many of their values as any other. From 1 on and without the
    highest, which are for the dead."""
    width = len(columns)
    scales, table = np.zeros((width, 2)), np.ones((width, BINS), np.uint16)
    numbers = (1 << BITS // fields_of(width) - 1) - 2
    for axis, column in enumerate(columns.arrays):
        sample = np.sort(column[:: max(1, len(column) // SAMPLE)] / 2)
        if len(sample):
            tail = len(sample) // 500  # so that a few far away do not take all bins
            low, high = sample[tail], sample[-1 - tail]
            scales[axis] = low, min((BINS - 1) / (high - low), 1e300) if high > low else 0.0
            place = np.clip((sample - low) * scales[axis, 1], 0, BINS - 1).astype(np.int64)
            below = np.cumsum(np.bincount(place, minlength=BINS)) - np.bincount(place, minlength=BINS)
            table[axis] = 1 + below * min(numbers, BINS) // (len(sample) + 1)
    return Filter(form_of(width), scales, table)


@inlined
def number_of(value, scales, table, axis):  # type: ignore[no-untyped-def]
    """A value's number. Values beyond the scale share the outermost bins."""
    place = (value * 0.5 - scales[axis, 0]) * scales[axis, 1]
    return np.uint32(table[axis, np.uintp(min(max(place, 0.0), BINS - 1.0))])


@intrinsic
def candidates(_context: Any, codes: Any, start: Any, word: Any, highest: Any, lowest: Any) -> Any:
    """Which of LANES words, from place `start` of all codes on, may stand for points that beat this word's, and which
    for points that are beaten by it: two masks, the first is bit 0. Written out, for the compiler finds vectors in a
    loop like this only as long as little else is around it."""
    lane = ir.IntType(BITS)
    lanes = ir.VectorType(lane, LANES)
    index = ir.IntType(32)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def everywhere(value: Any) -> Any:
            first = builder.insert_element(ir.Constant(lanes, ir.Undefined), value, ir.Constant(index, 0))
            same = ir.Constant(ir.VectorType(index, LANES), [0] * LANES)
            return builder.shuffle_vector(first, ir.Constant(lanes, ir.Undefined), same)

        def is_clear(value: Any) -> Any:
            free = builder.and_(value, everywhere(arguments[3]))
            return builder.icmp_unsigned("==", free, ir.Constant(lanes, [0] * LANES))

        table = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.bitcast(builder.gep(table.data, [arguments[1]]), lanes.as_pointer())
        others = builder.load(place, align=BITS // 8)
        lifted = builder.or_(arguments[2], arguments[3])
        # Not (lifted - other), for which clear means that the other is nowhere greater ...
        beating = builder.sub(others, everywhere(builder.add(lifted, ir.Constant(lane, 1))))
        # ... and lifted - 1 - other: clear where the other is not less.
        beaten = builder.sub(everywhere(builder.sub(lifted, arguments[4])), others)
        masks = [builder.bitcast(is_clear(which), ir.IntType(64)) for which in (beating, beaten)]
        return context.make_tuple(builder, signature.return_type, masks)

    return types.UniTuple(types.uint64, 2)(codes, types.intp, types.uint32, types.uint32, types.uint32), generate


@intrinsic
def highest_bit(_context: Any, mask: Any) -> Any:
    """Which bit of a mask that is not 0 is its highest, as int64: mixed with an unsigned number it would be a float."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        zeros = builder.ctlz(arguments[0], context.get_constant(types.boolean, True))
        return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

    return types.int64(mask), generate

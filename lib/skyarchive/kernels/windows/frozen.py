"""Runs of kept records, in leaves of 64 that stand close together, with the best and the worst codes of each leaf.

A run is halved along the attribute that spreads most, again and again, until a leaf is left. Runs follow each other
by age; a younger one swallows those before it that are not much larger, so that there are few.
"""

import numpy as np

from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.windows.lanes import LANES, lowest
from skyarchive.kernels.windows.slots import MOMENT

CODES = 256
_LOOK = 32
"""So many records tell which attribute spreads most."""


@entry_point
def gather(codes, alive, points, about, first, end, least, marks, values, known, at):  # type: ignore[no-untyped-def]
    """Takes who is kept and alive in the blocks from `first` to `end` out of them, to row `at` of the last three
    tables and following. Gives the row after the last."""
    for block in range(first, end):
        bits = alive[block]
        alive[block] = 0
        while bits:
            lane = lowest(bits)
            bits &= bits - 1
            slot = block * LANES + lane
            if about[slot, MOMENT] <= least:
                continue
            for axis in range(points.shape[1]):
                marks[at, axis] = codes[block, axis, lane]
                values[at, axis] = points[slot, axis]
            for column in range(about.shape[1]):
                known[at, column] = about[slot, column]
            at += 1
    return at


@inlined
def _widest(marks, order, first, end):  # type: ignore[no-untyped-def]
    """The attribute on which some of these records spread most."""
    widest, spread = 0, np.int64(-1)
    step = max((end - first) // _LOOK, 1)
    for axis in range(marks.shape[1]):
        low, high = np.int64(CODES), np.int64(-1)
        for at in range(first, end, step):
            mark = np.int64(marks[order[at], axis])
            low, high = min(low, mark), max(high, mark)
        if high - low > spread:
            widest, spread = axis, high - low
    return widest


@inner
def _halve(marks, order, spare, counts, first, middle, end, axis):  # type: ignore[no-untyped-def]
    """The records with the lower codes come before `middle`."""
    for code in range(CODES):
        counts[code] = 0
    for at in range(first, end):
        counts[marks[order[at], axis]] += 1
    pivot, equal = 0, np.int64(middle - first)
    while equal >= counts[pivot]:
        equal -= counts[pivot]
        pivot += 1
        if pivot == CODES:
            return
    # `equal`: of those with the middle's code, so many come before it
    left, right = first, middle
    for at in range(first, end):
        mark = np.int64(marks[order[at], axis])
        is_of_equal = mark == pivot and equal > 0
        if mark < pivot or is_of_equal:
            equal -= np.int64(is_of_equal)
            spare[left] = order[at]
            left += 1
        else:
            spare[right] = order[at]
            right += 1
    for at in range(first, end):
        order[at] = spare[at]


@entry_point
def into_leaves(marks, order, spare, counts, stack):  # type: ignore[no-untyped-def]
    """Brings the records into the order of their leaves."""
    stack[0, 0], stack[0, 1] = 0, len(order)
    depth = 1
    while depth:
        depth -= 1
        first, end = stack[depth, 0], stack[depth, 1]
        leaves = (end - first + LANES - 1) // LANES
        if leaves <= 1:
            continue
        middle = first + (leaves + 1) // 2 * LANES
        _halve(marks, order, spare, counts, first, middle, end, _widest(marks, order, first, end))
        stack[depth, 0], stack[depth, 1] = first, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, end
        depth += 2


@entry_point
def settle(marks, values, known, order, codes, alive, points, about, best, worst, first):  # type: ignore[no-untyped-def]
    """Puts the records into blocks from `first` on, in this order, and notes the corners of each. Gives the moment of
    the youngest."""
    axes = values.shape[1]
    newest = known[order[0], MOMENT]
    leaves = (len(order) + LANES - 1) // LANES
    for leaf in range((leaves + LANES - 1) // LANES * LANES):
        block = first + leaf
        alive[block] = 0
        for axis in range(axes):  # a leaf that nobody is in is ruled out
            best[block // LANES, axis, block % LANES] = CODES - 1
            worst[block // LANES, axis, block % LANES] = 0
    for at in range(len(order)):
        row = order[at]
        slot = first * LANES + at
        block, lane = slot // LANES, slot % LANES
        group, leaf = block // LANES, block % LANES
        alive[block] |= np.int64(1) << lane
        for axis in range(axes):
            mark = marks[row, axis]
            codes[block, axis, lane] = mark
            points[slot, axis] = values[row, axis]
            best[group, axis, leaf] = min(best[group, axis, leaf], mark)
            worst[group, axis, leaf] = max(worst[group, axis, leaf], mark)
        for column in range(about.shape[1]):
            about[slot, column] = known[row, column]
        newest = max(newest, known[row, MOMENT])
    return newest

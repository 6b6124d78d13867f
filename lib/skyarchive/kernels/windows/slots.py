"""A kept record: its place, what is known about it, and how it meets one that comes.

Tables are handed on by their first places; see `lanes.start`.
"""

import numpy as np

from skyarchive.kernels.compiling import inlined, inner
from skyarchive.kernels.windows.lanes import LANES, lowest

NOBODY = -1
FRESH = 128
"""Blocks for the newest records; those of the runs follow them."""
FREEZE = 2048
"""So many are frozen together."""
KNOWN = 4
RECORD, MOMENT, BLOCKER, BLOCKED_AT = range(KNOWN)
"""What is known about a kept record: its number and moment, and those of the youngest older one that beats it."""
PLACES = 9
HEAD, END, HELD, TESTS, MOST, RUNS, FROZEN, ELDERS, BASE = range(PLACES)
"""Places in a tally: the first fresh block with someone in it, the place after the last one, how many fresh ones are
kept, dominance tests, most ever kept, runs, how many records are kept in them, entries in `elders`, the number of the
first of the records taken in."""
SPAN = 3
FIRST, LEAVES, NEWEST = range(SPAN)
"""Columns of `runs`: the first block, how many, and the moment of the youngest record."""


@inlined
def is_not_worse(points, slot, own, axes):  # type: ignore[no-untyped-def]
    """Whether a kept record is at least as good as the new one."""
    for axis in range(axes):  # noqa: SIM110 - numba is slow on generators
        if points[slot * axes + axis] > own[axis]:
            return False
    return True


@inlined
def is_not_better(points, slot, own, axes):  # type: ignore[no-untyped-def]
    for axis in range(axes):  # noqa: SIM110
        if points[slot * axes + axis] < own[axis]:
            return False
    return True


@inner
def beat(alive, points, about, tally, block, bits, own, axes, least, record, beaten_by, elders):  # type: ignore[no-untyped-def]
    """Takes those of the lanes marked off that the new record beats. Gives how many."""
    gone = 0
    while bits:
        lane = lowest(bits)
        bits &= bits - 1
        slot = block * LANES + lane
        if is_not_better(points, slot, own, axes):
            alive[block] ^= np.int64(1) << lane
            gone += 1
            beaten = about[slot * KNOWN + RECORD]
            if about[slot * KNOWN + MOMENT] <= least:
                continue
            if beaten >= tally[BASE]:
                beaten_by[beaten - tally[BASE]] = record
            else:
                elders[2 * tally[ELDERS]] = beaten
                elders[2 * tally[ELDERS] + 1] = record
                tally[ELDERS] += 1
    return gone

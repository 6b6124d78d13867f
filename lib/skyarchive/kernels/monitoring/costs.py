"""The cost model: what the borders of a filter will cost in messages, and where they cost least."""

import numpy as np

from skyarchive.kernels.compiling import inlined, inner
from skyarchive.kernels.monitoring.guard import LOG

UPLINK, DOWNLINK = 1.0, 1.0
"""What a message costs in either direction."""
FAILURE = UPLINK + DOWNLINK
"""A report, and a new filter."""
PROBE = UPLINK + 2 * DOWNLINK
"""The same, and it is asked for."""
CLOSEST = 1e-300
"""A distance of nothing still has a finite cost, which can be compared."""


@inlined
def border_cost(weight, distance):  # type: ignore[no-untyped-def]
    """Of a border at that distance: the less the farther it is, and nothing where there is none."""
    return weight / max(distance, CLOSEST)


@inlined
def balanced(a, b, begin, end):  # type: ignore[no-untyped-def]
    """The x between `begin` and `end` with the least a / (x - begin) + b / (end - x)."""
    root = np.sqrt(a)
    x = begin + (end - begin) * (root / (root + np.sqrt(b)))
    return x if begin < x <= end else end


@inner
def sources_past(guard, axis, value):  # type: ignore[no-untyped-def]
    """The sources at or beyond a value, as bits."""
    bits = 0
    for source in range(LOG):
        if guard.sources[source, axis] >= value:  # never for NaN: no source yet
            bits |= 1 << source
    return bits


@inlined
def count_bits(bits):  # type: ignore[no-untyped-def]
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@inner
def except_axis(past, item, axis):  # type: ignore[no-untyped-def]
    """The sources that are past a record's border on every axis but one."""
    bits = (1 << LOG) - 1
    for other in range(past.shape[1]):
        if other != axis:
            bits &= past[item, other]
    return bits


@inlined
def probe_cost(past_low, past_high):  # type: ignore[no-untyped-def]
    """Of being asked for another's sake: the share of the sources that a filter may beat but not certainly does
    (P_r^2), given those past its lower corner and those past its upper one."""
    return PROBE * count_bits(past_low & ~past_high) / LOG

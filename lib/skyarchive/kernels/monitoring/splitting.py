"""Where to draw the border between two records so that the one cannot possibly beat the other (algorithms 4 and 5)."""

import numpy as np

from skyarchive.kernels.compiling import inlined, inner
from skyarchive.kernels.monitoring.costs import (
    FAILURE,
    balanced,
    border_cost,
    except_axis,
    probe_cost,
    sources_past,
)
from skyarchive.kernels.monitoring.guard import LOG
from skyarchive.kernels.monitoring.rectangles import above, below


@inlined
def _is_apart(guard, lower, upper):  # type: ignore[no-untyped-def]
    """Whether `upper` cannot possibly beat `lower`: it starts on some axis where that one has ended, or is equal to it
    at the most."""
    apart = False
    equal = True
    for axis in range(guard.low.shape[1]):
        apart |= guard.high[lower, axis] < guard.low[upper, axis]
        equal &= guard.high[lower, axis] == guard.low[upper, axis]
    return apart | equal


@inner
def _ending_cost(guard, item, axis, end, low_rest, high_rest):  # type: ignore[no-untyped-def]
    """What it costs when an open record's filter ends there on an axis: failures across it (P_f), and probes. `..._rest`:
    the sources past its other borders."""
    weight = FAILURE * guard.rate[item, axis] / (2 * guard.low.shape[1])
    past_low = low_rest & guard.past_low[item, axis]
    past_high = high_rest & sources_past(guard, axis, end)
    return border_cost(weight, end - guard.known[item, axis]) + probe_cost(past_low, past_high)


@inner
def _starting_cost(guard, item, axis, start, low_rest, high_rest):  # type: ignore[no-untyped-def]
    """The same when it starts there."""
    weight = FAILURE * guard.rate[item, axis] / (2 * guard.low.shape[1])
    past_low = low_rest & sources_past(guard, axis, start)
    past_high = high_rest & guard.past_high[item, axis]
    return border_cost(weight, guard.known[item, axis] - start) + probe_cost(past_low, past_high)


@inner
def _select_boundary(guard, lower, upper, axis, begin, end):  # type: ignore[no-untyped-def]
    """The x of least cost with begin < x <= end: `lower` ends below it, `upper` starts at it. Gives it, and what it costs
    more than the borders the two have now.

    Between two sources' values the cost is convex: its least is where the distances are balanced, or beside a source.
    """
    ends, starts = guard.is_open[lower], guard.is_open[upper]
    first, last = -np.inf, np.inf  # beyond them only one of the two would lose, and the other gain nothing
    if not ends:
        x = above(begin)
    elif not starts:
        x = end
    else:
        first, last = guard.low[upper, axis], above(guard.high[lower, axis])
        x = min(max(balanced(guard.rate[lower, axis], guard.rate[upper, axis], begin, end), first), last)
    low_l, high_l = except_axis(guard.past_low, lower, axis), except_axis(guard.past_high, lower, axis)
    low_u, high_u = except_axis(guard.past_low, upper, axis), except_axis(guard.past_high, upper, axis)
    best, least, now = x, np.inf, 0.0
    if ends:
        now += _ending_cost(guard, lower, axis, guard.high[lower, axis], low_l, high_l)
    if starts:
        now += _starting_cost(guard, upper, axis, guard.low[upper, axis], low_u, high_u)
    # Only a source that the one may certainly beat, or the other cannot beat at all, according to x makes a difference.
    matters = 0
    if ends:
        matters |= low_l & high_l
    if starts:
        matters |= low_u
    for source in range(-1, LOG):
        if source >= 0:
            if not (matters >> source) & 1:
                continue
            x = above(guard.sources[source, axis])
            if not (begin < x <= end and first <= x <= last):
                continue
        cost = 0.0
        if ends:
            cost += _ending_cost(guard, lower, axis, min(guard.high[lower, axis], below(x)), low_l, high_l)
        if starts:
            cost += _starting_cost(guard, upper, axis, max(guard.low[upper, axis], x), low_u, high_u)
        if source < 0 or cost < least:
            best, least = x, cost
    return best, least - now


@inlined
def end_at(guard, item, axis, value):  # type: ignore[no-untyped-def]
    """Ends an open record's filter there on an axis, if it does not end before."""
    if value < guard.high[item, axis]:
        guard.high[item, axis] = value
        guard.past_high[item, axis] = sources_past(guard, axis, value)


@inlined
def start_at(guard, item, axis, value):  # type: ignore[no-untyped-def]
    """Starts an open record's filter there on an axis, if it does not start after."""
    if value > guard.low[item, axis]:
        guard.low[item, axis] = value
        guard.past_low[item, axis] = sources_past(guard, axis, value)


@inner
def _divide(guard, lower, upper):  # type: ignore[no-untyped-def]
    """Draws the border on the axis where it costs least more than now."""
    chosen, border, least = -1, 0.0, np.inf
    for axis in range(guard.low.shape[1]):
        begin = guard.known[lower, axis] if guard.is_open[lower] else guard.high[lower, axis]
        end = guard.known[upper, axis] if guard.is_open[upper] else guard.low[upper, axis]
        if begin < end:
            x, cost = _select_boundary(guard, lower, upper, axis, begin, end)
            if chosen < 0 or cost < least:
                chosen, border, least = axis, x, cost
    for axis in range(guard.low.shape[1]):
        if chosen == axis or chosen < 0:  # no axis: they are equal, and neither may move towards beating the other
            if guard.is_open[lower]:
                end_at(guard, lower, axis, below(border) if chosen >= 0 else guard.known[lower, axis])
            if guard.is_open[upper]:
                start_at(guard, upper, axis, border if chosen >= 0 else guard.known[upper, axis])


@inner
def separate(guard, lower, upper):  # type: ignore[no-untyped-def]
    """Makes sure that `upper` cannot possibly beat `lower`. Records that keep their filters keep them."""
    if not _is_apart(guard, lower, upper):
        _divide(guard, lower, upper)

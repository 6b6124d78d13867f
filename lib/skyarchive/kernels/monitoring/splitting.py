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
def _cost(guard, lower, upper, axis, end, start, rest):  # type: ignore[no-untyped-def]
    """What it costs when `lower` ends and `upper` starts there on an axis: failures across the borders (P_f), and
    probes. `rest`: the sources past their other borders. A record that keeps its filter costs nothing."""
    low_rest, high_rest, upper_low_rest, upper_high_rest = rest
    width = guard.low.shape[1]
    cost = 0.0
    if guard.is_open[lower]:
        weight = FAILURE * guard.rate[lower, axis] / (2 * width)
        past_low = low_rest & guard.past_low[lower, axis]
        past_high = high_rest & sources_past(guard, axis, end)
        cost += border_cost(weight, end - guard.known[lower, axis]) + probe_cost(past_low, past_high)
    if guard.is_open[upper]:
        weight = FAILURE * guard.rate[upper, axis] / (2 * width)
        past_low = upper_low_rest & sources_past(guard, axis, start)
        past_high = upper_high_rest & guard.past_high[upper, axis]
        cost += border_cost(weight, guard.known[upper, axis] - start) + probe_cost(past_low, past_high)
    return cost


@inner
def _balance(guard, lower, upper, axis, begin, end):  # type: ignore[no-untyped-def]
    """Where the border lies best as far as failures count, and between what it has to lie: beyond, one of the two would
    lose and the other gain nothing."""
    if not guard.is_open[lower]:
        return above(begin), -np.inf, np.inf
    if not guard.is_open[upper]:
        return end, -np.inf, np.inf
    first, last = guard.low[upper, axis], above(guard.high[lower, axis])
    x = balanced(guard.rate[lower, axis], guard.rate[upper, axis], begin, end)
    return min(max(x, first), last), first, last


@inner
def _select_boundary(guard, lower, upper, axis, begin, end):  # type: ignore[no-untyped-def]
    """The x of least cost with begin < x <= end: `lower` ends below it, `upper` starts at it. Gives it, and what it
    costs more than the borders the two have now.

    Between two sources' values the cost is convex: its least is where the distances are balanced, or beside a source.
    """
    rest = (
        except_axis(guard.past_low, lower, axis), except_axis(guard.past_high, lower, axis),
        except_axis(guard.past_low, upper, axis), except_axis(guard.past_high, upper, axis),
    )  # fmt: skip
    top, bottom = guard.high[lower, axis], guard.low[upper, axis]
    best, first, last = _balance(guard, lower, upper, axis, begin, end)
    least = _cost(guard, lower, upper, axis, min(top, below(best)), max(bottom, best), rest)
    # A source makes a difference if this border decides whether the one certainly, or the other possibly, beats it.
    matters = (rest[0] & rest[1] if guard.is_open[lower] else 0) | (rest[2] if guard.is_open[upper] else 0)
    for source in range(LOG):
        x = above(guard.sources[source, axis])
        if (matters >> source) & 1 and begin < x <= end and first <= x <= last:
            cost = _cost(guard, lower, upper, axis, min(top, below(x)), max(bottom, x), rest)
            if cost < least:
                best, least = x, cost
    return best, least - _cost(guard, lower, upper, axis, top, bottom, rest)


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

"""New filters for the records that were heard of, such that nothing can change unseen (algorithm 3).

The set of filters is robust: no filter possibly beats a skyline record's (lemma 4.1), and every other record's filter
is certainly beaten by its boss's (lemma 4.2). So while everybody stays inside, the skyline stays what it is. It is
enough to keep members apart from each other: who is certainly beaten by one member cannot possibly beat another.

As printed the algorithm does not keep the set robust. It ends the new filter of a member below everybody else, but its
lower borders stay at nothing towards a member that keeps its own filter: with A at (2, 8) in its filter and B at (8, 2)
that gets a new one, B may walk to (1, 1) without a word, and A is beaten. And a record that keeps its filter is not
looked at again when the one that beats it gets a new one, which may reach past it. So here members are kept apart in
both directions wherever one of the two is open, and a new filter of a boss ends where those it beats begin.
"""

import numpy as np

from skyarchive.kernels.compiling import inner
from skyarchive.kernels.monitoring.costs import FAILURE, PROBE, balanced, border_cost, sources_past
from skyarchive.kernels.monitoring.guard import ABSENT, NOBODY
from skyarchive.kernels.monitoring.rectangles import above, below, corner_beats
from skyarchive.kernels.monitoring.resolving import SKYLINE
from skyarchive.kernels.monitoring.splitting import end_at, separate, start_at

FARTHEST = np.finfo(np.float64).max
"""The last number: only nowhere is beyond it."""


@inner
def unbounded(guard, item, is_member):  # type: ignore[no-untyped-def]
    """A filter without borders, to begin with; but a member of the skyline has to say when it goes."""
    for axis in range(guard.low.shape[1]):
        guard.low[item, axis] = -np.inf
        guard.high[item, axis] = FARTHEST if is_member else np.inf
        guard.past_low[item, axis] = sources_past(guard, axis, -np.inf)
        guard.past_high[item, axis] = 0


@inner
def _stays_beaten_by(guard, member, item):  # type: ignore[no-untyped-def]
    """Whether a member of the skyline could be the boss of a record: it certainly beats what is known of that one."""
    if guard.is_open[member]:
        return corner_beats(guard.known, member, guard.known if guard.is_open[item] else guard.low, item)
    return corner_beats(guard.high, member, guard.known if guard.is_open[item] else guard.low, item)


@inner
def _risk(guard, member, item):  # type: ignore[no-untyped-def]
    """How likely the two come to cross: of a boss to choose the less the better (P_r^1, and P_f of the record)."""
    total = 0.0
    for axis in range(guard.low.shape[1]):
        at = guard.known[item, axis] if guard.is_open[item] else guard.low[item, axis]
        weight = np.sqrt(PROBE * guard.rate[member, axis])
        if guard.is_open[item]:
            weight += np.sqrt(FAILURE / 2 * guard.rate[item, axis])
        total += border_cost(weight * weight, at - guard.known[member, axis])
    return total


@inner
def choose_boss(guard, item, members):  # type: ignore[no-untyped-def]
    """The member least likely to cease beating the record. One that keeps its filter goes first where the record
    keeps its own: nothing has to be changed then."""
    best, least, best_keeps = ABSENT, np.inf, False
    for at in range(members):
        member = guard.lists[SKYLINE, at]
        if not _stays_beaten_by(guard, member, item):
            continue
        keeps = not guard.is_open[member] and not guard.is_open[item]
        risk = _risk(guard, member, item)
        if best == ABSENT or (keeps and not best_keeps) or (keeps == best_keeps and risk < least):
            best, least, best_keeps = member, risk, keeps
    return best


@inner
def _end_before(guard, boss, item):  # type: ignore[no-untyped-def]
    """Ends an open boss's filter where the filter of a record that keeps its own begins."""
    strict = False
    widest = 0
    for axis in range(guard.low.shape[1]):
        start = guard.low[item, axis]
        end_at(guard, boss, axis, start)
        strict |= guard.high[boss, axis] < start
        if start - guard.known[boss, axis] > guard.low[item, widest] - guard.known[boss, widest]:
            widest = axis
    if not strict:
        end_at(guard, boss, widest, below(guard.high[boss, widest]))


@inner
def start_after(guard, boss, item):  # type: ignore[no-untyped-def]
    """Starts an open record's filter where its boss's ends, which is drawn nearer if it is open and that is cheaper."""
    strict = False
    widest = 0
    for axis in range(guard.low.shape[1]):
        begin, end = guard.known[boss, axis], guard.known[item, axis]
        own = FAILURE / 2 * guard.rate[item, axis]
        asked = PROBE * guard.rate[boss, axis]
        edge = guard.high[boss, axis]
        x = balanced(asked, own, begin, end) if begin < end else end
        if guard.is_open[boss]:
            if edge > x:  # balanced again, with the failures of the boss for which it costs
                moved = FAILURE / 2 * guard.rate[boss, axis]
                nearer = balanced(asked + moved, own, begin, end) if begin < end else end
                x = min(max(nearer, x), edge)
            end_at(guard, boss, axis, x)
        else:
            x = max(x, edge)
        start_at(guard, item, axis, x)
        strict |= guard.high[boss, axis] < x
        if end - begin > guard.known[item, widest] - guard.known[boss, widest]:
            widest = axis
    if not strict:
        if guard.low[item, widest] < guard.known[item, widest]:
            start_at(guard, item, widest, above(guard.low[item, widest]))
        else:
            end_at(guard, boss, widest, below(guard.high[boss, widest]))


@inner
def build(guard, members):  # type: ignore[no-untyped-def]
    """Gives every open record a filter. The skyline stands in `lists`."""
    n = len(guard.boss)
    for item in range(n):
        if guard.is_open[item]:
            unbounded(guard, item, guard.boss[item] == NOBODY)
    for item in range(n):
        boss = guard.boss[item]
        if boss >= 0 and (guard.is_loose[item] or guard.is_open[boss]):
            guard.boss[item] = choose_boss(guard, item, members)
            if not guard.is_open[item] and guard.is_open[guard.boss[item]]:
                _end_before(guard, guard.boss[item], item)
    for at in range(members):
        item = guard.lists[SKYLINE, at]
        for other in range(members):
            rival = guard.lists[SKYLINE, other]
            if rival != item and (guard.is_open[item] or guard.is_open[rival]):
                separate(guard, item, rival)
    for item in range(n):
        if guard.boss[item] >= 0 and guard.is_open[item]:
            start_after(guard, guard.boss[item], item)
    guard.is_open[:] = False
    guard.is_loose[:] = False

"""Records that may still matter, and what one that comes does to them.

Kept is who is alive and not beaten by a younger one. For a record that comes, the youngest kept one that beats it says
when it may enter, and the kept ones that it beats have found what ends their stay. One look from the newest kept one
backwards tells both: it ends at the first that is at least as good, as everything else that the new one beats is
younger than that (else that one would have beaten it before). If that one is its equal, whoever beats the one beats
the other.

The newest stand in blocks in the order in which they came, a bit for each that is still kept. Are they too many, they
are frozen (`frozen.py`): blocks of a run are leaves of a tree, whose corners tell at once which to look into. Runs are
looked at from the newest on, too, and the first with one at least as good is the last that matters.
"""

import numpy as np

from skyarchive.kernels.columns import column
from skyarchive.kernels.compiling import entry_point, inlined, inner, keep_apart
from skyarchive.kernels.windows.lanes import ALL, LANES, at_most_and_least, count, highest, lowest, start
from skyarchive.kernels.windows.runs import meet_runs
from skyarchive.kernels.windows.slots import (
    BASE,
    BLOCKED_AT,
    BLOCKER,
    END,
    FREEZE,
    FRESH,
    FROZEN,
    HEAD,
    HELD,
    KNOWN,
    MOMENT,
    MOST,
    NOBODY,
    RECORD,
    RUNS,
    TESTS,
    beat,
    is_not_better,
    is_not_worse,
)


@inner
def _youngest_of(points, about, block, bits, own, axes, least):  # type: ignore[no-untyped-def]
    """The last of the lanes marked that is at least as good as the new record and alive: later than `least`."""
    while bits:
        lane = highest(bits)
        slot = block * LANES + lane
        if about[slot * KNOWN + MOMENT] <= least:
            return NOBODY
        if is_not_worse(points, slot, own, axes):
            return slot
        bits ^= np.int64(1) << lane
    return NOBODY


@inner
def _meet_fresh(codes, alive, points, about, tally, own, marks, axes, least, record, beaten_by, elders):  # type: ignore[no-untyped-def]
    """The new record against the newest ones; gives the youngest at least as good."""
    found = np.int64(NOBODY)
    last = (tally[END] - 1) // LANES
    head = tally[HEAD]
    block = last
    while block >= head:
        bits = alive[block]
        if bits:
            better, worse = at_most_and_least(codes, block, marks, axes, bits)
            if better:
                found = _youngest_of(points, about, block, better, own, axes, least)
                if found != NOBODY:
                    worse &= (np.int64(ALL) << (found % LANES)) << 1
            if worse:
                tally[HELD] -= beat(
                    alive, points, about, tally, block, worse, own, axes, least, record, beaten_by, elders
                )
            if found != NOBODY:
                break
        block -= 1
    tally[TESTS] += (last - block + (found != NOBODY)) * LANES
    return found


@inlined
def _push(codes, alive, points, about, tally, own, marks, axes, record, moment, found, least):  # type: ignore[no-untyped-def]
    """The new record becomes the newest kept one. Gives who keeps it out: the one found; if that is its equal, who
    keeps that one out, if still alive."""
    slot = tally[END]
    block, lane = slot // LANES, slot % LANES
    for axis in range(axes):
        codes[(block * axes + axis) * LANES + lane] = marks[axis]
        points[slot * axes + axis] = own[axis]
    blocker, blocked_at = np.int64(NOBODY), least
    if found != NOBODY:
        if not is_not_better(points, found, own, axes):
            blocker, blocked_at = about[found * KNOWN + RECORD], about[found * KNOWN + MOMENT]
        elif about[found * KNOWN + BLOCKED_AT] > least:
            blocker, blocked_at = about[found * KNOWN + BLOCKER], about[found * KNOWN + BLOCKED_AT]
    about[slot * KNOWN + RECORD] = record
    about[slot * KNOWN + MOMENT] = moment
    about[slot * KNOWN + BLOCKER] = blocker
    about[slot * KNOWN + BLOCKED_AT] = blocked_at
    alive[block] |= np.int64(1) << lane
    tally[END] = slot + 1
    tally[HELD] += 1
    tally[MOST] = max(tally[MOST], tally[HELD] + tally[FROZEN])
    return blocker


@inner
def _make_room(codes, alive, points, about, tally, axes, least):  # type: ignore[no-untyped-def]
    """Before a block is begun. Whole blocks go in which everybody's time is up, which it is if the last one's is; and
    if fewer than half of the places are left with somebody kept, ranks are closed."""
    keep_apart()  # type: ignore[call-arg]
    while (tally[HEAD] + 1) * LANES <= tally[END] and about[((tally[HEAD] + 1) * LANES - 1) * KNOWN + MOMENT] <= least:
        tally[HELD] -= count(alive[tally[HEAD]])
        alive[tally[HEAD]] = 0
        tally[HEAD] += 1
    places = tally[END] - tally[HEAD] * LANES
    if tally[END] == FRESH * LANES or places > 2 * tally[HELD] + 2 * LANES:
        _close_ranks(codes, alive, points, about, tally, axes, least)


@inner
def _close_ranks(codes, alive, points, about, tally, axes, least):  # type: ignore[no-untyped-def]
    """Those still kept and alive move up to the first block."""
    end = np.int64(0)
    for block in range(tally[HEAD], tally[END] // LANES):
        bits = alive[block]
        alive[block] = 0
        while bits:
            lane = lowest(bits)
            bits &= bits - 1
            slot = block * LANES + lane
            if about[slot * KNOWN + MOMENT] <= least:
                continue
            for axis in range(axes):
                codes[(end // LANES * axes + axis) * LANES + end % LANES] = codes[(block * axes + axis) * LANES + lane]
                points[end * axes + axis] = points[slot * axes + axis]
            for at in range(KNOWN):
                about[end * KNOWN + at] = about[slot * KNOWN + at]
            end += 1
    for block in range(end // LANES):
        alive[block] = ALL
    alive[end // LANES] = (np.int64(1) << (end % LANES)) - 1
    tally[HEAD] = 0
    tally[END] = end
    tally[HELD] = end


@entry_point
def take(  # type: ignore[no-untyped-def]
    addresses, moments, coded, chosen, begin, end, width,
    codes, alive, points, about, best, worst, runs, tally, own, marks, freed_by, beaten_by, elders,
):  # fmt: skip
    """Takes in the records `chosen` from place `begin` of them to `end`; that place is their number, but for the base.
    Gives where it must stop, as fresh ones are so many that they have to be frozen."""
    return _take(
        start(addresses), start(moments), start(coded), start(chosen), begin, end, width, points.shape[1],
        start(codes), start(alive), start(points), start(about), start(best), start(worst), start(runs), start(tally),
        start(own), start(marks), start(freed_by), start(beaten_by), start(elders),
    )  # fmt: skip


@inner
def _take(  # type: ignore[no-untyped-def]
    addresses, moments, coded, chosen, begin, end, width, axes,
    codes, alive, points, about, best, worst, runs, tally, own, marks, freed_by, beaten_by, elders,
):  # fmt: skip
    for at in range(begin, end):
        row = np.int64(chosen[at])
        moment = moments[row]
        least = moment - width
        if tally[END] % LANES == 0:
            _make_room(codes, alive, points, about, tally, axes, least)
            if tally[HELD] >= FREEZE:
                return at
        for axis in range(axes):
            own[axis] = column(addresses, axis)[row]
            marks[axis] = coded[(row // LANES * axes + axis) * LANES + row % LANES]
        record = tally[BASE] + at
        found = _meet_fresh(codes, alive, points, about, tally, own, marks, axes, least, record, beaten_by, elders)
        if found == NOBODY and tally[RUNS]:
            found = meet_runs(
                codes, alive, points, about, best, worst, runs, tally, own, marks, axes, least, record, beaten_by,
                elders,
            )  # fmt: skip
        freed_by[at] = _push(codes, alive, points, about, tally, own, marks, axes, record, moment, found, least)
    return end

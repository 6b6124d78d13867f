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
from skyarchive.kernels.windows.lanes import ALL, LANES, at_least, at_most, count, highest, lowest

NOBODY = -1
FRESH = 128
"""Blocks for the newest records; those of the runs follow them."""
FREEZE = 2048
"""So many are frozen together."""
RECORD, MOMENT, BLOCKER, BLOCKED_AT = range(4)
"""What is known about a kept record: its number and moment, and those of the youngest older one that beats it."""
HEAD, END, HELD, TESTS, MOST, RUNS, FROZEN, ELDERS = range(8)
"""Places in a tally: the first fresh block with someone in it, the place after the last one, how many fresh ones are
kept, dominance tests, most ever kept, runs, how many records are kept in them, entries in `elders`."""
FIRST, LEAVES, NEWEST = range(3)
"""Columns of `runs`: the first block, how many, and the moment of the youngest record."""


@inlined
def _not_worse(points, slot, own):  # type: ignore[no-untyped-def]
    """Whether a kept record is at least as good as the new one."""
    fits = True
    for axis in range(len(own)):
        fits &= points[slot, axis] <= own[axis]
    return fits


@inlined
def _not_better(points, slot, own):  # type: ignore[no-untyped-def]
    fits = True
    for axis in range(len(own)):
        fits &= points[slot, axis] >= own[axis]
    return fits


@inner
def _youngest_of(points, about, block, bits, own, least):  # type: ignore[no-untyped-def]
    """The last of the lanes marked that is at least as good as the new record and alive: later than `least`."""
    keep_apart()
    while bits:
        lane = highest(bits)
        slot = block * LANES + lane
        if about[slot, MOMENT] <= least:
            return NOBODY
        if _not_worse(points, slot, own):
            return slot
        bits ^= np.int64(1) << lane
    return NOBODY


@inner
def _youngest_in(points, about, block, bits, own, least, found):  # type: ignore[no-untyped-def]
    """The same of a leaf, whose lanes are in no order; `found` is the youngest of other leaves, or NOBODY."""
    keep_apart()
    while bits:
        lane = lowest(bits)
        bits &= bits - 1
        slot = block * LANES + lane
        if (found == NOBODY or about[slot, RECORD] > about[found, RECORD]) and about[slot, MOMENT] > least:
            if _not_worse(points, slot, own):
                found = slot
    return found


@inner
def _beat(alive, points, about, tally, block, bits, own, least, record, base, beaten_by, elders):  # type: ignore[no-untyped-def]
    """Takes those of the lanes marked off that the new record beats. Gives how many."""
    keep_apart()
    gone = 0
    while bits:
        lane = lowest(bits)
        bits &= bits - 1
        slot = block * LANES + lane
        if not _not_better(points, slot, own):
            continue
        alive[block] ^= np.int64(1) << lane
        gone += 1
        if about[slot, MOMENT] <= least:
            continue
        beaten = about[slot, RECORD]
        if beaten >= base:
            beaten_by[beaten - base] = record
        else:
            elders[tally[ELDERS], 0] = beaten
            elders[tally[ELDERS], 1] = record
            tally[ELDERS] += 1
    return gone


@inner
def _meet_fresh(codes, alive, points, about, tally, own, marks, least, record, base, beaten_by, elders):  # type: ignore[no-untyped-def]
    """The new record against the newest ones; gives the youngest at least as good."""
    axes = len(own)
    found = NOBODY
    block = (tally[END] - 1) // LANES
    head = tally[HEAD]
    while block >= head:
        better = worse = alive[block]
        if better:
            place = block * axes * LANES
            for axis in range(axes):
                better &= at_most(codes, place, marks[axis])
                worse &= at_least(codes, place, marks[axis])
                place += LANES
            if better:
                found = _youngest_of(points, about, block, better, own, least)
                if found != NOBODY:
                    worse &= (np.int64(ALL) << (found % LANES)) << 1
            if worse:
                tally[HELD] -= _beat(
                    alive, points, about, tally, block, worse, own, least, record, base, beaten_by, elders
                )
            if found != NOBODY:
                break
        block -= 1
    tally[TESTS] += ((tally[END] - 1) // LANES - block + (found != NOBODY)) * LANES
    return found


@inlined
def _leaves_not_above(corners, axes, group, marks):  # type: ignore[no-untyped-def]
    """Which of 64 leaves have a best corner that is not worse than the new record."""
    bits = np.int64(ALL)
    for axis in range(axes):
        bits &= at_most(corners, (group * axes + axis) * LANES, marks[axis])
    return bits


@inlined
def _leaves_not_below(corners, axes, group, marks):  # type: ignore[no-untyped-def]
    """Which of 64 leaves have a worst corner that is not better than the new record."""
    bits = np.int64(ALL)
    for axis in range(axes):
        bits &= at_least(corners, (group * axes + axis) * LANES, marks[axis])
    return bits


@inner
def _youngest_in_run(codes, alive, points, about, best, first, end, tally, own, marks, least):  # type: ignore[no-untyped-def]
    """The youngest of a run that is at least as good as the new record."""
    axes = len(own)
    found = NOBODY
    for group in range(first, end):
        leaves = _leaves_not_above(best, axes, group, marks)
        tally[TESTS] += (1 + count(leaves)) * LANES
        while leaves:
            block = group * LANES + lowest(leaves)
            leaves &= leaves - 1
            bits = alive[block]
            for axis in range(axes):
                bits &= at_most(codes, (block * axes + axis) * LANES, marks[axis])
            if bits:
                found = _youngest_in(points, about, block, bits, own, least, found)
    return found


@inner
def _beat_in_run(  # type: ignore[no-untyped-def]
    codes, alive, points, about, worst, first, end, tally, own, marks, least, found, record, base, beaten_by, elders
):
    """Takes off those of a run that the new record beats: younger than the one found, who may be its equal."""
    axes = len(own)
    for group in range(first, end):
        leaves = _leaves_not_below(worst, axes, group, marks)
        tally[TESTS] += (1 + count(leaves)) * LANES
        while leaves:
            block = group * LANES + lowest(leaves)
            leaves &= leaves - 1
            bits = alive[block]
            for axis in range(axes):
                bits &= at_least(codes, (block * axes + axis) * LANES, marks[axis])
            if bits and found != NOBODY:
                bits = _younger(about, block, bits, found)
            if bits:
                tally[FROZEN] -= _beat(
                    alive, points, about, tally, block, bits, own, least, record, base, beaten_by, elders
                )


@inner
def _younger(about, block, bits, found):  # type: ignore[no-untyped-def]
    """The lanes marked whose records came after `found`."""
    kept = np.int64(0)
    while bits:
        lane = lowest(bits)
        bits &= bits - 1
        if about[block * LANES + lane, RECORD] > about[found, RECORD]:
            kept |= np.int64(1) << lane
    return kept


@inner
def _push(codes, alive, points, about, tally, own, marks, record, moment):  # type: ignore[no-untyped-def]
    """The new record becomes the newest kept one; gives its place."""
    slot = tally[END]
    block, lane = slot // LANES, slot % LANES
    for axis in range(len(own)):
        codes[block, axis, lane] = marks[axis]
        points[slot, axis] = own[axis]
    about[slot, RECORD] = record
    about[slot, MOMENT] = moment
    alive[block] |= np.int64(1) << lane
    tally[END] = slot + 1
    tally[HELD] += 1
    return slot


@inner
def _note_blocker(points, about, slot, found, own, least):  # type: ignore[no-untyped-def]
    """Who keeps the new record out: the one found; if that is its equal, who keeps that one out, if still alive."""
    about[slot, BLOCKER] = NOBODY
    about[slot, BLOCKED_AT] = least
    if found == NOBODY:
        return
    if not _not_better(points, found, own):
        about[slot, BLOCKER] = about[found, RECORD]
        about[slot, BLOCKED_AT] = about[found, MOMENT]
    elif about[found, BLOCKED_AT] > least:
        about[slot, BLOCKER] = about[found, BLOCKER]
        about[slot, BLOCKED_AT] = about[found, BLOCKED_AT]


@inner
def _drop_expired(alive, about, tally, least):  # type: ignore[no-untyped-def]
    """Blocks in which everybody's time is up: the last one's is."""
    while (tally[HEAD] + 1) * LANES <= tally[END] and about[(tally[HEAD] + 1) * LANES - 1, MOMENT] <= least:
        tally[HELD] -= count(alive[tally[HEAD]])
        alive[tally[HEAD]] = 0
        tally[HEAD] += 1


@inner
def _drop_runs(alive, about, runs, tally, least):  # type: ignore[no-untyped-def]
    """The oldest runs, of which nobody is alive any more."""
    while tally[RUNS] and runs[0, NEWEST] <= least:
        for block in range(runs[0, FIRST], runs[0, FIRST] + runs[0, LEAVES]):
            tally[FROZEN] -= count(alive[block])
            alive[block] = 0
        for run in range(tally[RUNS] - 1):
            for at in range(runs.shape[1]):
                runs[run, at] = runs[run + 1, at]
        tally[RUNS] -= 1


@inner
def _compact(codes, alive, points, about, tally, least):  # type: ignore[no-untyped-def]
    """Those still kept and alive close ranks at the first block."""
    keep_apart()
    axes = points.shape[1]
    end = 0
    for block in range(tally[HEAD], (tally[END] + LANES - 1) // LANES):
        bits = alive[block]
        alive[block] = 0
        while bits:
            lane = lowest(bits)
            bits &= bits - 1
            slot = block * LANES + lane
            if about[slot, MOMENT] <= least:
                continue
            for axis in range(axes):
                codes[end // LANES, axis, end % LANES] = codes[block, axis, lane]
                points[end, axis] = points[slot, axis]
            for at in range(about.shape[1]):
                about[end, at] = about[slot, at]
            end += 1
    for block in range(end // LANES):
        alive[block] = ALL
    alive[end // LANES] = (np.int64(1) << (end % LANES)) - 1
    tally[HEAD] = 0
    tally[END] = end
    tally[HELD] = end


@inlined
def _is_sparse(tally):  # type: ignore[no-untyped-def]
    """Whether fewer than half of the places between the first and the last are of somebody kept, or none is free."""
    places = tally[END] - tally[HEAD] * LANES
    return tally[END] == FRESH * LANES or places > 2 * tally[HELD] + 2 * LANES


@entry_point
def take(  # type: ignore[no-untyped-def]
    addresses, moments, coded, chosen, begin, width, base,
    codes, alive, points, about, best, worst, runs, tally, own, marks, freed_by, beaten_by, elders,
):  # fmt: skip
    """Takes in the records `chosen`, from place `begin` of them on, numbered from `base` on. Gives the place at which
    it must stop, as fresh ones are so many that they have to be frozen."""
    axes = len(own)
    for at in range(begin, len(chosen)):
        row = np.int64(chosen[at])
        least = moments[row] - width
        if tally[END] % LANES == 0:
            _drop_expired(alive, about, tally, least)
            if _is_sparse(tally):
                _compact(codes, alive, points, about, tally, least)
            if tally[HELD] >= FREEZE:
                return at
        for axis in range(axes):
            own[axis] = column(addresses, axis)[row]
            marks[axis] = coded[axis, row]
        found = _meet_fresh(codes, alive, points, about, tally, own, marks, least, base + row, base, beaten_by, elders)
        if found == NOBODY and tally[RUNS]:
            _drop_runs(alive, about, runs, tally, least)
            for back in range(tally[RUNS]):
                run = tally[RUNS] - 1 - back
                first = runs[run, FIRST] // LANES
                end = (runs[run, FIRST] + runs[run, LEAVES] + LANES - 1) // LANES
                found = _youngest_in_run(
                    codes, alive, points, about, best, first, end, tally, own, marks, least
                )
                _beat_in_run(
                    codes, alive, points, about, worst, first, end, tally, own, marks, least, found,
                    base + row, base, beaten_by, elders,
                )  # fmt: skip
                if found != NOBODY:
                    break
        slot = _push(codes, alive, points, about, tally, own, marks, base + row, moments[row])
        _note_blocker(points, about, slot, found, own, least)
        freed_by[row] = about[slot, BLOCKER]
        tally[MOST] = max(tally[MOST], tally[HELD] + tally[FROZEN])
    return len(chosen)

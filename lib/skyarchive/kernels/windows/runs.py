"""A record that comes, and the runs of frozen ones.

Blocks of a run are leaves of a tree: their corners, 64 of them in a block of codes, tell which to look into.
"""

import numpy as np

from skyarchive.kernels.compiling import inner, keep_apart
from skyarchive.kernels.windows.lanes import ALL, LANES, at_least, at_most, count, lowest
from skyarchive.kernels.windows.slots import (
    FIRST,
    FROZEN,
    KNOWN,
    LEAVES,
    MOMENT,
    NEWEST,
    NOBODY,
    RECORD,
    RUNS,
    SPAN,
    TESTS,
    beat,
    is_not_worse,
)


@inner
def _youngest_in(points, about, block, bits, own, axes, least, found):  # type: ignore[no-untyped-def]
    """The same of a leaf, whose lanes are in no order; `found` is the youngest of other leaves, or NOBODY."""
    while bits:
        slot = block * LANES + lowest(bits)
        bits &= bits - 1
        is_younger = found == NOBODY or about[slot * KNOWN + RECORD] > about[found * KNOWN + RECORD]
        if is_younger and about[slot * KNOWN + MOMENT] > least and is_not_worse(points, slot, own, axes):
            found = slot
    return found


@inner
def _youngest_in_run(codes, alive, points, about, best, first, end, tally, own, marks, axes, least):  # type: ignore[no-untyped-def]
    """The youngest of a run that is at least as good as the new record."""
    found = np.int64(NOBODY)
    for group in range(first, end):
        leaves = at_most(best, group, marks, axes, ALL)
        tally[TESTS] += (1 + count(leaves)) * LANES
        while leaves:
            block = group * LANES + lowest(leaves)
            leaves &= leaves - 1
            bits = at_most(codes, block, marks, axes, alive[block])
            if bits:
                found = _youngest_in(points, about, block, bits, own, axes, least, found)
    return found


@inner
def _younger(about, block, bits, found):  # type: ignore[no-untyped-def]
    """The lanes marked whose records came after `found`."""
    kept = np.int64(0)
    while bits:
        lane = lowest(bits)
        bits &= bits - 1
        if about[(block * LANES + lane) * KNOWN + RECORD] > about[found * KNOWN + RECORD]:
            kept |= np.int64(1) << lane
    return kept


@inner
def _beat_in_run(  # type: ignore[no-untyped-def]
    codes, alive, points, about, worst, first, end, tally, own, marks, axes, least, found, record, beaten_by, elders
):
    """Takes off those of a run that the new record beats: younger than the one found, who may be its equal."""
    for group in range(first, end):
        leaves = at_least(worst, group, marks, axes, ALL)
        tally[TESTS] += (1 + count(leaves)) * LANES
        while leaves:
            block = group * LANES + lowest(leaves)
            leaves &= leaves - 1
            bits = at_least(codes, block, marks, axes, alive[block])
            if bits and found != NOBODY:
                bits = _younger(about, block, bits, found)
            if bits:
                tally[FROZEN] -= beat(
                    alive, points, about, tally, block, bits, own, axes, least, record, beaten_by, elders
                )


@inner
def _drop_runs(alive, runs, tally, least):  # type: ignore[no-untyped-def]
    """The oldest runs, of which nobody is alive any more."""
    while tally[RUNS] and runs[NEWEST] <= least:
        for block in range(runs[FIRST], runs[FIRST] + runs[LEAVES]):
            tally[FROZEN] -= count(alive[block])
            alive[block] = 0
        for at in range((tally[RUNS] - 1) * SPAN):
            runs[at] = runs[at + SPAN]
        tally[RUNS] -= 1


@inner
def meet_runs(  # type: ignore[no-untyped-def]
    codes, alive, points, about, best, worst, runs, tally, own, marks, axes, least, record, beaten_by, elders
):
    """The new record against the runs, after none of the fresh ones was at least as good."""
    keep_apart()  # type: ignore[call-arg]
    _drop_runs(alive, runs, tally, least)
    for back in range(1, tally[RUNS] + 1):
        run = (tally[RUNS] - back) * SPAN
        first = runs[run + FIRST] // LANES
        end = (runs[run + FIRST] + runs[run + LEAVES] + LANES - 1) // LANES
        found = _youngest_in_run(codes, alive, points, about, best, first, end, tally, own, marks, axes, least)
        _beat_in_run(
            codes, alive, points, about, worst, first, end, tally, own, marks, axes, least, found, record, beaten_by,
            elders,
        )  # fmt: skip
        if found != NOBODY:
            return found
    return np.int64(NOBODY)

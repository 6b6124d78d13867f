"""Hybrid: steady records are watched through filters, restless ones report at the sampled snapshots (algorithm 7).

A record with a filter that is in the skyline of those (mixed mode) reports at sampled snapshots, too; so everybody who
may be in a sampled snapshot's skyline does, and the answers are those of Sampling.
"""

from typing import NamedTuple

import numpy as np

from skyarchive.kernels.compiling import entry_point, inner
from skyarchive.kernels.dominance import is_position
from skyarchive.kernels.monitoring.building import build, choose_boss, start_after, unbounded
from skyarchive.kernels.monitoring.filtering import move
from skyarchive.kernels.monitoring.guard import (
    ABSENT,
    MEMBERS,
    NOBODY,
    REPORTS,
    SWITCHES,
)
from skyarchive.kernels.monitoring.rectangles import corner_beats, is_inside
from skyarchive.kernels.monitoring.resolving import SKYLINE, forget, learn, probe, resolve
from skyarchive.kernels.monitoring.splitting import separate
from skyarchive.kernels.monitoring.ties import CANDIDATES, ROWS, skyline_of_places

GONE, FILTERED, SAMPLED = 0, 1, 2
"""A record's mode; a filtered one may be mixed."""
TOO_MANY = 2
"""A record's filter may cost this many times what sampling would."""
STRETCH = 4
"""Samples, on average, over which that is judged; the paper does not say over how long it counts. Shorter stretches
send records to the samples sooner, longer ones later: with all the time since a record got its filter Hybrid is dearer
than Sampling in two dimensions, where the paper finds it cheaper."""
CALM = 2
"""Samples in a row after which a virtual filter that held becomes a real one."""


class Modes(NamedTuple):
    """What Hybrid keeps beside the guard; a row per record."""

    mode: np.ndarray
    """int8[n]"""
    mixed: np.ndarray
    """bool[n]: has a filter, and was told to report at samples."""
    since: np.ndarray
    """int64[n]: the snapshot in which the stretch began."""
    calm: np.ndarray
    """int32[n]: samples in a row at which the virtual filter held; -1: there is none."""
    boss: np.ndarray
    """int32[n]: who beats the virtual filter, or NOBODY."""
    lists: np.ndarray
    """int32[3, n]: who reported at a sample, of whom its skyline is left; and what `skyline_of_places` needs."""


def new_modes(n: int) -> Modes:
    return Modes(
        np.zeros(n, np.int8), np.zeros(n, np.bool_), np.zeros(n, np.int64),
        np.full(n, -1, np.int32), np.full(n, ABSENT, np.int32), np.empty((ROWS, n), np.int32),
    )  # fmt: skip


@inner
def _apply(guard, modes, item, rows, row, snapshot):  # type: ignore[no-untyped-def]
    """A record is born, moves or goes. Whether the server heard of it; a sampled one says nothing between samples."""
    if modes.mode[item] == SAMPLED:
        for axis in range(rows.shape[1]):
            guard.now[item, axis] = rows[row, axis]
        if not is_position(rows, row):
            modes.mode[item] = GONE
            forget(guard, item)
        return False
    heard = move(guard, item, rows, row)
    if guard.boss[item] == ABSENT:
        modes.mode[item] = GONE
        modes.mixed[item] = False
    elif modes.mode[item] == GONE:
        modes.mode[item] = FILTERED
        modes.since[item] = snapshot
        guard.spent[item] = 0
    return heard


@inner
def _let_go(guard, modes, rate, snapshot):  # type: ignore[no-untyped-def]
    """Beaten records whose filters cost too much are sampled from now on. Whether there were any."""
    some = False
    for item in range(len(modes.mode)):
        if modes.mode[item] != FILTERED:
            continue
        elapsed = snapshot - modes.since[item] + 1
        if guard.boss[item] != NOBODY and guard.spent[item] > TOO_MANY * STRETCH:
            some = True
            modes.mode[item] = SAMPLED if is_position(guard.now, item) else GONE
            modes.mixed[item] = False
            modes.calm[item] = -1
            guard.boss[item] = ABSENT
            if guard.is_open[item]:  # it has just reported, and is told instead of getting a filter
                guard.is_open[item] = False
                guard.is_fresh[item] = True
            else:
                guard.tally[SWITCHES] += 1
        elif elapsed > STRETCH / rate:
            modes.since[item] = snapshot
            guard.spent[item] = 0
    return some


@inner
def _sample(guard, modes):  # type: ignore[no-untyped-def]
    """Who is sampled reports, unless it just did."""
    for item in range(len(modes.mode)):
        if modes.mode[item] == SAMPLED and not guard.is_fresh[item]:
            guard.tally[REPORTS] += 1
        elif modes.mixed[item] and not guard.is_open[item]:
            guard.tally[REPORTS] += 1
            guard.is_fresh[item] = True
        else:
            continue
        learn(guard, item)


@inner
def _mix(guard, modes, is_sampled):  # type: ignore[no-untyped-def]
    """The skyline of the filtered is told to report at samples, the others not to; with a new filter, if they get one.
    A new member whose position is not known is asked for it at a sample."""
    if is_sampled:
        for at in range(guard.tally[MEMBERS]):
            item = guard.lists[SKYLINE, at]
            if not guard.is_open[item] and not guard.is_fresh[item]:
                probe(guard, item)
    for item in range(len(modes.mode)):
        if modes.mode[item] == FILTERED and guard.boss[item] == ABSENT:  # asked, and gone
            modes.mode[item] = GONE
        if modes.mode[item] == FILTERED and modes.mixed[item] != (guard.boss[item] == NOBODY):
            modes.mixed[item] = not modes.mixed[item]
            guard.tally[SWITCHES] += not guard.is_open[item]
            guard.spent[item] += not guard.is_open[item]


@inner
def _answer(guard, modes):  # type: ignore[no-untyped-def]
    """The skyline of a sampled snapshot, from those who may be in it: all their positions are known."""
    count = 0
    for item in range(len(modes.mode)):
        if modes.mode[item] == SAMPLED or (modes.mode[item] == FILTERED and modes.mixed[item]):
            modes.lists[CANDIDATES, count] = item
            count += 1
    return skyline_of_places(guard.now, modes.lists, count)


@inner
def _is_apart(guard, one, other):  # type: ignore[no-untyped-def]
    """Whether neither possibly beats the other."""
    return not corner_beats(guard.low, one, guard.high, other) and not corner_beats(guard.low, other, guard.high, one)


@inner
def _holds(guard, modes, item):  # type: ignore[no-untyped-def]
    """Whether a virtual filter would still do."""
    if modes.calm[item] < 0 or not is_inside(guard.low, guard.high, item, guard.now, item):
        return False
    boss = modes.boss[item]
    if boss != NOBODY:
        return guard.boss[boss] != ABSENT and corner_beats(guard.high, boss, guard.low, item)
    for at in range(guard.tally[MEMBERS]):  # noqa: SIM110 - numba is slow on generators
        if not _is_apart(guard, item, guard.lists[SKYLINE, at]):
            return False
    return True


@inner
def _draw(guard, modes, item):  # type: ignore[no-untyped-def]
    """A virtual filter beside those there are, if it can be had without asking anybody."""
    for axis in range(guard.low.shape[1]):
        guard.low[item, axis] = guard.now[item, axis]
        guard.high[item, axis] = guard.now[item, axis]
    guard.is_open[item] = True
    members = guard.tally[MEMBERS]
    boss = choose_boss(guard, item, members)
    modes.calm[item] = 0
    modes.boss[item] = boss
    if boss == ABSENT:
        modes.boss[item] = NOBODY
        for at in range(members):
            if not _is_apart(guard, item, guard.lists[SKYLINE, at]):
                modes.calm[item] = -1
    unbounded(guard, item, boss == ABSENT)
    if boss != ABSENT:
        start_after(guard, boss, item)
    elif modes.calm[item] == 0:
        for at in range(members):
            separate(guard, item, guard.lists[SKYLINE, at])
            separate(guard, guard.lists[SKYLINE, at], item)
    guard.is_open[item] = False


@inner
def _take_back(guard, modes, snapshot):  # type: ignore[no-untyped-def]
    """After a sample: sampled records whose virtual filters held twice get them as real ones."""
    for item in range(len(modes.mode)):
        if modes.mode[item] != SAMPLED:
            continue
        if not _holds(guard, modes, item):
            _draw(guard, modes, item)
            continue
        modes.calm[item] += 1
        if modes.calm[item] >= CALM:
            modes.mode[item] = FILTERED
            modes.since[item] = snapshot
            guard.spent[item] = 0
            guard.boss[item] = modes.boss[item]
            guard.tally[SWITCHES] += 1
            if modes.boss[item] == NOBODY:
                modes.mixed[item] = True
                guard.lists[SKYLINE, guard.tally[MEMBERS]] = item
                guard.tally[MEMBERS] += 1


@entry_point
def watch(guard, modes, rate, sampled, start, item, rows, members, first):  # type: ignore[no-untyped-def]
    """Goes through the snapshots of a block, which begins with snapshot `first`; `members` gets the skylines of those
    that are sampled."""
    for at in range(len(start) - 1):
        snapshot = first + at
        heard = False
        for row in range(start[at], start[at + 1]):
            heard |= _apply(guard, modes, item[row], rows, row, snapshot)
        heard |= _let_go(guard, modes, rate, snapshot)
        if sampled[at]:
            _sample(guard, modes)
        if heard:
            guard.tally[MEMBERS] = resolve(guard)
            _mix(guard, modes, sampled[at])
            build(guard, guard.tally[MEMBERS])
        if sampled[at]:
            for place in range(_answer(guard, modes)):
                members[at, modes.lists[CANDIDATES, place]] = True
            _take_back(guard, modes, snapshot)
        guard.is_fresh[:] = False

"""The skyline from what is known for certain, and from probes where it is not (the paper's algorithm 2)."""

import numpy as np

from skyarchive.kernels.compiling import inlined, inner
from skyarchive.kernels.dominance import is_position
from skyarchive.kernels.monitoring.guard import ABSENT, LOG, LOGGED, NOBODY, PROBES, RENEWALS
from skyarchive.kernels.monitoring.rectangles import certainly_beats, covers_absence, is_same_place, possibly_beats

CONTENDERS, SKYLINE, LOOK = 0, 1, 2
"""Rows of `lists`."""


@inlined
def learn(guard, item):  # type: ignore[no-untyped-def]
    """The server learns where a record is, and how far it has strayed."""
    for axis in range(guard.now.shape[1]):
        value = guard.now[item, axis]
        strayed = abs(value - guard.known[item, axis])
        if strayed > guard.rate[item, axis]:  # never for NaN, which it is before its first report
            guard.rate[item, axis] = strayed
        guard.known[item, axis] = value


@inlined
def hear(guard, item):  # type: ignore[no-untyped-def]
    """The server learns where a record is, that is not or no longer in a filter."""
    learn(guard, item)
    for axis in range(guard.now.shape[1]):
        guard.low[item, axis] = guard.now[item, axis]
        guard.high[item, axis] = guard.now[item, axis]
    guard.is_open[item] = True


@inlined
def forget(guard, item):  # type: ignore[no-untyped-def]
    """A record is gone and nothing of it counts any more."""
    guard.boss[item] = ABSENT
    guard.contends[item] = False
    for axis in range(guard.known.shape[1]):
        guard.known[item, axis] = np.nan


@inner
def probe(guard, item):  # type: ignore[no-untyped-def]
    """Asks a record where it is; one that has just said so needs only a new filter. Whether it is there at all."""
    guard.tally[RENEWALS if guard.is_fresh[item] else PROBES] += 1
    guard.spent[item] += 1 if guard.is_fresh[item] else 3
    if not is_position(guard.now, item):
        forget(guard, item)
        return False
    hear(guard, item)
    return True


@inner
def _collect(guard):  # type: ignore[no-untyped-def]
    """Who may be in the skyline before anything is compared: members until now, who was heard of, and those whose
    boss was heard of (or went) and no longer certainly beats them. Puts their number first."""
    count = 0
    for item in range(len(guard.boss)):
        boss = guard.boss[item]
        if boss == ABSENT:
            continue
        if boss != NOBODY and not guard.is_open[item]:
            if not guard.is_open[boss] and guard.boss[boss] != ABSENT:
                continue
            if guard.boss[boss] != ABSENT and certainly_beats(guard.low, guard.high, boss, item):
                continue
        guard.is_loose[item] = True
        guard.lists[LOOK, count] = item
        count += 1
    return count


@inner
def _drop_beaten(guard, count):  # type: ignore[no-untyped-def]
    """Of the first `count` to look at, those whom no other certainly beats contend; gives how many."""
    window = guard.lists[CONTENDERS]
    size = 0
    for index in range(count):
        item = guard.lists[LOOK, index]
        kept = 0
        beaten = False
        for at in range(size):
            rival = window[at]
            if is_same_place(guard.low, guard.high, rival, item):  # whatever holds for the one holds for the other
                window[at], window[at >> 1] = window[at >> 1], rival
                kept = size
                break
            if certainly_beats(guard.low, guard.high, rival, item):
                beaten = True
                guard.boss[item] = rival
                window[at], window[at >> 1] = window[at >> 1], rival
                break
            if certainly_beats(guard.low, guard.high, item, rival):
                guard.boss[rival] = item
            else:
                window[kept] = rival
                kept += 1
        if not beaten:
            window[kept] = item
            size = kept + 1
    return size


@inner
def _in_order(guard, size):  # type: ignore[no-untyped-def]
    """The contenders by number."""
    for at in range(size):
        guard.contends[guard.lists[CONTENDERS, at]] = True
    count = 0
    for item in range(len(guard.contends)):
        if guard.contends[item]:
            guard.lists[CONTENDERS, count] = item
            count += 1


@inner
def _standing(guard, item, size):  # type: ignore[no-untyped-def]
    """Who of the contenders certainly beats a record; NOBODY if none possibly does, ABSENT if some do."""
    doubtful = False
    for at in range(size):
        rival = guard.lists[CONTENDERS, at]
        if rival == item or not guard.contends[rival]:
            continue
        if certainly_beats(guard.low, guard.high, rival, item):
            return rival
        doubtful |= possibly_beats(guard.low, guard.high, rival, item)
    return ABSENT if doubtful else NOBODY


@inner
def _ask_rivals(guard, item, size):  # type: ignore[no-untyped-def]
    """The position of `item` is known: probes who may beat it, until one does. Gives that one, or NOBODY."""
    asked = False
    answer = NOBODY
    for at in range(size):
        rival = guard.lists[CONTENDERS, at]
        if rival == item or not guard.contends[rival] or guard.is_open[rival]:
            continue
        if possibly_beats(guard.low, guard.high, rival, item):
            asked = True
            if probe(guard, rival) and certainly_beats(guard.low, guard.high, rival, item):
                answer = rival
                break
    if asked:
        place = guard.tally[LOGGED] % LOG
        for axis in range(guard.now.shape[1]):
            guard.sources[place, axis] = guard.now[item, axis]
        guard.tally[LOGGED] += 1
    return answer


@inner
def resolve(guard):  # type: ignore[no-untyped-def]
    """Finds the skyline, into `lists[SKYLINE]`; gives its size. A record that is certainly beaten is never asked: who
    beats it certainly beats, or may beat, whomever it may beat."""
    size = _drop_beaten(guard, _collect(guard))
    _in_order(guard, size)
    members = 0
    for at in range(size):
        item = guard.lists[CONTENDERS, at]
        if not guard.contends[item]:  # it was asked for another's sake, and is gone
            continue
        standing = NOBODY
        if members == 0 or not is_same_place(guard.low, guard.high, guard.lists[SKYLINE, members - 1], item):
            standing = _standing(guard, item, size)
        unsure = standing == ABSENT or (standing == NOBODY and covers_absence(guard.high, item))
        if unsure and not guard.is_open[item]:
            if not probe(guard, item):
                continue
            standing = _standing(guard, item, size)
        if standing == ABSENT:
            standing = _ask_rivals(guard, item, size)
        guard.boss[item] = standing
        if standing == NOBODY:
            guard.lists[SKYLINE, members] = item
            members += 1
        else:
            guard.contends[item] = False
    for at in range(size):
        guard.contends[guard.lists[CONTENDERS, at]] = False
    return members

"""Lazy (Tao and Papadias: Maintaining Sliding Window Skylines on Data Streams): who is beaten by a member waits, and
is looked at when a member expires that alone beats it.

What differs from the print: dominance is strict, or of equal records one would be shown after the other; those that
wait are expired also if their time is up at this very moment (Fig. 5, line 4); and what happens within one moment is
told net.
"""

import numpy as np

from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.dominance import beats
from skyarchive.kernels.windows import shelves
from skyarchive.kernels.windows.checking import Records
from skyarchive.kernels.windows.shelves import TESTS, Index
from skyarchive.kernels.windows.stays import Counters, Settled
from skyarchive.kernels.windows.told import BEATEN_BY, ENTERED, FREED_BY, LEFT, NEVER, members_told, new_told

_OLDEST, _QUEUED, _MOST, _TESTS = range(4)
"""Places in the tally: the member that came first (it expires first), the first record that may still wait, most
records kept, dominance tests of subskylines."""
_GONE, _WAITS, _MEMBER = range(3)
"""What a record is."""


@inlined
def _find_oldest(what, tally, come):  # type: ignore[no-untyped-def]
    """T_exp is that of the member that came first. Who waits and came before it has expired by then, so this only ever
    moves on, up to those that have come."""
    while tally[_OLDEST] < come and what[tally[_OLDEST]] != _MEMBER:
        tally[_OLDEST] += 1


@inlined
def _precedes(points, one, other):  # type: ignore[no-untyped-def]
    """An order in which nobody comes after one it beats: by sum, and, as sums are rounded, by value."""
    sums = 0.0
    others = 0.0
    for axis in range(points.shape[1]):
        sums += points[one, axis]
        others += points[other, axis]
    if sums != others:
        return sums < others
    for axis in range(points.shape[1]):
        if points[one, axis] != points[other, axis]:
            return points[one, axis] < points[other, axis]
    return False


@inner
def _subskyline(points, found, size, tally):  # type: ignore[no-untyped-def]
    """Brings those whom none of the others beats to the front; gives how many. The best by sum is one of them; without
    it and whom it beats, so is the best of the rest."""
    done = 0
    while done < size:
        first = done
        for at in range(done + 1, size):
            if _precedes(points, found[at], found[first]):
                first = at
        found[done], found[first] = found[first], found[done]
        at = done + 1
        while at < size:
            tally[_TESTS] += 1
            if beats(points, found[done], found[at]):
                size -= 1
                found[at] = found[size]
            else:
                at += 1
        done += 1
    return done


@inlined
def _who_freed(points, moments, expired, record):  # type: ignore[no-untyped-def]
    """The youngest that beat the record: the member that expired, or one of its moment that never was a member."""
    youngest = expired
    other = expired + 1
    while other < record and moments[other] == moments[expired]:
        if beats(points, other, record):
            youngest = other
        other += 1
    return youngest


@inner
def _maintain(until, come, points, moments, width, members, waiting, is_tree, what, found, told, tally):  # type: ignore[no-untyped-def]
    """L-MM, when so many have come: members that expire up to a moment, the oldest first, make room for those that they
    alone beat."""
    _find_oldest(what, tally, come)
    while tally[_OLDEST] < come and moments[tally[_OLDEST]] + width <= until:
        expired = tally[_OLDEST]
        time = moments[expired] + width
        told[LEFT, expired], what[expired] = time, _GONE
        shelves.take_out(members, is_tree, points, expired)
        while tally[_QUEUED] < come and moments[tally[_QUEUED]] + width <= time:
            if what[tally[_QUEUED]] == _WAITS:
                what[tally[_QUEUED]] = _GONE
                shelves.take_out(waiting, is_tree, points, tally[_QUEUED])
            tally[_QUEUED] += 1
        size = 0
        for at in range(shelves.collect_beaten(waiting, is_tree, points, expired, found)):
            if not shelves.is_beaten(members, is_tree, points, found[at]):
                found[size] = found[at]
                size += 1
        for at in range(_subskyline(points, found, size, tally)):
            record = np.int64(found[at])
            told[ENTERED, record], what[record] = time, _MEMBER
            told[FREED_BY, record] = _who_freed(points, moments, expired, record)
            shelves.take_out(waiting, is_tree, points, record)
            shelves.put(members, is_tree, points, record)
        _find_oldest(what, tally, come)


@inner
def _arrive(record, points, moments, members, waiting, is_tree, what, found, told):  # type: ignore[no-untyped-def]
    """L-PM: who comes waits if a member beats it; else it is one, in place of those it beats."""
    if shelves.is_beaten(members, is_tree, points, record):
        what[record] = _WAITS
        shelves.put(waiting, is_tree, points, record)
        return
    for at in range(shelves.collect_beaten(members, is_tree, points, record, found)):
        beaten = np.int64(found[at])
        told[LEFT, beaten], told[BEATEN_BY, beaten], what[beaten] = moments[record], record, _GONE
        shelves.take_out(members, is_tree, points, beaten)
    told[ENTERED, record], what[record] = moments[record], _MEMBER
    shelves.put(members, is_tree, points, record)


@entry_point
def _lazy(points, moments, width, members, waiting, is_tree, what, found, told, tally):  # type: ignore[no-untyped-def]
    shelves.begin(members, is_tree)
    shelves.begin(waiting, is_tree)
    for record in range(len(points)):
        _maintain(moments[record], record, points, moments, width, members, waiting, is_tree, what, found, told, tally)
        _arrive(record, points, moments, members, waiting, is_tree, what, found, told)
        tally[_MOST] = max(tally[_MOST], shelves.size_of(members) + shelves.size_of(waiting))
    _maintain(NEVER, len(points), points, moments, width, members, waiting, is_tree, what, found, told, tally)


def lazy(stream: Records, counters: Counters, index: Index) -> Settled:
    """Who was in the skyline, and why; with plain lists (LL-Lazy) or trees (I-Lazy)."""
    length = len(stream)
    points = np.column_stack(stream.columns.arrays)
    members, waiting = (shelves.new_shelf(points, index) for _ in range(2))
    told, tally = new_told(length), np.zeros(4, np.int64)
    what, found = np.zeros(length, np.int8), np.empty(length, np.int32)
    _lazy(points, stream.moments, stream.width, members, waiting, index == "tree", what, found, told, tally)
    counters.tests += int(members[-1][TESTS] + waiting[-1][TESTS] + tally[_TESTS])
    counters.kept = max(counters.kept, int(tally[_MOST]))
    return members_told(told)

"""Eager (Tao and Papadias: Maintaining Sliding Window Skylines on Data Streams): only records stay that no younger one
beats, and each has an event: the moment at which it enters, or, once it is in, at which it expires.

What differs from the print: dominance is strict, as equal records must not replace each other; who comes is searched
for before it is put in, or it would find itself; and what happens within one moment is told net.
"""

import numpy as np

from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.windows import events, shelves
from skyarchive.kernels.windows.checking import Records
from skyarchive.kernels.windows.shelves import NOBODY, TESTS, Index
from skyarchive.kernels.windows.stays import Counters, Settled
from skyarchive.kernels.windows.told import BEATEN_BY, ENTERED, FREED_BY, LEFT, NEVER, members_told, new_told

_PENDING, _MOST = range(2)
"""Places in the tally: events in the list, most records kept."""


@inlined
def _plan(heap, place, times, tally, record, time):  # type: ignore[no-untyped-def]
    events.add(heap, place, times, tally[_PENDING], record, time)
    tally[_PENDING] += 1


@inlined
def _cancel(heap, place, times, tally, record):  # type: ignore[no-untyped-def]
    events.delete(heap, place, times, tally[_PENDING], record)
    tally[_PENDING] -= 1


@inner
def _maintain(until, points, moments, width, shelf, is_tree, heap, place, times, told, tally):  # type: ignore[no-untyped-def]
    """E-MM: the events up to a moment, the earliest first. One that was to enter as its time is up never enters."""
    while tally[_PENDING] and times[heap[0]] <= until:
        record = np.int64(heap[0])
        time, expires = times[record], moments[record] + width
        _cancel(heap, place, times, tally, record)
        if time < expires:
            told[ENTERED, record] = time
            _plan(heap, place, times, tally, record, expires)
        else:
            told[LEFT, record] = time
            shelves.take_out(shelf, is_tree, points, record)


@inner
def _arrive(record, points, moments, width, shelf, is_tree, found, heap, place, times, told, tally):  # type: ignore[no-untyped-def]
    """E-PM: who comes discards everybody it beats, and learns when it may enter."""
    moment = moments[record]
    n_beaten, youngest = shelves.meet(shelf, is_tree, points, record, found)
    for at in range(n_beaten):
        beaten = np.int64(found[at])
        told[LEFT, beaten], told[BEATEN_BY, beaten] = moment, record
        _cancel(heap, place, times, tally, beaten)
        shelves.take_out(shelf, is_tree, points, beaten)
    shelves.put(shelf, is_tree, points, record)
    if youngest == NOBODY:
        told[ENTERED, record] = moment
        _plan(heap, place, times, tally, record, moment + width)
    else:
        told[FREED_BY, record] = youngest
        _plan(heap, place, times, tally, record, moments[youngest] + width)


@entry_point
def _eager(points, moments, width, shelf, is_tree, found, heap, place, times, told, tally):  # type: ignore[no-untyped-def]
    shelves.begin(shelf, is_tree)
    for record in range(len(points)):
        _maintain(moments[record], points, moments, width, shelf, is_tree, heap, place, times, told, tally)
        _arrive(record, points, moments, width, shelf, is_tree, found, heap, place, times, told, tally)
        tally[_MOST] = max(tally[_MOST], tally[_PENDING])  # everybody kept has an event
    _maintain(NEVER, points, moments, width, shelf, is_tree, heap, place, times, told, tally)


def eager(stream: Records, counters: Counters, index: Index) -> Settled:
    """Who was in the skyline, and why; with a plain list (LL-Eager) or a tree (I-Eager)."""
    length = len(stream)
    points = np.column_stack(stream.columns.arrays)
    shelf, told, tally = shelves.new_shelf(points, index), new_told(length), np.zeros(2, np.int64)
    found, heap, place = np.empty((3, length), np.int32)
    times = np.empty(length, np.int64)
    _eager(points, stream.moments, stream.width, shelf, index == "tree", found, heap, place, times, told, tally)
    counters.tests += int(shelf[-1][TESTS])
    counters.kept = max(counters.kept, int(tally[_MOST]))
    return members_told(told)

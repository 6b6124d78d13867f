"""Eager's event list: one event at most for each record, the earliest first."""

import numpy as np

from skyarchive.kernels.compiling import inlined, inner

NOBODY = -1


@inlined
def _is_before(times, one, other):  # type: ignore[no-untyped-def]
    return times[one] < times[other] or (times[one] == times[other] and one < other)


@inlined
def _set(heap, place, at, record):  # type: ignore[no-untyped-def]
    heap[at] = record
    place[record] = at


@inner
def _rise(heap, place, times, at):  # type: ignore[no-untyped-def]
    record = heap[at]
    while at > 0 and _is_before(times, record, heap[(at - 1) // 2]):
        _set(heap, place, at, heap[(at - 1) // 2])
        at = (at - 1) // 2
    _set(heap, place, at, record)
    return at


@inner
def _sink(heap, place, times, size, at):  # type: ignore[no-untyped-def]
    record = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _is_before(times, heap[child + 1], heap[child]):
            child += 1
        if not _is_before(times, heap[child], record):
            break
        _set(heap, place, at, heap[child])
        at = child
    _set(heap, place, at, record)


@inner
def add(heap, place, times, size, record, time):  # type: ignore[no-untyped-def]
    """The record's event, behind `size` others."""
    times[record] = time
    heap[size] = record
    _rise(heap, place, times, np.int64(size))


@inner
def delete(heap, place, times, size, record):  # type: ignore[no-untyped-def]
    """The record's event, one of `size`."""
    at = np.int64(place[record])
    place[record] = NOBODY
    last = heap[size - 1]
    if last != record:
        heap[at] = last
        at = _rise(heap, place, times, at)
        _sink(heap, place, times, size - 1, at)

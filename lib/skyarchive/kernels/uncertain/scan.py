"""The trivial method: every record that comes or goes is compared with all that are kept.

What the others are measured against. A record is kept while the product of (1 - P) over the younger ones that beat it
is at least the lowest threshold; with it goes what it cost those younger ones that it beats.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.columns import column
from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.dominance import BEATEN, BEATS, NEITHER, beats
from skyarchive.kernels.uncertain.checking import Stream, Thresholds
from skyarchive.kernels.uncertain.eager import GONE, STANDING, judge
from skyarchive.kernels.uncertain.logs import logs_of
from skyarchive.kernels.uncertain.standing import SPAN
from skyarchive.kernels.uncertain.stays import (
    LARGEST,
    PAIRS,
    STAY,
    TALLY,
    TESTS,
    TOLD,
    Counters,
    counters_of,
    renumbered,
)

_HEAD, _TAIL, _TOUCHED, _ROW = range(TALLY, TALLY + 4)
"""More places in the tally: the first slot in use and the one after the last, records touched, records taken."""
_MORE_ROOM = 1024


class _Kept(NamedTuple):
    """The records kept, in order of arrival, and those that the present moment changed."""

    who: np.ndarray
    """int64[slots]: whose slot it is."""
    points: np.ndarray
    """float64[slots, m]"""
    costs: np.ndarray
    """int64[slots]: what each costs those that it beats."""
    standing: np.ndarray
    """By record."""
    spans: np.ndarray
    touched: np.ndarray
    """int64[records]: a list."""
    told: np.ndarray
    tally: np.ndarray


@inlined
def _relation(points, one, other):  # type: ignore[no-untyped-def]
    """How slot `one` stands to the other, asked after every second attribute: the processor guesses an answer after
    each one wrong too often."""
    better = False
    worse = False
    for axis in range(points.shape[1]):
        better |= points[one, axis] < points[other, axis]
        worse |= points[one, axis] > points[other, axis]
        if (axis & 1) and better and worse:
            return NEITHER
    if better == worse:
        return NEITHER
    return BEATS if better else BEATEN


@inlined
def _touch(standing, touched, tally, at):  # type: ignore[no-untyped-def]
    if not standing[at].touched:
        standing[at].touched = 1
        touched[tally[_TOUCHED]] = at
        tally[_TOUCHED] += 1


@inner
def _forget(who, points, costs, standing, touched, tally, slot):  # type: ignore[no-untyped-def]
    """The slot's record goes: those that it beats and that are younger are freed of it."""
    gone = costs[slot]
    for other in range(slot + 1, tally[_TAIL]):
        if beats(points, slot, other):
            standing[who[other]].older -= gone
            _touch(standing, touched, tally, who[other])
    tally[TESTS] += tally[_TAIL] - slot - 1


@inner
def _arrive(who, points, costs, standing, touched, tally, floor):  # type: ignore[no-untyped-def]
    """The record in the slot after the last is compared with all; gives the first slot whose record has to go."""
    head, tail = tally[_HEAD], tally[_TAIL]
    newcomer = who[tail]
    older = 0
    pairs = 0
    first_gone = tail
    for slot in range(head, tail):
        how = _relation(points, np.uintp(tail), np.uintp(slot))
        if how == BEATEN:
            older += costs[slot]
            pairs += 1
        elif how == BEATS:
            pairs += 1
            record = standing[who[slot]]
            record.younger += costs[tail]
            _touch(standing, touched, tally, who[slot])
            if record.younger < floor:
                first_gone = min(first_gone, slot)
    tally[TESTS] += tail - head
    tally[PAIRS] += pairs
    standing[newcomer].older = older
    _touch(standing, touched, tally, newcomer)
    tally[_TAIL] = tail + 1
    return first_gone


@inner
def _sweep(who, points, costs, standing, touched, tally, floor, first_gone):  # type: ignore[no-untyped-def]
    """Those from a slot on that are beaten too often go, and the others move together."""
    to = first_gone
    tail = tally[_TAIL]
    for slot in range(first_gone, tail):
        if standing[who[slot]].younger < floor:
            _forget(who, points, costs, standing, touched, tally, slot)
    for slot in range(first_gone, tail):
        if standing[who[slot]].younger >= floor:
            _move(who, points, costs, slot, to)
            to += 1
    tally[_TAIL] = to


@inlined
def _move(who, points, costs, slot, to):  # type: ignore[no-untyped-def]
    who[to] = who[slot]
    costs[to] = costs[slot]
    for axis in range(points.shape[1]):
        points[to, axis] = points[slot, axis]


@inner
def _take_up(who, points, costs, tally, addresses, doubt, row):  # type: ignore[no-untyped-def]
    """The record into the slot after the last; the slots in use move to the front when there is none."""
    if tally[_TAIL] == len(who):
        shift = tally[_HEAD]
        for slot in range(shift, tally[_TAIL]):
            _move(who, points, costs, slot, slot - shift)
        tally[_HEAD] = 0
        tally[_TAIL] -= shift
    tail = tally[_TAIL]
    who[tail] = row
    costs[tail] = doubt[row]
    for axis in range(points.shape[1]):
        points[tail, axis] = column(addresses, axis)[row]


@entry_point
def _run(kept, moments, addresses, own, doubt, width, end, levels, floor):  # type: ignore[no-untyped-def]
    """Moment by moment until all up to `end` have come and gone; False: first there must be more room."""
    who, points, costs, standing, spans, touched, told, tally = kept
    while tally[_ROW] < end or tally[_HEAD] < tally[_TAIL]:
        row = tally[_ROW]
        oldest = moments[who[tally[_HEAD]]] + width if tally[_HEAD] < tally[_TAIL] else np.int64(0)
        moment = oldest
        if row < end and (tally[_HEAD] == tally[_TAIL] or moments[row] < oldest):
            moment = moments[row]
        arriving = 0
        while row + arriving < end and moments[row + arriving] == moment:
            arriving += 1
        living = tally[_TAIL] - tally[_HEAD]
        if len(told) - tally[TOLD] < living * len(levels) or len(who) < 2 * (living + arriving):
            return False
        while tally[_HEAD] < tally[_TAIL] and moments[who[tally[_HEAD]]] + width == moment:
            _forget(who, points, costs, standing, touched, tally, tally[_HEAD])
            judge(standing, spans, levels, told, tally, who[tally[_HEAD]], moment, GONE)
            tally[_HEAD] += 1
        for at in range(row, row + arriving):
            _take_up(who, points, costs, tally, addresses, doubt, at)
            first_gone = _arrive(who, points, costs, standing, touched, tally, floor)
            if first_gone < tally[_TAIL] - 1:
                _sweep(who, points, costs, standing, touched, tally, floor, first_gone)
            tally[LARGEST] = max(tally[LARGEST], tally[_TAIL] - tally[_HEAD])
        tally[_ROW] = row + arriving
        for place in range(tally[_TOUCHED]):
            at = touched[place]
            record = standing[at]
            record.touched = 0
            is_kept = moments[at] + width > moment and record.younger >= floor
            chance = own[at] + record.older + record.younger if is_kept else GONE
            judge(standing, spans, levels, told, tally, at, moment, chance)
        tally[_TOUCHED] = 0
    return True


def stays(stream: Stream, thresholds: Thresholds) -> tuple[NDArray[Any], Counters]:
    """All stays, and what it took."""
    logs = logs_of(stream, thresholds)
    n, m, k = len(stream), len(stream.columns), len(logs.levels)
    kept = _Kept(
        np.zeros(_MORE_ROOM, np.int64),
        np.zeros((_MORE_ROOM, m)),
        np.zeros(_MORE_ROOM, np.int64),
        np.zeros(n, STANDING),
        np.zeros((n, k), SPAN),
        np.zeros(n, np.int64),
        np.zeros(_MORE_ROOM * k, STAY),
        np.zeros(TALLY + 4, np.int64),
    )
    rows = (stream.moments, stream.columns.addresses, logs.own, logs.doubt, stream.width)
    for end in stream.borders[1:]:
        while not _run(kept, *rows, int(end), logs.levels, logs.floor):
            kept = _with_more_room(kept)
    tally = kept.tally
    return renumbered(kept.told[: tally[TOLD]], stream.numbers), counters_of(tally)


def _with_more_room(kept: _Kept) -> _Kept:
    short = {name: getattr(kept, name) for name in ("who", "points", "costs", "told")}
    return kept._replace(**{name: np.concatenate([room, np.zeros_like(room)]) for name, room in short.items()})

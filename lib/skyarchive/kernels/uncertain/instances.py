"""Objects of several instances, of which at most one exists; they arrive and expire together.

An instance exists with its probability, so an object with the sum of its instances'. Another object's instances that
beat one of ours count together: what ours loses is the factor 1 - their mass. An object is in the skyline with the sum
over its instances. Instances that are less likely than any threshold still count in that sum, and an object's own do
not beat each other. So each instance is followed as far as a floor far below the lowest threshold, not to the
threshold itself; looking back ends only at the border of an object.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.columns import column
from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.dominance import BEATEN, BEATS, relation
from skyarchive.kernels.uncertain.checking import Stream, Thresholds
from skyarchive.kernels.uncertain.standing import ENTRY, SPAN
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
from skyarchive.kernels.uncertain.store import doubled

_FLOOR = 1e-12
"""Of the lowest threshold: an error below it is far below the slack."""
_SIZE, _LISTED, _NEXT = range(TALLY, TALLY + 3)
"""More places in the tally: instances kept, list entries in use, the next object to come."""
INSTANCE = np.dtype(
    [
        ("object", np.int64),
        ("own", np.float64),
        ("younger", np.float64),
        ("first", np.int64),
        ("length", np.int64),
    ]
)
"""As in `standing`: the product over younger objects, and the list of older ones."""
OBJECT = np.dtype([("first", np.int64), ("end", np.int64), ("reached", np.int64), ("seen", np.int64)])


class _Kept(NamedTuple):
    """Everything by its number; `who` has the instances kept, in order of arrival."""

    who: np.ndarray
    points: np.ndarray
    instances: np.ndarray
    objects: np.ndarray
    spans: np.ndarray
    lists: np.ndarray
    told: np.ndarray
    tally: np.ndarray


@inlined
def _chance(instances, objects, lists, which):  # type: ignore[no-untyped-def]
    total = 0.0
    for at in range(objects[which].first, objects[which].end):
        one = instances[at]
        chance = one.own * one.younger
        if one.length > 0:
            chance *= lists[one.first + one.length - 1].product
        total += chance
    return total


@inlined
def _free(instances, objects, lists, which, moment):  # type: ignore[no-untyped-def]
    """Older ones that beat its instances expire at the moment, or did before."""
    for at in range(objects[which].first, objects[which].end):
        one = instances[at]
        while one.length > 0 and lists[one.first + one.length - 1].until <= moment:
            one.length -= 1


@inlined
def _next_freed(instances, objects, lists, which, before):  # type: ignore[no-untyped-def]
    """The moment at which the next older one expires that beats one of its instances, or `before` if none does."""
    soonest = before
    for at in range(objects[which].first, objects[which].end):
        one = instances[at]
        if one.length > 0:
            soonest = min(soonest, lists[one.first + one.length - 1].until)
    return soonest


@inlined
def _enter(instances, objects, spans, lists, thresholds, which, moment):  # type: ignore[no-untyped-def]
    chance = _chance(instances, objects, lists, which)
    one = objects[which]
    while one.reached < len(thresholds) and chance >= thresholds[one.reached]:
        span = spans[which, one.reached]
        span.entered = moment
        span.probability = chance
        span.greatest = chance
        one.reached += 1


@inner
def _catch_up(instances, objects, spans, lists, thresholds, which, moment):  # type: ignore[no-untyped-def]
    """What expired before the moment is made up for, and what the object had reached just before it is noted."""
    one = objects[which]
    if one.seen == moment:
        return
    while True:
        freed = _next_freed(instances, objects, lists, which, moment)
        if freed == moment:
            break
        _free(instances, objects, lists, which, freed)
        _enter(instances, objects, spans, lists, thresholds, which, freed)
    one.seen = moment
    chance = _chance(instances, objects, lists, which)
    for level in range(one.reached):
        spans[which, level].greatest = max(spans[which, level].greatest, chance)


@inlined
def _leave(objects, spans, told, tally, which, moment):  # type: ignore[no-untyped-def]
    """It leaves the highest threshold that it reached; if it only reached it at this moment it never did."""
    one = objects[which]
    one.reached -= 1
    span = spans[which, one.reached]
    if span.entered < moment:
        stay = told[tally[TOLD]]
        stay.threshold = one.reached
        stay.record = which
        stay.entered = span.entered
        stay.left = moment
        stay.probability = span.probability
        stay.greatest = span.greatest
        tally[TOLD] += 1


@inner
def _settle(instances, objects, spans, lists, thresholds, told, tally, which, moment):  # type: ignore[no-untyped-def]
    """The object has been doubted: what it reaches now."""
    _free(instances, objects, lists, which, moment)
    chance = _chance(instances, objects, lists, which)
    one = objects[which]
    while one.reached > 0 and chance < thresholds[one.reached - 1]:
        _leave(objects, spans, told, tally, which, moment)
    for level in range(one.reached):
        span = spans[which, level]
        if span.entered == moment:
            span.probability = chance
            span.greatest = chance
    _enter(instances, objects, spans, lists, thresholds, which, moment)


@inner
def _list_older(who, points, instances, objects, lists, tally, at, moments, width, floor):  # type: ignore[no-untyped-def]
    """Takes down the older objects that beat an instance, the nearest first, as long as they matter."""
    one = instances[at]
    one.first = tally[_LISTED]
    product = 1.0
    place = tally[_SIZE] - 1
    while place >= 0 and product >= floor:
        other = instances[who[place]].object
        mass = 0.0
        while place >= 0 and instances[who[place]].object == other:
            tally[TESTS] += 1
            if relation(points, at, who[place]) == BEATEN:
                mass += instances[who[place]].own
                tally[PAIRS] += 1
            place -= 1
        if mass > 0:
            product *= max(1 - mass, 0.0)
            entry = lists[tally[_LISTED]]
            entry.until = moments[other] + width
            entry.product = product
            tally[_LISTED] += 1
    one.length = tally[_LISTED] - one.first


@inner
def _doubt_older(who, points, instances, objects, spans, lists, thresholds, told, tally, which, moment, floor):  # type: ignore[no-untyped-def]
    """What the arriving object takes from the instances kept; those of which too little is left go."""
    to = 0
    size = tally[_SIZE]
    place = 0
    while place < size:
        other = instances[who[place]].object
        is_doubted = False
        while place < size and instances[who[place]].object == other:
            at = who[place]
            mass = 0.0
            for newcomer in range(objects[which].first, objects[which].end):
                tally[TESTS] += 1
                if relation(points, newcomer, at) == BEATS:
                    mass += instances[newcomer].own
                    tally[PAIRS] += 1
            if mass > 0:
                _catch_up(instances, objects, spans, lists, thresholds, other, moment)
                is_doubted = True
                instances[at].younger *= max(1 - mass, 0.0)
            if instances[at].younger >= floor:
                who[to] = at
                to += 1
            else:
                instances[at].younger = 0.0
            place += 1
        if is_doubted:
            _settle(instances, objects, spans, lists, thresholds, told, tally, other, moment)
    tally[_SIZE] = to


@inner
def _retire(who, instances, tally, moments, width, moment):  # type: ignore[no-untyped-def]
    """Objects whose time is up by the moment are not kept; what they reached until then is made up for at the end."""
    gone = 0
    while gone < tally[_SIZE] and moments[instances[who[gone]].object] + width <= moment:
        gone += 1
    if gone > 0:
        for place in range(gone, tally[_SIZE]):
            who[place - gone] = who[place]
        tally[_SIZE] -= gone


@entry_point
def _run(kept, moments, starts, addresses, probability, width, end, thresholds, floor):  # type: ignore[no-untyped-def]
    """Object by object, all of one group; False: first there must be more room."""
    who, points, instances, objects, spans, lists, told, tally = kept
    while tally[_NEXT] < end:
        which = tally[_NEXT]
        first, last = starts[which], starts[which + 1]
        moment = moments[which]
        if len(lists) - tally[_LISTED] < tally[_SIZE] * (last - first):
            return False
        if len(told) - tally[TOLD] < tally[_SIZE] * len(thresholds):
            return False
        _retire(who, instances, tally, moments, width, moment)
        objects[which].first = first
        objects[which].end = last
        objects[which].seen = moment
        for at in range(first, last):
            for axis in range(points.shape[1]):
                points[at, axis] = column(addresses, axis)[at]
            instances[at].object = which
            instances[at].own = probability[at]
            instances[at].younger = 1.0
            _list_older(who, points, instances, objects, lists, tally, at, moments, width, floor)
        _doubt_older(who, points, instances, objects, spans, lists, thresholds, told, tally, which, moment, floor)
        for at in range(first, last):
            who[tally[_SIZE]] = at
            tally[_SIZE] += 1
        _enter(instances, objects, spans, lists, thresholds, which, moment)
        tally[LARGEST] = max(tally[LARGEST], tally[_SIZE])
        tally[_NEXT] += 1
    tally[_SIZE] = 0
    return True


@entry_point
def _finish(kept, moments, width, begin, thresholds):  # type: ignore[no-untyped-def]
    """The time of all objects from `begin` on is up; gives the first for which there is no room."""
    _, _, instances, objects, spans, lists, told, tally = kept
    for which in range(begin, len(objects)):
        if len(told) - tally[TOLD] < len(thresholds):
            return which
        moment = moments[which] + width
        _catch_up(instances, objects, spans, lists, thresholds, which, moment)
        while objects[which].reached > 0:
            _leave(objects, spans, told, tally, which, moment)
    return len(objects)


def stays(
    objects: Stream, starts: NDArray[np.int64], points: Stream, thresholds: Thresholds
) -> tuple[NDArray[Any], Counters]:
    """All stays of the objects, of which `objects` has moments; `points` has their instances, those of object i from
    starts[i] to starts[i + 1]."""
    n, m, k = len(points), len(points.columns), len(thresholds.lowered)
    kept = _Kept(
        np.zeros(n, np.int64),
        np.zeros((n, m)),
        np.zeros(n, INSTANCE),
        np.zeros(len(objects), OBJECT),
        np.zeros((len(objects), k), SPAN),
        np.zeros(1024, ENTRY),
        np.zeros(1024 * k, STAY),
        np.zeros(TALLY + 3, np.int64),
    )
    floor = float(thresholds.lowered[0]) * _FLOOR
    rows = (objects.moments, starts, points.columns.addresses, points.probability, objects.width)
    for end in objects.borders[1:]:
        while not _run(kept, *rows, int(end), thresholds.lowered, floor):
            kept = kept._replace(lists=doubled(kept.lists), told=doubled(kept.told))
    begin = 0
    while (begin := _finish(kept, objects.moments, objects.width, begin, thresholds.lowered)) < len(objects):
        kept = kept._replace(told=doubled(kept.told))
    return renumbered(kept.told[: kept.tally[TOLD]], objects.numbers), counters_of(kept.tally)

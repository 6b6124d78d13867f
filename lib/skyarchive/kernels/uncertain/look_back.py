"""The fastest: each arrival looks back over the records kept, the youngest first, and stops early.

Once the product of (1 - P) over those that beat the newcomer is below the lowest threshold, nothing older matters: a
record that is beaten by the newcomer is beaten by those too, which came after it, and has gone already; and one that
beats the newcomer cannot make it any less a member.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.columns import column
from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.dominance import beats
from skyarchive.kernels.uncertain.checking import SLACK, Stream, Thresholds
from skyarchive.kernels.uncertain.codes import (
    DEAD,
    HIGHEST,
    LANES,
    LOWEST,
    SHIFT,
    Filter,
    candidates,
    filter_of,
    highest_bit,
    number_of,
)
from skyarchive.kernels.uncertain.standing import doubt, expire, settle
from skyarchive.kernels.uncertain.stays import LARGEST, PAIRS, TESTS, TOLD, Counters, counters_of
from skyarchive.kernels.uncertain.store import (
    FREE,
    HEAD,
    LISTED,
    SEEN,
    TAIL,
    TAKEN,
    Store,
    larger,
    new_store,
    with_longer_lists,
    with_more_told,
)

_REACH = 4
"""So many slots per arrival since ranks were last closed as far back."""
DONE, STORE_FULL, LISTS_FULL, TOLD_FULL = 0, 1, 2, 3
"""Why the kernel comes back."""


@inlined
def _encode(points, at, codes, slot, scales, table, form):  # type: ignore[no-untyped-def]
    """Writes a point's code. Fields without an attribute are the same in all."""
    width = points.shape[1]
    fields = -(-width // codes.shape[0])
    for word in range(codes.shape[0]):
        code = form[LOWEST] if fields == 1 else np.uint32(0)
        for place in range(fields):
            axis = word * fields + place
            if axis < width:
                code += np.uint32(number_of(points[at, axis], scales, table, axis) << (place * form[SHIFT]))
        codes[word, slot] = code


@inlined
def _bury(codes, places, free, tally, slot, form):  # type: ignore[no-untyped-def]
    """The slot's record is not kept any more."""
    free[tally[FREE]] = places[slot]
    tally[FREE] += 1
    places[slot] = -1
    codes[0, slot] = form[DEAD]


@inner
def _close_ranks(codes, places, tally, begin, to):  # type: ignore[no-untyped-def]
    """Moves the living from `begin` on together, from `to` on."""
    tail = tally[TAIL]
    if begin == to:
        while begin < tail and places[begin] >= 0:
            begin += 1
        to = begin
    for slot in range(begin, tail):
        if places[slot] >= 0:
            places[to] = places[slot]
            for word in range(codes.shape[0]):
                codes[word, to] = codes[word, slot]
            to += 1
    tally[TAIL] = to


@inner
def _close_lists(places, records, lists, tally):  # type: ignore[no-untyped-def]
    """Moves what is needed of the lists together; they stand in the order of their records."""
    to = 0
    for slot in range(tally[HEAD], tally[TAIL]):
        if places[slot] >= 0:
            record = records[places[slot]]
            first = record.first
            record.first = to
            for at in range(record.length):
                lists[to] = lists[first + at]
                to += 1
    tally[LISTED] = to


@inner
def _retire(codes, places, free, records, spans, lists, told, tally, form, thresholds, moment):  # type: ignore[no-untyped-def]
    """Those whose time is up by the moment."""
    head = tally[HEAD]
    while head < tally[TAIL]:
        at = places[head]
        if at >= 0:
            if records[at].expires > moment:
                break
            expire(records, spans, lists, thresholds, told, tally, at)
            _bury(codes, places, free, tally, head, form)
        head += 1
    tally[HEAD] = head


@inlined
def _candidates(codes, start, tail, form):  # type: ignore[no-untyped-def]
    """Among LANES slots from `start` on, masks of those that may beat the newest record and those that it may beat."""
    highest, lowest = form[HIGHEST], form[LOWEST]
    beating, beaten = candidates(codes, start, codes[0, tail], highest, lowest)  # type: ignore[call-arg, var-annotated]
    for word in range(1, codes.shape[0]):
        if beating | beaten:
            place = word * codes.shape[1] + start
            masks = candidates(codes, place, codes[word, tail], highest, lowest)
            beating &= masks[0]
            beaten &= masks[1]
    return beating, beaten


@inner
def _look_back(codes, places, free, records, points, spans, lists, told, tally, form, thresholds, at, moment):  # type: ignore[no-untyped-def]
    """What the newest record, whose slot is the tail, does to those kept and they to it."""
    tail = tally[TAIL]
    floor = thresholds[0] * (1 - SLACK)
    stop = floor * (1 - SLACK)
    own = records[at].own
    product = 1.0
    first = tally[LISTED]
    length = 0
    pairs = 0
    start = tail
    while start > tally[HEAD] and product >= stop:
        start -= LANES
        beating, beaten = _candidates(codes, start, tail, form)
        while beating:
            lane = highest_bit(beating)  # type: ignore[call-arg, var-annotated]
            beating ^= np.uint64(1) << np.uint64(lane)
            other = np.uintp(places[start + lane])
            if beats(points, other, at):
                pairs += 1
                after = product * (1 - records[other].own)
                if own * product >= thresholds[0]:
                    entry = lists[np.uintp(first + length)]
                    entry.until = records[other].expires
                    entry.product = after
                    length += 1
                product = after
                if product < stop:
                    beaten = (beaten >> np.uint64(lane)) << np.uint64(lane)
                    break
        while beaten:
            lane = highest_bit(beaten)  # type: ignore[call-arg]
            beaten ^= np.uint64(1) << np.uint64(lane)
            other = np.uintp(places[start + lane])
            if beats(points, at, other):
                pairs += 1
                if doubt(records, spans, lists, thresholds, told, tally, other, moment, 1 - own) < floor:
                    _bury(codes, places, free, tally, start + lane, form)
    tally[PAIRS] += pairs
    tally[TESTS] += tail - start
    tally[LISTED] += length
    records[at].first = first
    records[at].length = length


@inlined
def _missing_room(codes, places, free, records, lists, tally):  # type: ignore[no-untyped-def]
    """What there is too little of for one more record, after closing the gaps in what there is."""
    if tally[TAIL] == len(places):
        oldest = tally[HEAD]
        tally[HEAD] = LANES
        _close_ranks(codes, places, tally, oldest, LANES)
    if tally[FREE] == 0:
        return STORE_FULL
    kept = len(free) - tally[FREE]
    if len(lists) - tally[LISTED] < kept:
        _close_lists(places, records, lists, tally)
        if len(lists) < 2 * (tally[LISTED] + kept):
            return LISTS_FULL
    return DONE


@entry_point
def _run(store, numbers, moments, addresses, probability, width, begin, end, thresholds, scales, table, form, often):  # type: ignore[no-untyped-def]
    """Takes the records from `begin + tally[TAKEN]` to `end`, all of one group; the answer says why it comes back
    before it has all."""
    codes, places, free, records, points, spans, lists, told, tally = store
    while begin + tally[TAKEN] < end:
        row = begin + tally[TAKEN]
        moment = moments[row]
        if len(told) - tally[TOLD] < (len(free) - tally[FREE]) * len(thresholds):
            return TOLD_FULL
        _retire(codes, places, free, records, spans, lists, told, tally, form, thresholds, moment)
        missing = _missing_room(codes, places, free, records, lists, tally)
        if missing != DONE:
            return missing
        tally[FREE] -= 1
        at = np.int64(free[tally[FREE]])
        for axis in range(points.shape[1]):
            points[at, axis] = column(addresses, axis)[row]
        record = records[at]
        record.record = numbers[row]
        record.expires = moment + width
        record.own = probability[row]
        record.younger = 1.0
        tail = tally[TAIL]
        _encode(points, at, codes, tail, scales, table, form)
        _look_back(codes, places, free, records, points, spans, lists, told, tally, form, thresholds, at, moment)
        settle(records, spans, lists, thresholds, at, moment)
        places[tail] = at
        tally[TAIL] = tail + 1
        tally[TAKEN] += 1
        tally[SEEN] += 1
        tally[LARGEST] = max(tally[LARGEST], len(free) - tally[FREE])
        if tally[SEEN] % often == 0:  # the youngest most often: most go soon, and all look at them
            reach = _REACH * (tally[SEEN] & -tally[SEEN])
            oldest = max(tally[HEAD], tally[TAIL] - reach)
            _close_ranks(codes, places, tally, oldest, oldest)
    return DONE


@entry_point
def _finish(store, thresholds, form):  # type: ignore[no-untyped-def]
    """The time of all is up."""
    codes, places, free, records, _, spans, lists, told, tally = store
    if len(told) - tally[TOLD] < (len(free) - tally[FREE]) * len(thresholds):
        return TOLD_FULL
    _retire(codes, places, free, records, spans, lists, told, tally, form, thresholds, np.int64(np.iinfo(np.int64).max))
    tally[HEAD] = LANES
    tally[TAIL] = LANES
    tally[LISTED] = 0
    return DONE


def stays(stream: Stream, thresholds: Thresholds, chosen: Filter | None = None) -> tuple[NDArray[Any], Counters]:
    """All stays, and what it took."""
    chosen = chosen or filter_of(stream.columns)
    store = new_store(len(stream.columns), len(thresholds.lowered))
    for begin, end in zip(stream.borders[:-1], stream.borders[1:], strict=True):
        store = fed(store, stream, int(begin), int(end), thresholds, chosen)
        while _finish(store, thresholds.lowered, chosen.form) == TOLD_FULL:
            store = with_more_told(store)
    return store.told[: store.tally[TOLD]], counters_of(store.tally)


def fed(store: Store, stream: Stream, begin: int, end: int, thresholds: Thresholds, chosen: Filter) -> Store:
    """The store after records `begin` to `end`, which are of one group."""
    store.tally[TAKEN] = 0
    rows = (stream.numbers, stream.moments, stream.columns.addresses, stream.probability, stream.width, begin, end)
    while (
        why := _run(store, *rows, thresholds.lowered, chosen.scales, chosen.table, chosen.form, chosen.often)
    ) != DONE:
        if why == STORE_FULL:
            store = larger(store)
        elif why == LISTS_FULL:
            store = with_longer_lists(store)
        else:
            store = with_more_told(store)
    return store

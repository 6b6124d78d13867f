"""How likely a kept record is, and since when: without any work when a record expires.

On arrival a record takes a list of the older ones that beat it, the nearest first: until when each lives, and the
product so far of (1 - P). The list ends where the lowest threshold is missed, so it is short. Older ones expire in the
list's order, the last first: the product that counts at a moment is the one at the last entry still alive. What is due
since a record was looked at last is made up for when a younger one beats it, or when it expires.

A record's state is a row of `records`; `lists` holds all lists. `spans` has a column of stays per record: one for all
the thresholds that it reached at the same moment, lower ones first, for mostly those are all that it reaches.
Everything is net per moment: younger ones that come at the moment at which a record became a member, or that push it
out at that moment, leave no stay without length.
"""

import numpy as np

from skyarchive.kernels.compiling import inlined, inner
from skyarchive.kernels.uncertain.stays import TOLD

RECORD = np.dtype(
    [
        ("record", np.int64),
        ("expires", np.int64),
        ("seen", np.int64),  # the moment of its last change
        ("own", np.float64),
        ("younger", np.float64),  # the product over younger ones that beat it
        ("first", np.int64),  # of its list
        ("length", np.int32),  # what still lives of its list
        ("reached", np.int16),  # thresholds; NEVER if it cannot reach one any more
        ("spans", np.int16),
    ]
)
ENTRY = np.dtype([("until", np.int64), ("product", np.float64)])
SPAN = np.dtype(
    [
        ("entered", np.int64),
        ("probability", np.float64),
        ("greatest", np.float64),
        ("reached", np.int64),  # thresholds, with those of the spans before it
    ]
)
NEVER = -1


@inlined
def chance_of(record, lists):  # type: ignore[no-untyped-def]
    """Its skyline probability, exact if it is at least the lowest threshold."""
    chance = record.own * record.younger
    if record.length > 0:
        chance *= lists[np.uintp(record.first + record.length - 1)].product
    return chance


@inlined
def _rise(records, spans, lists, thresholds, at, moment):  # type: ignore[no-untyped-def]
    """The oldest of the list expire, all of one moment; the record enters where it reaches a threshold."""
    record = records[at]
    length = np.int64(record.length)
    while length > 0 and lists[np.uintp(record.first + length - 1)].until == moment:
        length -= 1
    record.length = length
    chance = chance_of(record, lists)
    reached = np.int64(record.reached)
    while reached < len(thresholds) and chance >= thresholds[reached]:
        reached += 1
    if reached > record.reached:
        span = spans[record.spans, at]
        span.entered = moment
        span.probability = chance
        span.greatest = chance
        span.reached = reached
        record.reached = reached
        record.spans += 1


@inlined
def _catch_up(records, spans, lists, thresholds, at, moment):  # type: ignore[no-untyped-def]
    """What expired before the moment is made up for, and what the record had reached just before it is noted."""
    record = records[at]
    while record.length > 0:
        until = lists[np.uintp(record.first + record.length - 1)].until
        if until >= moment:
            break
        _rise(records, spans, lists, thresholds, at, until)
    if record.reached > 0 and record.seen < moment:  # else the moment is not complete
        chance = chance_of(record, lists)
        for which in range(record.spans):
            span = spans[which, at]
            span.greatest = max(span.greatest, chance)


@inlined
def _leave(records, spans, told, tally, at, moment):  # type: ignore[no-untyped-def]
    """The record leaves the highest threshold it reached; if it only reached it at this moment it never did."""
    record = records[at]
    record.reached -= 1
    span = spans[record.spans - 1, at]
    if span.entered < moment:
        stay = told[np.uintp(tally[TOLD])]
        stay.threshold = record.reached
        stay.record = record.record
        stay.entered = span.entered
        stay.left = moment
        stay.probability = span.probability
        stay.greatest = span.greatest
        tally[TOLD] += 1
    span.reached = record.reached
    if record.reached == (spans[record.spans - 2, at].reached if record.spans > 1 else 0):
        record.spans -= 1


@inlined
def settle(records, spans, lists, thresholds, at, moment):  # type: ignore[no-untyped-def]
    """A record that arrives, with its list taken: what it reaches at once."""
    record = records[at]
    record.seen = moment
    record.spans = 0
    record.reached = 0 if record.own >= thresholds[0] else NEVER
    if record.reached == 0:
        _rise(records, spans, lists, thresholds, at, moment)


@inner
def doubt(records, spans, lists, thresholds, told, tally, at, moment, factor):  # type: ignore[no-untyped-def]
    """A younger record that beats it arrives; gives the product over all such."""
    record = records[at]
    if record.reached == NEVER:
        record.younger *= factor
        return record.younger
    _catch_up(records, spans, lists, thresholds, at, moment)
    record.younger *= factor
    record.seen = moment
    length = np.int64(record.length)
    while length > 0 and lists[np.uintp(record.first + length - 1)].until == moment:
        length -= 1
    record.length = length
    chance = chance_of(record, lists)
    while record.reached > 0 and chance < thresholds[record.reached - 1]:
        _leave(records, spans, told, tally, at, moment)
    for which in range(record.spans):
        span = spans[which, at]
        if span.entered == moment:
            span.probability = chance
            span.greatest = chance
    _rise(records, spans, lists, thresholds, at, moment)
    if record.own * record.younger < thresholds[0]:
        record.reached = NEVER
        record.length = 0
    return record.younger


@inner
def expire(records, spans, lists, thresholds, told, tally, at):  # type: ignore[no-untyped-def]
    """Its time is up."""
    record = records[at]
    if record.reached == NEVER:
        return
    _catch_up(records, spans, lists, thresholds, at, record.expires)
    while record.reached > 0:
        _leave(records, spans, told, tally, at, record.expires)

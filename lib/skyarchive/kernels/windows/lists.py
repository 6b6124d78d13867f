"""Records in a plain list, as the paper's LL methods keep them: every search looks at all of them."""

import numpy as np

from skyarchive.kernels.compiling import inlined, inner
from skyarchive.kernels.dominance import BEATEN, BEATS, beats, relation

NOBODY = -1
SIZE, TESTS = 2, 3
"""Places in a tally, those of the trees."""


@inlined
def put(members, place, tally, record):  # type: ignore[no-untyped-def]
    place[record] = tally[SIZE]
    members[tally[SIZE]] = record
    tally[SIZE] += 1


@inlined
def take_out(members, place, tally, record):  # type: ignore[no-untyped-def]
    """The last one moves to where it was."""
    tally[SIZE] -= 1
    last = members[tally[SIZE]]
    members[place[record]] = last
    place[last] = place[record]
    place[record] = NOBODY


@inner
def is_beaten(points, members, tally, record):  # type: ignore[no-untyped-def]
    """The test for emptiness: whether anybody beats the record."""
    for at in range(tally[SIZE]):
        if beats(points, members[at], record):
            tally[TESTS] += at + 1
            return True
    tally[TESTS] += tally[SIZE]
    return False


@inner
def collect_beaten(points, members, tally, record, found):  # type: ignore[no-untyped-def]
    """The range search: everybody whom the record beats, into `found`; gives how many."""
    size = 0
    tally[TESTS] += tally[SIZE]
    for at in range(tally[SIZE]):
        found[size] = members[at]
        size += beats(points, record, members[at])
    return size


@inner
def meet(points, members, tally, record, found):  # type: ignore[no-untyped-def]
    """The range search and the max search in one: everybody whom the record beats, into `found`, and the youngest who
    beats it. Gives how many, and whom."""
    size, youngest = 0, np.int64(NOBODY)
    tally[TESTS] += tally[SIZE]
    for at in range(tally[SIZE]):
        other = np.int64(members[at])
        how = relation(points, other, record)
        if how == BEATS:
            youngest = max(youngest, other)
        elif how == BEATEN:
            found[size] = other
            size += 1
    return size, youngest

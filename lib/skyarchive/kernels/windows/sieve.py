"""Records that are never in the skyline, found beforehand: leaving them out changes nobody else's stay.

Time is cut into thirds of the window's width. Who is beaten by somebody of the third before and by somebody of the
third after is kept out by the one until the other has come. What such a record would do to another, the two do as
well: that they stand in other thirds, hence come at other moments, makes sure that none of them is told in its place.

Each third has a few strong records to test the neighbours' with: chosen greedily among its best, by how many more of
a sample each beats. Tests are of codes alone, 64 records at once; a strong record counts as beating who is worse by
code, or equal where equal codes are equal values.
"""

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.windows.codes import CODES, Codes
from skyarchive.kernels.windows.lanes import ALL, LANES, after, at_least, at_most, count, lowest, start

_THIRDS = 3
_SHORTEST = 2 * LANES
"""Records to a third, on average, below which choosing strong ones costs more than it saves."""
_CANDIDATES = 256
_STRONG = 24
_LOOKED_AT, _LEAST_LOOKED_AT = 32, 4
"""Blocks of a third in which strong records are sought."""
_SHARE = 8
"""Of its blocks, one in so many is looked at."""
_TRIED_ON = 8
"""Blocks of the sample."""
_GIVEN_UP = 0.75
"""Share left over above which the sieve is not worth it."""
_FEWEST = 2
"""Records of the sample that one more strong record must beat."""
_JUDGED = 4096
"""Records after which it is judged whether it is."""


@inlined
def _code(blocks, axes, row, axis):  # type: ignore[no-untyped-def]
    return blocks[(row // LANES * axes + axis) * LANES + row % LANES]


@inlined
def _surely_beaten(blocks, axes, block, least, own, strong, is_exact, wanted):  # type: ignore[no-untyped-def]
    """Which of the records wanted of a block a strong one surely beats."""
    bits = wanted
    for axis in range(axes):
        bits &= at_least(blocks, (block * axes + axis) * LANES, least[strong * axes + axis])
    if bits and is_exact:  # on every attribute: those that are equal on all are not beaten
        equal = bits
        for axis in range(axes):
            equal &= at_most(blocks, (block * axes + axis) * LANES, own[strong * axes + axis])
        bits &= ~equal
    return bits


@inner
def _find_candidates(blocks, axes, first, n_blocks, candidates, alive):  # type: ignore[no-untyped-def]
    """Of some blocks of a third, those that none of the others found is as good as by code: into blocks of their own.
    Gives how many places they take."""
    size = np.int64(0)
    looked_at = min(max(n_blocks // _SHARE, _LEAST_LOOKED_AT), n_blocks, _LOOKED_AT)
    for step in range(looked_at):
        block = first + step * n_blocks // looked_at
        for row in range(block * LANES, (block + 1) * LANES):
            beaten = False
            for other in range((size + LANES - 1) // LANES):
                better = alive[other]
                worse = better
                for axis in range(axes):
                    place = (other * axes + axis) * LANES
                    better &= at_most(candidates, place, _code(blocks, axes, row, axis))
                    worse &= at_least(candidates, place, _code(blocks, axes, row, axis))
                if better:
                    beaten = True
                    break
                alive[other] &= ~worse
            if beaten:
                continue
            if size == _CANDIDATES:
                return size
            if size % LANES == 0:
                alive[size // LANES] = 0
            for axis in range(axes):
                candidates[(size // LANES * axes + axis) * LANES + size % LANES] = _code(blocks, axes, row, axis)
            alive[size // LANES] |= np.int64(1) << (size % LANES)
            size += 1
    return size


@inner
def _try_out(blocks, axes, first, n_blocks, tried_on, exact, candidates, alive, size, covers, least, own, is_exact):  # type: ignore[no-untyped-def]
    """What each candidate surely beats of the sample: row by row of `covers`. Gives how many candidates there are;
    their codes, and the least of those they beat, follow each other in `own` and `least`."""
    taken = np.int64(0)
    for at in range(size):
        if not (alive[at // LANES] >> (at % LANES)) & 1:
            continue
        usable = True
        for axis in range(axes):
            code = np.int64(_code(candidates, axes, at, axis))
            own[taken * axes + axis] = code
            code += not (exact[axis] and 0 < code < CODES - 1)
            usable &= code < CODES
            least[taken * axes + axis] = min(code, CODES - 1)
        if usable:
            for step in range(tried_on):
                block = first + step * n_blocks // tried_on
                covers[taken * _TRIED_ON + step] = _surely_beaten(
                    blocks, axes, block, least, own, taken, is_exact, np.int64(ALL)
                )
            taken += 1
    return taken


@inner
def _pick(covers, size, tried_on, left, picked):  # type: ignore[no-untyped-def]
    """Greedily those that beat most of what is left of the sample. Gives how many."""
    for step in range(tried_on):
        left[step] = ALL
    for taken in range(_STRONG):
        most, best = np.int64(_FEWEST - 1), np.int64(0)
        for at in range(size):
            gain = np.int64(0)
            for step in range(tried_on):
                gain += count(covers[at * _TRIED_ON + step] & left[step])
            if gain > most:
                most, best = gain, at
        if most < _FEWEST:
            return taken
        picked[taken] = best
        for step in range(tried_on):
            left[step] &= ~covers[best * _TRIED_ON + step]
    return _STRONG


@inner
def _choose(blocks, axes, begin, end, exact, is_exact, bench, covers, left, alive, strong):  # type: ignore[no-untyped-def]
    """The strong records of a third, the rows from `begin` to `end`: the codes of each and the least that it beats go
    to `strong`. Gives how many."""
    first = (begin + LANES - 1) // LANES
    n_blocks = end // LANES - first
    if end - begin < _SHORTEST or n_blocks < 1:
        return np.int64(0)
    candidates, own, least = bench, after(bench, _CANDIDATES * axes), after(bench, 2 * _CANDIDATES * axes)
    tried_on = min(_TRIED_ON, n_blocks)
    size = _find_candidates(blocks, axes, first, n_blocks, candidates, alive)
    size = _try_out(
        blocks, axes, first, n_blocks, tried_on, exact, candidates, alive, size, covers, least, own, is_exact
    )
    n_strong = np.int64(_pick(covers, size, tried_on, left, alive))
    for at in range(n_strong):
        for axis in range(axes):
            strong[at * axes + axis] = own[alive[at] * axes + axis]
            strong[(_STRONG + at) * axes + axis] = least[alive[at] * axes + axis]
    return n_strong


@inlined
def _beaten_by_any(blocks, axes, block, strong, n_strong, is_exact, wanted):  # type: ignore[no-untyped-def]
    """Which of the records wanted of a block one of a third's strong ones surely beats."""
    left = wanted
    least = after(strong, _STRONG * axes)
    for at in range(n_strong):
        if not left:
            break
        left &= ~_surely_beaten(blocks, axes, block, least, strong, at, is_exact, left)
    return wanted & ~left


@inner
def _sift_third(blocks, axes, begin, end, before, n_before, following, n_following, is_exact, chosen, size):  # type: ignore[no-untyped-def]
    """Notes which rows may matter of a third, given the strong ones of the thirds before and after. Gives how many
    rows are noted by now."""
    for block in range(begin // LANES, (end + LANES - 1) // LANES):
        left = np.int64(ALL)
        if block * LANES < begin:
            left &= np.int64(ALL) << (begin - block * LANES)
        if (block + 1) * LANES > end:
            left &= (np.int64(1) << (end - block * LANES)) - 1
        beaten = _beaten_by_any(blocks, axes, block, before, n_before, is_exact, left)
        if beaten:
            left &= ~_beaten_by_any(blocks, axes, block, following, n_following, is_exact, beaten)
        while left:
            chosen[size] = block * LANES + lowest(left)
            left &= left - 1
            size += 1
    return size


@inlined
def _end_of_third(moments, begin, end, length):  # type: ignore[no-untyped-def]
    """The first row of another third than row `begin`."""
    limit = moments[0] + ((moments[begin] - moments[0]) // length + 1) * length
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if moments[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _sift(moments, end, length, blocks, axes, exact, bench, covers, left, alive, strong, n_strong, chosen):  # type: ignore[no-untyped-def]
    is_exact = True
    for axis in range(axes):
        is_exact &= exact[axis] != 0
    size = np.int64(0)
    begin, limit, third = np.int64(0), _end_of_third(moments, 0, end, length), np.int64(0)
    room = 2 * _STRONG * axes
    n_strong[0] = _choose(blocks, axes, begin, limit, exact, is_exact, bench, covers, left, alive, strong)
    n_strong[2] = 0
    while begin < end:
        here, behind, ahead = third % _THIRDS, (third + 2) % _THIRDS, (third + 1) % _THIRDS
        following = limit
        n_strong[ahead] = 0
        if limit < end:
            following = _end_of_third(moments, limit, end, length)
            n_strong[ahead] = _choose(
                blocks, axes, limit, following, exact, is_exact, bench, covers, left, alive, after(strong, ahead * room)
            )
        gap = np.int64(0)
        if limit < end:
            gap = (moments[limit] - moments[0]) // length - (moments[begin] - moments[0]) // length - 1
        size = _sift_third(
            blocks, axes, begin, limit, after(strong, behind * room), n_strong[behind],
            after(strong, ahead * room), 0 if gap else n_strong[ahead], is_exact, chosen, size,
        )  # fmt: skip
        if gap:
            n_strong[here] = 0
        begin, limit = limit, following
        third += 1
        if limit > _JUDGED and size > _GIVEN_UP * begin and third > 2 * _THIRDS:
            while begin < end:
                chosen[size] = begin
                size += 1
                begin += 1
    return size


@entry_point
def _sift_all(moments, length, blocks, exact, bench, covers, left, alive, strong, n_strong, chosen):  # type: ignore[no-untyped-def]
    return _sift(
        start(moments), len(moments), length, start(blocks), blocks.shape[1], start(exact), start(bench),
        start(covers), start(left), start(alive), start(strong), start(n_strong), start(chosen),
    )  # fmt: skip


def may_matter(moments: NDArray[np.int64], codes: Codes, width: int) -> NDArray[np.int32]:
    """The rows of a stream whose records may be in the skyline one day; without the others, their stays are the same."""
    chosen = np.empty(len(moments), np.int32)
    axes = codes.blocks.shape[1]
    if width // _THIRDS < 1 or len(moments) < _THIRDS * _SHORTEST:
        chosen[:] = np.arange(len(moments))
        return chosen
    bench = np.empty(3 * _CANDIDATES * axes, np.uint8)
    covers, left = np.empty(_CANDIDATES * _TRIED_ON, np.int64), np.empty(_TRIED_ON, np.int64)
    alive = np.empty(max(_CANDIDATES // LANES, _STRONG), np.int64)
    strong, n_strong = np.empty(_THIRDS * 2 * _STRONG * axes, np.uint8), np.zeros(_THIRDS, np.int64)
    size = _sift_all(
        moments, width // _THIRDS, codes.blocks, codes.exact, bench, covers, left, alive, strong, n_strong, chosen
    )
    return chosen[:size]

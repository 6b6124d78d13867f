"""Records that are never in the skyline, found beforehand: leaving them out changes nobody else's stay.

Time is cut into thirds of the window's width. Who is beaten by somebody of the third before and by somebody of the
third after is kept out by the one until the other has come. What such a record would do to another, the two do as
well: that they stand in other thirds, hence come at other moments, makes sure that none of them is told in its place.

The first third and the last, and those beside a gap, lack a neighbour; there a strong record of the third itself does
as well for those that came at a later moment, or at an earlier one.

Each third has a few strong records to test the neighbours' with: chosen greedily among its best, by how many more of
a sample each beats. Tests are of codes alone, 64 records at once; a strong record counts as beating who is worse by
code, or equal where equal codes are equal values.
"""

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.windows.codes import CODES, Codes
from skyarchive.kernels.windows.lanes import ALL, LANES, after, at_least, at_most, at_most_and_least, count, lowest, start

_PARTS = 3
_SHORTEST = 2 * LANES
"""Records to a third below which choosing strong ones costs more than it saves."""
_CANDIDATES, _STRONG = 256, 64
"""At most."""
_LEAST_LOOKED_AT, _LOOKED_AT, _SHARE = 4, 32, 8
"""Blocks of a third in which candidates are sought: one in so many, but not fewer nor more than this."""
_TRIED_ON = 16
"""Blocks of a third that they are tried on, at most."""
_FEWEST = 2
"""Records of these that one more strong record must beat."""
_GIVEN_UP, _JUDGED = 0.85, 4096
"""Share left over above which the sieve is not worth it; records after which this is judged."""
_NOBODY = -1


@inlined
def _read(blocks, axes, row, codes):  # type: ignore[no-untyped-def]
    """A record's codes, one after the other."""
    for axis in range(axes):
        codes[axis] = blocks[(row // LANES * axes + axis) * LANES + row % LANES]


@inlined
def _least_beaten(codes, axes, exact, least):  # type: ignore[no-untyped-def]
    """The least codes of those that a record of these codes surely beats; whether there can be any."""
    usable = True
    for axis in range(axes):
        code = np.int64(codes[axis])
        code += not (exact[axis] and 0 < code < CODES - 1)
        usable &= code < CODES
        least[axis] = min(code, CODES - 1)
    return usable


@inlined
def _surely_beaten(blocks, axes, block, least, own, is_exact, wanted):  # type: ignore[no-untyped-def]
    """Which of the records wanted of a block a strong one surely beats."""
    bits = at_least(blocks, block, least, axes, wanted)
    if bits and is_exact:  # on every attribute: those that are equal on all are not beaten
        bits &= ~at_most(blocks, block, own, axes, bits)
    return bits


@inlined
def _add(candidates, alive, rows, scores, axes, place, codes, row, score):  # type: ignore[no-untyped-def]
    for axis in range(axes):
        candidates[(place // LANES * axes + axis) * LANES + place % LANES] = codes[axis]
    alive[place // LANES] |= np.int64(1) << (place % LANES)
    rows[place], scores[place] = row, score


@inlined
def _weakest(alive, scores):  # type: ignore[no-untyped-def]
    """The candidate that another may replace: one that is none any more, or that of the lowest score."""
    place = np.int64(0)
    for other in range(_CANDIDATES):
        if not (alive[other // LANES] >> (other % LANES)) & 1:
            return np.int64(other)
        if scores[other] < scores[place]:
            place = np.int64(other)
    return place


@inner
def _find_candidates(blocks, axes, first, n_blocks, exact, is_exact, codes, least, candidates, alive, rows, scores):  # type: ignore[no-untyped-def]
    """Of some blocks of a third, those that none of the others found is as good as by code. Are they too many, those
    stay that beat most of one block. Gives how many places they take."""
    size = np.int64(0)
    looked_at = min(max(n_blocks // _SHARE, _LEAST_LOOKED_AT), n_blocks, _LOOKED_AT)
    for block in range(_CANDIDATES // LANES):
        alive[block] = 0
    for row in range(looked_at * LANES):
        row = (first + row // LANES * n_blocks // looked_at) * LANES + row % LANES
        _read(blocks, axes, row, codes)
        beaten = np.int64(0)
        for other in range((size + LANES - 1) // LANES):
            better, worse = at_most_and_least(candidates, other, codes, axes, alive[other])
            beaten |= better
            if beaten:
                break
            alive[other] &= ~worse
        if beaten or not _least_beaten(codes, axes, exact, least):
            continue
        score = count(_surely_beaten(blocks, axes, first + n_blocks // 2, least, codes, is_exact, np.int64(ALL)))
        place = size
        if size < _CANDIDATES:
            size += 1
        else:
            place = _weakest(alive, scores)
            if (alive[place // LANES] >> (place % LANES)) & 1 and scores[place] >= score:
                continue
        _add(candidates, alive, rows, scores, axes, place, codes, row, score)
    return size


@inner
def _try_out(blocks, axes, first, n_blocks, tried_on, exact, is_exact, codes, least, alive, rows, size, covers, bounds):  # type: ignore[no-untyped-def]
    """What each candidate surely beats of the sample, in `covers`, and how many those are. Gives how many candidates
    there are; their rows close ranks."""
    taken = np.int64(0)
    for at in range(size):
        if (alive[at // LANES] >> (at % LANES)) & 1:
            rows[taken] = rows[at]
            _read(blocks, axes, rows[at], codes)
            _least_beaten(codes, axes, exact, least)
            bounds[taken] = 0
            for step in range(tried_on):
                block = first + step * n_blocks // tried_on
                bits = _surely_beaten(blocks, axes, block, least, codes, is_exact, np.int64(ALL))
                covers[taken * _TRIED_ON + step] = bits
                bounds[taken] += count(bits)
            taken += 1
    return taken


@inner
def _pick(covers, bounds, size, tried_on, left, picked):  # type: ignore[no-untyped-def]
    """Greedily those that beat most of what is left of the sample. Gives how many. What one adds can only become
    less: who added too little before is not looked at."""
    for step in range(tried_on):
        left[step] = ALL
    for taken in range(_STRONG):
        most, best = np.int64(_FEWEST - 1), np.int64(_NOBODY)
        for at in range(size):
            if bounds[at] > most:
                gain = np.int64(0)
                for step in range(tried_on):
                    gain += count(covers[at * _TRIED_ON + step] & left[step])
                bounds[at] = gain
                if gain > most:
                    most, best = gain, np.int64(at)
        if best == _NOBODY:
            return np.int64(taken)
        picked[taken] = best
        for step in range(tried_on):
            left[step] &= ~covers[best * _TRIED_ON + step]
    return np.int64(_STRONG)


@inner
def _choose(blocks, axes, begin, end, exact, is_exact, bytes_, words, strong, strong_rows):  # type: ignore[no-untyped-def]
    """The strong records of a third, the rows from `begin` to `end`: the codes of each and the least that it beats
    stand in `strong`. Gives how many."""
    first = (begin + LANES - 1) // LANES
    n_blocks = end // LANES - first
    if end - begin < _SHORTEST or n_blocks < 1:
        return np.int64(0)
    candidates, codes, least = bytes_, after(bytes_, _CANDIDATES * axes), after(bytes_, (_CANDIDATES + 1) * axes)
    alive, rows, bounds = words, after(words, _CANDIDATES), after(words, 2 * _CANDIDATES)
    left, covers = after(words, 3 * _CANDIDATES), after(words, 4 * _CANDIDATES)
    tried_on = min(_TRIED_ON, n_blocks)
    size = _find_candidates(
        blocks, axes, first, n_blocks, exact, is_exact, codes, least, candidates, alive, rows, bounds
    )
    size = _try_out(
        blocks, axes, first, n_blocks, tried_on, exact, is_exact, codes, least, alive, rows, size, covers, bounds
    )
    n_strong = _pick(covers, bounds, size, tried_on, left, alive)
    for at in range(n_strong):
        strong_rows[at] = rows[alive[at]]
        own = after(strong, 2 * at * axes)
        _read(blocks, axes, strong_rows[at], own)
        _least_beaten(own, axes, exact, after(own, axes))
    return n_strong


@inlined
def _lanes_from(block, row):  # type: ignore[no-untyped-def]
    """The lanes of a block from a row on."""
    lane = row - block * LANES
    if lane <= 0:
        return np.int64(ALL)
    return np.int64(ALL) << lane if lane < LANES else np.int64(0)


@inlined
def _beaten_by_any(blocks, axes, block, strong, n_strong, is_exact, wanted):  # type: ignore[no-untyped-def]
    """Which of the records wanted of a block one of another third's strong ones surely beats."""
    left = wanted
    for at in range(n_strong):
        if not left:
            break
        own = after(strong, 2 * at * axes)
        left &= ~_surely_beaten(blocks, axes, block, after(own, axes), own, is_exact, left)
    return wanted & ~left


@inner
def _beaten_within(moments, blocks, axes, block, strong, strong_rows, n_strong, is_exact, wanted, later):  # type: ignore[no-untyped-def]
    """The same of the third's own strong ones, for who came at a later moment than they, or at an earlier one."""
    left = wanted
    end = (block + 1) * LANES
    for at in range(n_strong):
        row = strong_rows[at]
        moment = moments[row]
        if later:
            while row < end and moments[row] == moment:
                row += 1
            lanes = left & _lanes_from(block, row)
        else:
            while row > block * LANES and moments[row - 1] == moment:
                row -= 1
            lanes = left & ~_lanes_from(block, row)
        if lanes:
            own = after(strong, 2 * at * axes)
            left &= ~_surely_beaten(blocks, axes, block, after(own, axes), own, is_exact, lanes)
    return wanted & ~left


@inner
def _sift_third(  # type: ignore[no-untyped-def]
    moments, blocks, axes, begin, end, is_exact, strong, rows, own, behind, ahead,
    n_behind, n_own, n_ahead, chosen, size,
):  # fmt: skip
    """Notes which rows of a third may matter. Gives how many rows are noted by now."""
    room = 2 * _STRONG * axes
    own_strong, own_rows = after(strong, own * room), after(rows, own * _STRONG)
    for block in range(begin // LANES, (end + LANES - 1) // LANES):
        left = _lanes_from(block, begin) & ~_lanes_from(block, end)
        if n_behind:
            beaten = _beaten_by_any(
                blocks, axes, block, after(strong, behind * room), n_behind, is_exact, left
            )
        else:
            beaten = _beaten_within(
                moments, blocks, axes, block, own_strong, own_rows, n_own, is_exact, left, True
            )
        if beaten and n_ahead:
            beaten = _beaten_by_any(
                blocks, axes, block, after(strong, ahead * room), n_ahead, is_exact, beaten
            )
        elif beaten:
            beaten = _beaten_within(
                moments, blocks, axes, block, own_strong, own_rows, n_own, is_exact, beaten, False
            )
        left &= ~beaten
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
def _sift(moments, end, length, blocks, axes, exact, bytes_, words, strong, rows, n_strong, chosen):  # type: ignore[no-untyped-def]
    is_exact = True
    for axis in range(axes):
        is_exact &= exact[axis] != 0
    size, begin, turn = np.int64(0), np.int64(0), np.int64(0)
    limit = _end_of_third(moments, begin, end, length)
    n_strong[0] = _choose(blocks, axes, begin, limit, exact, is_exact, bytes_, words, strong, rows)
    is_next = False
    while begin < end:
        following, had_next = limit, is_next
        own, behind, ahead = turn % _PARTS, (turn + _PARTS - 1) % _PARTS, (turn + 1) % _PARTS
        if limit < end:
            following = _end_of_third(moments, limit, end, length)
            n_strong[ahead] = _choose(
                blocks, axes, limit, following, exact, is_exact, bytes_, words,
                after(strong, ahead * 2 * _STRONG * axes), after(rows, ahead * _STRONG),
            )  # fmt: skip
            is_next = (moments[limit] - moments[0]) // length == (moments[begin] - moments[0]) // length + 1
        n_behind = n_strong[behind] if had_next else 0
        n_ahead = n_strong[ahead] if is_next and limit < end else 0
        size = _sift_third(
            moments, blocks, axes, begin, limit, is_exact, strong, rows, own, behind, ahead,
            n_behind, n_strong[own], n_ahead, chosen, size,
        )  # fmt: skip
        begin, limit = limit, following
        turn += 1
        if begin > _JUDGED and size > _GIVEN_UP * begin and turn > _PARTS:
            while begin < end:
                chosen[size] = begin
                size += 1
                begin += 1
    return size


@entry_point
def _sift_all(moments, length, blocks, exact, bytes_, words, strong, rows, n_strong, chosen):  # type: ignore[no-untyped-def]
    return _sift(
        start(moments), len(moments), length, start(blocks), blocks.shape[1], start(exact), start(bytes_),
        start(words), start(strong), start(rows), start(n_strong), start(chosen),
    )  # fmt: skip


def may_matter(moments: NDArray[np.int64], codes: Codes, width: int) -> NDArray[np.int32]:
    """The rows of a stream whose records may be in the skyline one day; without the others, their stays are the same."""
    if width < _PARTS or len(moments) < _SHORTEST:
        return np.arange(len(moments), dtype=np.int32)
    axes = codes.blocks.shape[1]
    bytes_ = np.empty((_CANDIDATES + 2) * axes, np.uint8)
    words = np.empty(_CANDIDATES * (4 + _TRIED_ON), np.int64)
    strong, rows = np.empty(_PARTS * 2 * _STRONG * axes, np.uint8), np.empty(_PARTS * _STRONG, np.int64)
    chosen = np.empty(len(moments), np.int32)
    size = _sift_all(
        moments, width // _PARTS, codes.blocks, codes.exact, bytes_, words, strong, rows, np.zeros(_PARTS, np.int64),
        chosen,
    )  # fmt: skip
    return chosen[:size]

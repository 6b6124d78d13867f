"""The strong records of a stretch of a stream: a few that together beat most of the others.

They are chosen greedily among its best, by how many more of a sample each beats. Tests are of codes alone, 64 records
at once; a strong record surely beats who is worse by code, or equal where equal codes are equal values.
"""

import numpy as np

from skyarchive.kernels.compiling import inlined, inner
from skyarchive.kernels.windows.codes import CODES
from skyarchive.kernels.windows.lanes import ALL, LANES, after, at_least, at_most, at_most_and_least, count

SHORTEST = 2 * LANES
"""Records below which choosing costs more than it saves."""
CANDIDATES, MOST = 256, 64
"""At most so many candidates, and so many strong ones."""
_LEAST_LOOKED_AT, _LOOKED_AT, _SHARE = 2, 32, 8
"""Blocks in which candidates are sought: one in so many, but not fewer nor more than this."""
TRIED_ON = 16
"""Blocks that they are tried on, at most."""
_FEWEST = 2
"""Records of these that one more strong record must beat."""
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
        if code == CODES:
            usable = False
        least[axis] = min(code, CODES - 1)
    return usable


@inlined
def surely_beaten(blocks, axes, block, least, own, is_exact, wanted):  # type: ignore[no-untyped-def]
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
    for other in range(CANDIDATES):
        if not (alive[other // LANES] >> (other % LANES)) & 1:
            return np.int64(other)
        if scores[other] < scores[place]:
            place = np.int64(other)
    return place


@inner
def _find_candidates(blocks, axes, first, n_blocks, exact, is_exact, codes, least, candidates, alive, rows, scores):  # type: ignore[no-untyped-def]
    """Of some blocks, those that none of the others found is as good as by code. Are they too many,
    those stay that beat most of one block. Gives how many places they take."""
    size = np.int64(0)
    looked_at = min(max(n_blocks // _SHARE, _LEAST_LOOKED_AT), n_blocks, _LOOKED_AT)
    for block in range(CANDIDATES // LANES):
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
        score = count(surely_beaten(blocks, axes, first + n_blocks // 2, least, codes, is_exact, np.int64(ALL)))
        place = size
        if size < CANDIDATES:
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
                bits = surely_beaten(blocks, axes, block, least, codes, is_exact, np.int64(ALL))
                covers[taken * TRIED_ON + step] = bits
                bounds[taken] += count(bits)
            taken += 1
    return taken


@inner
def _pick(covers, bounds, size, tried_on, left, picked):  # type: ignore[no-untyped-def]
    """Greedily those that beat most of what is left of the sample. Gives how many. What one adds can only become
    less: who added too little before is not looked at."""
    for step in range(tried_on):
        left[step] = ALL
    for taken in range(MOST):
        most, best = np.int64(_FEWEST - 1), np.int64(_NOBODY)
        for at in range(size):
            if bounds[at] > most:
                gain = np.int64(0)
                for step in range(tried_on):
                    gain += count(covers[at * TRIED_ON + step] & left[step])
                bounds[at] = gain
                if gain > most:
                    most, best = gain, np.int64(at)
        if best == _NOBODY:
            return np.int64(taken)
        picked[taken] = best
        for step in range(tried_on):
            left[step] &= ~covers[best * TRIED_ON + step]
    return np.int64(MOST)


@inner
def choose(blocks, axes, begin, end, exact, is_exact, bytes_, words, strong, strong_rows):  # type: ignore[no-untyped-def]
    """The strong ones of the rows from `begin` to `end`: the codes of each and the least that it beats
    stand in `strong`. Gives how many."""
    first = (begin + LANES - 1) // LANES
    n_blocks = end // LANES - first
    if end - begin < SHORTEST or n_blocks < 1:
        return np.int64(0)
    candidates, codes, least = bytes_, after(bytes_, CANDIDATES * axes), after(bytes_, (CANDIDATES + 1) * axes)
    alive, rows, bounds = words, after(words, CANDIDATES), after(words, 2 * CANDIDATES)
    left, covers = after(words, 3 * CANDIDATES), after(words, 4 * CANDIDATES)
    tried_on = min(TRIED_ON, n_blocks)
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

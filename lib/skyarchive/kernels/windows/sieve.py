"""Records that are never in the skyline, found beforehand: leaving them out changes nobody else's stay.

Time is cut into thirds of the window's width. Who is beaten by somebody of the third before and by somebody of the
third after is kept out by the one until the other has come. What such a record would do to another, the two do as
well: that they stand in other thirds, hence come at other moments, makes sure that none of them is told in its place.
The first third and the last, and those beside a gap, lack a neighbour; there a strong record of the third itself does
as well, for those that came at a later moment, or at an earlier one.
"""

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.windows.codes import Codes
from skyarchive.kernels.windows.lanes import ALL, LANES, after, lowest, start
from skyarchive.kernels.windows.strong import CANDIDATES, MOST, SHORTEST, TRIED_ON, choose, surely_beaten

_PARTS = 3
_GIVEN_UP, _JUDGED = 0.85, 4096
"""Share left over above which the sieve is not worth it; records after which this is judged."""


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
        left &= ~surely_beaten(blocks, axes, block, after(own, axes), own, is_exact, left)
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
            left &= ~surely_beaten(blocks, axes, block, after(own, axes), own, is_exact, lanes)
    return wanted & ~left


@inner
def _sift_third(  # type: ignore[no-untyped-def]
    moments, blocks, axes, begin, end, is_exact, strong, rows, own, behind, ahead,
    n_behind, n_own, n_ahead, chosen, size,
):  # fmt: skip
    """Notes which rows of a third may matter. Gives how many rows are noted by now."""
    room = 2 * MOST * axes
    own_strong, own_rows = after(strong, own * room), after(rows, own * MOST)
    for block in range(begin // LANES, (end + LANES - 1) // LANES):
        left = _lanes_from(block, begin) & ~_lanes_from(block, end)
        if n_behind:
            beaten = _beaten_by_any(blocks, axes, block, after(strong, behind * room), n_behind, is_exact, left)
        else:
            beaten = _beaten_within(moments, blocks, axes, block, own_strong, own_rows, n_own, is_exact, left, True)
        if beaten and n_ahead:
            beaten = _beaten_by_any(blocks, axes, block, after(strong, ahead * room), n_ahead, is_exact, beaten)
        elif beaten:
            beaten = _beaten_within(moments, blocks, axes, block, own_strong, own_rows, n_own, is_exact, beaten, False)
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
        is_exact = is_exact and exact[axis] != 0
    size, begin, turn = np.int64(0), np.int64(0), np.int64(0)
    limit = _end_of_third(moments, begin, end, length)
    n_strong[0] = choose(blocks, axes, begin, limit, exact, is_exact, bytes_, words, strong, rows)
    is_next = False
    while begin < end:
        following, had_next = limit, is_next
        own, behind, ahead = turn % _PARTS, (turn + _PARTS - 1) % _PARTS, (turn + 1) % _PARTS
        if limit < end:
            following = _end_of_third(moments, limit, end, length)
            n_strong[ahead] = choose(
                blocks, axes, limit, following, exact, is_exact, bytes_, words,
                after(strong, ahead * 2 * MOST * axes), after(rows, ahead * MOST),
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
    """The rows of a stream whose records may be in the skyline one day; without the others, those stay as long."""
    if width < _PARTS or len(moments) < SHORTEST:
        return np.arange(len(moments), dtype=np.int32)
    axes = codes.blocks.shape[1]
    bytes_ = np.empty((CANDIDATES + 2) * axes, np.uint8)
    words = np.empty(CANDIDATES * (4 + TRIED_ON), np.int64)
    strong, rows = np.empty(_PARTS * 2 * MOST * axes, np.uint8), np.empty(_PARTS * MOST, np.int64)
    chosen = np.empty(len(moments), np.int32)
    size = _sift_all(
        moments, width // _PARTS, codes.blocks, codes.exact, bytes_, words, strong, rows, np.zeros(_PARTS, np.int64),
        chosen,
    )  # fmt: skip
    return chosen[:size]

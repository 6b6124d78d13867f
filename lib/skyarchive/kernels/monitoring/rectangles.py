"""What a server knows of a record: a rectangle that it is in. A position just heard is one without extent."""

import numpy as np

from skyarchive.kernels.compiling import inlined


@inlined
def corner_beats(one, a, other, b):  # type: ignore[no-untyped-def]
    """Whether row a of `one` is at least as good as row b of `other` everywhere and better somewhere."""
    better = False
    for axis in range(one.shape[1]):
        if one[a, axis] > other[b, axis]:
            return False
        better |= one[a, axis] < other[b, axis]
    return better


@inlined
def certainly_beats(low, high, a, b):  # type: ignore[no-untyped-def]
    """Wherever in their rectangles the two are, a beats b (the paper's definition 2)."""
    return corner_beats(high, a, low, b)


@inlined
def possibly_beats(low, high, a, b):  # type: ignore[no-untyped-def]
    """Somewhere in their rectangles a would beat b (definition 3)."""
    return corner_beats(low, a, high, b)


@inlined
def is_same_place(low, high, a, b):  # type: ignore[no-untyped-def]
    """Whether two records are known to be in one place, so that neither beats the other."""
    for axis in range(low.shape[1]):
        if low[a, axis] != high[a, axis] or low[a, axis] != low[b, axis] or high[a, axis] != high[b, axis]:
            return False
    return True


@inlined
def is_inside(low, high, item, points, row):  # type: ignore[no-untyped-def]
    """Whether a point is in a record's rectangle, borders included."""
    for axis in range(low.shape[1]):
        if points[row, axis] < low[item, axis] or points[row, axis] > high[item, axis]:
            return False
    return True


@inlined
def covers_absence(high, item):  # type: ignore[no-untyped-def]
    """Whether a filter has no upper border at all. Nowhere is worse than anywhere, so its record may go and come back
    without a word: beaten it is either way. A member's filter never is like that: its death matters."""
    for axis in range(high.shape[1]):  # noqa: SIM110 - numba is slow on generators
        if high[item, axis] != np.inf:
            return False
    return True


@inlined
def below(value):  # type: ignore[no-untyped-def]
    """The next smaller number."""
    return np.nextafter(value, -np.inf)


@inlined
def above(value):  # type: ignore[no-untyped-def]
    """The next greater number."""
    return np.nextafter(value, np.inf)

"""Groups one after the other in a single stream, so that kernels need not know of them."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.columns import Columns
from skyarchive.kernels.windows.checking import Records

_LONGEST = 2.0**60
"""Time that the groups of one stream may take together."""


def streams_of(records: Records) -> Iterator[tuple[NDArray[np.int64] | None, Records]]:
    """The records as streams without groups: in each, groups follow each other so far apart in time that nobody meets
    one of another. With every stream comes which of the records are in it, in order; None: all, as they are."""
    if records.groups is None:
        yield None, records
    elif len(records):
        order = np.argsort(records.groups, kind="stable")
        groups, moments = records.groups[order], records.moments[order]
        begins = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
        ends = np.concatenate([begins[1:], [len(order)]])
        width = min(records.width, int(records.moments[-1] - records.moments[0]) + 1)  # a longer one is no different
        takes = moments[ends - 1] - moments[begins] + width
        stream = (np.cumsum(takes, dtype=float) // _LONGEST).astype(np.int64)
        for first, last in _runs(stream):
            chosen = slice(begins[first], ends[last - 1])
            offset = np.concatenate([[0], np.cumsum(takes[first : last - 1])]) - moments[begins[first:last]]
            shifted = moments[chosen] + np.repeat(offset, ends[first:last] - begins[first:last])
            own = order[chosen]
            yield own, Records(shifted, None, Columns([array[own] for array in records.columns.arrays]), width)


def _runs(values: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Where equal values begin and end."""
    borders = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    yield from pairwise(borders)

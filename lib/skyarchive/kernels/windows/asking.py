"""The question: who was in the skyline of the last while, from when to when, and why."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.windows.checking import Records, checked
from skyarchive.kernels.windows.eager import eager
from skyarchive.kernels.windows.grouping import streams_of
from skyarchive.kernels.windows.lazy import lazy
from skyarchive.kernels.windows.live import at_once
from skyarchive.kernels.windows.replay import everybody, replay
from skyarchive.kernels.windows.shelves import INDEXES, Index
from skyarchive.kernels.windows.stays import NOBODY, Counters, Settled, Stays, stays_of

Method = Literal["replay", "live", "eager", "lazy"]
_NOTHING = (np.empty(0, np.int64),) * 3


def window_stays(
    moments: NDArray[np.int64],
    groups: NDArray[np.int32] | None,
    columns: Sequence[NDArray[np.float64]],
    width: int,
    *,
    method: Method = "replay",
    begin: int = 0,
    index: Index = "list",
    counters: Counters | None = None,
) -> Stays:
    """Who was unbeaten among the records of the last while, and from when to when.

    Record i comes at moments[i] (int64, not descending) and counts while moments[i] <= t < moments[i] + width; give
    the records' numbers as moments and N as width for a window of the last N. It is compared with those of its
    group (int32; None: with all) by columns[0][i], columns[1][i], ...: 1 to 16 columns of finite float64, smaller is
    better, -0.0 is 0.0. One beats another that is at least as good everywhere and better somewhere: equal ones do
    not beat each other. Expiry goes first: a record that comes at the moment at which the last one to beat it expires
    entered as it came, and one whose time is up as a better one comes expired. What happens within one moment is told
    net: who enters and leaves in it was never there.

    `begin`: only stays that outlast the record before that one are told (left > moments[begin - 1]): who was a member
    when it had come, and who entered since. To ask for a slice of a longer stream from record s on, give the records
    from moments[s - 1] - 2 * width on, left end included, with `begin` the place of s among them: one width for who is
    alive at s - 1, one more for what kept those out.

    Methods give the same answer: replay, which knows all records from the start; live, which takes one after the other;
    and the paper's eager and lazy, each with its records in a plain list or a tree (`index`, which the others ignore).
    `counters` is told what it cost.
    """
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, not {method!r}")
    if index not in INDEXES:
        raise ValueError(f"index must be one of {', '.join(INDEXES)}, not {index!r}")
    records = checked(moments, groups, columns, width)
    if not 0 <= begin <= len(records):
        raise ValueError(f"begin must be in 0..{len(records)}, not {begin}")
    methods: dict[Method, Callable[[Records, Counters], Settled]] = {
        "replay": replay,
        "live": at_once,
        "eager": partial(eager, index=index),
        "lazy": partial(lazy, index=index),
    }
    return stays_of(records.moments, *_settled(records, methods[method], counters), records.width, begin)


def dominators(
    moments: NDArray[np.int64],
    groups: NDArray[np.int32] | None,
    columns: Sequence[NDArray[np.float64]],
    width: int,
    *,
    counters: Counters | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For every record, also those that were never in: the youngest older one that beat it when it came, and the first
    younger one that beat it while it counted; -1 if there is none. Arguments as those of `window_stays`."""
    _, freed_by, beaten_by = _settled(checked(moments, groups, columns, width), everybody, counters)
    return freed_by, beaten_by


def _settled(records: Records, method: Callable[[Records, Counters], Settled], counters: Counters | None) -> Settled:
    """What a method finds, group by group, by record."""
    parts = []
    for order, stream in streams_of(records):
        found = method(stream, counters if counters is not None else Counters())
        parts.append(found if order is None else _renumbered(found, order))
    if len(parts) == 1 and records.groups is None:
        return parts[0]
    rows, freed_by, beaten_by = (np.concatenate(column) for column in zip(_NOTHING, *parts, strict=True))
    ascending = np.argsort(rows)
    return rows[ascending], freed_by[ascending], beaten_by[ascending]


def _renumbered(found: Settled, order: NDArray[np.int64]) -> Settled:
    """Places in a stream, as numbers of records."""
    rows, freed_by, beaten_by = found
    freed_by, beaten_by = (np.where(who == NOBODY, NOBODY, order[who]) for who in (freed_by, beaten_by))
    return order[rows], freed_by, beaten_by

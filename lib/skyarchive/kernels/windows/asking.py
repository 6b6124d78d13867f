"""The question: who was in the skyline of the last while, from when to when, and why."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.windows.checking import checked
from skyarchive.kernels.windows.replay import replayed, settled
from skyarchive.kernels.windows.stays import Counters, Stays, stays_of

Method = Literal["replay", "live"]


def window_stays(
    moments: NDArray[np.int64],
    groups: NDArray[np.int32] | None,
    columns: Sequence[NDArray[np.float64]],
    width: int,
    *,
    method: Method = "replay",
    begin: int = 0,
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
    alive at s - 1, one more for what kept those out. `counters` is told what it cost.
    """
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, not {method!r}")
    records = checked(moments, groups, columns, width)
    if not 0 <= begin <= len(records):
        raise ValueError(f"begin must be in 0..{len(records)}, not {begin}")
    return replayed(records, begin, counters or Counters())


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
    return settled(checked(moments, groups, columns, width), counters or Counters())

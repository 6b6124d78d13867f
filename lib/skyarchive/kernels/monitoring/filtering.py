"""Filter: a record reports only when it leaves its filter or is asked; the skyline is exact at every snapshot."""

from skyarchive.kernels.compiling import entry_point, inlined, inner
from skyarchive.kernels.dominance import is_position
from skyarchive.kernels.monitoring.building import build
from skyarchive.kernels.monitoring.guard import ABSENT, BIRTHS, DEATHS, FAILURES
from skyarchive.kernels.monitoring.rectangles import is_inside
from skyarchive.kernels.monitoring.resolving import SKYLINE, hear, resolve


@inner
def move(guard, item, rows, row):  # type: ignore[no-untyped-def]
    """A record is born, moves or goes; it reports if its filter does not cover that. Whether the server heard of it."""
    if not is_position(rows, row):
        if guard.boss[item] == ABSENT:
            return False
        guard.boss[item] = ABSENT
        guard.tally[DEATHS] += 1
        for axis in range(rows.shape[1]):
            guard.now[item, axis] = rows[row, axis]
            guard.known[item, axis] = rows[row, axis]
        return True
    for axis in range(rows.shape[1]):
        guard.now[item, axis] = rows[row, axis]
    if guard.boss[item] == ABSENT:
        guard.tally[BIRTHS] += 1
        guard.boss[item] = -1
    elif is_inside(guard.low, guard.high, item, rows, row):
        return False
    else:
        guard.tally[FAILURES] += 1
        guard.spent[item] += 2
    hear(guard, item)
    return True


@entry_point
def watch(guard, start, item, rows, sizes, hashes, first):  # type: ignore[no-untyped-def]
    """Goes through snapshots of a log (rows start[s] to start[s + 1] are of snapshot s), writing down size and hash of
    each one's skyline."""
    members = first
    for at in range(len(start) - 1):
        heard = False
        for row in range(start[at], start[at + 1]):
            heard |= move(guard, item[row], rows, row)
        if heard:
            members = resolve(guard)
            build(guard, members)
        sizes[at] = members
        total = 0
        for place in range(members):
            total += (guard.lists[SKYLINE, place] + 1) * 2654435761
        hashes[at] = total
    return members

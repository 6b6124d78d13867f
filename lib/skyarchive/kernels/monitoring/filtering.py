"""Filter: a record reports only when it leaves its filter or is asked; the skyline is exact at every snapshot."""

from skyarchive.kernels.compiling import entry_point, inner
from skyarchive.kernels.dominance import is_position
from skyarchive.kernels.monitoring.building import build
from skyarchive.kernels.monitoring.guard import ABSENT, BIRTHS, DEATHS, FAILURES, MEMBERS, NOBODY, WELCOMES
from skyarchive.kernels.monitoring.rectangles import covers_absence, is_inside
from skyarchive.kernels.monitoring.resolving import SKYLINE, forget, hear, resolve


@inner
def move(guard, item, rows, row):  # type: ignore[no-untyped-def]
    """A record is born, moves or goes; it reports if its filter does not cover that. Whether the server heard of it."""
    for axis in range(rows.shape[1]):
        guard.now[item, axis] = rows[row, axis]
    if not is_position(rows, row):
        if guard.boss[item] == ABSENT or covers_absence(guard.high, item):
            return False
        guard.tally[DEATHS] += 1
        forget(guard, item)
        return True
    if guard.boss[item] == ABSENT:
        guard.tally[BIRTHS] += 1
        guard.tally[WELCOMES] += 1
        guard.boss[item] = NOBODY
    elif is_inside(guard.low, guard.high, item, rows, row):
        return False
    else:
        guard.tally[FAILURES] += 1
        guard.spent[item] += 2
    hear(guard, item)
    return True


@entry_point
def watch(guard, start, item, rows, members):  # type: ignore[no-untyped-def]
    """Goes through the snapshots of a block; `members` gets each one's skyline."""
    for at in range(len(start) - 1):
        heard = False
        for row in range(start[at], start[at + 1]):
            heard |= move(guard, item[row], rows, row)
        if heard:
            guard.tally[MEMBERS] = resolve(guard)
            build(guard, guard.tally[MEMBERS])
        for place in range(guard.tally[MEMBERS]):
            members[at, guard.lists[SKYLINE, place]] = True

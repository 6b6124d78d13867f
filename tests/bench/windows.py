"""What the kernels of sliding windows cost, as ratios within one run on one core, in processor time; and the paper's
shapes in its own measures.

The limit is copying each record's moment and attributes into tables as long as the window, row by row.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import window_streams as streams
from window_streams import Stream

from skyarchive.kernels.columns import Columns, column
from skyarchive.kernels.compiling import entry_point
from skyarchive.kernels.windows import Counters, Index, LiveWindow, Method, window_stays

REPEATS = 3
PIECE = 2**16
"""Records that the live window is fed with at a time."""
Row = dict[str, Any]


@entry_point
def _apply(moments, addresses, kept_moments, kept_points):  # type: ignore[no-untyped-def]
    place = 0
    for row in range(len(moments)):
        kept_moments[place] = moments[row]
        for axis in range(kept_points.shape[1]):
            kept_points[place, axis] = column(addresses, axis)[row]
        place += 1
        if place == len(kept_moments):
            place = 0


def apply(stream: Stream, width: int) -> Callable[[], None]:
    """Only writing records down."""
    columns = Columns(stream.columns)
    kept = np.zeros(width, np.int64), np.zeros((width, stream.axes))

    def work() -> None:
        _apply(stream.moments, columns.addresses, *kept)

    return work


def ask(stream: Stream, width: int, method: Method, index: Index = "list", counters: Counters | None = None) -> None:
    window_stays(stream.moments, None, stream.columns, width, method=method, index=index, counters=counters)


def feed(stream: Stream, width: int) -> None:
    """Live, with its changes told."""
    live = LiveWindow(width, stream.axes)
    for begin in range(0, len(stream), PIECE):
        part = slice(begin, begin + PIECE)
        live.feed(stream.moments[part], None, [values[part] for values in stream.columns])


def seconds(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def in_turns(works: list[Callable[[], None]], repeats: int = REPEATS) -> list[float]:
    """Seconds of the best of some runs each, in turns: what slows the machine down for a while meets all."""
    taken = [[seconds(work) for work in works] for _ in range(repeats)]
    return [min(times) for times in zip(*taken, strict=True)]


Case = tuple[str, Callable[[], Stream], int, float | None, float | None]
"""What, its stream, the window, and the most times the limit that replay and live may take."""
CASES: list[Case] = [
    ("NBA", streams.nba, 1000, 40, 40),
    ("NBA", streams.nba, 100_000, 22, 40),
    ("TCP", streams.tcp, 1000, 48, 46),
    ("TCP", streams.tcp, 10_000, None, 46),
    ("independent m 3", partial(streams.independent, 3, 300_000), 1000, None, 50),
    ("independent m 3", partial(streams.independent, 3, 500_000), 10_000, 14, 46),
    ("independent m 3", partial(streams.independent, 3, 1_000_000), 100_000, 11, 42),
    ("independent m 5", partial(streams.independent, 5, 500_000), 100_000, 23, None),
    ("independent m 8", partial(streams.independent, 8, 400_000), 100_000, 125, None),
    ("correlated m 3", partial(streams.correlated, 3, 1_000_000), 100_000, 9, None),
    ("anti-correlated m 3", partial(streams.anticorrelated, 3, 500_000), 100_000, 48, None),
    ("anti-correlated m 5", partial(streams.anticorrelated, 5, 400_000), 100_000, 270, None),
    ("anti-correlated m 8", partial(streams.anticorrelated, 8, 400_000), 100_000, 580, None),
]
AGAINST_LISTS: list[tuple[str, Callable[[], Stream], int, int, float]] = [
    ("NBA", streams.nba, 1000, 100_000, 10),
    ("NBA", streams.nba, 100_000, 340_000, 50),
    ("independent m 3", partial(streams.independent, 3, 200_000), 10_000, 200_000, 15),
    ("anti-correlated m 5", partial(streams.anticorrelated, 5, 40_000), 10_000, 40_000, 80),
]
"""What, its stream, the window, how many records (lists are slow), and how many times faster replay must be."""


def rows(quick: bool = False) -> Iterator[Row]:
    """The table of ratios. `quick` takes streams ten times shorter: to try the bench, not to judge by."""
    ask(streams.independent(3, 1000), 300, "replay")  # the compiled code is loaded
    ask(streams.independent(3, 1000), 300, "eager")
    feed(streams.independent(3, 1000), 300)
    apply(streams.independent(3, 1000), 300)()
    for data, make, width, replay_target, live_target in CASES:
        stream = make()
        if quick:
            stream, width = stream.first(len(stream) // 10), width // 10
        yield from _against_applying(data, stream, width, replay_target, live_target)
    for data, make, width, length, target in AGAINST_LISTS:
        stream = make().first(length // 10 if quick else length)
        ours, theirs = in_turns([partial(ask, stream, width, "replay"), partial(ask, stream, width, "eager")], 1)
        row = _row(data, width, "replay", "eager on a list", ours, theirs, stream)
        yield {**row, "ratio": round(theirs / ours, 1), "target": f"≥ {target:g}"}


def _against_applying(
    data: str, stream: Stream, width: int, replay_target: float | None, live_target: float | None
) -> Iterator[Row]:
    works = [apply(stream, width), partial(ask, stream, width, "replay"), partial(feed, stream, width)]
    limit, replay, live = in_turns(works)
    for method, ours, target in (("replay", replay, replay_target), ("live", live, live_target)):
        wanted = "" if target is None else f"≤ {target:g}"
        yield {**_row(data, width, method, "only writing", ours, limit, stream), "target": wanted}


def _row(data: str, width: int, method: str, against: str, ours: float, theirs: float, stream: Stream) -> Row:
    return {
        "data": data,
        "window": width,
        "records": len(stream),
        "method": method,
        "against": against,
        "ratio": round(ours / theirs, 1),
        "target": "",
        "ours_ns": round(ours / len(stream) * 1e9, 1),
        "theirs_ns": round(theirs / len(stream) * 1e9, 1),
    }


RATE = 10
"""Records a second in the paper; its windows are of 200 to 3,200 seconds."""
WINDOWS = (200, 400, 800, 1600, 3200)
PAPER_SECONDS = 5e-4
"""To a record, at most, in its figures."""
MEASURED = {"independent": 100_000, "anti-correlated": 5_000}
"""Records that are measured, after a first window: fewer of those that lists are slow on."""


def paper(quick: bool = False) -> Iterator[Row]:
    """Seconds for a record, and records kept: by window at three attributes, by attributes at 800 seconds."""
    shapes = [(3, width) for width in WINDOWS] + [(axes, 800) for axes in (2, 4, 5)]
    for kind, make in (("independent", streams.independent), ("anti-correlated", streams.nearly_a_plane)):
        for axes, width in shapes:
            yield _of_the_paper(kind, make, axes, width * RATE // (10 if quick else 1))


def _of_the_paper(kind: str, make: Callable[[int, int], Stream], axes: int, width: int) -> Row:
    measured = MEASURED[kind]
    stream = make(axes, width + measured)
    row: Row = {"data": kind, "attributes": axes, "window": width}
    stays = window_stays(stream.moments, None, stream.columns, width)
    row["skyline"] = int(((stays.entered <= width) & (stays.left > width)).sum())
    taken = {}
    for method, index in (("lazy", "list"), ("lazy", "tree"), ("eager", "list"), ("eager", "tree")):
        counters = Counters()
        before, both = in_turns(
            [
                partial(ask, stream.first(width), width, method, index),
                partial(ask, stream, width, method, index, counters),
            ],
            repeats=2,
        )
        name = f"{method}_{index}"
        taken[name] = (both - before) / measured
        row[f"{name}_us"] = round(taken[name] * 1e6, 2)
        row[f"{method}_kept"] = counters.kept
    row["first"] = min(taken, key=taken.__getitem__)
    row["below_paper"] = round(PAPER_SECONDS / min(taken.values()), 1)
    return row

"""What the timeline kernels cost, as ratios within one run on one core, and the paper's counters.

Rows say in `note` what was measured only in part.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import moocore
import numpy as np
from kernel_logs import (
    REAL,
    Log,
    apply_all,
    nba_like,
    part_of,
    positions_before,
    real_seasons,
    stocks_like,
    synthetic,
    tcp_like,
    updates_of,
)

from skyarchive.kernels.timeline import Method, mbr_intervals, naive_tests, skyline_intervals

REPEATS = 5
CFPS = (10, 25, 50, 100, 200)
"""The paper finds 10 to 100 good."""
RUNS, RUN = 6, 40
"""What would take too long on all snapshots gets so many runs of so many of them."""
Row = dict[str, Any]


def best(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Seconds of the best of some runs."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def in_turns(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, float]:
    """Seconds of the best of some runs each, in turns: what slows the machine down for a while meets both."""
    turns = [(best(ours, 1), best(theirs, 1)) for _ in range(repeats)]
    return min(own for own, _ in turns), min(other for _, other in turns)


def answer(log: Log, method: Method = "witness") -> Any:
    return skyline_intervals(log.snapshot, log.object, log.attributes, log.n_snapshots, method)


def _row(data: str, against: str, target: str, ours: float, theirs: float, note: str = "") -> Row:
    return {
        "data": data,
        "against": against,
        "ratio": round(theirs / ours, 1),
        "target": target,
        "ours_s": round(ours, 4),
        "theirs_s": round(theirs, 4),
        "note": note,
    }


def against_naive(data: str, log: Log, target: str, in_part: bool = False) -> Iterator[Row]:
    """`in_part`: naive would take too long on all snapshots, and gets the runs of them that moocore gets."""
    if not in_part:
        yield _row(data, "naive", target, *in_turns(partial(answer, log), partial(answer, log, "naive")))
        return
    parts = [part_of(log, first, first + RUN) for first in _firsts(log)]
    ours, theirs = in_turns(partial(answer, log), lambda: [answer(part, "naive") for part in parts])
    scaled = theirs * log.n_snapshots / (RUN * RUNS)
    yield _row(data, "naive", target, ours, scaled, f"naive on {RUNS} runs of {RUN} snapshots")


def _firsts(log: Log) -> np.ndarray:
    """Where runs of snapshots begin that are spread evenly over the log."""
    return np.linspace(1, log.n_snapshots - RUN, RUNS).astype(int)


def against_moocore(data: str, log: Log, target: str) -> Iterator[Row]:
    """moocore's skyline of each snapshot, with its updates written into a table of points; no intervals."""
    runs = [(table, updates_of(log, first, first + RUN)) for first, table in positions_before(log, _firsts(log))]

    def every_snapshot() -> None:
        for table, updates in runs:
            for item, points in updates:
                table[item] = points
                alive = ~np.isnan(table[:, 0])
                moocore.is_nondominated(table if alive.all() else table[alive], keep_weakly=True)

    ours, theirs = in_turns(partial(answer, log), every_snapshot)
    scaled = theirs * log.n_snapshots / (RUN * RUNS)
    yield _row(data, "moocore per snapshot", target, ours, scaled, f"moocore on {RUNS} runs of {RUN} snapshots")


def against_mbr(data: str, log: Log, target: str) -> Iterator[Row]:
    columns = (log.snapshot, log.object, log.attributes, log.n_snapshots)
    times = {cfp: best(lambda cfp=cfp: mbr_intervals(*columns, cfp=cfp)) for cfp in CFPS}  # type: ignore[misc]
    tuned = min(times, key=times.__getitem__)
    ours, theirs = in_turns(partial(answer, log), partial(mbr_intervals, *columns, cfp=tuned))
    yield _row(data, f"mbr, cfp {tuned}", target, ours, theirs, f"best cfp of {CFPS}")


def against_applying(data: str, log: Log) -> Iterator[Row]:
    """Here theirs is the limit: the ratio is ours to it."""
    table = np.empty((int(log.object.max()) + 1, len(log.attributes)))
    ours, limit = in_turns(partial(answer, log), partial(apply_all, log, table))
    yield {**_row(data, "only writing updates", "≤ 3", ours, limit, "ours / theirs"), "ratio": round(ours / limit, 2)}


def two_processes(data: str, log: Log) -> Iterator[Row]:
    """The two halves of the log, each with its keyframe, in one process one after the other and in two."""
    half = log.n_snapshots // 2
    parts = [part_of(log, 0, half), part_of(log, half, log.n_snapshots)]
    with ProcessPoolExecutor(2, get_context("fork"), _keep, (parts,)) as pool:
        list(pool.map(_answer_kept, [0, 1], chunksize=1))  # both have loaded the compiled code
        ours = best(lambda: list(pool.map(_answer_kept, [0, 1], chunksize=1)))
        theirs = best(lambda: [pool.submit(_answer_kept, which).result() for which in (0, 1)])
    yield _row(data, "one process", "≥ 1.6", ours, theirs)


_kept: list[Log] = []


def _keep(parts: list[Log]) -> None:
    _kept.extend(parts)


def _answer_kept(which: int) -> None:
    for _ in range(5):  # so that handing out the work does not count
        answer(_kept[which])


def rows(quick: bool = False) -> Iterator[Row]:
    """The table of times. `quick` shortens the logs ten times: to try the bench, not to judge by."""
    scale = 10 if quick else 1
    n_snapshots = 10_000 // scale
    name = "SYN N 5000 m 3"
    log = synthetic(5000, 3, n_snapshots)
    answer(log)  # the compiled code is loaded
    yield from against_naive(name, log, "≥ 22")
    yield from against_moocore(name, log, "≥ 220")
    yield from against_mbr(name, log, "≥ 4.5")
    yield from against_applying(name, log)
    yield from two_processes(name, log)
    yield from against_naive("SYN N 50000 m 3", synthetic(50_000, 3, n_snapshots), "≥ 40")
    yield from against_naive("SYN N 5000 m 5", synthetic(5000, 5, n_snapshots), "≥ 100")
    yield from against_naive("SYN N 5000 m 8", synthetic(5000, 8, n_snapshots), "≥ 250", in_part=True)
    yield from against_naive("stocks-like", stocks_like(1704, 2000 // scale), "≥ 2.8")
    yield from against_moocore("TCP-like counts", tcp_like(7776, 25_920 // scale), "≥ 250")
    # Last, as Spark makes the real ones' log.
    is_real = (REAL / "nba").is_dir() and not quick
    log = real_seasons() if is_real else nba_like(1225, 16_423 // scale)
    name = f"NBA, {'real seasons' if is_real else 'generated'}, {len(log.snapshot):,} updates"
    yield from against_naive(name, log, "≥ 20")
    yield from against_moocore(name, log, "≥ 180")


def counters(quick: bool = False) -> Iterator[Row]:
    """The paper's figures in its own measure: dominance tests that MBR pruning saves, one parameter at a time over the
    paper's ranges. The others are the paper's defaults, but for 1,000 snapshots in place of 10,000."""
    scale = 10 if quick else 1
    base = {"n_objects": 5000, "width": 3, "n_snapshots": 1000 // scale, "share": 0.025, "cfp": 50}
    varied: dict[str, tuple[float, ...]] = {
        "n_snapshots": (1000 // scale, 10_000 // scale, 50_000 // scale),
        "n_objects": (500, 2000, 5000, 10_000),
        "share": (0.005, 0.025, 0.1, 0.2),
        "width": (2, 3, 4, 5, 6, 8),
        "cfp": (1, 10, 50, 200, 1000),
    }
    _counted("n_objects", {**base, "n_objects": 100})  # the compiled code is loaded
    for parameter, values in varied.items():
        for value in values:
            yield _counted(parameter, {**base, parameter: value})


def _counted(parameter: str, case: dict[str, Any]) -> Row:
    log = synthetic(case["n_objects"], case["width"], case["n_snapshots"], case["share"])
    columns = (log.snapshot, log.object, log.attributes, log.n_snapshots)
    began = time.perf_counter()
    naive = naive_tests(*columns)
    between = time.perf_counter()
    *_, done = mbr_intervals(*columns, cfp=case["cfp"])
    ended = time.perf_counter()
    return {
        "varied": parameter,
        "value": case[parameter],
        "naive_tests": naive,
        "mbr_tests": done.tests,
        "saved": f"{1 - done.tests / naive:.1%}",
        "pre": done.pre_tests,
        "sky": done.sky_tests,
        "post": done.post_tests,
        "reconstructions": done.reconstructions,
        "candidates_per_snapshot": round(done.candidates / log.n_snapshots, 1),
        "time_ratio": round((between - began) / (ended - between), 1),
    }

"""The comparison of Naive, Filter, Sampling and Hybrid in paper 001: messages, CPU time, recall and precision."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from kernel_logs import tcp_like

from skyarchive.kernels.monitoring.feed import Feed, LogFeed
from skyarchive.kernels.monitoring.replaying import Query, Replay, replay
from skyarchive.kernels.monitoring.workloads import Workload

Row = dict[str, Any]
THETA, EPSILON, DELTA, WINDOW = Fraction("0.8"), 0.2, 0.1, 1000
"""The paper's defaults."""
SNAPSHOTS = 1500
SEEDS = (0, 1, 2)
"""The paper, too, takes the average of three runs for recall and precision."""


def _replayed(feed: Feed, window: int, epsilon: float = EPSILON, seed: int = 0) -> Replay:
    return replay(feed, Query(THETA, window, epsilon, DELTA, seed))


def _row(data: str, found: Replay, clients: int) -> Row:
    """Messages per client and snapshot: 1 is everybody reporting every time."""
    reports = clients * found.snapshots
    row: Row = {"data": data}
    for result in found.results:
        row[result.method] = round(result.total / reports, 4)
    row |= {f"{result.method}_up": round(result.uplink / reports, 4) for result in found.results[1:]}
    row |= {f"{result.method}_cpu_s": round(result.cpu_seconds, 2) for result in found.results}
    million = reports / 1_000_000
    row["filter_s_per_million"] = round(found.results[1].cpu_seconds / million, 2)
    row["recall"], row["precision"] = round(found.results[2].recall, 3), round(found.results[2].precision, 3)
    return row


def rows(quick: bool = False) -> Iterator[Row]:
    """Messages against dimensions, size, distribution and uncertainty. `quick`: all ten times shorter."""
    scale = 10 if quick else 1
    window, snapshots = WINDOW // scale, SNAPSHOTS // scale
    base = {"objects": 2500, "dimensions": 4, "uncertainty": 0.08, "distribution": "independent"}
    varied: list[Row] = [
        *({"dimensions": d} for d in range(2, 7)),
        *({"objects": n, "dimensions": d} for n in (5000, 10_000) for d in (2, 4)),
        *({"distribution": kind} for kind in ("correlated", "anticorrelated")),
        *({"uncertainty": u} for u in (0.01, 0.02, 0.04, 0.16)),
    ]
    for change in varied:
        chosen: Row = base | change
        found = _replayed(Workload(**chosen, snapshots=snapshots), window)
        name = f"{chosen['distribution']}, n {chosen['objects']}, d {chosen['dimensions']}, u {chosen['uncertainty']}"
        yield _row(name, found, chosen["objects"])
    log = tcp_like(7776, 5_000 // scale)
    feed = LogFeed(log.snapshot, log.object, log.attributes, log.n_snapshots)
    yield _row("TCP-like counts, 7776 groups", _replayed(feed, window), 7776)


def quality(quick: bool = False) -> Iterator[Row]:
    """Recall and precision of Sampling and Hybrid against the error allowed, the average of three runs."""
    scale = 10 if quick else 1
    for epsilon in (0.1, 0.2, 0.3, 0.4):
        found = [
            _replayed(Workload(dimensions=4, snapshots=SNAPSHOTS // scale, seed=seed), WINDOW // scale, epsilon, seed)
            for seed in SEEDS
        ]
        row: Row = {"data": "independent, n 2500, d 4, u 0.08", "epsilon": epsilon}
        for place, method in ((2, "sampling"), (3, "hybrid")):
            row[f"{method}_recall"] = round(sum(each.results[place].recall for each in found) / len(found), 3)
            row[f"{method}_precision"] = round(sum(each.results[place].precision for each in found) / len(found), 3)
        yield row

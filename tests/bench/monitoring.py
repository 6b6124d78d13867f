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


def _replayed(feed: Feed, window: int, epsilon: float = EPSILON, seed: int = 0, **more: Any) -> Replay:
    return replay(feed, Query(THETA, window, epsilon, DELTA, seed), **more)


def _row(data: str, found: Replay) -> Row:
    """Messages as a share of Naive's: everybody there reporting every time."""
    by_method = {result.method: result for result in found.results}
    row: Row = {"data": data, "reports": found.lived}
    others = [result for result in found.results if result.method != "naive"]
    row |= {result.method: round(result.total / found.lived, 4) for result in others}
    row |= {f"{result.method}_up": round(result.uplink / found.lived, 4) for result in others[1:]}
    row |= {f"{name}_cpu_s": round(result.cpu_seconds, 2) for name, result in by_method.items() if name != "changes"}
    row["filter_s_per_million"] = round(by_method["filter"].cpu_seconds / (found.lived / 1_000_000), 2)
    row["recall"], row["precision"] = (round(getattr(by_method["hybrid"], name), 3) for name in ("recall", "precision"))
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
        yield _row(name, found)
    log = tcp_like(7776, 5_000 // scale)  # as in the paper a group without connections takes part with 0 of each kind
    feed = LogFeed(log.snapshot, log.object, log.attributes, log.n_snapshots)
    yield _row("TCP-like counts, 7776 groups", _replayed(feed, window))


def quality(quick: bool = False) -> Iterator[Row]:
    """Recall and precision of Sampling, which are Hybrid's too, against the error allowed: the mean of runs with
    other data and samples, the worst run, and the worst single answer."""
    scale = 10 if quick else 1
    asked: list[Row] = [{"dimensions": d, "epsilon": e} for d in range(2, 7) for e in (0.2, 0.4)]
    asked += [{"dimensions": 4, "epsilon": e} for e in (0.1, 0.3)]
    asked += [{"distribution": kind, "dimensions": 4, "epsilon": e}
              for kind in ("correlated", "anticorrelated") for e in (0.2, 0.4)]  # fmt: skip
    for chosen in asked:
        epsilon = chosen.pop("epsilon")
        found = []
        for seed in SEEDS:
            workload = Workload(**chosen, snapshots=SNAPSHOTS // scale, seed=seed)
            replayed = _replayed(workload, WINDOW // scale, epsilon, seed, methods=("sampling", "hybrid"))
            results = {each.method: each for each in replayed.results}
            sampling, hybrid = results["sampling"], results["hybrid"]
            assert (sampling.recall, sampling.precision) == (hybrid.recall, hybrid.precision)
            found.append(sampling)
        kind = chosen.get("distribution", "independent")
        row: Row = {"data": f"{kind}, n 2500, d {chosen['dimensions']}, u 0.08", "epsilon": epsilon}
        for name in ("recall", "precision"):
            values = [getattr(each, name) for each in found]
            row |= {name: round(sum(values) / len(values), 3), f"{name}_worst_run": round(min(values), 3)}
            row[f"{name}_worst_answer"] = round(min(getattr(each, f"lowest_{name}") for each in found), 3)
        yield row

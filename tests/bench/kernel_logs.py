"""Logs for the bench of the kernels, made in memory: like the paper's data sets in size and behaviour."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from skyarchive.definition.catalog import Catalog
from skyarchive.definition.selection import Selection
from skyarchive.kernels.compiling import entry_point
from skyarchive.pipeline.running import run_steps
from skyarchive.pipeline.workshop import Workshop
from skyarchive.progress import Progress
from skyarchive.settings import Settings
from skyarchive.studies.update_logs import read_update_log

SEED = 1
REAL = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True)
class Log:
    """An update log as the kernels take it."""

    snapshot: np.ndarray
    object: np.ndarray
    attributes: list[np.ndarray]
    n_snapshots: int


def _log(snapshot: np.ndarray, item: np.ndarray, columns: list[np.ndarray], n_snapshots: int) -> Log:
    return Log(snapshot.astype(np.int32), item.astype(np.int32), columns, n_snapshots)


def synthetic(n_objects: int, width: int, n_snapshots: int, share: float = 0.025) -> Log:
    """The paper's SYN: uniform in [0, 100]^m, then each value takes a Gaussian step of variance 0.5 with the
    chance `share` per snapshot."""
    rng = np.random.default_rng(SEED)
    point = rng.random((n_objects, width)) * 100
    cells = point.reshape(-1)
    items, points = [np.arange(n_objects)], [point.copy()]
    for _ in range(1, n_snapshots):
        hit = np.unique(rng.integers(0, cells.size, rng.binomial(cells.size, share)))
        cells[hit] += rng.normal(0, 0.5**0.5, len(hit))
        moved = np.unique(hit // width)
        items.append(moved)
        points.append(point[moved])
    return _stacked(items, points, n_snapshots)


def _stacked(items: list[np.ndarray], points: list[np.ndarray], n_snapshots: int) -> Log:
    snapshot = np.repeat(np.arange(n_snapshots), [len(moved) for moved in items])
    columns = [np.concatenate([part[:, axis] for part in points]) for axis in range(points[0].shape[1])]
    return _log(snapshot, np.concatenate(items), columns, n_snapshots)


def real_seasons() -> Log:
    """The log of the NBA archive, of all real seasons, as the steps make it from their files."""
    with TemporaryDirectory(prefix="skyarchive-bench-") as folder:
        settings = Settings(warehouse=folder, raw=str(REAL))
        workshop = Workshop(settings, Catalog(settings).get("nba"), Progress(quiet=True))
        try:
            run_steps(workshop, Selection(), ["ingest", "derive"])
        finally:
            workshop.close()
        log = read_update_log(workshop, Selection())
    return Log(log.snapshot, log.item, log.costs, log.n_snapshots)


def nba_like(n_objects: int, n_snapshots: int, players: int = 20) -> Log:
    """Career averages of three statistics (negated: higher is better): about 20 players move per game, each by
    ever smaller steps; careers start and end along the archive and what they reached stays."""
    rng = np.random.default_rng(SEED)
    skill = np.abs(rng.normal(0, 1, (n_objects, 3))) * [0.12, 0.08, 0.06] + [0.25, 0.1, 0.35]
    debut = np.sort(rng.integers(-n_snapshots // 4, int(n_snapshots * 0.9), n_objects))
    length = rng.exponential(n_snapshots / 2, n_objects)
    games, totals = np.full(n_objects, 1.0), skill * rng.normal(1, 0.2, (n_objects, 3))
    items, points = [], []
    for at in range(n_snapshots):
        active = np.flatnonzero((debut <= at) & (at < debut + length))
        moved = np.unique(rng.choice(active, min(players, len(active)), replace=False))
        games[moved] += 1
        totals[moved] += skill[moved] * rng.normal(1, 0.4, (len(moved), 3))
        items.append(moved)
        points.append(-totals[moved] / games[moved, None])
    return _stacked(items, points, n_snapshots)


def stocks_like(n_objects: int, n_snapshots: int, share: float = 0.476) -> Log:
    """Two attributes with two decimals that wander around a value of their own; half of all move each day."""
    rng = np.random.default_rng(SEED)
    home = np.column_stack([rng.normal(1, 0.4, n_objects), rng.normal(0, 0.05, n_objects)])
    point = home.copy()
    items, points = [np.arange(n_objects)], [point.round(2)]
    for _ in range(1, n_snapshots):
        point += (home - point) * 0.01 + rng.normal(0, 1, point.shape) * [0.02, 0.01]
        moved = np.flatnonzero(rng.random(n_objects) < share)
        items.append(moved)
        points.append(point[moved].round(2))
    return _stacked(items, points, n_snapshots)


def tcp_like(n_objects: int, n_snapshots: int, connections: int = 400_000, window: int = 10) -> Log:
    """Connections of the last ten snapshots by four services (negated: higher is better). A few address groups
    have most of them; nearly all are at zero nearly always, and alive."""
    rng = np.random.default_rng(SEED)
    connections = connections * n_snapshots // 25_920
    who = np.minimum(rng.zipf(1.3, connections) - 1, n_objects - 1)
    service = (rng.random(connections) < 0.2) * rng.integers(1, 4, connections)
    begins = rng.integers(0, n_snapshots, connections)
    when = np.concatenate([begins, begins + window])
    change = np.concatenate([np.ones(connections), -np.ones(connections)])
    item, what = np.tile(who, 2), np.tile(service, 2)
    seen = when < n_snapshots
    deltas = np.zeros((int(seen.sum()), 4))
    deltas[np.arange(len(deltas)), what[seen]] = change[seen]
    key, place = np.unique(item[seen] * n_snapshots + when[seen], return_inverse=True)
    net = np.zeros((len(key), 4))
    np.add.at(net, place, deltas)
    item, when = np.divmod(key, n_snapshots)
    counts = np.cumsum(net, axis=0)
    opening = np.flatnonzero(np.diff(item, prepend=-1))
    before = np.where(opening[:, None] > 0, counts[opening - 1], 0.0)
    counts -= np.repeat(before, np.diff(np.append(opening, len(item))), axis=0)
    real, first = (net != 0).any(axis=1) & (when > 0), np.zeros((n_objects, 4))
    first[item[when == 0]] = counts[when == 0]
    order = np.flatnonzero(real)[np.argsort(when[real], kind="stable")]
    snapshot = np.concatenate([np.zeros(n_objects, np.int64), when[order]])
    columns = [np.concatenate([-first[:, axis], -counts[order, axis]]) for axis in range(4)]
    return _log(snapshot, np.concatenate([np.arange(n_objects), item[order]]), columns, n_snapshots)


def positions_before(log: Log, snapshots: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The table of positions before each of some ascending snapshots; NaN: not alive."""
    table = np.full((int(log.object.max()) + 1, len(log.attributes)), np.nan)
    begin = 0
    for at in snapshots:
        end = int(np.searchsorted(log.snapshot, at))
        for axis, column in enumerate(log.attributes):
            table[log.object[begin:end], axis] = column[begin:end]  # of repeated ones the last counts
        yield int(at), table.copy()
        begin = end


def updates_of(log: Log, begin: int, end: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Objects and points of the updates of each snapshot begin..end-1."""
    borders = np.searchsorted(log.snapshot, np.arange(begin, end + 1))
    return [
        (log.object[first:last], np.column_stack([column[first:last] for column in log.attributes]))
        for first, last in pairwise(borders)
    ]


def part_of(log: Log, begin: int, end: int) -> Log:
    """Snapshots begin..end-1 with their keyframe."""
    points = np.full((int(log.object.max()) + 1, len(log.attributes)), np.nan)
    first, last = np.searchsorted(log.snapshot, [begin + 1, end])
    for axis, column in enumerate(log.attributes):
        points[log.object[:first], axis] = column[:first]
    living = np.flatnonzero(~np.isnan(points).any(axis=1))
    snapshot = np.concatenate([np.zeros(len(living), np.int32), log.snapshot[first:last] - begin])
    columns = [np.concatenate([points[living, axis], column[first:last]]) for axis, column in enumerate(log.attributes)]
    return _log(snapshot, np.concatenate([living, log.object[first:last]]), columns, end - begin)


@entry_point
def _write(item, column, table, axis):  # type: ignore[no-untyped-def]
    for row in range(len(item)):
        table[np.uint32(item[row]), axis] = column[row]


def apply_all(log: Log, table: np.ndarray) -> None:
    """Every update written into a table of positions, and nothing else: the limit for any method."""
    for axis, column in enumerate(log.attributes):
        _write(log.object, column, table, axis)

"""`python -m skyarchive.kernels`: compile everything now, so that no first call has to wait for it."""

from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from skyarchive.kernels import market
from skyarchive.kernels.external import Method as ExternalMethod
from skyarchive.kernels.external import external_skyline
from skyarchive.kernels.monitoring.replaying import Query, replay
from skyarchive.kernels.monitoring.workloads import Workload
from skyarchive.kernels.ordering import in_snapshot_order
from skyarchive.kernels.points import rounds, unbeaten
from skyarchive.kernels.timeline import Method, skyline_intervals
from skyarchive.kernels.uncertain import Method as UncertainMethod
from skyarchive.kernels.uncertain import Present, instance_stays, likely_stays
from skyarchive.kernels.windows import LiveWindow, window_stays
from skyarchive.kernels.windows import Method as WindowMethod
from skyarchive.progress import Progress


def main() -> None:
    """One call of everything, on a log that is long enough to need every part of it. Says what it is at: it takes a
    minute or two."""
    chance = np.random.default_rng(0)
    objects, snapshots = 400, 300
    item = np.tile(np.arange(objects, dtype=np.int32), snapshots)
    snapshot = np.repeat(np.arange(snapshots, dtype=np.int32), objects)
    columns = [chance.random(len(item)) for _ in range(2)]
    order = in_snapshot_order(snapshot, snapshots)
    at = Progress().phase
    for method in get_args(Method):
        with at(f"  skylines of every snapshot, {method}"):
            skyline_intervals(snapshot[order], item[order], columns, snapshots, method)

    start, fresh = np.array([0, 5]), np.array([0])
    closes = np.arange(5.0)
    with at("  stocks"):
        beta, slope = market.positions(start, fresh, closes, closes, closes, 3, 2)
        market.changes(start, fresh, np.arange(5), beta, slope, np.array([np.nan]), np.array([np.nan]), 0, 4)
    with at("  watching live"):
        replay(Workload(objects=20, snapshots=10), Query(Fraction(1, 2), 5, 0.5, 0.5))

    with at("  unbeaten points"):
        unbeaten(columns)
        few, group = [column[:9] for column in columns], np.zeros(9, np.int64)
        found = rounds.improved(few, group, np.column_stack(few), group)
        rounds.standing(few, group, found, group)

    stream = np.arange(5), None, [closes], np.full(5, 0.5)
    for uncertain_method in get_args(UncertainMethod):
        with at(f"  probabilistic windows, {uncertain_method}"):
            likely_stays(*stream, 3, [0.3], method=uncertain_method)
    with at("  probabilistic windows, the present and objects of several instances"):
        present = Present(3, 0.3)
        present.feed(*stream)
        present.likely()
        instance_stays(stream[0], np.arange(6), *stream[1:], 3, [0.3])
    moments, few_columns = np.arange(objects), [column[:objects] for column in columns]
    for window_method in get_args(WindowMethod):
        with at(f"  skylines of the last while, {window_method}"):
            window_stays(moments, None, few_columns, 200, method=window_method)
    with at("  skylines of the last while, live"):
        LiveWindow(200, 2).feed(moments, None, few_columns)

    with TemporaryDirectory(prefix="skyarchive-") as folder:
        file = Path(folder) / "points.parquet"
        parquet.write_table(pa.table({"x0": closes, "x1": -closes}), file)
        for external_method in get_args(ExternalMethod):
            with at(f"  skylines of files, {external_method}"):
                external_skyline(file, ["x0", "x1"], external_method, window=2)


if __name__ == "__main__":
    main()

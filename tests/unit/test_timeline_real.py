"""Every method gives what the definition gives on real archives, too, where they are at hand."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oracle import skylines as oracle
from oracle.box_scores import nba
from oracle.common import Derived
from oracle.connections import tcp
from oracle.skylines import Log
from skyarchive.kernels.timeline import Method, skyline_intervals

REAL = Path(__file__).resolve().parents[3] / "shared" / "data"
SEASON, DAY = REAL / "nba" / "player_box_2003.parquet", REAL / "tcp" / "conn_2024-04-19_21.log.gz"
METHODS: list[Method] = ["naive", "mbr", "witness"]


def log_of(updates: pd.DataFrame) -> Log:
    """The updates of one period, whose attributes are all the better the higher."""
    updates = updates.sort_values("snapshot", kind="stable")
    when = updates["snapshot"].to_numpy()
    who, _ = pd.factorize(updates["object"])
    values = updates.drop(columns=["period", "snapshot", "object", "gone"])
    gone = updates["gone"].to_numpy(bool)
    columns = [np.where(gone, np.nan, -values[name].to_numpy(float)) for name in values]
    return Log((when - when[0]).astype(np.int32), who.astype(np.int32), columns, int(when[-1] - when[0]) + 1)


@pytest.mark.parametrize(
    ("derive", "file", "period"),
    [
        pytest.param(nba, SEASON, "2003", id="season"),
        pytest.param(tcp, DAY, "2024-04-20", id="day", marks=pytest.mark.thorough),
    ],
)
def test_real_archives(derive: Callable[[list[Path]], Derived], file: Path, period: str) -> None:
    if not file.is_file():
        pytest.skip("the real archives are not here")
    updates = derive([file]).updates
    log = log_of(updates[updates["period"] == period])
    wanted = oracle.intervals(oracle.skylines(log))
    assert len(wanted) > 20
    for method in METHODS:
        found = skyline_intervals(*log.arguments, method)
        assert list(zip(*(column.tolist() for column in found), strict=True)) == wanted, method

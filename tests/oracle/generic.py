"""A table that already is an update log or a series of full snapshots."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from oracle.common import Derived, Ledger, objects_frame, refused_frame, snapshots_frame

PeriodOf = str | Callable[[Any], str]
"""A column, or a function of the order value."""


def update_log(
    frame: pd.DataFrame,
    attributes: Sequence[str],
    period: PeriodOf,
    object_column: str = "object",
    order: str = "order",
    gone: str | None = None,
) -> Derived:
    """Who has no row in a snapshot stays as he was."""
    return _derive(frame, attributes, period, object_column, order, gone, everybody=False)


def full_snapshots(
    frame: pd.DataFrame,
    attributes: Sequence[str],
    period: PeriodOf,
    object_column: str = "object",
    order: str = "order",
    gone: str | None = None,
) -> Derived:
    """Who has no row in a snapshot is not alive in it."""
    return _derive(frame, attributes, period, object_column, order, gone, everybody=True)


def _derive(
    frame: pd.DataFrame,
    attributes: Sequence[str],
    period: PeriodOf,
    object_column: str,
    order: str,
    gone: str | None,
    everybody: bool,
) -> Derived:
    rows = pd.DataFrame({"object": frame[object_column], "order": frame[order]})
    rows["position"] = _positions(frame, attributes, gone)
    if isinstance(period, str):
        rows["period"] = frame[period]
    else:
        rows["period"] = frame[order].map(period, na_action="ignore")
    rows["file"] = frame.get("file", "")
    rows["row"] = frame.get("row", np.arange(1, len(frame) + 1))
    rows["kind"] = _faults(rows)
    refused = rows.loc[rows["kind"].notna(), ["period", "file", "row", "kind"]]
    rows = rows[rows["kind"].isna()]

    ledger = Ledger(attributes)
    snapshots = []
    names: dict[tuple[str, str], str | None] = {}
    for snapshot, ((key, value), now) in enumerate(rows.groupby(["period", "order"])):
        snapshots.append((str(key), snapshot, _time(value), _label(value)))
        told = dict(zip(now["object"].map(str), now["position"], strict=True))
        names |= {(str(key), name): name for name in told}
        absent = set(ledger.last) - set(told) if everybody else set()
        for name, position in {**told, **dict.fromkeys(absent)}.items():
            ledger.tell(str(key), snapshot, name, position)
    return Derived(
        snapshots_frame(snapshots),
        ledger.frame(),
        objects_frame(names),
        refused_frame(refused.itertuples(index=False, name=None)),
    )


def _positions(frame: pd.DataFrame, attributes: Sequence[str], gone: str | None) -> pd.Series:
    """A tuple of the attributes, NaN where one is missing; None for a row that says gone."""
    values = frame[list(attributes)].astype("float64").itertuples(index=False, name=None)
    left = [False] * len(frame) if gone is None else frame[gone].eq(True)
    positions = [None if is_gone else position for position, is_gone in zip(values, left, strict=True)]
    return pd.Series(positions, index=frame.index, dtype=object)


def _faults(rows: pd.DataFrame) -> pd.Series:
    """The kind of fault of each row, or None: no object, order value or period, or a second time."""
    kinds = pd.Series(None, index=rows.index, dtype=object)
    usable = rows[["object", "order"]].notna().all(axis=1)
    kinds[usable & rows.duplicated(["object", "order"])] = "duplicate"
    for column in ("period", "order", "object"):
        kinds[rows[column].isna()] = column
    return kinds


def _time(value: Any) -> pd.Timestamp:
    """A moment or a date in UTC; other order values have no time."""
    return pd.Timestamp(value) if isinstance(value, date) else pd.NaT  # type: ignore[return-value]


def _label(value: Any) -> str:
    if isinstance(value, pd.Timestamp) and value.tzinfo is not None:
        value = value.tz_convert("UTC").tz_localize(None)
    return str(value)

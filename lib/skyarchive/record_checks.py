"""What can be wrong with the unbeaten records of a period, counted by brute force and by another engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from skyarchive.definition import Definition
from skyarchive.kernels.orders import PartialOrder
from skyarchive.kernels.preferences import Preference, checked_preferences
from skyarchive.lake import Lake

AUDITED = 200
"""Records of the answer, and records outside it, that are compared with the whole answer."""
FIGURES = "period string, repeated bigint, strangers bigint, audited bigint, beaten bigint, missed bigint"


@dataclass(frozen=True)
class Judged:
    """The figures of every period as rows of a frame, and the misjudged records by period for whoever looks."""

    rows: list[tuple[Any, ...]]
    misjudged: dict[str, list[str]]


def judge(
    lake: Lake, definition: Definition, raw_version: int, periods: Sequence[str], start: pa.Table | None,
    found: pa.Table, sample: pa.Table,
) -> Judged:  # fmt: skip
    """Count the faults of the answers `found` for consecutive periods. `start` is the answer before them, `sample` are
    some records of the periods."""
    start, found, sample = None if start is None else _plain(start), _plain(found), _plain(sample)
    counted = _counted(lake, definition.name, raw_version, start, found)
    assert definition.external is not None
    comparison = Comparison(checked_preferences(definition.external.preferences()))
    rows: list[tuple[Any, ...]] = []
    wrong: dict[str, list[str]] = {}
    before = start
    for period in periods:
        answer = found.filter(pa.array(_is(found, "period", period)))
        own = sample.filter(pa.array(_is(sample, "period", period)))
        beaten = comparison.beaten(_some(answer), answer)
        audited = own if before is None else pa.concat_tables([own, _some(before).select(own.column_names)])
        known = set(_keys(answer))
        outside = audited.filter(pa.array([key not in known for key in _keys(audited)], pa.bool_()))
        missed = outside.filter(pa.array(~comparison.is_beaten(outside, answer)))
        wrong[period] = [_named(row) for row in (*beaten.to_pylist(), *missed.to_pylist())]
        figures = counted.get(period, (0, 0))
        rows.append((period, *figures, audited.num_rows, beaten.num_rows, missed.num_rows))
        before = answer
    return Judged(rows, wrong)


def _counted(
    lake: Lake, archive: str, raw_version: int, start: pa.Table | None, found: pa.Table
) -> dict[str, tuple[int, int]]:
    """Per period the records that are there twice, and those that are neither its own nor of the answer before."""
    pinned = {(archive, "raw"): raw_version}
    session = lake.connect(pinned, pinned)
    session.register("found", found)
    session.register("start", (start if start is not None else found.slice(0, 0)).select(["file", "row", "object"]))
    counted = session.execute(
        f"""
        with periods as (select distinct period from found),
        own as (
            select period, file, row from {archive}.raw where period in (select period from periods)
        ), before as (
            select '' as period, file, row from start union all select period, file, row from found
        ), seen as (
            select p.period, lag(p.period, 1, '') over (order by p.period) as previous from periods p
        ), strange as (
            select f.period, count(*) as n from found f join seen using (period)
            where not exists (select * from own o where o.period = f.period and o.file = f.file and o.row = f.row)
                and not exists (
                    select * from before b where b.period = seen.previous and b.file = f.file and b.row = f.row)
            group by f.period
        ), twice as (
            select period, sum(n - 1) as n from (
                select period, count(*) as n from found group by period, file, row) group by period
        )
        select period, coalesce(twice.n, 0)::bigint, coalesce(strange.n, 0)::bigint
        from periods left join twice using (period) left join strange using (period)
        """
    ).fetchall()
    return {period: (repeated, strangers) for period, repeated, strangers in counted}


@dataclass(frozen=True)
class Comparison:
    """Everybody with everybody, by the definition of 'beats' alone."""

    preferences: tuple[Preference, ...]

    def beaten(self, rows: pa.Table, rivals: pa.Table) -> pa.Table:
        return rows.filter(pa.array(self.is_beaten(rows, rivals), pa.bool_()))

    def is_beaten(self, rows: pa.Table, rivals: pa.Table) -> np.ndarray:
        """Which rows some rival of their group beats."""
        values = [rivals.column(preference.column).to_numpy() for preference in self.preferences]
        groups = rivals.column("group_key").to_numpy()
        return np.array([self._is_beaten(row, values, groups) for row in rows.to_pylist()], bool)

    def _is_beaten(self, row: dict[str, Any], values: list[np.ndarray], groups: np.ndarray) -> bool:
        nowhere_worse, equal = groups == row["group_key"], np.ones(len(groups), bool)
        for preference, column in zip(self.preferences, values, strict=True):
            own, better = row[preference.column], preference.better
            if isinstance(better, PartialOrder):
                nowhere_worse &= np.array([better.at_least_as_good(other, own) for other in column], bool)
            else:
                nowhere_worse &= column >= own if better == "higher" else column <= own
            equal &= column == own
        return bool((nowhere_worse & ~equal).any())


def _plain(table: pa.Table) -> pa.Table:
    """The table without a word on which columns may be null: tables that differ in that cannot be put together."""
    return pa.Table.from_arrays(table.columns, names=table.column_names)


def _is(table: pa.Table, column: str, value: str) -> np.ndarray:
    return np.asarray(table.column(column).to_numpy() == value, bool).reshape(-1)


def _some(table: pa.Table) -> pa.Table:
    """Records at even distances: always the same ones, so that a failure can be seen again."""
    step = max(table.num_rows // AUDITED, 1)
    return table.take(pa.array(np.arange(0, table.num_rows, step)))


def _keys(table: pa.Table) -> list[tuple[str, int]]:
    return list(zip(table.column("file").to_pylist(), table.column("row").to_pylist(), strict=True))


def _named(row: dict[str, Any]) -> str:
    return f"{row['object']} in {row['file']}, row {row['row']}"

"""The update log of some periods as plain arrays, read without Spark."""

from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np

from skyarchive.answers.positions import directions
from skyarchive.definition.model import Definition
from skyarchive.definition.selection import Selection
from skyarchive.errors import NotPublishedError, SettingError
from skyarchive.names import periods_predicate
from skyarchive.pipeline.look import Look
from skyarchive.pipeline.workshop import Workshop
from skyarchive.store.duck import quoted

TABLES = ("snapshots", "updates", "carry")


@dataclass(frozen=True)
class UpdateLog:
    """Consecutive periods of an archive: who stands where from which snapshot on, as the kernels take it."""

    periods: list[str]
    versions: dict[str, int]
    """Of the tables it was read from."""
    snapshot: np.ndarray
    """int32, from 0 on; at 0 stands everybody who was alive already."""
    item: np.ndarray
    costs: list[np.ndarray]
    """A column per attribute with smaller better; NaN: gone."""
    n_snapshots: int


def read_update_log(workshop: Workshop, selection: Selection) -> UpdateLog:
    """The published log of the selected periods, which must follow each other."""
    look = Look.read(workshop.lake, workshop.definition)
    ledger = look.ledger
    derived = sorted(ledger.of("derive"))
    if not derived:
        raise NotPublishedError(f"{workshop.archive} has no update log yet; run: skyarchive run {workshop.archive}")
    periods = _consecutive(workshop.archive, selection.pick(derived, workshop.definition), derived)
    versions = {table: ledger.versions[table] for table in TABLES}
    pinned = {(workshop.archive, table): version for table, version in versions.items()}
    session = workshop.lake.connect(pinned, pinned)
    return _read(session, workshop.definition, look.before(periods[0]), periods, versions)


def _consecutive(archive: str, periods: list[str], derived: list[str]) -> list[str]:
    missing = [period for period in periods if period not in derived]
    if missing:
        raise NotPublishedError(
            f"{archive} {missing[0]} is not derived; run: skyarchive run {archive} --periods {missing[0]}"
        )
    between = [period for period in derived if periods[0] <= period <= periods[-1]]
    if between != periods:
        left_out = next(period for period in between if period not in periods)
        raise SettingError(
            f"--periods leaves out {left_out}: choose periods that follow each other, such as "
            f"{periods[0]}..{periods[-1]}."
        )
    return periods


def _read(
    session: duckdb.DuckDBPyConnection,
    definition: Definition,
    before: str | None,
    periods: list[str],
    versions: dict[str, int],
) -> UpdateLog:
    schema, names = quoted(definition.name), definition.attribute_names
    chosen = periods_predicate(periods)
    first, n_snapshots = session.execute(
        f"select min(snapshot), count(*) from {schema}.snapshots where {chosen}"
    ).fetchone() or (0, 0)
    columns = ", ".join(map(quoted, names))
    found = session.execute(
        f"""
        with changes as (
            select snapshot - $first as step, object, {columns} from {schema}.updates where {chosen}
        ), log as (
            from changes
            union all by name
            select 0 as step, object, {columns} from {schema}.carry
            where period = $before and {quoted(names[0])} is not null and object is not null
                and object not in (select object from changes where step = 0)
        )
        select step::integer as _step, (dense_rank() over (order by object) - 1)::integer as _item, {columns}
        from log order by step, _item
        """,
        {"first": first or 0, "before": before or ""},
    ).fetchnumpy()
    signs = directions(definition)
    costs = [_numbers(found[name]) * sign for name, sign in zip(names, signs, strict=True)]
    return UpdateLog(
        periods, versions, _numbers(found["_step"]).astype(np.int32), _numbers(found["_item"]).astype(np.int32), costs,
        n_snapshots,
    )  # fmt: skip


def _numbers(column: Any) -> np.ndarray:
    """DuckDB's column with NULL as NaN."""
    return np.ma.filled(column.astype(float), np.nan) if np.ma.isMaskedArray(column) else column.astype(float)

"""Where everybody stands at a snapshot, read without Spark: what its period starts from and the updates since."""

from collections.abc import Iterable
from dataclasses import dataclass

import duckdb
import numpy as np

from skyarchive.definition.model import Definition
from skyarchive.store.duck import quoted


@dataclass(frozen=True)
class Positions:
    """The living objects of one snapshot, in order, and a row of attributes for each."""

    objects: list[str]
    values: np.ndarray
    """In their natural units and directions."""
    costs: np.ndarray
    """The same with smaller better on every attribute."""


def positions_at(
    session: duckdb.DuckDBPyConnection, definition: Definition, period: str, before: str | None, snapshot: int
) -> Positions:
    """The positions at a snapshot of a period that started from what `before` ended with. The session has the
    archive's `updates` and `carry`."""
    schema, names = quoted(definition.name), definition.attribute_names
    columns = ", ".join(map(quoted, names))
    packed = f"struct_pack({', '.join(f'{quoted(n)} := {quoted(n)}' for n in names)})"
    found = session.execute(
        f"""
        select object, {", ".join(f"latest.{quoted(name)}" for name in names)}
        from (
            select object, arg_max({packed}, snapshot) as latest
            from (
                select object, snapshot, {columns} from {schema}.updates
                where period = $period and snapshot <= $snapshot
                union all
                select object, -1, {columns} from {schema}.carry where period = $before and object is not null
            )
            group by object
        )
        where latest.{quoted(names[0])} is not null
        order by object
        """,
        {"period": period, "before": before or "", "snapshot": snapshot},
    ).fetchnumpy()
    values = np.column_stack([np.asarray(found[name], float) for name in names])
    return Positions(list(found["object"]), values, values * directions(definition))


def directions(definition: Definition) -> np.ndarray:
    """Per attribute 1 where smaller is better, -1 where it is worse."""
    return np.array([-1.0 if attribute.better == "higher" else 1.0 for attribute in definition.attributes.values()])


def beaten_by(costs: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Which rows a point beats: nowhere worse and somewhere better."""
    return np.asarray((point <= costs).all(axis=1) & (point < costs).any(axis=1))


def beats(costs: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Which rows beat a point."""
    return np.asarray((costs <= point).all(axis=1) & (costs < point).any(axis=1))


def misjudged(positions: Positions, members: Iterable[str]) -> list[str]:
    """By brute force, who is in the answer and should not be, or the other way round."""
    claimed = set(members)
    is_member = np.array([name in claimed for name in positions.objects], bool)
    wrong = np.flatnonzero(is_misjudged(positions.costs, is_member))
    return [positions.objects[at] for at in wrong] + sorted(claimed - set(positions.objects))


def is_misjudged(costs: np.ndarray, is_member: np.ndarray) -> np.ndarray:
    """By brute force, which rows are in the answer and should not be, or the other way round."""
    is_beaten = np.zeros(len(is_member), bool)
    for point in costs[is_member]:
        is_beaten |= beaten_by(costs, point)
    for at in np.flatnonzero(is_member & ~is_beaten):  # a member may be beaten by somebody who is none
        is_beaten[at] = beats(costs, costs[at]).any()
    return np.asarray(is_member == is_beaten)

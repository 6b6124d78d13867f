"""The records of a query read from the raw rows without Spark, for questions about those that were never members.

Spark SQL and DuckDB do not mean the same by everything: what is read here counts only if it is, to the last bit, what
the step has published a print of.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from skyarchive.arrivals.borders import Borders
from skyarchive.arrivals.facts import Fact
from skyarchive.arrivals.ordered import TIME, Asked, Ordered, Records, chance_column, group_column, part_column
from skyarchive.definition.derivation import MarketModel, Order, Traffic
from skyarchive.definition.groups import BETWEEN_GROUPS, NO_GROUP, READS_SO
from skyarchive.definition.model import Definition
from skyarchive.definition.windows import WindowQuery
from skyarchive.errors import SkyarchiveError
from skyarchive.store.duck import quoted
from skyarchive.store.duck_expressions import in_duckdb

_MICROSECONDS = 1_000_000.0


class NotUnderstood(SkyarchiveError):
    """Only Spark can tell."""


@dataclass(frozen=True)
class RawRecords:
    """Where the records of a query come from. The session has the archive's `raw`, and `carry` where it is needed."""

    session: duckdb.DuckDBPyConnection
    definition: Definition
    query: WindowQuery

    def read(self, periods: Sequence[str], before: str | None, facts: dict[str, Fact]) -> Records:
        """The records of neighbouring periods in their order; `before`: the period that the first of them starts from.
        Periods are numbered by their place."""
        asked: dict[str, Any] = {"periods": list(periods)}
        if isinstance(self.definition.derive, MarketModel):
            asked["before"] = before or ""
        table = self.session.sql(self._select(), params=asked).to_arrow_table()
        [whole] = Asked.of([self.query])
        records = Ordered(table, periods).of(whole)
        if self._prints(records, periods) != {p: facts[p].print for p in periods if facts[p].records}:
            raise self._unclear()
        return records

    def _prints(self, records: Records, periods: Sequence[str]) -> dict[str, str]:
        borders = Borders.of(records)
        parts = zip(borders.period.tolist(), borders.start.tolist(), borders.end.tolist(), strict=True)
        return {periods[place]: records.print(slice(start, end)) for place, start, end in parts}

    def _unclear(self) -> NotUnderstood:
        return NotUnderstood(
            f"The records of {self.definition.name} that were no members (query {self.query.name}) can only be told by "
            "Spark: they are not what was published, or their expressions mean something else without it."
        )

    def _sql(self, text: str) -> str:
        definition = self.definition
        names = {*definition.columns, *definition.derive.reader_columns, *definition.derive.added_to_records}
        found = in_duckdb(text, names | {"file", "row", "period"})
        if found is None:
            raise self._unclear()
        return found

    def _select(self) -> str:
        query, archive = self.query, quoted(self.definition.name)
        values = {
            name: f"{quoted(name) if it.value is None else self._sql(it.value)}::DOUBLE + 0.0"
            for name, it in query.attributes.items()
        }
        whole = " and ".join(f"coalesce(isfinite({quoted(name)}), false)" for name in values)
        where = "true" if query.where is None else self._sql(query.where)
        counts = self._sql(self.definition.counts)
        group = f", {self._group()} as {group_column(0)}" if query.group else ""
        chance, is_probable = "", "true"
        if query.chance is not None:
            chance = f", ({self._sql(query.chance)})::DOUBLE as {chance_column(0)}"
            is_probable = f"coalesce({chance_column(0)} > 0 and {chance_column(0)} <= 1, false)"
        attributes = "".join(f", {value} as {quoted(name)}" for name, value in values.items())
        return f"""
            with counted as (
                select * from {archive}.raw where list_contains($periods, period) and {counts}
            ), looked as ({self._looked()}), valued as (
                select period, file, "row"::BIGINT as "row", {quoted(self.definition.object.column)}::VARCHAR as object,
                    ({self._time()})::BIGINT as {TIME}, coalesce({where}, false) as takes_part
                    {group} {attributes} {chance}
                from looked
            )
            select *, takes_part and object is not null and {whole} and {is_probable} as {part_column(0)} from valued
            where {part_column(0)}
        """

    def _looked(self) -> str:
        """The rows with what their values look back at."""
        method, item = self.definition.derive, quoted(self.definition.object.column)
        if not isinstance(method, MarketModel):
            return "from counted"
        date, close = quoted(method.date), quoted(method.close)
        return f"""
            select c.*,
                coalesce(lag({close}) over (partition by {item} order by {date}), k.closes[-1]) as previous_close
            from counted c left join (
                select object, closes from {quoted(self.definition.name)}.carry where period = $before
                    and object is not null) k on k.object = c.{item}::VARCHAR
        """

    def _time(self) -> str:
        """In microseconds."""
        method = self.definition.derive
        if isinstance(method, Traffic):
            return f"round(ts * {_MICROSECONDS})"
        order: Order = method.order
        column, kind = quoted(order.time_column), self.definition.columns[order.time_column].type
        if kind in ("date", "timestamp"):
            time = f"epoch_us({column}::TIMESTAMPTZ)"
        elif order.time is not None:
            raise self._unclear()
        else:
            time = f"epoch_us('{order.start}'::TIMESTAMPTZ) + round({column} * {order.step_seconds * _MICROSECONDS!r})"
        if order.time_column in order.identity:
            return time
        return f"min({time}) over (partition by period, {', '.join(map(quoted, order.identity))})"

    def _group(self) -> str:
        keys = [
            f"coalesce(regexp_replace({self._sql(text)}::VARCHAR, '{READS_SO}', '(\\1)'), '{NO_GROUP}')"
            for text in self.query.group
        ]
        if len(keys) > 1:
            keys = [f"replace({key}, '/', '//')" for key in keys]
        return f"concat_ws('{BETWEEN_GROUPS}', {', '.join(keys)})"


def object_rows(records: Records, item: str) -> NDArray[np.int64]:
    """The places of an object's records."""
    known = records.object.names.to_pylist()
    return np.flatnonzero(records.object.codes == known.index(item)) if item in known else np.zeros(0, np.int64)

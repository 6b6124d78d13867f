"""What every question to an archive begins with: its moments, positions and names at them, and a form for answers."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import duckdb

from skyarchive.answers.moments import Moment, Moments
from skyarchive.answers.positions import Positions, positions_at
from skyarchive.answers.values import Row
from skyarchive.definition.model import Definition
from skyarchive.errors import SettingError
from skyarchive.settings import Settings
from skyarchive.store.lake import Lake

_TABLES = ("updates", "carry", "snapshots", "objects", "skyline", "reigns", "runs")


@dataclass(frozen=True)
class Answer:
    """Columns and rows, and a sentence for people."""

    columns: list[str]
    rows: Sequence[Row]
    remark: str = ""


class Questions:
    """An archive that can be asked about its moments, from its published tables and without Spark."""

    def __init__(self, settings: Settings, definition: Definition) -> None:
        self.definition = definition
        self._lake = Lake(settings)
        self._schema = definition.name

    @cached_property
    def _moments(self) -> Moments:
        return Moments(self._lake, self.definition, _TABLES)

    @property
    def _session(self) -> duckdb.DuckDBPyConnection:
        return self._moments.session

    def moment(self, text: str | None) -> Moment:
        """The snapshot of that number, or the last one at or before that time; the last that has a skyline if none is
        given."""
        return self._moments.at(text)

    def _object(self, who: str, moment: Moment) -> str:
        """An object by its own name: the identifier, or the name people know it by, or a part of that."""
        known = self._rows(
            f"select object, arg_max(name, period) from {self._schema}.objects where period <= ? group by object",
            [moment.period],
        )
        if any(who == item for item, _ in known):
            return who
        for fits in (lambda name: name == who.casefold(), lambda name: who.casefold() in name):
            found = sorted(item for item, name in known if fits(name.casefold()))
            if len(found) == 1:
                return found[0]
            if found:
                named = ", ".join(f"{item} ({dict(known)[item]})" for item in found[:5])
                raise SettingError(f"{who!r} may be {named}{' and others' if len(found) > 5 else ''}: give the object.")
        similar = difflib.get_close_matches(who, [name for _, name in known], 3)
        hint = f" Do you mean {' or '.join(map(repr, similar))}?" if similar else ""
        raise SettingError(f"{self._schema} has no object {who!r} up to {moment.period}.{hint}")

    def _called(self, item: str, moment: Moment) -> str:
        return self._names([item], moment.period).get(item, item)

    def _names(self, objects: list[str], period: str) -> dict[str, str]:
        """Names as they were known in a period."""
        return dict(
            self._rows(
                f"select object, arg_max(name, period) from {self._schema}.objects "
                "where period <= $period and list_contains($objects, object) group by object",
                {"period": period, "objects": objects},
            )
        )

    def _rows(self, sql: str, parameters: Any = None) -> list[Any]:
        return self._session.execute(sql, parameters).fetchall()

    def _positions(self, moment: Moment) -> Positions:
        before = self._moments.before(moment.period)
        return positions_at(self._session, self.definition, moment.period, before, moment.snapshot)

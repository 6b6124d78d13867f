"""Which records were never beaten: asked from the published table, without Spark."""

from skyarchive.answers.questions import Answer
from skyarchive.definition.model import Definition
from skyarchive.errors import NotPublishedError, SettingError
from skyarchive.settings import Settings
from skyarchive.store.duck import quoted
from skyarchive.store.lake import Lake
from skyarchive.store.ledger import Ledger
from skyarchive.wording import counted

_SHOWN = 12


class RecordQuestions:
    """The unbeaten records of an archive."""

    def __init__(self, settings: Settings, definition: Definition) -> None:
        if definition.external is None:
            raise SettingError(
                f"The definition of {definition.name} does not ask for records: give it a field `external` with the "
                f"attributes of a record, and run: skyarchive run {definition.name} --steps external"
            )
        self._external = definition.external
        self._schema = definition.name
        lake = Lake(settings).at_rest()
        if "external" not in lake.published_versions(self._schema):
            raise NotPublishedError(f"{self._schema} has no records yet; run: skyarchive run {self._schema}")
        self._has_names = "objects" in lake.published_versions(self._schema)
        self._periods = sorted(Ledger.read(lake, self._schema).of("external"))
        tables = ["external", *(["objects"] if self._has_names else [])]
        self._session = lake.connect([(self._schema, table) for table in tables])
        self._check_attributes()

    def unbeaten(self, period: str | None, group: str | None) -> Answer:
        """The records that no other one up to the end of a period beats; the last period if none is named."""
        period = self._period(period)
        self._check_group(period, group)
        attributes = ", ".join(f"r.{quoted(name)}" for name in self._external.attributes)
        objects = f"{self._schema}.objects" if self._has_names else "(select '' as period, '' as object, '' as name)"
        chosen = "and r.group_key = $group" if group is not None else ""
        best = next(iter(self._external.attributes.items()))
        direction = "desc" if best[1].better == "higher" else "asc"
        rows = self._session.execute(
            f"""
            select r.group_key, r.object, coalesce(n.name, r.object), {attributes}, r.file, r.row
            from {self._schema}.external r left join (
                select object, arg_max(name, period) as name from {objects}
                where period <= $period group by object) n using (object)
            where r.period = $period {chosen}
            order by r.group_key, r.{quoted(best[0])} {direction}, r.object, r.file, r.row
            """,
            {"period": period} | ({} if group is None else {"group": group}),
        ).fetchall()
        columns = ["group_key", "object", "name", *self._external.attributes, "file", "row"]
        if not self._external.group:
            columns, rows = columns[1:], [row[1:] for row in rows]
        return Answer(columns, rows, self._remark(len(rows), period, group))

    def _remark(self, count: int, period: str, group: str | None) -> str:
        ways = ", ".join(
            f"{name} {attribute.better if not attribute.is_ranked else 'by its order'}"
            for name, attribute in self._external.attributes.items()
        )
        where = f" in {group}" if group is not None else ""
        what, verb = counted(count, "record", "records"), "is" if count == 1 else "are"
        return f"{what} of {self._schema} up to {period}{where} {verb} beaten by no other ({ways})."

    def _check_attributes(self) -> None:
        found = self._session.execute(f"from {self._schema}.external limit 0").description or []
        missing = set(self._external.attributes) - {column[0] for column in found}
        if missing:
            raise NotPublishedError(
                f"{self._schema}.external was made under another definition, without {', '.join(sorted(missing))}: "
                f"run: skyarchive refresh {self._schema}. The old ones can be asked with `skyarchive sql`, by version "
                "later, too."
            )

    def _period(self, period: str | None) -> str:
        known = self._periods
        if period is None:
            return known[-1]
        if period not in known:
            raise SettingError(
                f"{self._schema} has no records up to {period}: they are computed for {', '.join(_shortened(known))}. "
                f"To compute a period that has raw files: skyarchive run {self._schema} --periods PERIOD"
            )
        return period

    def _check_group(self, period: str, group: str | None) -> None:
        if group is None:
            return
        if not self._external.group:
            raise SettingError(f"The records of {self._schema} have no groups: its definition names no external.group.")
        known = [row[0] for row in self._session.execute(
            f"select distinct group_key from {self._schema}.external where period = ? order by 1", [period]
        ).fetchall()]  # fmt: skip
        if group not in known:
            raise SettingError(
                f"{self._schema} has no group {group!r} up to {period}; groups are "
                f"{', '.join(_shortened([repr(key) for key in known]))}."
            )


def _shortened(names: list[str]) -> list[str]:
    return names if len(names) <= _SHOWN else [*names[: _SHOWN - 1], "...", names[-1]]

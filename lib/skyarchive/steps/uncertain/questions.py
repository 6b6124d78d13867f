"""Who was in the probable skyline of the last while: asked from the published table and the raw rows, without Spark."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar

from skyarchive.answers.questions import Answer
from skyarchive.arrivals.asking import WhileQuestions, query_named
from skyarchive.arrivals.facts import StepFacts
from skyarchive.arrivals.moments import Moment
from skyarchive.arrivals.raw_records import NotUnderstood
from skyarchive.definition.frequent import as_written
from skyarchive.definition.model import Definition
from skyarchive.definition.uncertain import UncertainQuery
from skyarchive.errors import SettingError
from skyarchive.settings import Settings
from skyarchive.steps.uncertain.facts import FACTS, left_out
from skyarchive.steps.uncertain.replaying import Living, living_at
from skyarchive.wording import counted

_SEPARATOR = ".."
_STAY = ("since", "since_number", "because", "entered_with", "greatest", "until", "until_number", "until_because")
Row = tuple[Any, ...]


class UncertainQuestions(WhileQuestions[UncertainQuery]):
    """One query of an archive over records that may be wrong."""

    FACTS: ClassVar[StepFacts] = FACTS
    TABLES: ClassVar[Sequence[str]] = ("uncertain", "uncertain_skyline")
    CALLED: ClassVar[str] = "probable skylines"

    def __init__(self, settings: Settings, definition: Definition, name: str | None = None) -> None:
        super().__init__(settings, definition, query_named(definition, "uncertain", definition.uncertain, name))

    def threshold(self, text: str | None) -> Decimal:
        """One of a command line; the lowest that is kept without one."""
        if text is None:
            return min(self.query.levels)
        try:
            found: Decimal = as_written(text)
        except ValueError as error:
            raise SettingError(f"--threshold {text}: {error}.") from None
        return found

    def is_kept(self, threshold: Decimal) -> bool:
        """Whether the table tells of it."""
        return threshold in self.query.levels

    def members(self, at: str | None, threshold: Decimal, top: int | None) -> Answer:
        """The most probable at a moment; and since when, until when and why, if the threshold is kept."""
        moment = self.moments.at(at)
        told = self._stays_at(moment, threshold) if self.is_kept(threshold) else {}
        try:
            rows = self._replayed(moment, threshold, told)
        except NotUnderstood:
            if not self.is_kept(threshold):
                raise
            rows = [(group, item, None, *values, None, *stay, file, row)
                    for (file, row), (group, item, values, stay) in told.items()]  # fmt: skip
        count = top or self.query.top
        shown = self._with_names(rows[:count])
        columns = ["group_key", "object", "name", *self.query.attributes, "probability", *_STAY, "file", "row"]
        if not self.is_kept(threshold):
            columns, shown = _without(columns, shown, _STAY)
        return self.answer(columns, shown, self._told(len(rows), len(shown), moment, threshold))

    def _replayed(self, moment: Moment, threshold: Decimal, told: dict[tuple[str, int], Any]) -> list[Row]:
        """By the window before the moment."""
        living = living_at(self, moment)
        places, chances = living.likely(float(threshold))
        rows: list[Row] = []
        for at, chance in zip(places.tolist(), chances.tolist(), strict=True):
            file, row, _ = living.records.name_of(at)
            stay = told[file, row][3] if (file, row) in told else (None,) * len(_STAY)
            rows.append((*self.described(living, at), chance, *stay, file, row))
        return rows

    def described(self, living: Living, at: int) -> Row:
        """Group, object, a place for its name, and the attributes of one of the living."""
        records = living.records
        group = None if records.group is None else records.group.names[int(records.group.codes[at])].as_py()
        item = records.object.names[int(records.object.codes[at])].as_py()
        return (group, item, None, *(float(records.values[name][at]) for name in self.query.attributes))

    def _with_names(self, rows: Sequence[Row]) -> list[Row]:
        names = self.called([row[1] for row in rows])
        return [(row[0], row[1], names.get(row[1], row[1]), *row[3:]) for row in rows]

    def _stays_at(self, moment: Moment, threshold: Decimal) -> dict[tuple[str, int], Any]:
        """By file and row what the table tells of the members of a kept threshold."""
        begin, end = ("entered_at", "left_at") if self.when(moment) == "number" else ("entered", "left")
        rows = self.rows(
            f"""
            select u.file, u.row, u.group_key, u.object, u.entered, u.entered_at, u.entered_because, u.probability,
                s.greatest, s.left, s.left_at, s.left_because, {self.attributes("u")}
            from {self._schema}.uncertain u
            left join {self._schema}.uncertain_skyline s using (query, threshold, file, row, entered, entered_at)
            where u.query = $query and u.threshold = $threshold and u.period = $period
                and u.{begin} <= $at and (u.{end} is null or u.{end} > $at)
            order by u.greatest desc, u.entered_at, u.file, u.row
            """,
            {"query": self.query.name, "threshold": threshold, "period": moment.extent.period,
             "at": self.value_of(moment)},
        )  # fmt: skip
        stay = 4 + len(_STAY)
        return {(row[0], row[1]): (row[2], row[3], row[stay:], row[4:stay]) for row in rows}

    def _told(self, count: int, shown: int, moment: Moment, threshold: Decimal) -> str:
        of = "" if self.query.counts_records else f"{'record' if count == 1 else 'records'} "
        are = "is" if count == 1 else "are"
        told = (
            f"{count} {of}of the last {self.query.last} {are} beaten by no other with a probability of at least "
            f"{threshold:f} at {moment}{'' if shown == count else f'; the {shown} most probable are shown'}."
        )
        told += " No record has come since: this is what it was then." if moment.is_beyond else ""
        published = self.look.published(FACTS.step, moment.extent.period)
        without = left_out(published.details, self.query.name) if published else 0
        if without:
            records = counted(without, "record", "records")
            told += f" {records} of {moment.extent.period} took no part: their probability is not above 0, at most 1."
        return told

    def changes(self, over: str, threshold: Decimal) -> Answer:
        """Who entered and who left after the first moment, up to the last; and because of what."""
        if not self.is_kept(threshold):
            kept = ", ".join(f"{level:f}" for level in self.query.levels)
            raise SettingError(
                f"--threshold {threshold:f}: changes are kept for {kept}; another one can be asked with --at."
            )
        first, last = self.moments.span(over, _SEPARATOR)
        since = f"and t.{self.when(first)} > $begin" if first else ""
        asked = {"end": self.value_of(last)} | ({"begin": self.value_of(first)} if first else {})
        rows = self.rows(
            f"""
            with told as (
                select u.*, true as enters, u.entered as time, entered_at as number, entered_because as because,
                    probability as with_probability
                from {self._schema}.uncertain u where query = $query and threshold = $threshold and not continued_from
                union all
                select u.*, false, u.left, left_at, left_because, null
                from {self._schema}.uncertain u where query = $query and threshold = $threshold and not continues_into
            )
            select t.time, t.number, if(t.enters, 1, -1), t.because, t.with_probability, t.group_key, t.object,
                coalesce(n.name, t.object), {self.attributes("t")}, t.file, t.row
            from told t left join {self.names} n on n.object = t.object
            where t.{self.when(last)} <= $end {since} order by t.time, t.number, t.enters, t.file, t.row
            """,
            {"query": self.query.name, "threshold": threshold} | asked,
        )
        columns = ["time", "number", "change", "because", "probability", "group_key", "object", "name",
                   *self.query.attributes, "file", "row"]  # fmt: skip
        entered = sum(row[2] == 1 for row in rows)
        told = f"From {first}" if first else "From the first record"
        remark = f"{told} to {last}, at least {threshold:f}: {entered} entered, {len(rows) - entered} left."
        return self.answer(columns, rows, remark)

    def why(self, at: str | None, who: str) -> Answer:
        """How a record's probability comes about: its own, of older ones, of younger ones; the three that cost most."""
        from skyarchive.steps.uncertain.reasons import reasons

        return reasons(self, self.moments.at(at), who)


def _without(columns: list[str], rows: Sequence[Row], names: Sequence[str]) -> tuple[list[str], list[Row]]:
    kept = [place for place, name in enumerate(columns) if name not in names]
    return [columns[place] for place in kept], [tuple(row[place] for place in kept) for row in rows]

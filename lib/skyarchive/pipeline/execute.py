"""How every step runs: lock, discard, readiness, compute, judge, write, publish. A step's body only computes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.definition.model import Definition
from skyarchive.pipeline.keeping import Kept, keeping
from skyarchive.pipeline.look import Look
from skyarchive.pipeline.publishing import Outcome, PeriodRecord, Run
from skyarchive.pipeline.renewing import make_anew, with_all_published
from skyarchive.pipeline.session import fitting_work
from skyarchive.pipeline.step import Layout, Need, Step, resolved
from skyarchive.pipeline.workshop import Workshop
from skyarchive.quality.checking import load_suite, preload
from skyarchive.quality.suites import Suite
from skyarchive.store.fingerprints import Content, Told, column_key, contents_by_period
from skyarchive.store.ledger import Ledger


@dataclass(frozen=True)
class Check:
    """A frame of figures, a row for every period, and the suite that judges it."""

    frame: DataFrame
    suite: Suite
    about: str
    """The table that the figures are of."""
    told: Callable[[str], str] = lambda period: ""
    """What is added to the reasons of a period that fails."""


@dataclass(frozen=True)
class Computed:
    """What a body computed. Frames that are used several times must be kept by it."""

    frames: Mapping[str, DataFrame | None]
    """By table, the rows of all periods; none where there are no rows for any."""
    checks: Sequence[Check] = ()
    judge: Callable[[], Sequence[Check]] = tuple
    """Makes further checks, which cost something: when it comes to checking."""
    contents: Mapping[str, Mapping[str, Content]] = field(default_factory=dict)
    """By table and period, what is already known of its content."""
    inputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By period, fingerprints of what it was made of beside the step's needs."""
    details: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rows_in: Mapping[str, int] = field(default_factory=dict)
    """By period, rows read; by default those of the first need."""


@dataclass
class Work:
    """What a body works with: the periods that are ready, and all that is published for them to stand on."""

    step: Step
    run: Run
    look: Look
    periods: list[str]
    kept: Kept
    outcome: Outcome
    _fitted: ExitStack = field(repr=False, default_factory=ExitStack)

    @property
    def workshop(self) -> Workshop:
        return self.run.workshop

    @property
    def definition(self) -> Definition:
        return self.workshop.definition

    @property
    def archive(self) -> str:
        return self.workshop.archive

    @property
    def ledger(self) -> Ledger:
        return self.look.ledger

    @property
    def parameters(self) -> dict[str, Any]:
        """What the run is kept with."""
        return self.run.parameters

    def read(self, table: str, periods: list[str]) -> DataFrame:
        """The published rows of these periods, at the version that the run is pinned to."""
        return self.workshop.tables.read(table, self.run.input_versions[table], periods)

    def select(self, table: str, frame: DataFrame) -> DataFrame:
        """The columns of a table, in their order."""
        return frame.select(*self.workshop.tables.contract(table).columns)

    def rows_of(self, step: str, periods: Iterable[str]) -> int:
        """How many rows a step has published for these periods."""
        return sum(self.ledger.of(step)[period].rows_out for period in periods)

    def expect(self, *, large: bool) -> None:
        """Let Spark plan for the size of what is to come."""
        self._fitted.enter_context(fitting_work(self.workshop.spark, large))

    def refuse(self, periods: Mapping[str, str] | Sequence[str], why: str = "") -> list[str]:
        """Refuse some of the periods, and those that stand on them; the ones that remain."""
        reasons = periods if isinstance(periods, Mapping) else dict.fromkeys(periods, why)
        for period, reason in reasons.items():
            self.outcome.refuse([period], reason)
        self.periods = _going_on(self.step, self.archive, self.periods, self.outcome)
        return self.periods


Body = Callable[[Work], Computed | None]
"""None: nothing is left to be computed; everything was refused."""


def execute(step: Step, workshop: Workshop, periods: list[str], parameters: Mapping[str, Any]) -> Outcome:
    """Run a step over periods; those that cannot be computed are refused with a reason, the others published."""
    preload(workshop.settings.master)
    outcome = Outcome(step.name)
    with workshop.computing():
        workshop.tables.discard_unpublished()
        look = Look.read(workshop.lake, workshop.definition)
        periods = with_all_published(step, workshop, look, periods)
        if step.completes:
            periods = look.with_earlier(step, periods)
        for together in look.chains(periods) if step.chained else [sorted(periods)]:
            _run(step, Run(workshop, step.name, dict(parameters)), together, outcome)
    return outcome


def _run(step: Step, run: Run, periods: list[str], outcome: Outcome) -> None:
    workshop = run.workshop
    look = Look.read(workshop.lake, workshop.definition)
    for period in periods:
        if why := look.unready(step, period, periods if step.chained else ()):
            outcome.refuse([period], why, too_early=step.waits)
    periods = _going_on(step, workshop.archive, periods, outcome)
    if not periods:
        return
    run.input_versions = {table: look.ledger.versions[table] for table in step.reads if table in look.ledger.versions}
    body: Body = resolved(step.body)
    with keeping() as kept, ExitStack() as fitted:
        work = Work(step, run, look, periods, kept, outcome, fitted)
        with run.phase("computing", periods):
            computed = body(work)
            made = None if computed is None else _Made.of(work, computed)
        if made is None:
            return
        with run.phase("checking", work.periods):
            good = _checked(work, made)
        if good:
            with run.phase("writing", good):
                withdrawn = _write(work, made, good)
        run.keep_quality(periods)
        if good:
            run.publish(_records(work, made, good), withdrawn)
            outcome.published += good


def _going_on(step: Step, archive: str, periods: list[str], outcome: Outcome) -> list[str]:
    """The periods that are not refused; of a chained step those before the first that is."""
    refused = [n for n, period in enumerate(periods) if period in outcome.refused]
    if not refused or not step.chained:
        return [period for period in periods if period not in outcome.refused]
    first = periods[refused[0]]
    for period in periods[refused[0] :]:
        outcome.refuse(
            [period], f"{archive} {period} follows a period that was refused.", too_early=first in outcome.too_early
        )
    return periods[: refused[0]]


@dataclass(frozen=True)
class _Made:
    """What was computed, with the fingerprints of what others will stand on."""

    computed: Computed
    frames: dict[str, DataFrame | None]
    contents: dict[str, Mapping[str, Content]]
    outputs: dict[str, dict[str, str]]
    """By period and output."""

    @classmethod
    def of(cls, work: Work, computed: Computed) -> "_Made":
        frames, contents = dict(computed.frames), dict(computed.contents)
        outputs: dict[str, dict[str, str]] = {period: {} for period in work.periods}
        for table, layout in work.step.writes.items():
            frame = frames.get(table)
            if frame is None or not (layout.is_output or table == work.step.result):
                continue
            told = told_by(work.workshop, table, layout)
            found = contents[table] if table in contents else contents_by_period(frame, told)
            contents[table] = {period: found.get(period, Content()) for period in work.periods}
            for period, content in contents[table].items():
                outputs[period][table] = content.fingerprint
                if layout.row_key:
                    alone = {column_key(table, column): content.column_print(column) for column in told.columns}
                    outputs[period] |= alone
            if layout.stamp:
                prints = {period: content.fingerprint for period, content in contents[table].items()}
                frames[table] = _stamped(frame, layout.stamp, prints)
        return cls(computed, frames, contents, outputs)

    def rows(self, table: str, periods: Iterable[str]) -> int:
        found = self.contents.get(table, {})
        return sum(found[period].rows for period in periods if period in found)


def told_by(workshop: Workshop, table: str, layout: Layout) -> Told:
    """What the content of a table is told by: not by its period, so that one may come out as the one before."""
    columns = [c for c in workshop.tables.contract(table).columns if c not in ("period", layout.stamp)]
    return Told(columns, layout.row_key)


def _stamped(frame: DataFrame, column: str, prints: Mapping[str, str]) -> DataFrame:
    stamps = frame.sparkSession.createDataFrame(list(prints.items()), f"period string, {column} string")
    return frame.join(F.broadcast(stamps), "period")


def _checked(work: Work, made: _Made) -> list[str]:
    """The periods that pass every check: first of the figures of each, then of all rows that are to be written."""
    run, outcome = work.run, work.outcome
    for check in (*made.computed.checks, *made.computed.judge()):
        if not work.periods:
            return []
        passed = run.check(_of_periods(check.frame, work.periods), check.suite, check.about, work.periods, outcome)
        for period in set(work.periods) - set(passed):
            outcome.refused[period] += check.told(period)
        work.refuse({})
    for table, layout in work.step.writes.items():
        frame = made.frames.get(table)
        if frame is None or not work.periods:
            continue
        suite = layout.suite(work.definition) if layout.suite else load_suite(table)
        run.check(_of_periods(frame, work.periods), suite, table, work.periods, outcome)
        work.refuse({})
    return work.periods


def _of_periods(frame: DataFrame, periods: Sequence[str]) -> DataFrame:
    return frame.where(F.col("period").isin(list(periods)))


def _write(work: Work, made: _Made, periods: list[str]) -> list[str]:
    """Every table side by side, a commit each: a commit is mostly waiting for small jobs. Periods of which nothing is
    published any more, because a table was made anew, are given back."""
    run = work.run
    kept, withdrawn = make_anew(work.step, run, work.look, periods)
    others = sorted({*work.ledger.of(work.step.name)} - {*periods})

    def write(table: str, layout: Layout) -> None:
        frame = made.frames.get(table)
        if frame is not None:
            frame = _laid_out(_of_periods(frame, periods), layout, made.rows(table, periods))
        if table in kept:
            stays = kept[table]
            run.replace(table, stays if frame is None else frame.unionByName(stays), [*periods, *others])
        elif frame is None:
            run.clear(table, periods)
        else:
            run.replace(table, frame, periods)

    with ThreadPoolExecutor(len(work.step.writes)) as pool:
        for written in [pool.submit(write, *item) for item in work.step.writes.items()]:
            written.result()
    return withdrawn


def _laid_out(frame: DataFrame, layout: Layout, rows: int) -> DataFrame:
    files = max(layout.fewest_files, rows // layout.rows_per_file) if layout.rows_per_file else 1
    if layout.sort and files > 1:
        return frame.repartitionByRange(files, *layout.sort[:2]).sortWithinPartitions(*layout.sort)
    frame = frame.coalesce(files)
    return frame.sortWithinPartitions(*layout.sort) if layout.sort else frame


def _records(work: Work, made: _Made, periods: list[str]) -> dict[str, PeriodRecord]:
    """What `runs` keeps of every period. Of a chain each one stands on what the one before it came out as."""
    step, computed = work.step, made.computed
    look = work.look
    records: dict[str, PeriodRecord] = {}
    for period in periods:
        inputs = look.inputs(step, period) | dict(computed.inputs.get(period, {}))
        rows_in = computed.rows_in.get(period)
        records[period] = PeriodRecord(
            rows_in=_rows_needed(work, look, period) if rows_in is None else rows_in,
            rows_out=made.rows(step.result, [period]),
            input_fingerprints=inputs,
            output_fingerprints=made.outputs[period],
            details=dict(computed.details.get(period, {})),
        )
        look = look.with_published(work.run.publication(period, records[period]))
    return records


def _rows_needed(work: Work, look: Look, period: str) -> int:
    """Of the first of the step that it needs, and all that it needs of that one."""
    needs = look.needs(work.step)
    found: set[str] = {of for need in needs if _alike(need, needs[0]) for of in need.periods(look, period)}
    return work.rows_of(needs[0].step, found) if needs else 0


def _alike(need: Need, other: Need) -> bool:
    return (need.step, need.output) == (other.step, other.output)

"""One run of a step: its phases and checks, the commits it makes, and the row in `runs` that publishes it."""

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from skyarchive.pipeline.workshop import Workshop, code_version
from skyarchive.quality.checking import (
    CheckResult,
    Suite,
    check,
    explain_failure,
    failed_periods,
    quality_rows,
)
from skyarchive.quality.docs import keep_result
from skyarchive.store.lake import Lake
from skyarchive.store.ledger import Publication
from skyarchive.store.losses import WITHDRAWN
from skyarchive.store.tables import Commit


@dataclass
class Outcome:
    """What a step did: the periods it published, and why it refused the others."""

    step: str
    published: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    too_early: set[str] = field(default_factory=set)
    """Of the refused, those that wait for other periods: a later refresh will compute them."""
    judged_by: dict[str, str] = field(default_factory=dict)
    """Of the refused, the run whose checks failed, where it came to a check."""
    left_out: list[str] = field(default_factory=list)
    """Sentences on raw files that nobody can read and that belong to no period as far as is known."""

    def refuse(self, periods: Sequence[str], why: str, *, too_early: bool = False) -> None:
        for period in periods:
            self.refused.setdefault(period, why)
        self.too_early.update(periods if too_early else ())


@dataclass
class PeriodRecord:
    """What `runs` keeps of one period."""

    rows_in: int
    rows_out: int
    input_fingerprints: dict[str, str]
    output_fingerprints: dict[str, str]
    details: dict[str, Any] = field(default_factory=dict)


class Run:
    """One step over one or more periods, from its start to its publication."""

    def __init__(self, workshop: Workshop, step: str, parameters: dict[str, Any]):
        self.workshop = workshop
        self.step = step
        self.parameters = parameters
        self.started = datetime.now(UTC)
        self.run_id = f"{self.started:%Y%m%dT%H%M%S}-{step}-{uuid.uuid4().hex[:8]}"
        self.input_versions: dict[str, Any] = {}
        self.output_versions: dict[str, int] = {}
        self._began = time.monotonic()
        self._phases: dict[str, float] = {}
        self._quality: list[dict[str, Any]] = []

    @contextmanager
    def phase(self, name: str, periods: Sequence[str]) -> Iterator[None]:
        """Show and time one phase of the work."""
        began = time.monotonic()
        with self.workshop.progress.phase(f"{self.workshop.archive} {span(periods)}: {self.step}, {name}"):
            yield
        self._phases[name] = self._phases.get(name, 0.0) + time.monotonic() - began

    def check(self, frame: DataFrame, suite: Suite, table: str, periods: list[str], outcome: Outcome) -> list[str]:
        """Judge a frame before it is written; the periods that passed. What failed is refused with its reasons."""
        results = check(frame, suite, periods)
        self._quality += quality_rows(results, periods, self.run_id, table)
        keep_result(
            docs_folder(self.workshop.lake, self.workshop.archive),
            results,
            run_id=self.run_id,
            table_name=suite.name,
            periods=periods,
            time=self.started,
        )
        failed = failed_periods(results)
        if failed:
            outcome.refuse(failed, self._explained(table, results))
            outcome.judged_by.update(dict.fromkeys(failed, self.run_id))
        return [period for period in periods if period not in failed]

    def _explained(self, table: str, results: list[CheckResult]) -> str:
        return explain_failure(self.step, self.workshop.archive, table, results, self.run_id)

    def replace(self, table: str, frame: DataFrame, periods: list[str]) -> None:
        """Write the table's periods, one commit."""
        self.output_versions[table] = self.workshop.tables.replace(table, frame, periods, self.commit(periods))

    def replace_all(self, frames: dict[str, DataFrame], periods: list[str]) -> None:
        """Write these tables' periods side by side, a commit each: a commit is mostly waiting for small jobs."""
        with ThreadPoolExecutor(len(frames)) as pool:
            written = [pool.submit(self.replace, table, frame, periods) for table, frame in frames.items()]
        for write in written:
            write.result()

    def clear(self, table: str, periods: list[str]) -> None:
        """Leave the table's periods without rows."""
        self.output_versions[table] = self.workshop.tables.clear(table, periods, self.commit(periods))

    def commit(self, periods: list[str]) -> Commit:
        return Commit(
            self.run_id,
            self.step,
            self.workshop.archive,
            periods,
            code_version(),
            self.parameters,
            self.input_versions,
        )

    def keep_quality(self, periods: list[str]) -> None:
        """Keep the results of every check, of what failed too."""
        if self._quality:
            self.workshop.tables.note("quality", self._quality, self.commit(periods))
            self._quality = []

    def publish(self, records: dict[str, PeriodRecord], withdrawn: Sequence[str] = ()) -> None:
        """Add the rows to `runs` that make this run's commits count: the last thing a step does. Of periods that are
        `withdrawn` nothing is published any more."""
        phases = {name: round(value, 2) for name, value in self._phases.items()}
        about_run = {"seconds": phases, "periods_in_run": len(records)}
        told = [
            self.publication(period, replace(record, details=record.details | about_run))
            for period, record in records.items()
        ]
        gone = PeriodRecord(0, 0, {}, {}, {WITHDRAWN: f"{self.step} of other columns is no answer any more"})
        told += [replace(self.publication(period, gone), output_versions={}) for period in withdrawn]
        rows = [
            {name: _json(value) if isinstance(value, dict) else value for name, value in vars(publication).items()}
            for publication in told
        ]
        self.workshop.tables.note("runs", rows, self.commit(list(records)))

    def publication(self, period: str, record: PeriodRecord) -> Publication:
        """What is published of a period, as whoever reads it will see it."""
        return Publication(
            period=period,
            run_id=self.run_id,
            step=self.step,
            started=self.started,
            seconds=round(time.monotonic() - self._began, 3),
            rows_in=record.rows_in,
            rows_out=record.rows_out,
            input_versions=self.input_versions,
            output_versions=self.output_versions,
            parameters=self.parameters,
            code_version=code_version(),
            input_fingerprints=record.input_fingerprints,
            output_fingerprints=record.output_fingerprints,
            details=record.details,
        )


def docs_folder(lake: Lake, archive: str) -> Path:
    """Where an archive's validations are kept for its Data Docs."""
    return lake.root / archive / "_quality"


def span(periods: Sequence[str]) -> str:
    """Periods as a person would say them."""
    return periods[0] if len(periods) == 1 else f"{periods[0]}..{periods[-1]}"


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)

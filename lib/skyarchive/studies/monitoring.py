"""What would it cost to watch this live? A replay under every method (paper 001), kept in `monitoring`."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from skyarchive.answers.positions import directions
from skyarchive.definition.frequent import THETA_PLACES, asked_query
from skyarchive.definition.selection import Selection
from skyarchive.errors import SettingError
from skyarchive.kernels.monitoring.feed import Feed, LogFeed
from skyarchive.kernels.monitoring.replaying import EXACT, Query, Replay, Result, replay
from skyarchive.kernels.monitoring.workloads import Workload
from skyarchive.pipeline.publishing import PeriodRecord, Run, span
from skyarchive.pipeline.workshop import Workshop
from skyarchive.progress import Progress
from skyarchive.studies.update_logs import UpdateLog, read_update_log

STEP = "monitor"
TABLE = "monitoring"
GOOD = 0.9
"""Recall and precision that an approximate method must reach to be recommended."""
WORTH_IT = 0.9
"""An approximate method is recommended only if it needs at most this share of the best exact one's messages."""
_REMIND = 10.0
"""Seconds between lines that say how far a long replay is."""


@dataclass(frozen=True)
class Parameters:
    """The query and the sampling, as a person gives them."""

    theta: str = "0.8"
    window: int = 1000
    epsilon: float = 0.2
    delta: float = 0.1
    seed: int = 0
    absent: float | None = None
    """Value of every attribute of an object while it is not there; None: it takes no part then."""

    def query(self) -> Query:
        """Checked, with θ as the decimal it was written as."""
        asked = asked_query(self.theta, self.window)
        for name, meaning in (("epsilon", "error"), ("delta", "doubt")):
            value = getattr(self, name)
            if not 0 < value < 1:
                raise SettingError(f"--{name} {value}: the {meaning} allowed must be above 0 and below 1, such as 0.1.")
        if self.seed < 0:
            raise SettingError(f"--seed {self.seed}: give 0 or more.")
        if self.absent is not None and not math.isfinite(self.absent):
            raise SettingError(f"--absent {self.absent}: give a number, such as 0.")
        return Query(Fraction(asked.theta), asked.window, self.epsilon, self.delta, self.seed)


@dataclass(frozen=True)
class Study:
    """A replay with its recommendation."""

    title: str
    parameters: Parameters
    rate: float
    replay: Replay
    recommended: str
    reason: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per method, as they are shown."""
        naive = self.replay.results[0].total
        return [
            {
                "method": result.method,
                "uplink": result.uplink,
                "downlink": result.downlink,
                "total": result.total,
                "share_of_naive": round(result.total / naive, 5) if naive else None,
                "cpu_seconds": round(result.cpu_seconds, 3),
                "recall": round(result.recall, 5),
                "precision": round(result.precision, 5),
                "failures": result.failures,
                "probes": result.probes,
                "reports": result.reports,
                "recommended": result.method == self.recommended,
            }
            for result in self.replay.results
        ]


def study_workload(workload: Workload, parameters: Parameters, progress: Progress) -> Study:
    """The paper's synthetic data under all methods."""
    data = f"{workload.distribution}, {workload.objects} objects, {workload.dimensions} dimensions"
    return _studied(f"{data}, u {workload.uncertainty:g}", workload, parameters, progress)


def study_archive(workshop: Workshop, selection: Selection, parameters: Parameters) -> Study:
    """Periods of an archive under all methods; the outcome stands in `monitoring`."""
    parameters.query()
    run = Run(workshop, STEP, vars(parameters) | {"periods": selection.text})
    log = read_update_log(workshop, selection)
    absent = parameters.absent
    place = None if absent is None else [absent * sign for sign in directions(workshop.definition)]
    feed = LogFeed(log.snapshot, log.item, log.costs, log.n_snapshots, place)
    study = _studied(f"{workshop.archive} {span(log.periods)}", feed, parameters, workshop.progress)
    _keep(run, log, study)
    return study


def _studied(title: str, feed: Feed, parameters: Parameters, progress: Progress) -> Study:
    query = parameters.query()
    if query.window > feed.n_snapshots:
        raise SettingError(
            f"--window {query.window} is longer than the {feed.n_snapshots} snapshots of {title}: "
            "give a shorter one, or replay more."
        )
    with progress.phase(f"{title}: replaying {feed.n_snapshots} snapshots"):
        found = replay(feed, query, _reminder(title, feed.n_snapshots, progress))
    return Study(title, parameters, query.rate, found, *recommend(found.results))


def _reminder(title: str, snapshots: int, progress: Progress) -> Callable[[int], None]:
    last = time.monotonic()

    def remind(done: int) -> None:
        nonlocal last
        if time.monotonic() - last > _REMIND:
            last = time.monotonic()
            progress.say(f"{title}: {done} of {snapshots} snapshots")

    return remind


def recommend(results: list[Result]) -> tuple[str, str]:
    """The method to use, and why, in a sentence."""
    by_method = {result.method: result for result in results}
    exact = min((by_method[name] for name in EXACT), key=lambda r: r.total)
    good = [r for r in results if min(r.recall, r.precision) >= GOOD]
    best = min(good, key=lambda r: r.total)
    if best.method not in EXACT and best.total > WORTH_IT * exact.total:
        best = exact
    naive = by_method["naive"].total
    cost = f"{best.total:,} messages, {best.total / naive:.1%} of naive's" if naive else "no messages at all"
    if best.method in EXACT:
        return best.method, f"{best.method} is exact and needs {cost}; nothing good enough is clearly cheaper."
    return best.method, (
        f"{best.method} needs {cost} and {best.total / exact.total:.0%} of what the best exact method ({exact.method}) "
        f"needs, with recall {best.recall:.3f} and precision {best.precision:.3f}."
    )


def _keep(run: Run, log: UpdateLog, study: Study) -> None:
    """Adds the study to the archive's table and publishes it."""
    workshop, periods = run.workshop, log.periods
    run.input_versions = dict(log.versions)
    common = {
        "period": periods[-1],
        "periods": span(periods),
        "run_id": run.run_id,
        "theta": Decimal(study.parameters.theta).quantize(Decimal(1).scaleb(-THETA_PLACES)),
        "window_size": study.parameters.window,
        "epsilon": study.parameters.epsilon,
        "delta": study.parameters.delta,
        "seed": study.parameters.seed,
        "absent": study.parameters.absent,
        "sampling_rate": study.rate,
        "snapshots": study.replay.snapshots,
        "sampled": study.replay.sampled,
        "objects": study.replay.objects,
        "lived": study.replay.lived,
        "reason": study.reason,
    }
    rows = [common | row for row in study.rows]
    with workshop.noting():
        workshop.tables.discard_unpublished()
        workshop.tables.note(TABLE, rows, run.commit(periods))
        run.output_versions = {TABLE: workshop.lake.open(workshop.archive, TABLE).version()}
        details = {"recommended": study.recommended}
        run.publish({periods[-1]: PeriodRecord(len(log.snapshot), len(rows), {}, {}, details)})

"""Are the published skylines right? Random snapshots, computed again by brute force from `updates`."""

import json
import random
from dataclasses import dataclass, field
from typing import Any

from skyarchive.answers.positions import misjudged, positions_at
from skyarchive.errors import NotPublishedError, QualityError
from skyarchive.pipeline.auditing import SAMPLES
from skyarchive.pipeline.look import Look
from skyarchive.pipeline.publishing import Run
from skyarchive.pipeline.workshop import Workshop
from skyarchive.wording import counted

_SHOWN = 10
_TABLES = ("snapshots", "updates", "carry", "skyline")


@dataclass
class Report:
    """What an audit looked at and found. The same seed on the same versions looks at the same snapshots."""

    archive: str
    seed: int
    versions: dict[str, int]
    snapshots: list[tuple[str, int]] = field(default_factory=list)
    """Period and number."""
    faults: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    """Objects that are in the published skyline and should not be, or the other way round."""

    @property
    def looked_at(self) -> int:
        return len(self.snapshots)

    @property
    def summary(self) -> str:
        state = f"{counted(len(self.faults), 'is', 'are')} wrong" if self.faults else "all are right"
        looked_at = counted(len(self.snapshots), "random snapshot", "random snapshots")
        return f"{self.archive}: {looked_at} computed again (seed {self.seed}): {state}."

    def raise_faults(self) -> None:
        if not self.faults:
            return
        shown = [
            f"snapshot {snapshot} of {period}: {', '.join(objects[:_SHOWN])}"
            for (period, snapshot), objects in list(self.faults.items())[:_SHOWN]
        ]
        raise QualityError(
            f"{self.summary} Misjudged: {'; '.join(shown)}. See: skyarchive why {self.archive} OBJECT --at SNAPSHOT, "
            f"and skyarchive history {self.archive}.skyline. To see it again: skyarchive audit {self.archive} "
            f"--seed {self.seed}"
        )


def audit(workshop: Workshop, snapshots: int = SAMPLES, seed: int | None = None) -> Report:
    """Compute random snapshots of the published periods again; the outcome stands in `quality` too."""
    archive, look = workshop.archive, Look.read(workshop.lake, workshop.definition)
    ledger = look.ledger
    if not ledger.of("skyline"):
        raise NotPublishedError(f"{archive} has no published skylines yet; run: skyarchive run {archive}")
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    report = Report(archive, seed, {table: ledger.versions[table] for table in _TABLES})
    pinned = {(archive, table): version for table, version in report.versions.items()}
    session = workshop.lake.connect(pinned, pinned)
    spans = session.execute(
        f"select period, min(snapshot), max(snapshot) from {archive}.snapshots group by period order by period"
    ).fetchall()
    numbers = {period: range(first, last + 1) for period, first, last in spans if period in ledger.of("skyline")}
    for period, snapshot in _drawn(numbers, snapshots, random.Random(seed)):
        members = session.execute(
            f"select object from {archive}.skyline where period = ? and ? between first_snapshot and last_snapshot",
            [period, snapshot],
        ).fetchall()
        positions = positions_at(session, workshop.definition, period, look.before(period), snapshot)
        wrong = misjudged(positions, (row[0] for row in members))
        report.snapshots.append((period, snapshot))
        if wrong:
            report.faults[period, snapshot] = wrong
    _keep(workshop, report)
    return report


def _drawn(numbers: dict[str, range], count: int, chance: random.Random) -> list[tuple[str, int]]:
    """Different snapshots, each as likely as the others."""
    total = sum(map(len, numbers.values()))
    drawn = []
    for place in sorted(chance.sample(range(total), min(count, total))):
        for period, span in numbers.items():
            if place < len(span):
                drawn.append((period, span[place]))
                break
            place -= len(span)
    return drawn


def _keep(workshop: Workshop, report: Report) -> None:
    run = Run(workshop, "audit", {"seed": report.seed, "snapshots": len(report.snapshots)})
    rows: list[dict[str, Any]] = []
    for period in dict.fromkeys(period for period, _ in report.snapshots):
        looked_at = [snapshot for of, snapshot in report.snapshots if of == period]
        wrong = {at: report.faults[period, at] for at in looked_at if (period, at) in report.faults}
        rows.append({
            "period": period,
            "run_id": run.run_id,
            "table_name": "skyline",
            "expectation": "random snapshots equal brute force",
            "success": not wrong,
            "observed": f"{len(looked_at)} looked at, {len(wrong)} wrong",
            "sample": json.dumps([f"{name} at {snapshot}" for snapshot in wrong for name in wrong[snapshot]][:_SHOWN]),
        })  # fmt: skip
    with workshop.noting():
        workshop.tables.note("quality", rows, run.commit(sorted({row["period"] for row in rows})))

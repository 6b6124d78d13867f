"""A small archive told step by step and written by hand as far as its periods were derived and have skylines: what is
asked of it needs no Spark."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from delta_log import Archive, run
from oracle import skylines as oracle
from places import PLACES
from skyarchive.definition.catalog import Catalog
from skyarchive.definition.model import Definition
from skyarchive.pipeline.look import NOTHING
from skyarchive.settings import Settings
from skyarchive.steps.frequent.questions import FrequentQuestions
from skyarchive.steps.skyline.questions import SkylineQuestions
from world import SCHEMA as RUNS

Place = tuple[float, float] | None
"""Cost and worth; None: gone."""
_TIME = pa.timestamp("us", "UTC")
_PLACE = [("period", pa.string()), ("object", pa.string()), ("cost", pa.float64()), ("worth", pa.float64())]
_SPAN = [(name, pa.int64()) for name in ("first_snapshot", "last_snapshot")]
_TIMES = [(name, _TIME) for name in ("first_time", "last_time")]
_FLAGS = [(name, pa.bool_()) for name in ("continued_from", "continues_into")]
SCHEMAS = {
    "snapshots": pa.schema(
        [("period", pa.string()), ("snapshot", pa.int64()), ("time", _TIME), ("label", pa.string())]
    ),
    "updates": pa.schema([*_PLACE, ("snapshot", pa.int64()), ("gone", pa.bool_())]),
    "carry": pa.schema(_PLACE),
    "objects": pa.schema([("period", pa.string()), ("object", pa.string()), ("name", pa.string())]),
    "skyline": pa.schema([("period", pa.string()), ("object", pa.string()), *_SPAN, *_TIMES, *_FLAGS]),
}


@dataclass(frozen=True)
class Step:
    """One snapshot: who moves where."""

    period: str
    time: datetime
    moves: Mapping[str, Place]


class Chronicle:
    """The archive `places`, told by its steps."""

    def __init__(self, folder: Path, steps: Sequence[Step]) -> None:
        (folder / "definitions").mkdir(parents=True)
        (folder / "definitions" / "places.yaml").write_text(PLACES)
        self.settings = Settings(
            warehouse=str(folder / "warehouse"), raw=str(folder / "raw"), archives=str(folder / "definitions")
        )
        archive = Archive(folder / "warehouse", "places")
        self.runs = archive.table("runs", RUNS)
        self.tables = {name: archive.table(name, schema) for name, schema in SCHEMAS.items()}
        self.clock = datetime(2026, 1, 1, tzinfo=UTC)
        self.tell(steps)

    @property
    def definition(self) -> Definition:
        return Catalog(self.settings).get("places")

    def ask(self) -> "Asked":
        return Asked(self.settings, self.definition)

    def tell(self, steps: Sequence[Step]) -> None:
        """What happened, from now on: nothing of it is derived yet."""
        self.steps = list(steps)
        self.where: list[dict[str, tuple[float, float]]] = []
        now: dict[str, tuple[float, float]] = {}
        for step in steps:
            now = {item: place for item, place in (now | dict(step.moves)).items() if place is not None}
            self.where.append(now)

    @property
    def periods(self) -> list[str]:
        return sorted({step.period for step in self.steps})

    def truth(self, at: int) -> set[str]:
        """Who is unbeaten at a snapshot, by definition."""
        places = self.where[at]
        names = sorted(places)
        points = {n: (places[name][0], -places[name][1]) for n, name in enumerate(names)}
        return {names[n] for n in oracle.skyline(points)} if points else set()

    def numbers(self, period: str) -> range:
        own = [at for at, step in enumerate(self.steps) if step.period == period]
        return range(own[0], own[-1] + 1)

    def derive(self, *periods: str) -> None:
        for period in periods:
            own = self.numbers(period)
            timeline = [{"snapshot": at, "time": self.steps[at].time, "label": f"step {at}"} for at in own]
            updates = [
                {"snapshot": at, "object": item, "gone": place is None, **_coordinates(place)}
                for at in own
                for item, place in self.steps[at].moves.items()
            ]
            ends = [{"object": item, **_coordinates(place)} for item, place in self.where[own[-1]].items()]
            names = [{"object": item, "name": f"Place {item}"} for item in sorted({row["object"] for row in updates})]
            rows = {"snapshots": timeline, "updates": updates, "carry": ends, "objects": names}
            inputs = {"raw": "", "carry": self._start(period)}
            self._publish("ingest", period, {}, {}, {"raw": ""})
            self._publish("derive", period, rows, inputs, self._prints(period))

    def skyline(self, *periods: str) -> None:
        for period in periods:
            own = self.numbers(period)
            rows = [
                {
                    "object": item, "first_snapshot": first, "last_snapshot": last,
                    "first_time": self.steps[first].time, "last_time": self.steps[last].time,
                    "continued_from": first == own[0] > 0 and item in self.truth(first - 1),
                    "continues_into": last == own[-1],
                }
                for item, first, last in self.intervals(own)
            ]  # fmt: skip
            prints = {name: value for name, value in self._prints(period).items() if name != "carry"}
            self._publish(
                "skyline", period, {"skyline": rows}, prints | {"carry": self._start(period)}, {"skyline": ""}
            )

    def intervals(self, among: Sequence[int]) -> list[tuple[str, int, int]]:
        answers = [self.truth(at) for at in among]
        names = sorted(set().union(*answers))
        numbered = [{names.index(item) for item in members} for members in answers]
        return [(names[n], among[first], among[last]) for n, first, last in oracle.intervals(numbered)] if names else []

    def _prints(self, period: str) -> dict[str, str]:
        own = self.numbers(period)
        told = repr([(at, self.steps[at]) for at in own])
        return {"snapshots": told, "updates": told, "carry": repr((own[-1], self.where[own[-1]]))}

    def _start(self, period: str) -> str:
        before = max((known for known in self.periods if known < period), default=None)
        return self._prints(before)["carry"] if before else NOTHING

    def _publish(
        self, step: str, period: str, rows: Mapping[str, Any], inputs: Mapping[str, str], outputs: Mapping[str, str]
    ) -> None:
        self.clock += timedelta(minutes=1)
        run_id = f"run {self.clock}"
        versions = {
            name: self.tables[name].replace(period, own, run(run_id, step, period)) for name, own in rows.items()
        }
        read = {name: len(self.tables[name].versions) - 1 for name in ("updates", "snapshots", "carry")}
        texts = {
            "input_versions": read if step == "skyline" else {}, "output_versions": versions, "parameters": {},
            "details": {}, "input_fingerprints": inputs, "output_fingerprints": outputs,
        }  # fmt: skip
        row: dict[str, Any] = {name: json.dumps(value) for name, value in texts.items()}
        row |= {"run_id": run_id, "step": step, "code_version": "0.1.0", "started": self.clock, "seconds": 1.0}
        self.runs.append(period, [row | {"rows_in": 1, "rows_out": 1}], run(run_id, step, period))


class Asked(SkylineQuestions, FrequentQuestions):
    """All that can be asked of skylines, in one."""


def _coordinates(place: Place) -> dict[str, float | None]:
    return {"cost": place[0], "worth": place[1]} if place else {"cost": None, "worth": None}

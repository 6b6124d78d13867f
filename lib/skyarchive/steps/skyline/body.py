"""What skyline computes: when nobody beat an object, from the update log of some periods."""

from functools import partial

from pyspark.sql import functions as F

from skyarchive.kernels.timeline import Method
from skyarchive.pipeline.execute import Check, Computed, Work
from skyarchive.quality.suites import load_suite
from skyarchive.steps.skyline.checks import FIGURES, judge
from skyarchive.steps.skyline.intervals import Log, clipped, cut, membership, part_intervals

_LARGE_UPDATES = 1_000_000
"""Updates that count as large."""
_MOVES_PER_OBJECT = 4
"""A part has at least this many updates for every object, else its keyframe would be most of it."""


def skyline(work: Work) -> Computed:
    """The intervals of the periods, all in one go: they do not need each other."""
    method: Method = work.parameters.setdefault("method", "witness")
    work.parameters["part_updates"] = work.workshop.settings.part_updates
    updates = {period: work.rows_of("derive", [period]) for period in work.periods}
    work.expect(large=sum(updates.values()) >= _LARGE_UPDATES)
    before = {period: work.look.before(period) for period in work.periods}
    log = _log(work, before)
    parts = cut(log, updates, _part_size(work))
    found_by = partial(part_intervals, method=method)
    frame = work.kept.keep(work.select("skyline", clipped(membership(log, parts, found_by), log)))
    reached = {*work.periods, *(start for start in before.values() if start is not None)}
    tables = work.workshop.lake.readings(work.archive, work.run.input_versions, reached)
    judged = judge(work.definition, tables, before, frame)
    figures = work.workshop.spark.createDataFrame(judged.rows, FIGURES)
    return Computed(
        frames={"skyline": frame},
        checks=[Check(figures, load_suite("skyline_periods"), "skyline", judged.told)],
        details={period: {"parts": sum(part.period == period for part in parts)} for period in work.periods},
    )


def _part_size(work: Work) -> int:
    derived = work.ledger.of("derive").values()
    objects = max((published.details["objects_carried"] for published in derived), default=0)
    return max(work.workshop.settings.part_updates, _MOVES_PER_OBJECT * objects)


def _log(work: Work, before: dict[str, str | None]) -> Log:
    attributes = work.definition.attributes
    earlier = [(start, period) for period, start in before.items() if start is not None]
    carry = work.read("carry", [start for start, _ in earlier] or work.periods[:1])
    if not earlier:
        carry = carry.limit(0)
    starts = work.workshop.spark.createDataFrame(earlier, "before string, next_period string")
    carry = carry.where("object is not null").join(F.broadcast(starts), F.col("period") == F.col("before"))
    return Log(
        updates=work.read("updates", work.periods),
        carry=carry.select(F.col("next_period").alias("period"), "object", *attributes),
        snapshots=work.kept.keep(work.read("snapshots", work.periods)),
        attributes=attributes,
    )

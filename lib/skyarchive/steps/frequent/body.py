"""What frequent computes: who was unbeaten often enough, from the skylines of some periods and those before."""

from skyarchive.answers.intervals import Span
from skyarchive.pipeline.execute import Check, Computed, Work
from skyarchive.quality.suites import load_suite
from skyarchive.steps.frequent.buckets import with_frequent_intervals
from skyarchive.steps.frequent.checks import FIGURES, judge
from skyarchive.steps.frequent.step import looked_into

_BUCKET_ROWS = 500_000
"""Membership intervals that one call of the kernel takes, about."""


def frequent(work: Work) -> Computed:
    """The frequent objects of the periods for all queries of the definition, in one go: they need the skylines of the
    periods that their windows reach into, and not each other's results."""
    queries = work.definition.frequent
    work.parameters["queries"] = [f"{query.theta:f} of {query.window}" for query in queries]
    back = {period: looked_into(work.look, period) for period in work.periods}
    reached = sorted({*back, *(name for names in back.values() for name in names)})
    rows = work.rows_of("skyline", reached)
    work.expect(large=rows >= _BUCKET_ROWS)
    spans = _spans(work)
    members = work.read("skyline", reached)
    found = with_frequent_intervals(members, queries, spans, rows // _BUCKET_ROWS + 1)
    frame = work.kept.keep(work.select("frequent", found))
    skylines = {"skyline": work.run.input_versions["skyline"]}
    tables = work.workshop.lake.readings(work.archive, skylines, reached)
    judged = judge(work.archive, tables, queries, spans, frame)
    figures = work.workshop.spark.createDataFrame(judged.rows, FIGURES)
    return Computed(
        frames={"frequent": frame},
        checks=[Check(figures, load_suite("frequent_periods"), "frequent", judged.told)],
        details={period: {"looked_back_into": names} for period, names in back.items()},
    )


def _spans(work: Work) -> list[Span]:
    """The first and last snapshot of every period, in order."""
    pinned = {(work.archive, "snapshots"): work.run.input_versions["snapshots"]}
    with work.workshop.lake.connect(pinned, pinned) as session:
        found = session.execute(
            f"select period, min(snapshot), max(snapshot) from {work.archive}.snapshots "
            "where list_contains($periods, period) group by period order by period",
            {"periods": work.periods},
        ).fetchall()
    return [Span(*row) for row in found]

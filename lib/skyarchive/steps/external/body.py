"""What external computes: the unbeaten records up to the end of each period, from its raw rows and those before."""

from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyarchive.dataframes.choosing import chosen_plan
from skyarchive.dataframes.workers import GROUP, Question
from skyarchive.definition.expressions import looks_back
from skyarchive.kernels.points.preferences import checked_preferences
from skyarchive.pipeline.execute import Check, Computed, Work, told_by
from skyarchive.quality.suites import load_suite
from skyarchive.steps.external.chains import unbeaten_so_far
from skyarchive.steps.external.checks import FIGURES, Answers, judge
from skyarchive.steps.external.records import records, unnamed_values
from skyarchive.steps.external.step import columns_read
from skyarchive.store.fingerprints import Content, contents_by_period

_LARGE_ROWS = 1_000_000
"""Raw rows that count as large."""


def external(work: Work) -> Computed | None:
    """The unbeaten records of neighbouring periods, in one go."""
    asked = work.definition.external
    assert asked is not None
    work.expect(large=work.rows_of("ingest", work.periods) >= _LARGE_ROWS)
    faults = unnamed_values(_records(work), asked)
    if not work.refuse({period: f"{work.archive} {period}: {why}" for period, why in faults.items()}):
        return None
    own, start = _records(work), _start(work)
    preferences = checked_preferences(asked.preferences())
    rows = work.rows_of("ingest", work.periods)
    question = Question(preferences, grouped=True)
    plan = chosen_plan(own.withColumn(GROUP, F.col("group_key")), question, rows, len(work.periods))
    work.parameters["plan"] = plan
    found = unbeaten_so_far(own, start, work.periods, asked.preferences(), plan)
    frame = work.kept.keep(work.select("external", found))
    contents = contents_by_period(frame, told_by(work.workshop, "external", work.step.writes["external"]))
    answers = Answers.of(frame, start, own, work.read("raw", work.periods), work.periods)
    with ThreadPoolExecutor(1) as beside:
        counting = beside.submit(own.groupBy("period").count().collect)
        judged = judge(answers, preferences, work.periods, _sizes(work, contents))
        counted: dict[str, int] = dict(counting.result())
    figures = work.workshop.spark.createDataFrame(judged.rows, FIGURES)
    return Computed(
        frames={"external": frame},
        checks=[Check(figures, load_suite("external_periods"), "external", judged.told)],
        contents={"external": contents},
        details={period: {"records": counted.get(period, 0)} for period in work.periods},
    )


def _records(work: Work) -> DataFrame:
    """The periods' own records."""
    rows = work.read("raw", work.periods).where(work.definition.counts)
    rows = rows.select("period", "file", "row", *columns_read(work.definition))
    before = work.look.before(work.periods[0])
    carry = None
    if before is not None and looks_back(work.definition):
        carry = work.read("carry", [before]).where("object is not null")
    return records(rows, work.definition, carry)


def _start(work: Work) -> DataFrame | None:
    """The unbeaten records before them."""
    before = work.look.before(work.periods[0])
    return None if before is None else work.read("external", [before])


def _sizes(work: Work, contents: dict[str, Content]) -> dict[str, tuple[int, int, int]]:
    """How many records every period's answer has, the one before it, and at most the period itself."""
    before = work.look.before(work.periods[0])
    earlier = 0 if before is None else work.rows_of("external", [before])
    sizes: dict[str, tuple[int, int, int]] = {}
    for period in work.periods:
        own = contents.get(period, Content()).rows
        sizes[period] = (own, earlier, work.rows_of("ingest", [period]))
        earlier = own
    return sizes

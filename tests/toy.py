"""A step of its own: how often each object moved in a period. It is declared here and nowhere else."""

from pathlib import Path

from pyspark.sql import functions as F

from skyarchive.pipeline.execute import Check, Computed, Work
from skyarchive.pipeline.step import Layout, Need, Step
from skyarchive.quality.suites import load_suite

REFUSED: set[str] = set()
"""Periods that the step refuses while they are named here."""
_TABLE = """
about: how often each object moved
columns:
  period: string not null
  object: string not null
  moves: bigint not null
"""
_SUITE = """
about: Objects that moved.
expectations:
  - {expectation: expect_column_values_to_not_be_null, column: object}
  - {expectation: expect_column_values_to_be_between, column: moves, min_value: 1}
"""
_PERIODS = """
about: One row for every period.
expectations:
  - {expectation: expect_column_values_to_be_between, column: objects, min_value: 1, text: somebody moved}
"""


def toy(work: Work) -> Computed | None:
    """The whole body: a frame, and a figure that is checked."""
    if not work.refuse([period for period in work.periods if period in REFUSED], "it is a toy, and broken"):
        return None
    moves = work.read("updates", work.periods).groupBy("period", "object").agg(F.count("*").alias("moves"))
    figures = moves.groupBy("period").agg(F.count("*").alias("objects"))
    return Computed({"toy": moves}, [Check(figures, load_suite("toy_periods"), "toy")])


TOY = Step(
    name="toy",
    doc="Counts moves into `{archive}.toy`.",
    body="toy:toy",
    uses=lambda definition: None,
    needs=(Need("derive", "updates", why="its updates changed"),),
    reads=("updates",),
    writes={"toy": Layout(("period", "object"), is_output=True)},
    undone="has no toy yet",
    asset="toy",
    shows={"toys": lambda published: published.rows_out},
)


def write_schemas(folder: Path) -> None:
    """Its table and its suites, beside the others."""
    (folder / "tables" / "toy.yaml").write_text(_TABLE, "utf-8")
    (folder / "expectations" / "toy.yaml").write_text(_SUITE, "utf-8")
    (folder / "expectations" / "toy_periods.yaml").write_text(_PERIODS, "utf-8")

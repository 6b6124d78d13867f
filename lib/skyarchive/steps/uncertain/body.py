"""What uncertain computes."""

from skyarchive.arrivals.body import Kind, stays_of
from skyarchive.pipeline.execute import Computed, Work
from skyarchive.steps.uncertain.checks import LikelyStays
from skyarchive.steps.uncertain.facts import FACTS
from skyarchive.steps.uncertain.stays import stay_rows
from skyarchive.steps.uncertain.step import columns_read

KIND = Kind(FACTS, stay_rows, LikelyStays, columns_read)


def uncertain(work: Work) -> Computed | None:
    """The stays of neighbouring periods, in one go."""
    return stays_of(work, KIND)

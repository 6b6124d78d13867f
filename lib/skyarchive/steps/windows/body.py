"""What windows computes."""

from skyarchive.arrivals.body import Kind, stays_of
from skyarchive.pipeline.execute import Computed, Work
from skyarchive.steps.windows.checks import WindowStays
from skyarchive.steps.windows.facts import FACTS
from skyarchive.steps.windows.stays import stay_rows
from skyarchive.steps.windows.step import columns_read

KIND = Kind(FACTS, stay_rows, WindowStays, columns_read)


def windows(work: Work) -> Computed | None:
    """The stays of neighbouring periods, in one go."""
    return stays_of(work, KIND)

"""Loading the compiled code of the default methods, which comes with their first call."""

import numpy as np

from skyarchive.kernels.windows.asking import dominators, window_stays
from skyarchive.kernels.windows.live import LiveWindow


def warm() -> None:
    """What a worker needs for its first part of a stream, and who goes on with one for its first records."""
    moments, group = np.arange(2), np.zeros(2, np.int32)
    columns = [np.zeros(2)]
    window_stays(moments, group, columns, 1)
    dominators(moments, group, columns, 1)
    LiveWindow(1, 1).feed(moments, group, columns)

"""Loading the compiled code of the default method, which comes with its first call."""

import numpy as np

from skyarchive.kernels.uncertain import likely_stays


def warm() -> None:
    """What a worker needs for its first part of a stream."""
    likely_stays(np.zeros(1, np.int64), None, [np.zeros(1)], np.ones(1), 1, [1.0])

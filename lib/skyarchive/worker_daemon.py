"""What Spark forks its Python workers from (`spark.python.daemon.module`): it has imported what they need and loaded
the compiled kernels, so that every worker starts with them, and shares their memory."""

import numpy as np
import pandas as pd  # noqa: F401 - Spark's own worker imports it
import pyarrow as pa  # noqa: F401
from pyspark.daemon import manager

from skyarchive.kernels.points import unbeaten
from skyarchive.kernels.timeline import skyline_intervals


def load_kernels() -> None:
    """The default methods' compiled code comes with their first call."""
    first, value = np.zeros(1, np.int32), np.zeros(1)
    skyline_intervals(first, first, [value], 1)
    for width in (1, 4):  # swept, and compared with members
        unbeaten([value] * width)


if __name__ == "__main__":
    load_kernels()
    manager()

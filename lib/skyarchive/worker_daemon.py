"""What Spark forks its Python workers from (`spark.python.daemon.module`): it has imported what they need and loaded
the compiled kernels, so that every worker starts with them, and shares their memory."""

import duckdb  # noqa: F401 - checks count with it
import pandas as pd  # noqa: F401 - Spark's own worker imports it
import pyarrow as pa  # noqa: F401
from pyspark.daemon import manager

from skyarchive.pipeline.step import all_steps, resolved


def load_kernels() -> None:
    """What the steps' bodies call on the workers."""
    for place in dict.fromkeys(step.warm_up for step in all_steps() if step.warm_up):
        resolved(place)()


if __name__ == "__main__":
    load_kernels()
    manager()

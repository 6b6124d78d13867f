"""How large a frame is, as far as its plan tells without running anything."""

from typing import Any

from pyspark.sql import DataFrame

_ROW_BY_ROW = frozenset({"Project", "Filter", "SubqueryAlias", "View"})
"""What changes rows one at a time: above a file it leaves them as few, and as quick to read, as they are there."""


def known_bytes(rows: DataFrame) -> int | None:
    """At most so many bytes, by the statistics of the one table that the rows come from. None where nothing is known:
    for joins, aggregates and whatever else may hold more or take longer than its size says, and with Spark Connect,
    which does not tell."""
    frame: Any = rows
    if not hasattr(frame, "_jdf"):
        return None
    plan = frame._jdf.queryExecution().analyzed()
    node = plan
    while node.nodeName() in _ROW_BY_ROW and node.children().size() == 1:
        node = node.children().head()
    # A leaf says its own size; of what has children below it nothing is promised.
    if node.children().size() or node.isStreaming():
        return None
    return int(node.stats().sizeInBytes())

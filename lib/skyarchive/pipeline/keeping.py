"""Frames that are computed once, at their first use, and used several times."""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame


class Kept:
    """Holds such frames until they are let go."""

    def __init__(self) -> None:
        self._frames: list[DataFrame] = []

    def keep(self, frame: DataFrame) -> DataFrame:
        """The frame to use instead, which remembers its rows.

        On a Spark Connect server that is a checkpoint: it belongs to the session and goes with it, also where the
        client is killed. What is persisted there belongs to all sessions, with its plans, and nobody else could ever
        undo it; nor would it be told from the same plan of a later run over files that have changed since.
        """
        if _is_remote(frame):
            return frame.localCheckpoint(eager=False)
        self._frames.append(frame.persist())
        return self._frames[-1]

    def let_go(self) -> None:
        while self._frames:
            self._frames.pop().unpersist()


@contextmanager
def keeping() -> Iterator[Kept]:
    """While open, what is kept stays."""
    kept = Kept()
    try:
        yield kept
    finally:
        kept.let_go()


def _is_remote(frame: DataFrame) -> bool:
    return type(frame).__module__.startswith("pyspark.sql.connect")

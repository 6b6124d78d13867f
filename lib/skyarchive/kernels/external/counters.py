"""What a method cost, counted the same way for all of them."""

from dataclasses import dataclass


@dataclass
class Counters:
    """Costs that do not depend on the machine."""

    passes: int = 0
    """Times that a stream (the source, or what is left of it) was read from its start."""
    sequential_reads: int = 0
    """Batches read."""
    random_reads: int = 0
    """Of these, batches that did not follow the one read before them: the first of every pass, and every batch of a
    merge that comes from another run than the last."""
    rows_read: int = 0
    rows_written: int = 0
    """To temporary files."""
    comparisons: int = 0
    """Pairs of points tested. They are tested by blocks: each block looked at counts with all its lanes."""
    most_points: int = 0
    """The most points a window, a sample or a buffer of the method held at once, batches of the streams not counted."""

    def hold(self, points: int) -> None:
        """Notes that so many points are in memory now."""
        self.most_points = max(self.most_points, points)

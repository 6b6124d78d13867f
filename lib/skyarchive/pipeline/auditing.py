"""Are published results right? Every step that has an audit computes samples of its own again."""

from collections.abc import Iterator
from typing import Protocol

from skyarchive.pipeline.step import resolved, steps_of
from skyarchive.pipeline.workshop import Workshop

SAMPLES = 20


class Report(Protocol):
    """What an audit looked at and found."""

    seed: int

    @property
    def looked_at(self) -> int:
        """How many samples."""
        ...

    @property
    def summary(self) -> str: ...

    def raise_faults(self) -> None:
        """End as an error if anything published is wrong."""
        ...


def audits(workshop: Workshop, samples: int = SAMPLES, seed: int | None = None) -> Iterator[Report]:
    """The audits of an archive, one step after the other."""
    for step in steps_of(workshop.definition):
        if step.audit:
            yield resolved(step.audit)(workshop, samples, seed)

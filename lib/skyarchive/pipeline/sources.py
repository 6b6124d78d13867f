"""What the pipeline has to know of an archive's raw files; the step that begins with them says how it is known."""

from typing import TYPE_CHECKING, Protocol, Self

from skyarchive.pipeline.step import first_step, resolved

if TYPE_CHECKING:
    from skyarchive.definition.model import Definition
    from skyarchive.pipeline.workshop import Workshop
    from skyarchive.settings import Settings
    from skyarchive.store.lake import Lake
    from skyarchive.store.ledger import Publication


class Sources(Protocol):
    """The raw files of an archive, by the periods that they hold."""

    @classmethod
    def read(cls, lake: "Lake", settings: "Settings", definition: "Definition") -> Self:
        """As far as it is known without reading them."""
        ...

    @classmethod
    def looked_into(cls, workshop: "Workshop") -> Self:
        """After every file was read that had to be."""
        ...

    def periods(self) -> list[str]:
        """Every period that some file is known to hold."""
        ...

    def count(self, period: str) -> int:
        """How many files hold rows of it."""
        ...

    def untold(self) -> list[str]:
        """A sentence for each file that nobody can read and that belongs to no period as far as is known."""
        ...

    def unknown_sentence(self) -> str:
        """That there are files not looked into yet; empty if there are none."""
        ...

    def why_stale(self, published: "Publication") -> str:
        """What changed in a period's files since it was published; empty if nothing did."""
        ...


def sources_of(lake: "Lake", settings: "Settings", definition: "Definition") -> Sources:
    """The archive's raw files, as far as they are known."""
    found: Sources = resolved(first_step().sources).read(lake, settings, definition)
    return found


def looked_into(workshop: "Workshop") -> Sources:
    """The archive's raw files, each looked into that has to be, and those again that could not be."""
    from skyarchive.pipeline.analysing import row_faults_told  # which imports Spark

    with row_faults_told(workshop.definition):
        found: Sources = resolved(first_step().sources).looked_into(workshop)
    return found

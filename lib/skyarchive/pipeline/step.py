"""What a step is: data. Readiness, staleness, the order of work, commands and DAG edges all follow from it."""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from skyarchive.definition.model import Definition
from skyarchive.errors import SettingError

if TYPE_CHECKING:
    from skyarchive.pipeline.look import Look
    from skyarchive.quality.suites import Suite
    from skyarchive.store.ledger import Publication

_REGISTRY = "skyarchive.steps"
"""The room that declares all steps. They import this module, so it is only looked up when it is needed."""
Periods = Callable[["Look", str], list[str]]
Told = Callable[["Look", str, str], str]
"""Something about a period and one that it stands on."""


def same(look: "Look", period: str) -> list[str]:
    """The period itself."""
    return [period]


def before(look: "Look", period: str) -> list[str]:
    """The period that a period starts from; none for the archive's first."""
    earlier = look.before(period)
    return [] if earlier is None else [earlier]


def always(definition: Definition) -> bool:
    """Of every archive."""
    return True


@dataclass(frozen=True)
class Need:
    """Something that a step's result for a period stands on."""

    step: str
    output: str
    """Key of that step's output fingerprints."""
    periods: Periods = same
    each: bool = False
    """Whether there may be several periods, each told apart when one changed."""
    why: str | Told = ""
    """What `status` says when it changed; {period} is the period of it."""
    link: str = ""
    """In a refusal, how the period stands on {period}; empty where that is the period itself."""
    asked: Callable[[Definition], bool] = always
    columns: Callable[[Definition], Collection[str]] | None = None
    """The columns of it that count; all of them if left out."""
    fingerprint: Told | None = None
    """The fingerprint of what counts of it, found in what is published; left out: that of the output."""
    waits: bool = True
    """Whether a result waits for it to be current; else what is published of it counts as it is."""

    @property
    def is_own(self) -> bool:
        """Whether it is of the period itself."""
        return self.periods is same

    def told(self, look: "Look", period: str, of: str) -> str:
        """What `status` says of a period for which it changed."""
        return self.why.format(period=of) if isinstance(self.why, str) else self.why(look, period, of)

    def key(self, period: str) -> str:
        """What its fingerprint is kept under."""
        return f"{self.output} {period}" if self.each else self.output


@dataclass(frozen=True)
class Layout:
    """How a table's rows are written, judged and told apart from others."""

    sort: tuple[str, ...] = ()
    rows_per_file: int | None = None
    """Left out: one file for each period."""
    fewest_files: int = 1
    is_output: bool = False
    """Whether others stand on it: it gets a fingerprint."""
    row_key: tuple[str, ...] = ()
    """Columns that tell its rows apart: with them each column gets a fingerprint, too, for those who read only some."""
    stamp: str | None = None
    """A column that takes the fingerprint of the others."""
    outlives: bool = False
    """Whether its rows of other periods stay when its columns change, with nulls for what they lack."""
    suite: "Callable[[Definition], Suite] | None" = None
    """The suite that judges its rows, where it is not the one of the table's name."""


@dataclass(frozen=True)
class Step:
    """One step from raw files to results."""

    name: str
    doc: str
    """What Airflow's pages say of its task; {archive} is the archive."""
    body: str
    """`module:function` that computes it, imported only where it runs."""
    uses: Callable[[Definition], Any]
    """What of the definition its results depend on, as plain data."""
    writes: Mapping[str, Layout]
    """Its tables; the first one's rows are those of its result."""
    needs: tuple[Need, ...] = ()
    reads: tuple[str, ...] = ()
    """Tables that it reads, pinned by version."""
    asked: Callable[[Definition], bool] = always
    version: int = 1
    """Raised when equal input gives another answer; results of older ones are stale."""
    undone: str = "is not computed"
    """What is said of a period without it."""
    outdated: str = "was computed of what has changed since"
    """What is said of a period whose result does not fit any more."""
    chained: bool = False
    """Neighbouring periods go together; a refused one stops those after it."""
    completes: bool = False
    """Earlier periods that it stands on and that are not as they should be are made, too."""
    waits: bool = True
    """Whether a period that misses what it stands on is no failure: refresh makes it later."""
    hands_over: bool = False
    """Whether what stands on it begins when it is published: in Airflow, in a DAG of its own."""
    asset: str = ""
    """What Airflow is told of when it is published; nothing if empty."""
    sources: str = ""
    """`module:class` that knows the raw files, of a step that begins with them; see `Sources`."""
    shows: "Mapping[str, Callable[[Publication], Any]]" = field(default_factory=dict)
    """Columns of `status`, from its publication of a period."""
    shows_version_of: str = ""
    """Its table whose version `status` shows."""
    commands: str = ""
    """Module with a function `register(app)` that adds its commands."""
    warm_up: str = ""
    """`module:function` that loads the compiled kernels of its workers."""
    audit: str = ""
    """`module:function` that computes samples of what is published again; see `Audit`."""

    @property
    def result(self) -> str:
        """The table whose rows are the result."""
        return next(iter(self.writes))

    def definition_print(self, definition: Definition) -> str:
        """Fingerprint of what of the definition counts for it."""
        content = json.dumps(self.uses(definition), sort_keys=True, default=str)
        return hashlib.sha256(content.encode()).hexdigest()[:16]


def resolved(place: str) -> Any:
    """What `module:name` names."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def all_steps() -> tuple[Step, ...]:
    """Every step there is; each comes after those it stands on."""
    steps: tuple[Step, ...] = import_module(_REGISTRY).STEPS
    return steps


def steps_of(definition: Definition) -> tuple[Step, ...]:
    """Those that an archive goes through."""
    return tuple(step for step in all_steps() if step.asked(definition))


def first_step() -> Step:
    """The one that begins with the raw files."""
    return next(step for step in all_steps() if step.sources)


def names_of(definition: Definition) -> list[str]:
    """The names of an archive's steps, in their order."""
    return [step.name for step in steps_of(definition)]


def step_named(name: str) -> Step:
    return next(step for step in all_steps() if step.name == name)


def checked_steps(text: str | None, definition: Definition) -> list[str]:
    """The steps named in a comma-separated list, in their order; all of the archive's without one."""
    known = names_of(definition)
    if text is None:
        return known
    named = [step.strip() for step in text.split(",")]
    unknown = [step for step in named if step not in known]
    if unknown:
        raise SettingError(f"{unknown[0]!r} is not a step of {definition.name}; its steps are {', '.join(known)}.")
    return [step for step in known if step in named]

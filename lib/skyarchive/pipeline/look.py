"""What is published of an archive, seen with its definition: what a step stands on, and whether that is still so."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from skyarchive.definition.model import Definition
from skyarchive.pipeline.step import Need, Step, first_step, step_named, steps_of
from skyarchive.store.fingerprints import column_key
from skyarchive.store.lake import Lake
from skyarchive.store.ledger import Ledger, Publication

NOTHING = "none"
"""Fingerprint of what an archive's first period starts from."""
MISSING = "missing"
"""Fingerprint of what is not published, and so fits nothing."""
Found = TypeVar("Found")
DEFINITION, VERSION, FILES = "definition", "version", "files"
"""Keys of a publication's input fingerprints beside those of its needs."""


@dataclass(frozen=True)
class Look:
    """One look at an archive; it does not change while others go on."""

    definition: Definition
    ledger: Ledger

    @classmethod
    def read(cls, lake: Lake, definition: Definition) -> "Look":
        return cls(definition, Ledger.read(lake, definition.name))

    @cached_property
    def _found(self) -> dict[Any, Any]:
        return {}

    def once(self, find: Callable[["Look"], Found]) -> Found:
        """What a function finds in this look, which does not change: looked for once."""
        if find not in self._found:
            self._found[find] = find(self)
        found: Found = self._found[find]
        return found

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The archive's steps, in their order."""
        return steps_of(self.definition)

    @cached_property
    def timeline(self) -> list[str]:
        """The periods that the archive has, in order."""
        return sorted(self.ledger.of(first_step().name))

    def before(self, period: str) -> str | None:
        """The period of the archive that the given one starts from."""
        return max((known for known in self.timeline if known < period), default=None)

    def published(self, step: str, period: str) -> Publication | None:
        return self.ledger.of(step).get(period)

    def needs(self, step: Step) -> list[Need]:
        """What it stands on in this archive."""
        return [need for need in step.needs if need.asked(self.definition)]

    def stands_on(self, step: Step, period: str) -> list[tuple[Need, str]]:
        """Every need with every period of it."""
        return [(need, of) for need in self.needs(step) for of in need.periods(self, period)]

    def inputs(self, step: Step, period: str) -> dict[str, str]:
        """Fingerprints of all that a result depends on, as they are now."""
        found = {DEFINITION: step.definition_print(self.definition), VERSION: str(step.version)}
        found |= {need.output: NOTHING for need in self.needs(step) if not need.each}
        return found | {need.key(of): self._output(need, period, of) for need, of in self.stands_on(step, period)}

    def with_published(self, publication: Publication) -> "Look":
        """The same after something more was published."""
        return Look(self.definition, self.ledger.with_published(publication))

    def _output(self, need: Need, period: str, of: str) -> str:
        published = self.published(need.step, of)
        if published is None:
            return MISSING
        if need.fingerprint is not None:
            return need.fingerprint(self, period, of)
        outputs = published.output_fingerprints
        if need.columns is None:
            return outputs.get(need.output, MISSING)
        keys = [column_key(need.output, column) for column in sorted(need.columns(self.definition))]
        parts = [str(published.rows_out), *(f"{key} {outputs.get(key, MISSING)}" for key in keys)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def is_as_asked(self, step: Step, period: str) -> bool:
        """Whether a result is published that would come out the same now, as far as the raw files are as they were."""
        published = self.published(step.name, period)
        return published is not None and not changed(published, self.inputs(step, period))

    def fits(self, step: Step, period: str) -> bool:
        """Whether a result is published of what its needs have published now, under whatever definition."""
        published = self.published(step.name, period)
        return published is not None and not changed(published, self.inputs(step, period)) - {DEFINITION, VERSION}

    def unready(self, step: Step, period: str, chain: Sequence[str] = ()) -> str | None:
        """Why a period cannot be computed yet, as a sentence. What is of the step itself may come in its `chain`."""
        archive = self.definition.name
        for need, of in self.stands_on(step, period):
            if need.step == step.name and of in chain:
                continue
            needed = step_named(need.step)
            where = f"{archive} {period}" if of == period else f"{archive} {period} {need.link.format(period=of)}"
            if self.published(need.step, of) is None:
                return f"{where} {needed.undone}; run: skyarchive run {archive} --periods {of}"
            # What a period starts from is told by its fingerprint; whether that will change is not waited for.
            if (need.is_own or need.each) and not self.fits(needed, of):
                return f"{where} {needed.outdated}; run: skyarchive refresh {archive}"
        return None

    def with_earlier(self, step: Step, periods: Sequence[str]) -> list[str]:
        """The periods and, where one before the last of them is not as it would be computed now, all from there on."""
        earlier = [known for known in self.timeline if known < max(periods)]
        first = next((known for known in earlier if not self.is_as_asked(step, known)), None)
        return sorted({*periods, *(known for known in earlier if first is not None and known >= first)})

    def chains(self, periods: Iterable[str]) -> list[list[str]]:
        """The periods in order, cut wherever one of the archive's that is not among them lies between."""
        found: list[list[str]] = []
        for period in sorted(periods):
            if found and self.before(period) == found[-1][-1]:
                found[-1].append(period)
            else:
                found.append([period])
        return found


def changed(published: Publication, inputs: Mapping[str, str]) -> set[str]:
    """What a result was made of that is something else now; raw files are told by those who know them."""
    known = published.input_fingerprints
    return {key for key in {*known, *inputs} - {FILES} if known.get(key) != inputs.get(key)}

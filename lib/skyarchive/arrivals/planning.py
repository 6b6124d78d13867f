"""Which periods need their records looked at, and what is known of the periods around them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skyarchive.arrivals import facts as told
from skyarchive.arrivals.computing import Assignment, Later, Summary
from skyarchive.arrivals.facts import Fact, StepFacts
from skyarchive.arrivals.ordered import Asked
from skyarchive.definition.windows import attribute_names
from skyarchive.pipeline.look import Look, changed
from skyarchive.pipeline.step import Step


@dataclass(frozen=True)
class Plan:
    """Of the periods of a run those whose records are looked at, which are neighbours, and those that are only
    numbered anew: nothing else has changed for them."""

    computed: tuple[str, ...]
    renumbered: tuple[str, ...]

    @classmethod
    def of(cls, kept: StepFacts, look: Look, step: Step, periods: Sequence[str]) -> "Plan":
        different = {period: _different(look, step, period) for period in periods}
        others = [period for period in periods if not _is_renumbered(kept, look, period, different)]
        if not others:
            return cls((), tuple(periods))
        between = tuple(period for period in periods if others[0] <= period <= others[-1])
        return cls(between, tuple(period for period in periods if period not in between))


def _different(look: Look, step: Step, period: str) -> set[str] | None:
    """What the published result stands on that is something else now; None without one."""
    published = look.published(step.name, period)
    return None if published is None else changed(published, look.inputs(step, period))


def _is_renumbered(kept: StepFacts, look: Look, period: str, different: Mapping[str, set[str] | None]) -> bool:
    if different[period] != {told.BEFORE} or not _counted(kept, look, period):
        return False
    # What it looks into must come out as it is published, where it is computed again as well.
    return all(not _has_other_records(different[of]) for of in kept.looked_into(look, period) if of in different)


def _counted(kept: StepFacts, look: Look, period: str) -> bool:
    """Whether it is known how many records there are before it, and were when it was computed."""
    published = look.published(kept.step, period)
    assert published is not None
    texts = published.input_fingerprints.get(told.BEFORE), kept.records_before(look, period, period)
    return told.UNKNOWN not in texts and None not in texts and period in kept.published(look)


def _has_other_records(different: set[str] | None) -> bool:
    if different is None:
        return True
    return any(key != told.BEFORE and not key.startswith(f"{told.RECORDS} ") for key in different)


def assignment(kept: StepFacts, look: Look, periods: Sequence[str]) -> Assignment:
    """What is to be computed of these neighbours."""
    facts, queries = kept.published(look), kept.queries(look.definition)
    earlier = [known for known in look.timeline if known < periods[0]]
    context = told.reached(queries, earlier, facts)
    long_ago = [facts[known] for known in earlier if not context or known < context[0]]
    return Assignment(
        Asked.of(queries),
        tuple(attribute_names(queries)),
        tuple(context),
        tuple(periods),
        {query.name: sum(fact[query.name].records for fact in long_ago) for query in queries},
        tuple(_later(kept, look, periods)),
    )


def _later(kept: StepFacts, look: Look, periods: Sequence[str]) -> list[Later]:
    """The published periods after these that have looked into one of them."""
    facts, names = kept.published(look), [query.name for query in kept.queries(look.definition)]
    found = []
    for period, published in sorted(look.ledger.of(kept.step).items()):
        reached = published.details.get(told.LOOKED_INTO, {})
        if period > periods[-1] and set(reached) & set(periods):
            between = [facts[known] for known in look.timeline if periods[-1] < known < period and known in facts]
            last = {name: [fact[name].last for fact in between if fact[name].last is not None] for name in names}
            counts = {name: sum(fact[name].records for fact in between) for name in names}
            found.append(Later(period, counts, {name: times[-1] if times else None for name, times in last.items()}))
    return found


@dataclass(frozen=True)
class Told:
    """What is published of every period beside its rows."""

    details: dict[str, dict[str, Any]]
    inputs: dict[str, dict[str, str]]

    @classmethod
    def of(cls, kept: StepFacts, look: Look, plan: Plan, summary: Summary, periods: Collection[str]) -> "Told":
        """`periods`: those that are published."""
        queries = kept.queries(look.definition)
        names = [query.name for query in queries]
        facts = known_facts(kept, look, summary)

        def part(period: str, of: str) -> str:
            parts = summary.parts.get(period, {}).get(of, {})
            return told.print_of({name: parts.get(name, told.NO_RECORDS) for name in names})

        result = cls({}, {})
        for period in (period for period in plan.computed if period in periods):
            earlier = [known for known in look.timeline if known < period]
            reached = told.reached(queries, earlier, facts)
            prints = {of: told.print_of({name: facts[of][name].print for name in names}) for of in reached}
            later = [of for of, published in look.ledger.of(kept.step).items()
                     if of > period and period in published.details.get(told.LOOKED_INTO, {})]  # fmt: skip
            result.details[period] = {
                told.QUERIES: {name: fact.told() for name, fact in facts[period].items()},
                told.LOOKED_INTO: {of: {told.ALL: prints[of], told.PART: part(period, of)} for of in reached},
                told.PARTS: {of: part(of, period) for of in later if of not in plan.computed},
            }
            if period in summary.left_out:
                result.details[period][told.LEFT_OUT] = summary.left_out[period]
            result.inputs[period] = {f"{told.RECORDS} {of}": part(period, of) for of in reached}
        for period in (period for period in plan.renumbered if period in periods):
            published = look.published(kept.step, period)
            assert published is not None
            keys = (told.QUERIES, told.LOOKED_INTO, told.PARTS, told.LEFT_OUT)
            result.details[period] = {key: published.details[key] for key in keys if key in published.details}
            known = published.details[told.LOOKED_INTO].items()
            result.inputs[period] = {f"{told.RECORDS} {of}": parts[told.PART] for of, parts in known}
        return result


def known_facts(kept: StepFacts, look: Look, summary: Summary) -> dict[str, Mapping[str, Fact]]:
    """What is told of the periods that were computed, and published of all others."""
    facts: dict[str, Mapping[str, Fact]] = {**kept.published(look)}
    for period, of_period in summary.facts.items():
        facts[period] = {name: Fact.of(fact) for name, fact in of_period.items()}
    return facts


def more_records(kept: StepFacts, look: Look, period: str, facts: Mapping[str, Mapping[str, Fact]]) -> dict[str, int]:
    """By query, how many more records there are before a published period than when it was computed."""
    published = look.published(kept.step, period)
    assert published is not None
    text = published.input_fingerprints[told.BEFORE]
    known = {} if text == told.NOTHING else told.counts_told(text)
    earlier = [facts[of] for of in look.timeline if of < period]
    return {
        query.name: sum(fact[query.name].records for fact in earlier) - known.get(query.name, 0)
        for query in kept.queries(look.definition)
    }

"""What publications of a step tell of a period's records, and what follows for the periods after it.

Every publication keeps, query by query, how many records the period has, the times of the first and the last, and a
print of them. A later period stands on the number of records before it, and on those of two windows before it begins,
which is right after the last record before it: those of one window may still be members, and those of one more say
since when they are. It keeps the print of exactly these records of each earlier period, and a period that is computed
again says what that print has become for each that was published after it. So a change is told from one that does not
concern a later period without a look at any record.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skyarchive.definition.windows import WindowQuery
from skyarchive.wording import counted

if TYPE_CHECKING:
    from skyarchive.definition.model import Definition
    from skyarchive.pipeline.look import Look
    from skyarchive.store.ledger import Publication

QUERIES, PARTS, LOOKED_INTO = "queries", "parts", "looked_into"
"""Keys of a publication's details: what is told of each query; for later periods the prints of what they look into;
and of each earlier period that was looked into, the print of all its records then, and of what was looked into."""
LEFT_OUT = "left_out"
"""Key of a publication's details: by query how many records took no part for want of a probability."""
ALL, PART = "all", "part"
NOTHING = "none"
"""Fingerprint of what comes before an archive's first period."""
UNKNOWN = "unknown"
"""Fingerprint of what was published before a query was asked."""
NO_RECORDS = ""
"""Print of no records."""


@dataclass(frozen=True)
class Fact:
    """What is told of a period's records of one query."""

    records: int
    first: int | None
    """Time of the first, in microseconds since 1970; None where there are no records."""
    last: int | None
    print: str

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Fact":
        return cls(told["records"], told["first"], told["last"], told["print"])

    def told(self) -> dict[str, Any]:
        """As it is kept."""
        return {"records": self.records, "first": self.first, "last": self.last, "print": self.print}


Facts = Mapping[str, Mapping[str, Fact]]
"""By period and query."""


def _facts_of(published: "Publication", names: Sequence[str]) -> dict[str, Fact] | None:
    told = published.details.get(QUERIES, {})
    return {name: Fact.of(told[name]) for name in names} if set(names) <= set(told) else None


def reach(query: WindowQuery, earlier: Sequence[Fact]) -> tuple[int, bool]:
    """How many of these periods, from the last one backwards, it takes to have all records of two windows before what
    follows them begins; and whether all of these lie within them."""
    furthest, remaining, border = 0, 2 * query.width, None
    for count, fact in enumerate(reversed(earlier), start=1):
        if fact.first is None or fact.last is None:
            continue
        border = fact.last - 2 * query.width if border is None else border
        if query.counts_records:
            furthest, remaining = count, remaining - fact.records
            is_enough = remaining <= 0
        else:
            furthest = count if fact.last > border else furthest
            is_enough = fact.first <= border
        if is_enough:
            return furthest, True
    return furthest, False


def reached(queries: Sequence[WindowQuery], earlier: Sequence[str], facts: Facts) -> list[str]:
    """Those of the earlier periods that what follows them looks into. Where they reach beyond what is known, the last
    period without facts is one of them: it has to come first."""
    known = len(earlier)
    while known > 0 and earlier[known - 1] in facts:
        known -= 1
    told = [facts[period] for period in earlier[known:]]
    reaches = [reach(query, [fact[query.name] for fact in told]) for query in queries]
    if known > 0 and not all(is_enough for _, is_enough in reaches):
        return list(earlier[known - 1 :])
    return list(earlier[len(earlier) - max((count for count, _ in reaches), default=0) :])


def counts_text(counts: Mapping[str, int]) -> str:
    """Numbers of records by query as they are kept."""
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def counts_told(text: str) -> dict[str, int]:
    """And back."""
    pairs = [part.rpartition(" ") for part in text.split(", ") if " " in part]
    return {name: int(count) for name, _, count in pairs}


BEFORE = "records before"
"""Key of the input fingerprint that tells their number."""
RECORDS = "records"
"""Key of the input fingerprints of what is looked into."""


def print_of(facts: Mapping[str, str] | Iterable[tuple[str, str]]) -> str:
    """One print for those of all queries."""
    text = "\n".join(f"{name} {told}" for name, told in sorted(dict(facts).items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def all_records(published: "Publication") -> str:
    """The print of all records of a period."""
    return print_of({name: told["print"] for name, told in published.details.get(QUERIES, {}).items()})


@dataclass(frozen=True)
class StepFacts:
    """A step that is told so of, and what its publications tell."""

    step: str
    queries: Callable[["Definition"], Sequence[WindowQuery]]
    """Those of an archive."""

    def published(self, look: "Look") -> dict[str, dict[str, Fact]]:
        """Of every period that has results of all queries as they are asked now."""
        return look.once(self._published)

    def _published(self, look: "Look") -> dict[str, dict[str, Fact]]:
        names = [query.name for query in self.queries(look.definition)]
        told = {period: _facts_of(published, names) for period, published in look.ledger.of(self.step).items()}
        return {period: facts for period, facts in told.items() if facts}

    def looked_into(self, look: "Look", period: str) -> list[str]:
        """The earlier periods whose records a period's result may depend on, in order."""
        earlier = [known for known in look.timeline if known < period]
        return reached(self.queries(look.definition), earlier, self.published(look))

    def first_missing(self, look: "Look", period: str) -> list[str]:
        """The first earlier period without results, which has to come first; else the one before the period."""
        earlier = [known for known in look.timeline if known < period]
        missing = [known for known in earlier if look.published(self.step, known) is None]
        return missing[:1] or earlier[-1:]

    def records_before(self, look: "Look", period: str, of: str) -> str:
        """How many records of every query there are before a period, as it is kept."""
        return look.once(self._records_up_to).get(look.before(period) or "", UNKNOWN)

    def _records_up_to(self, look: "Look") -> dict[str, str]:
        """How many there are up to the end of every period, as far as that is known."""
        facts = self.published(look)
        counts = {query.name: 0 for query in self.queries(look.definition)}
        found = {}
        for period in look.timeline:
            if period not in facts:
                break
            counts = {name: count + facts[period][name].records for name, count in counts.items()}
            found[period] = counts_text(counts)
        return found

    def more_or_fewer(self, look: "Look", period: str, of: str) -> str:
        """Why a period is stale before which there are as many records as there were not: 3 more records before it."""
        published = look.published(self.step, period)
        text = published.input_fingerprints.get(BEFORE, UNKNOWN) if published else UNKNOWN
        now = counts_told(self.records_before(look, period, of))
        known = dict.fromkeys(now, 0) if text == NOTHING else counts_told(text)
        changes = {name: now[name] - known[name] for name in now if name in known and now[name] != known[name]}
        if not changes:
            return "its records are numbered anew"
        told = {name: f"{counted(abs(n), 'record', 'records').replace(' ', ' more ' if n > 0 else ' fewer ', 1)}"
                for name, n in changes.items()}  # fmt: skip
        same = set(told.values())
        if len(same) == 1:
            return f"{same.pop()} before it"
        return f"{' and '.join(f'{words} of {name}' for name, words in told.items())} before it"

    def part_looked_into(self, look: "Look", period: str, of: str) -> str:
        """The print of those records of an earlier period that a period looks into, as they are published now."""
        earlier, own = look.published(self.step, of), look.published(self.step, period)
        assert earlier is not None
        known = own.details.get(LOOKED_INTO, {}).get(of) if own else None
        whole = all_records(earlier)
        if known and known[ALL] == whole:
            part: str = known[PART]
            return part
        told: str = earlier.details.get(PARTS, {}).get(period, whole)
        return told

"""Which earlier periods a period's frequent objects depend on."""

from skyarchive.definition import Definition
from skyarchive.ledger import Ledger

MISSING = "missing"
"""Fingerprint of what is not published."""


def looked_into(definition: Definition, ledger: Ledger, period: str) -> list[str]:
    """The earlier periods that the longest window reaches into, in order. It ends at the last snapshot before the
    period: whether an object was frequent there tells whether its first interval goes on from it."""
    remaining = max((query.window for query in definition.frequent), default=0)
    found: list[str] = []
    before = ledger.period_before(period)
    while before is not None and remaining > 0:
        found.insert(0, before)
        derived = ledger.of("derive").get(before)
        if derived is None:
            break
        remaining -= derived.details["snapshots"]
        before = ledger.period_before(before)
    return found


def frequent_inputs(definition: Definition, ledger: Ledger, period: str) -> dict[str, str]:
    """Fingerprints of what a period's frequent objects are computed from: its timeline, its skylines, and those of
    the periods it looks back into, by name."""
    derived = ledger.of("derive").get(period)
    skylines = {name: ledger.of("skyline").get(name) for name in [*looked_into(definition, ledger, period), period]}
    return {"snapshots": derived.output_fingerprints["snapshots"] if derived else MISSING} | {
        f"skyline {name}": published.output_fingerprints["skyline"] if published else MISSING
        for name, published in skylines.items()
    }

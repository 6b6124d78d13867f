"""What the unbeaten records of a period depend on, told from the log alone."""

from skyarchive.definition import Definition
from skyarchive.derivation import MarketModel
from skyarchive.ledger import Ledger

NOTHING = "none"
MISSING = "missing"
"""Fingerprint of what is not published, and so fits nothing."""


def needs_carry(definition: Definition) -> bool:
    """Whether records look back at their object's record before, which may be of an earlier period."""
    return isinstance(definition.derive, MarketModel)


def external_inputs(definition: Definition, ledger: Ledger, period: str) -> dict[str, str]:
    """Fingerprints of what a period's unbeaten records are found in."""
    ingested, before = ledger.of("ingest").get(period), ledger.period_before(period)
    inputs = {"raw": ingested.output_fingerprints["raw"] if ingested else MISSING, "external": NOTHING}
    if before is not None:
        earlier = ledger.of("external").get(before)
        inputs["external"] = earlier.output_fingerprints["external"] if earlier else MISSING
    if needs_carry(definition):
        derived = ledger.of("derive").get(before) if before is not None else None
        inputs["carry"] = derived.output_fingerprints["carry"] if derived else MISSING if before else NOTHING
    return inputs

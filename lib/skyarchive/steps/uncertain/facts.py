"""What publications of `uncertain` tell of a period's records."""

from collections.abc import Mapping
from typing import Any

from skyarchive.arrivals.facts import LEFT_OUT, StepFacts

FACTS = StepFacts("uncertain", lambda definition: definition.uncertain)
STEP = FACTS.step


def left_out(details: Mapping[str, Any], query: str | None = None) -> int:
    """How many of a period's records took no part for want of a probability: of a query, or of all together."""
    counts = details.get(LEFT_OUT, {})
    return int(sum(counts.values()) if query is None else counts.get(query, 0))

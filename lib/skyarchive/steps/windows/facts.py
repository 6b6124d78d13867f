"""What publications of `windows` tell of a period's records."""

from skyarchive.arrivals.facts import StepFacts

FACTS = StepFacts("windows", lambda definition: definition.windows)
STEP = FACTS.step
published_facts = FACTS.published

"""What steps over records that count for a while declare alike."""

from collections.abc import Callable
from typing import Any

from skyarchive.arrivals.facts import BEFORE, RECORDS, StepFacts
from skyarchive.definition.expressions import RecordField, columns_read_for_records, looks_back
from skyarchive.definition.model import Definition
from skyarchive.pipeline.step import Need, before


def uses(definition: Definition, field: RecordField) -> dict[str, Any]:
    """What of the definition their results depend on."""
    method = definition.derive
    lag = method.columns_used(definition.attributes) if looks_back(definition) else {}
    types = {name: definition.columns[name].type for name in method.time_columns}
    time = {"types": types, **method.model_dump(mode="json", include={"order"})}
    return {**definition.configured({field, "counts"}), "object": definition.object.column, "time": time, **lag}


def columns_read(definition: Definition, field: RecordField) -> list[str]:
    """The columns of raw rows that records are made of."""
    return sorted(columns_read_for_records(definition, field) | {*definition.derive.time_columns})


def needs(facts: StepFacts, columns: Callable[[Definition], list[str]]) -> tuple[Need, ...]:
    """What a period stands on: its raw rows, and the records before it."""
    return (
        Need("ingest", "raw", why="its raw rows changed", columns=columns),
        Need(
            facts.step,
            RECORDS,
            facts.looked_into,
            each=True,
            why="it looks back into {period}, whose records changed",
            link="looks back into {period}, which",
            fingerprint=facts.part_looked_into,
        ),
        Need(
            facts.step,
            BEFORE,
            facts.first_missing,
            why=facts.more_or_fewer,
            link="goes on from {period}, which",
            fingerprint=facts.records_before,
            waits=False,
        ),
        Need(
            "derive",
            "carry",
            before,
            why="{period} now ends with something else",
            link="needs what {period} ends with, and {period}",
            asked=looks_back,
        ),
    )

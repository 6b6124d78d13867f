"""What raw rows must be like once the refused ones are taken out: as their definition says, asked of what is kept."""

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from skyarchive.definition.bounds import NEXT_YEAR, NUMERIC_TYPES, Bound, NextYear, following_year, seconds_past
from skyarchive.definition.expressions import expressions_of
from skyarchive.definition.model import Column, Definition
from skyarchive.definition.periods import period_told_by
from skyarchive.quality.suites import Suite, load_suite, suite_exists


def raw_suite(definition: Definition) -> Suite:
    """The general suite, what follows from the definition, and what is known beyond it of a built-in archive."""
    own = f"raw_{definition.name}"
    name = own if definition.is_built_in and suite_exists(own) else "raw"
    return load_suite(name, more=expectations_of(definition))


def expectations_of(definition: Definition) -> Iterator[dict[str, Any]]:
    """Entries for its columns' requirements and bounds, its rules, and the period of each row."""
    place = definition.period.column
    yield _satisfied(place, f"{period_told_by(definition)} <=> period", f"{place} is of the period", "of its period")
    for name, column in definition.columns.items():
        if column.required:
            yield _checked(definition, name, f"{_quoted(name)} is not null", f"{name} is not null", "required")
        if column.checked and (limits := _limits(name, column)):
            bound = " and ".join(predicate for predicate, _ in limits)
            text = " and ".join(text for _, text in limits)
            yield _checked(definition, name, f"{_quoted(name)} is null or ({bound})", text, "within its bounds")
    conditions = {it.field: it for it in expressions_of(definition)}
    for n, rule in enumerate(definition.refuse):
        named = next(iter(conditions[f"refuse.{n}.when"].columns_used()), "row")
        yield _checked(definition, named, f"not coalesce(({rule.when}), false)", f"not: {rule.when}", rule.reason)


def _limits(name: str, column: Column) -> list[tuple[str, str]]:
    """Each limit of a value as a condition, and how a person reads it."""
    value = _quoted(name)
    found: list[tuple[str, str]] = []
    if column.type == "double":
        found.append((f"not isnan({value}) and abs({value}) < double('infinity')", f"{name} is finite"))
    if column.min is not None:
        found.append((f"{value} >= {_literal(column.min, column.type)}", f"{name} >= {_read(column.min)}"))
    if column.max == NEXT_YEAR:
        year = following_year()
        past: Bound = seconds_past(year) if column.type in NUMERIC_TYPES else date(year + 1, 1, 1)
        found.append((f"{value} < {_literal(past, column.type)}", f"{name} is not after {NEXT_YEAR}"))
    elif column.max is not None:
        whole_day = column.type == "timestamp" and not isinstance(column.max, datetime)
        compared, kind = (f"cast({value} as date)", "date") if whole_day else (value, column.type)
        found.append((f"{compared} <= {_literal(column.max, kind)}", f"{name} <= {_read(column.max)}"))
    return found


def _literal(bound: Bound | NextYear, kind: str) -> str:
    return f"{bound!r}D" if isinstance(bound, float) else f"cast('{bound}' as {kind})"


def _read(bound: Bound | NextYear) -> str:
    return f"{bound:g}" if isinstance(bound, float) else str(bound)


def _checked(definition: Definition, column: str, predicate: str, text: str, why: str) -> dict[str, Any]:
    """Of an archive that checks only some rows, the others may be as they are."""
    if definition.check_only:
        predicate = f"not coalesce(({definition.check_only}), false) or ({predicate})"
    return _satisfied(column, predicate, text, why)


def _satisfied(column: str, predicate: str, text: str, why: str) -> dict[str, Any]:
    return {
        "expectation": "expect_column_values_to_satisfy",
        "column": column,
        "predicate": predicate,
        "text": text,
        "why": f"the archive's definition: {why}",
    }


def _quoted(name: str) -> str:
    return f"`{name}`"

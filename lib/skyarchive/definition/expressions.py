"""The Spark SQL of a definition: every condition and value, with the columns that are there where it is computed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from skyarchive.definition.expression_grammar import columns_in
from skyarchive.definition.expression_tokens import ExpressionError

if TYPE_CHECKING:
    from skyarchive.definition.model import Definition

_PLACE = {"file": "string", "row": "bigint"}
"""Where a row came from."""


@dataclass(frozen=True)
class Expression:
    """One expression of a definition."""

    field: str
    """The way to it in the definition."""
    text: str
    wanted: Literal["condition", "number", "text"]
    columns: Mapping[str, str]
    """The columns that it may name, with their types."""

    def columns_used(self) -> dict[str, str]:
        """The columns that it names; what it may not say is a ValueError that begins with the field."""
        try:
            named = columns_in(self.text, self.columns)
        except ExpressionError as error:
            raise ValueError(f"{self.field}: {error}") from None
        return {name: kind for name, kind in self.columns.items() if name in named}


def expressions_of(definition: "Definition") -> list[Expression]:
    """All expressions of a definition, in its order."""
    method, external = definition.derive, definition.external
    read: dict[str, str] = {name: spec.type for name, spec in definition.columns.items()}
    read |= dict.fromkeys(sorted(method.reader_columns), "string") | _PLACE
    kept = read | {"period": "string"}
    found = []
    if definition.check_only is not None:
        found.append(Expression("check_only", definition.check_only, "condition", read))
    found += [Expression(f"refuse.{n}.when", rule.when, "condition", read) for n, rule in enumerate(definition.refuse)]
    found.append(Expression("counts", definition.counts, "condition", kept))
    if external:
        records = kept | dict.fromkeys(sorted(method.added_to_records), "double")
        for name, attribute in external.attributes.items():
            if attribute.value is not None:
                wanted: Literal["number", "text"] = "text" if attribute.is_ranked else "number"
                found.append(Expression(f"external.attributes.{name}.value", attribute.value, wanted, records))
        found += [Expression(f"external.group.{n}", text, "text", records) for n, text in enumerate(external.group)]
    return found


def columns_counted_by(definition: "Definition") -> set[str]:
    """The columns that say which rows count."""
    return {name for it in expressions_of(definition) if it.field == "counts" for name in it.columns_used()}


def columns_of_records(definition: "Definition") -> set[str]:
    """The columns that values and groups of records are made of."""
    external = definition.external
    if external is None:
        return set()
    plain = {name for name, attribute in external.attributes.items() if attribute.value is None}
    named = (it.columns_used() for it in expressions_of(definition) if it.field.startswith("external."))
    return plain.union(*named)

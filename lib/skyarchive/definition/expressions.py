"""The Spark SQL of a definition: every condition and value, with the columns that are there where it is computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from skyarchive.definition.expression_grammar import columns_in
from skyarchive.definition.expression_tokens import ExpressionError

if TYPE_CHECKING:
    from skyarchive.definition.external import External
    from skyarchive.definition.model import Definition
    from skyarchive.definition.windows import WindowQuery

RecordField = Literal["external", "windows", "uncertain"]
"""Fields of a definition that ask something of records."""
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
    records = kept | dict.fromkeys(sorted(method.added_to_records), "double")
    if external:
        for name, attribute in external.attributes.items():
            if attribute.value is not None:
                wanted: Literal["number", "text"] = "text" if attribute.is_ranked else "number"
                found.append(Expression(f"external.attributes.{name}.value", attribute.value, wanted, records))
        found += [Expression(f"external.group.{n}", text, "text", records) for n, text in enumerate(external.group)]
    return (
        found
        + _of_windows("windows", definition.windows, records)
        + _of_windows("uncertain", definition.uncertain, records)
    )


def _of_windows(field: RecordField, queries: "Sequence[WindowQuery]", records: Mapping[str, str]) -> list[Expression]:
    found = []
    for number, query in enumerate(queries):
        at = f"{field}.{number}"
        if query.chance is not None:
            found.append(Expression(f"{at}.probability", query.chance, "number", records))
        if query.where is not None:
            found.append(Expression(f"{at}.where", query.where, "condition", records))
        for name, attribute in query.attributes.items():
            if attribute.value is not None:
                found.append(Expression(f"{at}.attributes.{name}.value", attribute.value, "number", records))
        found += [Expression(f"{at}.group.{n}", text, "text", records) for n, text in enumerate(query.group)]
    return found


def columns_counted_by(definition: "Definition") -> set[str]:
    """The columns that say which rows count."""
    return {name for it in expressions_of(definition) if it.field == "counts" for name in it.columns_used()}


def columns_of_records(definition: "Definition", field: RecordField) -> set[str]:
    """The columns that what a field of the definition asks of records is made of."""
    named = (it.columns_used() for it in expressions_of(definition) if it.field.startswith(f"{field}."))
    return _plain_attributes(definition, field).union(*named)


def _plain_attributes(definition: "Definition", field: RecordField) -> set[str]:
    """The attributes that are columns."""
    asked: Sequence[WindowQuery | External]
    if field == "external":
        asked = [definition.external] if definition.external else []
    else:
        asked = definition.windows if field == "windows" else definition.uncertain
    return {name for it in asked for name, attribute in it.attributes.items() if attribute.value is None}


def columns_read_for_records(definition: "Definition", field: RecordField) -> set[str]:
    """The columns of raw rows that their records are made of, but those that stand in every table."""
    method = definition.derive
    used = {definition.object.column, *columns_of_records(definition, field), *columns_counted_by(definition)}
    if looks_back(definition):
        used |= {column for columns in method.columns_used(definition.attributes).values() for column in columns}
    return used - method.added_to_records - {"period", "file", "row"}


def looks_back(definition: "Definition") -> bool:
    """Whether records look back at their object's record before, which may be of an earlier period."""
    return bool(definition.derive.added_to_records)

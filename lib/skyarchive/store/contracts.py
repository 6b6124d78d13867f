"""The tables' columns and constraints: `schemas/tables/*.yaml`, filled in with an archive's own columns."""

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skyarchive.definition.model import Definition
from skyarchive.definition.windows import attribute_names
from skyarchive.errors import SchemaError, SettingError
from skyarchive.names import checked_archive
from skyarchive.settings import schemas_folder
from skyarchive.yaml_files import read_yaml

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


@dataclass(frozen=True)
class TableContract:
    """One table of one archive: what its columns must be, wherever it is read or written."""

    archive: str
    table: str
    about: str
    columns: dict[str, str]
    """Column to Spark SQL type, in the table's order."""
    required: frozenset[str]
    checks: dict[str, str]
    partitioned: bool

    @property
    def qualified(self) -> str:
        return f"{self.archive}.{self.table}"

    @property
    def optional(self) -> dict[str, str]:
        """The columns that may be null."""
        return {column: kind for column, kind in self.columns.items() if column not in self.required}

    @property
    def delta_schema(self) -> str:
        """The table's schema as Delta writes it (JSON)."""
        fields = [
            {"name": column, "type": _delta_type(kind), "nullable": column not in self.required, "metadata": {}}
            for column, kind in self.columns.items()
        ]
        return json.dumps({"type": "struct", "fields": fields})

    def conform(self, frame: "DataFrame") -> "DataFrame":
        """The frame with exactly the contract's columns in their order; a difference is an error."""
        self.compare(frame.schema)
        return frame.select(*self.columns)

    def compare(self, schema: "StructType") -> None:
        """Raise an explanation, column by column, unless the schema is the contract's."""
        self.compare_types({field.name: field.dataType.simpleString() for field in schema.fields})

    def is_met(self, found: dict[str, str]) -> bool:
        """Whether these are its columns, with their Spark SQL types."""
        return not self._differences(found)

    def compare_types(self, found: dict[str, str]) -> None:
        """The same for columns given with their Spark SQL types."""
        differences = self._differences(found)
        if differences:
            raise SchemaError(f"{self.qualified} is not what its schema says: {'; '.join(differences)}.")

    def _differences(self, found: dict[str, str]) -> list[str]:
        missing = [f"{c} ({t}) is missing" for c, t in self.columns.items() if c not in found]
        extra = [f"{c} ({t}) is not in the schema" for c, t in found.items() if c not in self.columns]
        retyped = [f"{c} is {found[c]}, must be {t}" for c, t in self.columns.items() if c in found and found[c] != t]
        return missing + extra + retyped


def table_names() -> list[str]:
    """Every table that an archive may have."""
    return sorted(path.stem for path in (schemas_folder() / "tables").glob("*.yaml"))


def split_table(qualified: str) -> tuple[str, str]:
    """'nba.updates' as ('nba', 'updates')."""
    archive, dot, table = qualified.partition(".")
    known = table_names()
    if not dot or table not in known:
        raise SettingError(f"{qualified!r} is not a table: write ARCHIVE.TABLE with a table of {', '.join(known)}.")
    return checked_archive(archive), table


def table_contract(definition: Definition, table: str) -> TableContract:
    """The contract of one table of one archive."""
    path = schemas_folder() / "tables" / f"{table}.yaml"
    content: dict[str, Any] = read_yaml(path)
    columns: dict[str, str] = {}
    required: set[str] = set()
    for name, text in content["columns"].items():
        kind = text.removesuffix(" not null")
        for column in _placeholder(definition, name, kind).items():
            columns[column[0]] = column[1]
        if kind != text:
            required.add(name)
    checks = {
        name: " and ".join(f"({text.format(attribute=a)})" for a in definition.attribute_names)
        if "{attribute}" in text
        else text
        for name, text in content.get("checks", {}).items()
    }
    partitioned = "period" in columns and content.get("partitioned", True)
    return TableContract(definition.name, table, content["about"], columns, frozenset(required), checks, partitioned)


def _placeholder(definition: Definition, name: str, kind: str) -> dict[str, str]:
    """A line of a table schema as columns: '*attributes' and its like stand for the archive's own."""
    if name == "*attributes":
        return dict.fromkeys(definition.attribute_names, kind)
    if name == "*records":
        records = definition.external.attributes if definition.external else {}
        return {column: "string" if attribute.is_ranked else "double" for column, attribute in records.items()}
    if name == "*windows":
        return dict.fromkeys(attribute_names(definition.windows), kind)
    if name == "*uncertain":
        return dict.fromkeys(attribute_names(definition.uncertain), kind)
    if name == "*state":
        return definition.derive.state_columns(definition.attributes)
    if name == "*columns":
        own: dict[str, str] = {column: spec.type for column, spec in definition.columns.items()}
        return own | dict.fromkeys(sorted(definition.derive.reader_columns), "string")
    return {name: kind}


def _delta_type(kind: str) -> Any:
    """A Spark SQL type as Delta's schema JSON writes it."""
    if kind.startswith("array<"):
        return {"type": "array", "elementType": _delta_type(kind[len("array<") : -1]), "containsNull": True}
    if kind.startswith("struct<"):
        # Split at the commas between fields, not at those within a field's own type.
        parts = re.split(r",(?=\w+:)", kind[len("struct<") : -1])
        fields = [part.partition(":")[::2] for part in parts]
        return {
            "type": "struct",
            "fields": [{"name": n, "type": _delta_type(k), "nullable": True, "metadata": {}} for n, k in fields],
        }
    return {"bigint": "long", "int": "integer"}.get(kind, kind)

"""DuckDB as the reader of Delta data files: sessions, the SQL over a list of files, and what may be asked."""

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from skyarchive.errors import SettingError

_COLUMN_TYPES = {
    "string": "VARCHAR", "long": "BIGINT", "integer": "INTEGER", "short": "SMALLINT", "byte": "TINYINT",
    "float": "FLOAT", "double": "DOUBLE", "boolean": "BOOLEAN", "binary": "BLOB", "date": "DATE",
    "timestamp": "TIMESTAMPTZ", "timestamp_ntz": "TIMESTAMP",
}  # fmt: skip


def new_session() -> duckdb.DuckDBPyConnection:
    """An empty in-memory session: UTC, no downloads, blind to the variables of this program."""
    spill = Path(tempfile.gettempdir()) / f"skyarchive-duckdb-{os.getpid()}"
    session = duckdb.connect(
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "temp_directory": str(spill),
        }
    )
    session.execute("SET TimeZone = 'UTC'")
    session.execute("SET python_enable_replacements = false")
    return session


def add_view(session: duckdb.DuckDBPyConnection, schema: str, name: str, query: str) -> None:
    """Have the session call a query `schema.name`."""
    session.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
    session.execute(f"CREATE VIEW {quoted(schema)}.{quoted(name)} AS {query}")


def shut_in(session: duckdb.DuckDBPyConnection, files: list[str]) -> None:
    """From here on the session reads these files and no other, writes none but its own, and stays as it is."""
    session.execute(f"SET allowed_paths = [{', '.join(map(_text, files))}]")
    session.execute("SET enable_external_access = false")
    session.execute("SET lock_configuration = true")


def check_read_only(sql: str) -> None:
    """Refuses anything but one statement that only reads."""
    statements = duckdb.extract_statements(sql)
    if len(statements) != 1:
        raise SettingError(f"Give one SQL statement; this text holds {len(statements)}.")
    kind = statements[0].type
    explained = re.match(r"\s*explain\s+(?:analyze\s+)?(.*)", sql, re.IGNORECASE | re.DOTALL)
    if kind == duckdb.StatementType.EXPLAIN and explained:
        # EXPLAIN ANALYZE executes what it explains, so that has to be a query itself.
        return check_read_only(explained[1])
    # A PIVOT that looks up its own columns is MULTI; so are COPY and CREATE around one.
    queried = re.match(r"\s*(select|with|from|pivot)\b", sql, re.IGNORECASE)
    pivot = kind == duckdb.StatementType.MULTI and queried
    if kind != duckdb.StatementType.SELECT and not pivot:
        raise SettingError(
            "Only a query can be run (SELECT, WITH, FROM, VALUES, DESCRIBE, EXPLAIN): steps write the tables."
        )


def select_files(columns: Mapping[str, str], files: list[str], partitioned: bool) -> str:
    """A SELECT over data files with the table's columns and types, whatever columns the files have."""
    typed = ", ".join(f"NULL::{kind} AS {quoted(name)}" for name, kind in columns.items())
    empty = f"SELECT {typed} WHERE false"
    if not files:
        return empty
    paths = ", ".join(map(_text, files))
    # The period stands in the path only; as a text it must not become a number or a date.
    hive = "true, hive_types = {'period': 'VARCHAR'}" if partitioned else "false"
    return (
        f"SELECT {', '.join(map(quoted, columns))} FROM ({empty} "
        f"UNION ALL BY NAME FROM read_parquet([{paths}], union_by_name = true, hive_partitioning = {hive}))"
    )


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def duckdb_type(kind: Any) -> str:
    """A Delta type, as its schema JSON writes it, in DuckDB's words."""
    if isinstance(kind, str):
        return _COLUMN_TYPES.get(kind, kind.upper())
    if kind["type"] == "array":
        return f"{duckdb_type(kind['elementType'])}[]"
    if kind["type"] == "map":
        return f"MAP({duckdb_type(kind['keyType'])}, {duckdb_type(kind['valueType'])})"
    fields = (f"{quoted(field['name'])} {duckdb_type(field['type'])}" for field in kind["fields"])
    return f"STRUCT({', '.join(fields)})"


def spark_type(kind: Any) -> str:
    """A Delta type, as its schema JSON writes it, in Spark SQL's words."""
    if isinstance(kind, str):
        return {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}.get(kind, kind)
    if kind["type"] == "array":
        return f"array<{spark_type(kind['elementType'])}>"
    if kind["type"] == "map":
        return f"map<{spark_type(kind['keyType'])},{spark_type(kind['valueType'])}>"
    fields = ",".join(f"{field['name']}:{spark_type(field['type'])}" for field in kind["fields"])
    return f"struct<{fields}>"


def quoted(name: str) -> str:
    """A name as a SQL identifier."""
    return '"' + name.replace('"', '""') + '"'

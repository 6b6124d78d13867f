"""Views: tables that are a query over other ones, in words that DuckDB and Spark both understand: `schemas/views`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from skyarchive.settings import schemas_folder
from skyarchive.yaml_files import read_yaml


@dataclass(frozen=True)
class View:
    """One view of every archive."""

    about: str
    tables: tuple[str, ...]
    """What it is made of."""
    query: str
    """With {archive}, and the version of each of its tables by name, to be filled in."""


def views() -> dict[str, View]:
    """All views, by name."""
    return _views(schemas_folder())


@cache
def _views(schemas: Path) -> dict[str, View]:
    found = {}
    for path in sorted((schemas / "views").glob("*.yaml")):
        content: dict[str, Any] = read_yaml(path)
        found[path.stem] = View(content["about"], tuple(content["tables"]), content["query"])
    return found


def view_tables() -> dict[str, tuple[str, ...]]:
    """Every view with the tables it is made of."""
    return {name: view.tables for name, view in views().items()}


def view_query(archive: str, view: str, versions: Mapping[str, int]) -> str:
    """The query behind a view of an archive whose tables are read at these versions."""
    found = views()[view]
    return found.query.format(archive=archive, **{table: versions[table] for table in found.tables})

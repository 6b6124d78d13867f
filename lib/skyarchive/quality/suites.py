"""Suites of expectations as data: `schemas/expectations/<suite>.yaml`, read and checked here.

A suite file has these keys, all optional but `expectations`:

- `about`: one sentence on what the suite guards.
- `extends`: the suite whose entries come first.
- `expectations`: a list of entries.
- `attributes`: entries made once for each attribute of an archive; `{column}` in them stands for its name.

An entry is `expectation` (a name of KINDS), `column`, the arguments of that expectation, and if wanted `text`
(how a person reads it) and `why`. An argument `$name` is a parameter given when the suite is loaded.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from skyarchive.errors import DefinitionError
from skyarchive.settings import schemas_folder

if TYPE_CHECKING:
    from great_expectations.expectations.expectation import Expectation

_SUITE_KEYS = ("about", "extends", "expectations", "attributes")
_SUITE_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Entry:
    """One expectation of a suite: how it reads, the columns it is about, and the object that judges."""

    text: str
    column: str
    predicate: str
    expectation: "Expectation"


@dataclass(frozen=True)
class Suite:
    """A named list of expectations, each of which judges every row alone: validating several periods in one
    go says what validating each of them says."""

    name: str
    entries: tuple[Entry, ...]


def load_suite(
    name: str,
    *,
    attributes: Iterable[str] = (),
    more: Iterable[Mapping[str, Any]] = (),
    folder: Path | None = None,
    **parameters: Any,
) -> Suite:
    """The suite of that name for an archive's attribute columns, and `more` entries, which follow from its
    definition."""
    entries = _raw_entries(name, tuple(attributes), folder or schemas_folder() / "expectations")
    entries += [("the archive's definition", raw) for raw in more]
    return Suite(name, tuple(_entry(where, raw, parameters) for where, raw in entries))


def suite_exists(name: str, folder: Path | None = None) -> bool:
    """Whether there is a suite of that name: a built-in archive without one of its own takes the general one."""
    return _suite_file(name, folder or schemas_folder() / "expectations").is_file()


def _suite_file(name: str, folder: Path) -> Path:
    if not _SUITE_NAME.fullmatch(name):
        raise DefinitionError(f"{name!r} is not a suite name: use lower-case letters, digits and _.")
    return folder / f"{name}.yaml"


def _raw_entries(
    name: str, attributes: tuple[str, ...], folder: Path, below: tuple[str, ...] = ()
) -> list[tuple[str, Any]]:
    """Every entry with the place it stands at, templates filled in."""
    path = _suite_file(name, folder)
    if name in below:
        raise DefinitionError(f"{path}: a suite cannot extend itself ({' -> '.join((*below, name))}).")
    content = _read(path)
    entries: list[tuple[str, Any]] = []
    if "extends" in content:
        entries += _raw_entries(str(content["extends"]), attributes, folder, (*below, name))
    entries += [(f"{path}, expectations[{n}]", raw) for n, raw in enumerate(content["expectations"])]
    entries += [
        (f"{path}, attributes[{n}]", _filled(raw, column))
        for column in attributes
        for n, raw in enumerate(content.get("attributes", []))
    ]
    return entries


def _read(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DefinitionError(f"{path}: there is no such suite of expectations.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DefinitionError(f"{path} is not valid YAML: {error}.") from error
    if not isinstance(content, dict):
        raise DefinitionError(f"{path}: a suite is a mapping with the key 'expectations'.")
    unknown = sorted(str(key) for key in content if key not in _SUITE_KEYS)
    if unknown:
        raise DefinitionError(f"{path}: unknown key {unknown[0]!r}; allowed are {', '.join(_SUITE_KEYS)}.")
    content.setdefault("expectations", [])
    for section in ("expectations", "attributes"):
        if not isinstance(content.get(section, []), list):
            raise DefinitionError(f"{path}: {section!r} must be a list of entries.")
    return content


def _filled(value: Any, column: str) -> Any:
    if isinstance(value, str):
        return value.replace("{column}", column)
    if isinstance(value, dict):
        return {key: _filled(item, column) for key, item in value.items()}
    return [_filled(item, column) for item in value] if isinstance(value, list) else value


def _entry(where: str, raw: Any, parameters: Mapping[str, Any]) -> Entry:
    from skyarchive.quality.gx import build_expectation

    if not isinstance(raw, dict) or not isinstance(raw.get("column"), str):
        raise DefinitionError(f"{where}: an entry is a mapping with 'expectation' and 'column'.")
    kwargs = {key: _parameter(where, value, parameters) for key, value in raw.items()}
    kind, text, why = (str(kwargs.pop(key, "")) for key in ("expectation", "text", "why"))
    if kind not in KINDS:
        raise DefinitionError(f"{where}: unknown expectation {kind!r}; allowed are {', '.join(KINDS)}.")
    if "mostly" in kwargs:
        raise DefinitionError(f"{where}: 'mostly' judges rows together; count them in a per-period frame.")
    try:
        text = text or KINDS[kind](kwargs)
        expectation = build_expectation(kind, kwargs, text, why)
    except (ValueError, TypeError, KeyError) as error:
        raise DefinitionError(f"{where} ({kind} of {kwargs['column']}): {_one_line(error)}.") from error
    return Entry(text, kwargs["column"], str(kwargs.get("predicate", "")), expectation)


def _parameter(where: str, value: Any, parameters: Mapping[str, Any]) -> Any:
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    if value[1:] not in parameters:
        raise DefinitionError(f"{where}: the parameter {value} was not given.")
    return parameters[value[1:]]


def _one_line(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    if hasattr(error, "errors"):
        return "; ".join(f"{fault['loc'][-1]}: {fault['msg']}" for fault in error.errors())
    return " ".join(str(error).split())


def _between(kwargs: Mapping[str, Any]) -> str:
    low, high = kwargs.get("min_value"), kwargs.get("max_value")
    bounds = [f"{'>' if kwargs.get('strict_min') else '>='} {low}"] if low is not None else []
    bounds += [f"{'<' if kwargs.get('strict_max') else '<='} {high}"] if high is not None else []
    return f"{kwargs['column']} {' and '.join(bounds)}"


def _values(kwargs: Mapping[str, Any]) -> str:
    return ", ".join(map(str, kwargs["value_set"]))


KINDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "expect_column_values_to_not_be_null": lambda k: f"{k['column']} is not null",
    "expect_column_values_to_be_null": lambda k: f"{k['column']} is null",
    "expect_column_values_to_be_between": _between,
    "expect_column_values_to_be_in_set": lambda k: f"{k['column']} is one of {_values(k)}",
    "expect_column_values_to_not_be_in_set": lambda k: f"{k['column']} is none of {_values(k)}",
    "expect_column_values_to_match_regex": lambda k: f"{k['column']} matches {k['regex']}",
    "expect_column_values_to_satisfy": lambda k: str(k["predicate"]),
}
"""The expectations a suite may use, each with how it reads by default. All judge a row alone."""

"""Finding and loading archive definitions; a mistake names the file, the field and what is allowed."""

from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from skyarchive.definition.derivation import Derivation, Order, Service
from skyarchive.definition.external import External, RecordAttribute
from skyarchive.definition.frequent import Query
from skyarchive.definition.model import Attribute, Column, Definition, ObjectId, Period, Rule, Schedule, Source
from skyarchive.definition.uncertain import UncertainQuery
from skyarchive.definition.windows import WindowAttribute, WindowQuery
from skyarchive.errors import DefinitionError, SkyarchiveError
from skyarchive.names import IDENTIFIER, checked_archive
from skyarchive.settings import Settings, schemas_folder
from skyarchive.yaml_files import read_yaml

RAW_DEFINITION = "archive.yaml"
_SHOWN = 80
"""Characters of a value that an error shows."""
_METHODS: dict[str, type[BaseModel]] = {
    get_args(model.model_fields["method"].annotation)[0]: model for model in get_args(Derivation)
}


def load_definition(path: Path) -> Definition:
    """The definition in one file."""
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise DefinitionError(f"{path}: an archive definition is a mapping with `name`, `source`, `attributes` ...")
    try:
        definition = Definition.model_validate(content)
    except SkyarchiveError as error:
        raise DefinitionError(f"{path}: {error}") from error
    except ValidationError as error:
        raise DefinitionError(f"{path}: {_explained(error)}") from error
    if path.name != RAW_DEFINITION and path.stem != definition.name:
        raise DefinitionError(f"{path}: name is {definition.name!r}, so the file must be {definition.name}.yaml.")
    return definition.as_built_in() if path.parent == _built_in_folder() else definition


def _built_in_folder() -> Path:
    return schemas_folder() / "archives"


def _explained(error: ValidationError) -> str:
    # A field that is not known is the likely cause of others that are missing: it comes first.
    problems = sorted(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
    return "; ".join(_explain_one(problem) for problem in problems[:5]) + "."


def _explain_one(problem: Any) -> str:
    # Pydantic names the chosen method as a part of the way to its fields; the file has no such part.
    way = [str(part) for part in problem["loc"] if part != "[key]"]
    if way[:1] == ["derive"] and len(way) > 1 and way[1] in _METHODS:
        tag, way = way[1], [way[0], *way[2:]]
    else:
        tag = None
    field = ".".join(way)
    message = problem["msg"].removeprefix("Value error, ")
    match problem["type"]:
        case "extra_forbidden":
            message = f"is not a field here; allowed are {', '.join(_fields_beside(way, tag))}"
        case "missing":
            message = "is missing"
        case "too_short":
            message = "must not be empty"
        case "union_tag_not_found":
            field, message = "derive.method", f"is missing; allowed are {', '.join(_METHODS)}"
        case "union_tag_invalid":
            field, message = "derive.method", f"{problem['ctx']['tag']!r} is none; allowed are {', '.join(_METHODS)}"
        case "dict_type":
            message = "must be a mapping of names, and not empty"
        case _ if not isinstance(problem.get("input"), dict | list):
            value = repr(problem.get("input"))
            message = f"{message} (it is {value if len(value) <= _SHOWN else value[:_SHOWN] + '...'})"
    return f"{field}: {message}" if field else message


def _fields_beside(way: list[str], method: str | None) -> list[str]:
    """The fields that are allowed where an unknown one stands."""
    parents: dict[str, type[BaseModel]] = {
        "source": Source, "period": Period, "columns": Column, "refuse": Rule, "object": ObjectId,
        "attributes": Attribute, "schedule": Schedule, "frequent": Query, "external": External, "windows": WindowQuery,
        "uncertain": UncertainQuery,
    }  # fmt: skip
    if way[0] == "derive" and method:
        nested: dict[str, type[BaseModel]] = {"order": Order, "services": Service}
        model: type[BaseModel] = nested[way[1]] if len(way) > 2 else _METHODS[method]
    elif way[0] == "external" and len(way) > 2:
        model = RecordAttribute
    elif way[0] in ("windows", "uncertain") and len(way) > 3:
        model = WindowAttribute
    else:
        model = parents[way[0]] if len(way) > 1 else Definition
    return list(model.model_fields)


class Catalog:
    """The definitions in force: an `archive.yaml` beside the raw files, else the one definition of that name, built in
    or in one of the SKYARCHIVE_ARCHIVES folders. Where two are, none is in force."""

    def __init__(self, settings: Settings):
        self._settings = settings

    def names(self) -> list[str]:
        return sorted(self._paths())

    def all(self) -> tuple[list[Definition], list[DefinitionError]]:
        """Every definition that can be used, and what is wrong with the others."""
        found, faults = [], []
        for name in self.names():
            try:
                found.append(self.get(name))
            except DefinitionError as error:
                faults.append(error)
        return found, faults

    def get(self, name: str) -> Definition:
        checked_archive(name)
        paths = self._paths()
        if len(paths.get(name, [])) > 1:
            raise DefinitionError(_taken(name, paths[name]))
        if name not in paths:
            raise DefinitionError(
                f"There is no archive {name!r}; known are {', '.join(sorted(paths))}. "
                f"A new one is a file {name}.yaml in a folder that SKYARCHIVE_ARCHIVES names."
            )
        [path] = paths[name]
        definition = load_definition(path)
        if definition.name != name:
            raise DefinitionError(f"{path}: name is {definition.name!r}, but it describes {name!r}.")
        return definition

    def _paths(self) -> dict[str, list[Path]]:
        """By name the files that would describe it."""
        folders = {folder.resolve(): folder for folder in self._settings.archive_folders}
        paths: dict[str, list[Path]] = {}
        for folder in (_built_in_folder(), *folders.values()):
            if not folder.is_dir():
                raise DefinitionError(f"{folder} is not a folder; SKYARCHIVE_ARCHIVES names folders of archive YAML.")
            for path in sorted(folder.glob("*.yaml")):
                if IDENTIFIER.fullmatch(path.stem):
                    paths.setdefault(path.stem, []).append(path)
        for path in sorted(self._settings.raw_folder.glob(f"*/{RAW_DEFINITION}")):
            paths[path.parent.name] = [path]
        return paths


def _taken(name: str, paths: list[Path]) -> str:
    *others, path = paths
    holder = "a built-in archive" if others[0].parent == _built_in_folder() else str(others[0])
    return (
        f"{path}: the name {name!r} is taken, by {holder}: give the archive another name, in `name` and as the file's, "
        f"or put the definition beside its raw files, as {RAW_DEFINITION}, where it replaces the other."
    )

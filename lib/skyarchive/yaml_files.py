"""Reading YAML files that people write: a mistake names the file and the line, and no file can be too much to read."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from skyarchive.errors import DefinitionError

_MERGE = "tag:yaml.org,2002:merge"
_LARGEST = 1_000_000
"""Bytes of a file."""
_DEEPEST = 30
"""Lists and mappings within one another."""
_MOST = 100_000
"""Values, those that aliases repeat included."""
_SHOWN = 80
"""Characters of a value, or of a reason, that an error shows."""


class _Loader(yaml.SafeLoader):
    """A loader that refuses a key written twice, which YAML itself would drop in silence, and what grows too large or
    too deep to be worked with."""

    def __init__(self, text: str):
        super().__init__(text)
        self._depth = 0
        self._values: dict[int, int] = {}
        """By node, how many values it is with all that is in it."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        mark, is_alias = self.peek_event().start_mark, self.check_event(yaml.AliasEvent)
        if self._depth >= _DEEPEST:
            raise yaml.composer.ComposerError(None, None, f"nested deeper than {_DEEPEST} levels", mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        if node is None:
            return None
        if not is_alias:
            self._values[id(node)] = 1 + sum(self._values[id(part)] for part in _parts(node))
        elif id(node) not in self._values:
            raise yaml.composer.ComposerError(None, None, "an alias of what it stands in", mark)
        if self._values[id(node)] > _MOST:
            raise yaml.composer.ComposerError(None, None, f"more than {_MOST} values, aliases counted", mark)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, TypeError, LookupError, OverflowError, AttributeError) as error:  # 2024-02-31, !!int x
            what = repr(node.value)[:_SHOWN] if isinstance(node, yaml.ScalarNode) else "this"
            why = f"{what} is not a {node.tag.rpartition(':')[2]} ({str(error)[:_SHOWN]})"
            raise yaml.constructor.ConstructorError(None, None, why, node.start_mark) from error

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise yaml.constructor.ConstructorError(None, None, "a key must be a plain name", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} is there twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def read_yaml(path: Path) -> Any:
    """The content of a YAML file; a mistake in it names the file and the line."""
    try:
        if path.stat().st_size > _LARGEST:
            raise DefinitionError(f"{path} is larger than {_LARGEST} bytes; nothing that is read here can be.")
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except OSError as error:
        raise DefinitionError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise DefinitionError(f"{path} is not UTF-8 text: {error.reason}.") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise DefinitionError(f"{path}, line {line}: {error.problem}.") from error
    except yaml.YAMLError as error:
        raise DefinitionError(f"{path} is not YAML: {' '.join(str(error).split())}.") from error

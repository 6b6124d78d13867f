"""An expression of a definition, which is Spark SQL, in DuckDB's words, where both mean the same by them."""

from collections.abc import Iterable

from skyarchive.definition.expression_tokens import Token, tokens_of
from skyarchive.store.duck import quoted

_SAME = """
and or not in between like is null true false distinct from case when then else end cast as abs coalesce ifnull nullif
greatest least floor ceil sqrt power round concat lower upper trim length year month day
"""
_WORDS = frozenset(_SAME.split())
"""Words of the grammar, and functions, that are the same in both."""
_TYPES = {"string": "VARCHAR", "double": "DOUBLE", "int": "INTEGER", "bigint": "BIGINT", "date": "DATE"}
_SIGNS = {"==": "=", "<=>": "IS NOT DISTINCT FROM"}


def in_duckdb(text: str, columns: Iterable[str]) -> str | None:
    """The same over columns of these names; None where it says something that may mean something else."""
    known = {column.lower(): column for column in columns}
    words = [_in_duckdb(token, known) for token in tokens_of(text)]
    return None if None in words else f"({' '.join(word for word in words if word)})"


def _in_duckdb(token: Token, known: dict[str, str]) -> str | None:
    if token.kind == "sign":
        return _SIGNS.get(token.text, token.text)
    if token.kind == "number":
        return token.text if token.text[-1].isdigit() else None
    if token.kind == "text":
        mark, content = token.text[0], token.text[1:-1]
        return None if "\\" in content else "'" + content.replace(mark * 2, mark).replace("'", "''") + "'"
    name = token.text[1:-1].lower() if token.kind == "quoted" else token.word
    if name in known:
        return quoted(known[name])
    if token.kind == "quoted":
        return None
    return name if name in _WORDS else _TYPES.get(name)

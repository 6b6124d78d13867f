"""Names that reach paths and SQL, checked once here: archives, tables, periods and columns."""

import re

from skyarchive.errors import SettingError

IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,62}")
# Names with a _ in front are for the columns that steps add and take away again.
COLUMN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,126}")
PERIOD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,62}")


def checked_archive(name: str) -> str:
    """The name itself, if it can be a folder and a schema."""
    if not IDENTIFIER.fullmatch(name):
        raise SettingError(
            f"{name!r} is not an archive name: use lower-case letters, digits and _, starting with a letter."
        )
    return name


def checked_period(period: str) -> str:
    """The period itself, if it can be a partition value; anything else never reaches a path or SQL."""
    if not PERIOD.fullmatch(period):
        raise SettingError(
            f"{period!r} is not a period: use letters, digits, '-', '_' and single dots (such as 2014 or 2024-04-19)."
        )
    return period


def checked_column(name: str) -> str:
    """The column name itself, if it needs no quoting anywhere."""
    if not COLUMN.fullmatch(name):
        raise SettingError(f"{name!r} is not a column name: use letters, digits and _.")
    return name


def each_once(names: list[str]) -> list[str]:
    """The names themselves, if none is there twice."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{twice[0]!r} is there twice")
    return names


def sql_text(value: str) -> str:
    """A value as a SQL string literal, for the few places that take no parameters."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def periods_predicate(periods: list[str]) -> str:
    """`period in (...)` over checked periods: what a step replaces and reads."""
    return f"period in ({', '.join(sql_text(checked_period(p)) for p in periods)})"

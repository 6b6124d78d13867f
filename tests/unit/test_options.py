"""Options that take whole numbers: each has a greatest one."""

import typing
from typing import Any

import pytest
from typer.models import OptionInfo

from conftest import Home
from skyarchive.cli import app

HUGE = "9" * 30


def whole_numbers() -> list[tuple[str, str, OptionInfo]]:
    found = []
    for command in app.registered_commands:
        assert command.callback is not None
        for name, hint in typing.get_type_hints(command.callback, include_extras=True).items():
            kind, *notes = typing.get_args(hint) or (hint,)
            if int in (kind, *typing.get_args(kind)):
                (option,) = [note for note in notes if isinstance(note, OptionInfo)]
                found.append((command.callback.__name__, name, option))
    return found


@pytest.mark.parametrize(
    ("command", "name", "option"), [pytest.param(*found, id=f"{found[0]} {found[1]}") for found in whole_numbers()]
)
def test_a_number_that_nobody_has_is_wrong_use(
    home: Home, monkeypatch: pytest.MonkeyPatch, command: str, name: str, option: Any
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert option.min is not None and option.max is not None
    declared = (option.default, *option.param_decls)  # within Annotated the first one goes by the name of a default
    flag = next((it for it in declared if str(it).startswith("--")), f"--{name.replace('_', '-')}")
    named = [] if command in ("monitor", "airflow") else ["synthetic"]
    more = {"why": ["p1"], "frequent": ["--theta", "1"], "changes": ["--from", "1", "--to", "2"], "sql": []}
    for number in (HUGE, f"-{HUGE}"):
        answer = home.command(command, *named, *more.get(command, []), flag, number)
        assert answer.code == 2, answer.err
        assert "Invalid value for" in answer.err and "than or equal to" in answer.err
        assert "Traceback" not in answer.err

"""The `airflow` command for programs: several in one process."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence

from skyarchive.errors import SkyarchiveError

QUIET = {"PYTHONWARNINGS": "ignore:Could not import graphviz:UserWarning"}
"""Environment of its commands, each of which would begin by telling of a package that none of ours needs."""


def airflow(*arguments: str, environment: Mapping[str, str]) -> str:
    """`airflow ...` with an environment; what it printed."""
    return airflow_in_turn([arguments], environment=environment)


def airflow_in_turn(commands: Sequence[Sequence[str]], environment: Mapping[str, str]) -> str:
    """These `airflow` commands one after the other, in one process: each alone takes seconds to start."""
    done = subprocess.run(
        [sys.executable, "-m", __name__, json.dumps(commands)],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    if done.returncode:
        said = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
        names = ", ".join(f"airflow {' '.join(command[:2])}" for command in commands)
        raise SkyarchiveError(f"{names} failed: {said[-1] if said else 'no message'}")
    return done.stdout


def _run(commands: Sequence[Sequence[str]]) -> None:
    from airflow.__main__ import main

    for command in commands:
        sys.argv = ["airflow", *command]
        main()


if __name__ == "__main__":
    _run(json.loads(sys.argv[1]))

"""What a JVM of our own needs: Java, and a network within this machine. Asked before Spark starts, whose own words for
what is missing are many and go to the terminal."""

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

from skyarchive.errors import MachineError

VERSIONS = ("17", "21")
_WANTED = f"Spark needs Java {' or '.join(VERSIONS)}"
_HELP = "install one, or set JAVA_HOME to where one is."
_PATIENCE = 30.0
"""Seconds in which Java must have said its version."""


def assert_jvm_can_start() -> None:
    """Ends with a sentence where Spark would not start."""
    _assert_java()
    _assert_loopback()


def _assert_java() -> None:
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if program is None:
        raise MachineError(f"{_WANTED}, and there is no java on the PATH: {_HELP}")
    where = f"{program}{' (of JAVA_HOME)' if home else ''}"
    try:
        said = subprocess.run(
            [program, "-version"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
        )
    except OSError as error:
        raise MachineError(f"{_WANTED}, and {where} cannot be run ({error.strerror}): {_HELP}") from error
    except subprocess.TimeoutExpired as error:
        raise MachineError(f"{_WANTED}, and {where} says nothing for {_PATIENCE:.0f} s: {_HELP}") from error
    if said.returncode:
        raise MachineError(f"{_WANTED}, and {where} ends with code {said.returncode}: {_HELP}")
    version = re.search(r'version "(?:1\.)?(\d+)', said.stdout)
    if version is None or version[1] not in VERSIONS:
        raise MachineError(f"{_WANTED}, and {where} is {f'Java {version[1]}' if version else 'none'}: {_HELP}")


def _assert_loopback() -> None:
    """Python and the JVM talk over 127.0.0.1."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), _PATIENCE).close()
    except OSError as error:
        raise MachineError(
            f"Nothing can be reached at 127.0.0.1 ({error.strerror}), where Spark and we talk to each other: bring the "
            "loopback interface up (ip link set lo up)."
        ) from error

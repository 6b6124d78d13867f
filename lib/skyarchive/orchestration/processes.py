"""Processes that we start and must end, and the ports they listen at."""

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def processes_with(name: str, value: str) -> list[int]:
    """Every process that inherited this environment variable."""
    import psutil  # type: ignore[import-untyped]

    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has ended meanwhile, or is somebody else's
            if process.environ().get(name) == value:
                found.append(process.pid)
    return found


@contextmanager
def undisturbed() -> Iterator[None]:
    """While open, a second Ctrl-C does not stop the stopping."""
    if threading.current_thread() is not threading.main_thread():  # signals do not come here
        yield
        return
    before = {what: signal.signal(what, signal.SIG_IGN) for what in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for what, handler in before.items():
            signal.signal(what, handler)


def signal_group(process: subprocess.Popen[bytes], what: signal.Signals) -> None:
    """To a process that leads a group, and all of that."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, what)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0

"""Where processes listen for others."""

import ipaddress
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

import psutil  # type: ignore[import-untyped]

_EVERY = 0.5


def listening(pids: Iterable[int]) -> dict[tuple[str, int], str]:
    """Every address and port at which these processes and what they have started listen, and who does."""
    found = {}
    for pid in pids:
        with suppress(psutil.Error):  # it has ended meanwhile
            parent = psutil.Process(pid)
            for process in (parent, *parent.children(recursive=True)):
                with suppress(psutil.Error):
                    for it in process.net_connections(kind="inet"):
                        if it.status == psutil.CONN_LISTEN:
                            address = it.laddr.ip.removeprefix("::ffff:")  # IPv4's, as Java has it
                            found[address, it.laddr.port] = " ".join(process.cmdline()[:1])
    return found


def reachable(found: dict[tuple[str, int], str]) -> dict[tuple[str, int], str]:
    """Those that another machine can reach."""
    return {at: who for at, who in found.items() if not ipaddress.ip_address(at[0]).is_loopback}


@contextmanager
def watched(pids: Callable[[], Iterable[int]] = lambda: [os.getpid()]) -> Iterator[dict[tuple[str, int], str]]:
    """While open, everything at which they ever listen is gathered."""
    seen: dict[tuple[str, int], str] = {}
    done = threading.Event()

    def look() -> None:
        while not done.wait(_EVERY):
            seen.update(listening(pids()))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        done.set()
        watcher.join()
        seen.update(listening(pids()))

"""Progress on stderr: a spinner with the time it takes on a terminal, one line a phase elsewhere."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

_REDRAW = 1.0


class Progress:
    """Says what is going on to whoever waits. Answers never go here: stdout is theirs."""

    def __init__(self, quiet: bool = False):
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._quiet = quiet

    def say(self, text: str) -> None:
        if not self._quiet:
            self.console.print(text, markup=False)

    @contextmanager
    def phase(self, text: str) -> Iterator[None]:
        """While open, the phase is shown with the seconds it has taken."""
        if self._quiet:
            yield
            return
        if not sys.stderr.isatty():
            self.say(f"{text} ...")
            yield
            return
        began = time.monotonic()
        done = threading.Event()
        with self.console.status(text) as status:
            ticker = threading.Thread(target=_tick, args=(status, text, began, done), daemon=True)
            ticker.start()
            try:
                yield
            finally:
                done.set()
                ticker.join()


def _tick(status, text: str, began: float, done: threading.Event) -> None:  # type: ignore[no-untyped-def]
    while not done.wait(_REDRAW):
        status.update(f"{text} ... {time.monotonic() - began:.0f} s")

"""Progress on stderr: a spinner with the time it takes on a terminal, a line now and then elsewhere."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.status import Status
from rich.text import Text

_REDRAW = 1.0
REMIND = 15.0
"""Seconds between signs of life where no spinner turns."""
_PATIENT = 300.0
"""Seconds after which one a minute is enough."""
_MINUTE = 60.0


@dataclass(eq=False)
class Phase:
    """Something that takes its time."""

    text: str
    began: float = field(default_factory=time.monotonic)

    def turn_to(self, text: str) -> None:
        """What it is at from now on; its time begins anew."""
        if text != self.text:
            self.text, self.began = text, time.monotonic()

    @property
    def lasted(self) -> float:
        return time.monotonic() - self.began

    @property
    def shown(self) -> str:
        minutes, seconds = divmod(int(self.lasted), 60)
        return f"{self.text} ... {minutes} min {seconds} s" if minutes > 1 else f"{self.text} ... {self.lasted:.0f} s"


class _Spinner:
    """What a terminal shows of all that is open in this process: there is one terminal, whoever works."""

    def __init__(self) -> None:
        self._phases: list[Phase] = []
        self._status: Status | None = None
        self._lock = threading.Lock()

    @contextmanager
    def showing(self, phase: Phase) -> Iterator[None]:
        with self._lock:
            self._phases.append(phase)
            if self._status is None:
                self._status = _CONSOLE.status(Text(phase.text))
                self._status.start()
        try:
            with _every(lambda: _REDRAW, self._redraw):
                yield
        finally:
            with self._lock:
                self._phases.remove(phase)
                if not self._phases and self._status is not None:
                    self._status.stop()
                    self._status = None

    def _redraw(self) -> None:
        with self._lock:
            if self._status is not None:
                self._status.update(Text("\n".join(phase.shown for phase in self._phases)))


_CONSOLE = Console(stderr=True, highlight=False, soft_wrap=True)
"""One for all, so that what is said stands above the spinner and not in it."""
_SPINNER = _Spinner()


def message(sentence: str) -> None:
    """A remark beside the answer."""
    print(sentence, file=sys.stderr)


class Progress:
    """Says what is going on to whoever waits. Answers never go here: stdout is theirs."""

    def __init__(self, quiet: bool = False):
        self._quiet = quiet

    def say(self, text: str) -> None:
        if not self._quiet:
            _CONSOLE.print(text, markup=False)

    @contextmanager
    def phase(self, text: str) -> Iterator[Phase]:
        """While open, the phase is shown with the time it has taken."""
        phase = Phase(text)
        if self._quiet:
            yield phase
        elif sys.stderr.isatty() and _CONSOLE.is_interactive:
            with _SPINNER.showing(phase):
                yield phase
        else:
            self.say(f"{text} ...")
            with _every(lambda: REMIND if phase.lasted < _PATIENT else _MINUTE, lambda: self._remind(phase)):
                yield phase

    def _remind(self, phase: Phase) -> None:
        self.say(phase.shown)


@contextmanager
def _every(pause: Callable[[], float], do: Callable[[], None]) -> Iterator[None]:
    """While open, this is done after every pause."""
    done = threading.Event()

    def go_on() -> None:
        while not done.wait(pause()):
            do()

    ticker = threading.Thread(target=go_on, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()

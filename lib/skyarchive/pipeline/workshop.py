"""What a step needs to work on one archive: settings, definition, tables, and a Spark session when it comes to that."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import skyarchive
from skyarchive.definition.model import Definition
from skyarchive.pipeline.connecting import CONNECT, end_connection, release_left, session_key
from skyarchive.pipeline.failures import failures_told
from skyarchive.pipeline.step import names_of
from skyarchive.progress import Progress
from skyarchive.settings import Settings
from skyarchive.stderr import without_panics
from skyarchive.store.lake import Lake
from skyarchive.store.ledger import Ledger
from skyarchive.store.lock import writing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from skyarchive.store.tables import Tables


@dataclass
class Workshop:
    """One archive and the tools to work on it. Spark starts at the first need of it."""

    settings: Settings
    definition: Definition
    progress: Progress = field(default_factory=Progress)
    verbose: bool = False
    _starting: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _spark: "SparkSession | None" = field(default=None, init=False, repr=False)
    _understood: bool = field(default=False, init=False, repr=False)

    @property
    def archive(self) -> str:
        return self.definition.name

    @property
    def steps(self) -> list[str]:
        """The names of the steps that the archive goes through, in their order."""
        return names_of(self.definition)

    @cached_property
    def lake(self) -> Lake:
        return Lake(self.settings)

    @property
    def spark(self) -> "SparkSession":
        with self._starting:  # tables are written side by side, and the first to need it must be the only one
            if self._spark is None:
                self._spark = self._session()
            if not self._understood:  # else a step would fail over it after others have published
                from skyarchive.pipeline.analysing import assert_understood

                assert_understood(self._spark, self.definition)
                self._understood = True
            return self._spark

    def _session(self) -> "SparkSession":
        from pyspark.sql import SparkSession

        from skyarchive.pipeline.session import build_session

        if SparkSession.getActiveSession() is not None:
            return build_session(self.settings, verbose=self.verbose)
        with self.progress.phase("starting Spark"):
            return build_session(self.settings, verbose=self.verbose)

    @cached_property
    def tables(self) -> "Tables":
        from skyarchive.store.tables import Tables

        return Tables(self.settings, self.definition, lambda: self.spark)

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Hold the archive for work that Spark does. A Spark elsewhere comes first: one that is absent, or slow to
        answer, must not keep others from the archive. Our own cannot be absent, and starts when the work turns out to
        need it."""
        with failures_told(self.settings):
            note = ""
            if not self.settings.master.startswith("local"):
                session = self.spark
                note = session_key(session) if self._is_remote else ""
            with self.noting(note):
                yield

    @contextmanager
    def noting(self, note: str = "") -> Iterator[None]:
        """Hold the archive for work that needs no Spark. Tables that cannot be read are mended first."""
        from skyarchive.pipeline.mending import mend

        with failures_told(self.settings), writing(self.settings, self.archive, self.progress.say, note) as left:
            if left and self._is_remote:
                # Killed, that process could not end what the server was doing for it: writing these tables, perhaps.
                release_left(self.settings.master, left)
            with without_panics(self.settings):
                mend(self)
            yield

    @property
    def _is_remote(self) -> bool:
        return self.settings.master.startswith(CONNECT)

    def close(self) -> None:
        """Ends Spark, if it was started."""
        if self._spark is not None:
            end_connection(self._spark) if self._is_remote else self._spark.stop()
            self._spark = None

    def ledger(self) -> Ledger:
        """What is published now."""
        return Ledger.read(self.lake, self.archive)


@cache
def code_version() -> str:
    """The version and a fingerprint of the package's own source: what made a result, installed or in a checkout."""
    digest = hashlib.sha256()
    for path in sorted(Path(skyarchive.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return f"{skyarchive.__version__}+{digest.hexdigest()[:12]}"

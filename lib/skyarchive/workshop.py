"""What a step needs to work on one archive: settings, definition, tables, and a Spark session when it comes to that."""

import hashlib
import threading
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import skyarchive
from skyarchive.definition import Definition
from skyarchive.lake import Lake
from skyarchive.ledger import Ledger
from skyarchive.progress import Progress
from skyarchive.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from skyarchive.tables import Tables


@dataclass
class Workshop:
    """One archive and the tools to work on it. Spark starts at the first need of it."""

    settings: Settings
    definition: Definition
    progress: Progress = field(default_factory=Progress)
    verbose: bool = False
    _starting: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _spark: "SparkSession | None" = field(default=None, init=False, repr=False)

    @property
    def archive(self) -> str:
        return self.definition.name

    @cached_property
    def lake(self) -> Lake:
        return Lake(self.settings)

    @property
    def spark(self) -> "SparkSession":
        with self._starting:  # tables are written side by side, and the first to need it must be the only one
            if self._spark is None:
                self._spark = self._session()
            return self._spark

    def _session(self) -> "SparkSession":
        from pyspark.sql import SparkSession

        from skyarchive.session import build_session

        if SparkSession.getActiveSession() is not None:
            return build_session(self.settings, verbose=self.verbose)
        with self.progress.phase("starting Spark"):
            return build_session(self.settings, verbose=self.verbose)

    @cached_property
    def tables(self) -> "Tables":
        from skyarchive.tables import Tables

        return Tables(self.settings, self.definition, lambda: self.spark)

    def close(self) -> None:
        """Ends Spark, if it was started."""
        if self._spark is not None:
            self._spark.stop()
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

"""An archive with all its tables and as many periods as asked for, written by hand: what a look at it costs."""

from collections.abc import Sequence
from pathlib import Path

from deltalake import DeltaTable

from delta_log import SparkTable, run
from skyarchive.store.contracts import table_names
from world import TABLE, World

TABLES_OF = {
    "ingest": ("raw", "quarantine"),
    "derive": ("updates", "snapshots", "objects", "carry"),
    "skyline": ("skyline",),
    "external": ("external",),
    "windows": ("windows",),
    "uncertain": ("uncertain",),
    "frequent": ("frequent",),
    "monitor": ("monitoring",),
}


class LongRun(World):
    """Every step wrote every one of its tables, for one period after the other."""

    def __init__(self, folder: Path, periods: Sequence[str]) -> None:
        super().__init__(folder)
        self.definition = self.definition.model_copy(update={"frequent": []})
        self.folder = folder / "warehouse" / "nba"
        for name in sorted({*table_names()} - {*self.tables, "runs", "files", "refusals"}):
            self.tables[name] = SparkTable(self.folder / name, TABLE)
        for before, period in zip([None, *periods], periods, strict=False):
            self.put(period)
            self.ingest(period)
            self.derive(period, before)
            self.skyline(period)
            for step in ("frequent", "external", "windows", "uncertain", "monitor"):
                self._publish(step, period, {}, {}, {})
            self.tables["quality"].append(period, [{"x": 1}], run("checked", "ingest", period))

    def _publish(
        self, step: str, period: str, versions: dict[str, int], inputs: dict[str, str], outputs: dict[str, str]
    ) -> None:
        for table in TABLES_OF[step]:
            if table not in versions:
                versions[table] = self.tables[table].replace(period, [{"x": 1}], run(f"{step} {period}", step, period))
        super()._publish(step, period, versions, inputs, outputs)

    def make_checkpoints(self) -> None:
        """As writers do every so often."""
        for log in self.folder.glob("*/_delta_log"):
            DeltaTable(str(log.parent)).create_checkpoint()

"""Data quality before publication: a frame is judged by a suite, and what failed is said period by period.

`check` costs two aggregates over the (persisted) frame when all is well. Only when something fails are the
failing periods searched for, by halving, and validated alone with samples of the offending rows.
"""

import importlib
import json
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from skyarchive.names import sql_text
from skyarchive.quality.suites import Entry, Suite, load_suite, suite_exists
from skyarchive.wording import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "CheckResult", "Fault", "Suite", "check", "explain_failure", "failed_periods", "load_suite",
    "period_list", "preload", "quality_rows", "suite_exists",
]  # fmt: skip

KEY_COLUMNS = ("period", "file", "row", "snapshot", "object")
SAMPLE_ROWS = 5
_ALL_WELL = "0 rows"
_SHOWN_FAILURES = 4
_SHOWN_ROWS = 2
_SHOWN_PERIODS = 6


@dataclass(frozen=True)
class Fault:
    """How one expectation failed in one period: what was seen, up to five offending rows, the raw result."""

    observed: str
    sample: list[dict[str, Any]]
    detail: dict[str, Any]


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one expectation: `faults` by period, empty when it holds everywhere."""

    expectation: str
    success: bool
    detail: dict[str, Any]
    faults: dict[str, Fault] = field(default_factory=dict)


def preload(master: str) -> None:
    """Begin to import Great Expectations in the background: it takes seconds that Spark's work can hide."""
    if master.startswith("sc://"):  # whose modules import each other in circles: two threads must not begin them
        importlib.import_module("pyspark.sql.connect.session")
    threading.Thread(target=__import__, args=("skyarchive.quality.gx",), daemon=True).start()


def check(
    frame: "DataFrame", suite: Suite, periods: Sequence[str], *, key_columns: Sequence[str] = KEY_COLUMNS
) -> list[CheckResult]:
    """Judge the frame, which holds rows of these periods, by the suite. `key_columns` name offending rows."""
    from skyarchive.quality.gx import VERDICT_ONLY, validate

    verdicts = validate(frame, [entry.expectation for entry in suite.entries], VERDICT_ONLY)
    if any(_raised(verdict) for verdict in verdicts):
        frame.sparkSession.range(1).count()  # fails, and tells of that, where it is not the rows that are to blame
    results = [
        CheckResult(entry.text, bool(verdict["success"]), verdict)
        for entry, verdict in zip(suite.entries, verdicts, strict=True)
    ]
    broken = [n for n, result in enumerate(results) if not result.success]
    if broken:
        search = _Search(frame, [suite.entries[n] for n in broken], list(periods), key_columns)
        found = search.faults([results[n].detail for n in broken])
        for n, faults in zip(broken, found, strict=True):
            results[n] = replace(results[n], faults=faults)
    return results


@dataclass(frozen=True)
class _Search:
    """Looks for the periods in which broken expectations fail."""

    frame: "DataFrame"
    entries: list[Entry]
    periods: list[str]
    key_columns: Sequence[str]

    def faults(self, verdicts: list[dict[str, Any]]) -> list[dict[str, Fault]]:
        """The faults of each entry by period. An entry that could not be judged at all (a column is missing
        or of another type), or whose offending rows are of none of the periods, fails them all."""
        found: list[dict[str, Fault]] = [{} for _ in self.entries]
        judged = [n for n, verdict in enumerate(verdicts) if not _raised(verdict)]
        if judged and len(self.periods) > 1 and "period" in self.frame.columns:
            self._halve(self.periods, judged, found)
        rest = [n for n, faults in enumerate(found) if not faults]
        for n, fault in self._judge_alone(self.frame, rest).items():
            found[n].update(dict.fromkeys(self.periods, fault))
        return found

    def _halve(self, periods: list[str], entries: list[int], found: list[dict[str, Fault]]) -> None:
        from skyarchive.quality.gx import VERDICT_ONLY, validate

        middle = len(periods) // 2
        for half in (periods[:middle], periods[middle:]):
            part = self.frame.where(self.frame["period"].isin(half))
            verdicts = validate(part, [self.entries[n].expectation for n in entries], VERDICT_ONLY)
            failing = [n for n, verdict in zip(entries, verdicts, strict=True) if not verdict["success"]]
            if failing and len(half) > 1:
                self._halve(half, failing, found)
            else:
                for n, fault in self._judge_alone(part, failing).items():
                    found[n][half[0]] = fault

    def _judge_alone(self, part: "DataFrame", entries: list[int]) -> dict[int, Fault]:
        """Each of these entries judged on a part of the frame in which it fails, with samples."""
        from skyarchive.quality.gx import detailed, validate

        if not entries:
            return {}
        shown = {n: self._shown_columns(part, self.entries[n]) for n in entries}
        named = list(dict.fromkeys(column for columns in shown.values() for column in columns))
        details = validate(part, [self.entries[n].expectation for n in entries], detailed(named, SAMPLE_ROWS))
        faults = {}
        for n, detail in zip(entries, details, strict=True):
            rows = detail["result"].get("partial_unexpected_index_list", [])
            sample = [{column: row.get(column) for column in shown[n]} for row in rows]
            faults[n] = Fault(_observed(self.entries[n], detail, sample, part.columns), sample, detail)
        return faults

    def _shown_columns(self, part: "DataFrame", entry: Entry) -> list[str]:
        """What names an offending row and what makes it offend: keys, the column, the predicate's columns."""
        words = set(re.findall(r"\w+", entry.predicate)) | {entry.column}
        used = [column for column in part.columns if column in words]
        return list(dict.fromkeys((*(key for key in self.key_columns if key in part.columns), *used)))


def _raised(detail: dict[str, Any]) -> bool:
    """Whether the expectation could not be judged at all."""
    return bool(detail["exception_info"]["raised_exception"])


def _observed(entry: Entry, detail: dict[str, Any], sample: list[dict[str, Any]], columns: list[str]) -> str:
    if _raised(detail):
        message = detail["exception_info"]["exception_message"]
        unknown = re.search(r"with name `(\w+)` cannot be resolved", message)
        missing = unknown[1] if unknown else entry.column
        return message.partition("\n")[0] if missing in columns else f"there is no column {missing}"
    counts = detail["result"]
    if counts["element_count"] == 1 and len(sample) == 1:
        return f"{entry.column} is {json.dumps(sample[0].get(entry.column))}"
    return f"{counts['unexpected_count']} of {counted(counts['element_count'], 'row', 'rows')}"


def failed_periods(results: Iterable[CheckResult]) -> list[str]:
    """The periods in which anything failed, in order: the others of a range can go on."""
    return sorted({period for result in results for period in result.faults})


def quality_rows(
    results: Iterable[CheckResult], periods: Sequence[str], run_id: str, table_name: str
) -> list[dict[str, Any]]:
    """Rows of the `quality` table: one for every period and expectation."""
    rows = []
    for result in results:
        for period in periods:
            fault = result.faults.get(period)
            rows.append({
                "period": period,
                "run_id": run_id,
                "table_name": table_name,
                "expectation": result.expectation,
                "success": fault is None,
                "observed": fault.observed if fault else _ALL_WELL,
                "sample": json.dumps(fault.sample if fault else [], ensure_ascii=False),
            })  # fmt: skip
    return rows


def explain_failure(step: str, archive: str, table_name: str, results: Sequence[CheckResult], run_id: str) -> str:
    """What failed, where, on which rows and where to look further, in a dozen lines."""
    failures = [result for result in results if result.faults]
    periods = failed_periods(results)
    lines = [
        f"{step} of {archive} {period_list(periods)}: {len(failures)} of {counted(len(results), 'check', 'checks')} of "
        f"{table_name} failed; nothing was published for it, the last version stays."
    ]
    for result in failures[:_SHOWN_FAILURES]:
        period, fault = min(result.faults.items())
        also = f" (and in {len(result.faults) - 1} more)" if len(result.faults) > 1 else ""
        lines.append(f"  {result.expectation}: {fault.observed} in {period}{also}")
        lines += [f"    {json.dumps(row, ensure_ascii=False)}" for row in fault.sample[:_SHOWN_ROWS]]
    if len(failures) > _SHOWN_FAILURES:
        lines.append(f"  and {counted(len(failures) - _SHOWN_FAILURES, 'more check', 'more checks')}")
    query = f"select * from {archive}.quality where run_id = {sql_text(run_id)} and not success"
    lines.append(f'See all: skyarchive sql "{query}"')
    return "\n".join(lines)


def period_list(periods: Sequence[str]) -> str:
    """Periods as a person reads them, the first few by name."""
    more = len(periods) - _SHOWN_PERIODS
    return ", ".join(periods[:_SHOWN_PERIODS]) + (f" and {more} more" if more > 0 else "")

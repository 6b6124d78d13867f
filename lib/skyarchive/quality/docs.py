"""Data Docs: every validation is kept as Great Expectations' JSON, and rendered by its renderers when asked.

Its own page templates fetch styles and scripts from the network and are blank without it, so the pages here
put its rendered sections into templates that need nothing but the file itself.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from skyarchive.errors import InputError
from skyarchive.quality.checking import CheckResult, period_list

_VIEWS = Path(__file__).resolve().parent / "views"
# What is known of an expectation that holds, in the words of a result with counts.
_HOLDS = {"unexpected_count": 0, "unexpected_percent": 0.0}


def keep_result(
    folder: Path,
    results: Sequence[CheckResult],
    *,
    run_id: str,
    table_name: str,
    periods: Sequence[str],
    time: datetime,
) -> Path:
    """Write the validation of a table to <folder>/<run_id>/<table>.json, for `build_docs`."""
    details = [detail for result in results for detail in _details(result)]
    held = sum(1 for result in results if result.success)
    content = {
        "success": held == len(results),
        "suite_name": table_name,
        "results": details,
        "statistics": {
            "evaluated_expectations": len(results),
            "successful_expectations": held,
            "unsuccessful_expectations": len(results) - held,
            "success_percent": 100.0 * held / len(results) if results else 100.0,
        },
        "meta": {
            "run_id": {"run_name": run_id, "run_time": time.astimezone(UTC).isoformat()},
            "periods": list(periods),
        },
        "suite_parameters": {},
    }
    path = folder / run_id / f"{table_name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False), encoding="utf-8")
    return path


def _details(result: CheckResult) -> Iterable[dict[str, Any]]:
    """One GX result for an expectation that holds, else one for each way it fails."""
    if result.success:
        yield result.detail | {"result": _HOLDS}
        return
    for fault in {id(fault): fault for fault in result.faults.values()}.values():
        where = period_list([period for period, other in result.faults.items() if other is fault])
        config = fault.detail["expectation_config"] | {"description": f"{result.expectation} ({where})"}
        # The renderer shows the rows of a complete list; the sample is all there is of it.
        shown = [column for row in fault.sample[:1] for column in row if column != config["kwargs"]["column"]]
        rows = {"unexpected_index_list": fault.sample, "unexpected_index_column_names": shown}
        counts = fault.detail["result"] | (rows if shown else {})
        yield fault.detail | {"expectation_config": config, "result": counts}


@dataclass(frozen=True)
class _Page:
    """A kept validation, as a line of the index."""

    content: dict[str, Any]
    run_id: str
    table: str

    @property
    def href(self) -> str:
        return f"{quote(self.run_id)}/{quote(self.table)}.html"

    @property
    def success(self) -> bool:
        return bool(self.content["success"])

    @property
    def periods(self) -> str:
        return period_list(self.content["meta"]["periods"])

    @property
    def held(self) -> int:
        return int(self.content["statistics"]["successful_expectations"])

    @property
    def checks(self) -> int:
        return int(self.content["statistics"]["evaluated_expectations"])

    @property
    def time(self) -> str:
        return str(self.content["meta"]["run_id"]["run_time"])[:19].replace("T", " ")


def build_docs(results_folder: Path, target_folder: Path) -> Path:
    """Render every kept validation and an index of them; returns the index, which opens without a network."""
    from great_expectations.core.expectation_validation_result import expectationSuiteValidationResultSchema
    from great_expectations.render.renderer import ValidationResultsPageRenderer
    from great_expectations.render.view import DefaultJinjaPageView

    from skyarchive.quality import gx as quality_gx  # noqa: F401  registers the expectations the results are of

    pages = sorted(map(_read, results_folder.glob("*/*.json")), key=lambda page: page.time, reverse=True)
    view = DefaultJinjaPageView(custom_views_directory=str(_VIEWS))
    renderer = ValidationResultsPageRenderer(run_info_at_end=True)
    for page in pages:
        document = renderer.render(expectationSuiteValidationResultSchema.load(_with_safe_rows(page.content)))
        overview, *columns, _run_info = document.sections
        overview.content_blocks = overview.content_blocks[1:]  # a heading with links to pages not made here
        document.sections = [overview, *columns]
        about = f"Periods {page.periods}, validated {page.time} UTC by run {page.run_id}"
        path = target_folder / page.run_id / f"{page.table}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(view.render(document, "result.j2", title=page.table, about=about), encoding="utf-8")
    index = target_folder / "index.html"
    target_folder.mkdir(parents=True, exist_ok=True)
    index.write_text(view.env.get_template("index.j2").render(pages=pages), encoding="utf-8")
    return index


def _with_safe_rows(content: dict[str, Any]) -> dict[str, Any]:
    """The validation with its sample rows escaped: the renderer puts their values into the page as they are."""
    results = []
    for result in content["results"]:
        rows = [
            {column: escape(value) if isinstance(value, str) else value for column, value in row.items()}
            for row in result["result"].get("unexpected_index_list", [])
        ]
        safe = {"unexpected_index_list": rows} if rows else {}
        results.append(result | {"result": result["result"] | safe})
    return content | {"results": results}


def _read(path: Path) -> _Page:
    try:
        return _Page(json.loads(path.read_text(encoding="utf-8")), path.parent.name, path.stem)
    except ValueError as error:
        raise InputError(f"{path} is not a kept validation ({error}); remove it and run again.") from error

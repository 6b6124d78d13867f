"""The comparison of a monitoring study, drawn. Importing this takes half a second: import it late."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from skyarchive.answers.pictures import ACCENT, GRID, INK, SOFT, STYLE, check_picture, head, save, small_print
from skyarchive.kernels.monitoring.replaying import EXACT, Result
from skyarchive.studies.monitoring import Study

_DOWN, _DOWN_ACCENT = "#c9d1db", "#e3a5a7"
_HEIGHT = 0.62


def draw_study(study: Study, path: Path) -> None:
    """Messages per method, up and down, and its CPU time beside them; the recommended one in red."""
    check_picture(path)
    results = study.replay.results
    with plt.rc_context(STYLE):
        figure, (messages, seconds) = plt.subplots(
            1, 2, figsize=(9.6, 3.4), width_ratios=(3, 1), sharey=True, layout="constrained"
        )
        for place, result in enumerate(results):
            _bar(messages, seconds, place, result, results, result.method == study.recommended)
        messages.set_yticks(range(len(results)), [_named(result) for result in results])
        messages.invert_yaxis()
        messages.set_title("messages: up, down", loc="left", fontsize=9.5, color=SOFT)
        seconds.set_title("CPU seconds", loc="left", fontsize=9.5, color=SOFT)
        for axes in (messages, seconds):
            _quiet(axes)
        head(figure, f"Watching live: {study.title}")
        p, found = study.parameters, study.replay
        note = (
            f"{study.reason}\n{found.snapshots:,} snapshots, {found.objects:,} objects, {found.sampled:,} snapshots "
            f"sampled. Asked for: in the skyline of at least {p.theta} of the last {p.window} snapshots "
            f"(ε {p.epsilon:g}, δ {p.delta:g})."
        )
        if p.absent is not None:
            note += f" Objects that are not there take part with {p.absent:g} everywhere."
        small_print(figure, note)
        save(figure, path)


def _bar(messages: Axes, seconds: Axes, place: int, result: Result, results: list[Result], chosen: bool) -> None:
    up, down = (ACCENT, _DOWN_ACCENT) if chosen else (SOFT, _DOWN)
    messages.barh(place, result.uplink, height=_HEIGHT, color=up, linewidth=0)
    messages.barh(place, result.downlink, left=result.uplink, height=_HEIGHT, color=down, linewidth=0)
    naive = results[0].total
    share = f"  {result.total:,}" + (f" · {result.total / naive:.1%}" if naive and result is not results[0] else "")
    at: Any = (result.total, place)
    messages.annotate(share, at, va="center", fontsize=8.5, color=INK)
    messages.set_xlim(0, 1.28 * max(1, *(each.total for each in results)))
    seconds.barh(place, result.cpu_seconds, height=_HEIGHT, color=up, linewidth=0)
    seconds.annotate(f"  {result.cpu_seconds:.2f}", (result.cpu_seconds, place), va="center", fontsize=8.5, color=INK)
    seconds.set_xlim(0, 1.45 * max(0.01, *(each.cpu_seconds for each in results)))


def _named(result: Result) -> str:
    quality = "exact" if result.method in EXACT else f"recall {result.recall:.3f}, precision {result.precision:.3f}"
    return f"{result.method}\n{quality}"


def _quiet(axes: Axes) -> None:
    axes.tick_params(length=0)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)

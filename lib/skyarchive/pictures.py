"""Pictures of answers, for screen and print. Importing this takes half a second: import it late."""

import textwrap
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import matplotlib

matplotlib.use("agg")
import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from skyarchive.errors import SettingError, SkyarchiveError
from skyarchive.frequency import Query
from skyarchive.frequent_questions import Curve, FrequentQuestions
from skyarchive.questions import Answer, Questions

KINDS = (".svg", ".png", ".pdf")
INK, SOFT, ACCENT, GRID = "#22272e", "#8a94a3", "#b3242a", "#dde2e8"
_OTHER_REIGNS = "#c9d1db"
_DRAWN = 15
"""Objects in a picture of the most frequent."""
_POINTS = 2000
"""Points of a curve: about one for each dot across a printed page."""
_RIDGE = 0.82
"""Height of a curve at its highest; the next one stands at 1."""
_LETTER = 0.011
"""Width of a letter beside a bar, as a share of the picture's."""
_TITLE_WIDTH, _SMALL_PRINT_WIDTH = 78, 150
"""Letters of a line that is as wide as the picture."""
STYLE: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "axes.edgecolor": GRID,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": SOFT,
    "ytick.color": INK,
    "svg.hashsalt": "skyarchive",  # the same answer is the same file
}


def draw_reigns(questions: Questions, longest: Answer, path: Path) -> None:
    """The longest reigns as bars along the years, one line per holder; their other reigns in grey."""
    check_picture(path)
    if not longest.rows:
        raise SkyarchiveError("There is no reign to draw.")
    at = {name: index for index, name in enumerate(longest.columns)}
    holders = list(dict.fromkeys(row[at["object"]] for row in longest.rows))
    names = {row[at["object"]]: row[at["name"]] for row in longest.rows}
    best = {row[at["object"]]: row for row in reversed(longest.rows)}
    # The earliest reign on top, so that the eye follows time downwards.
    holders.sort(key=lambda item: (best[item][at["first_time"]], item))
    line = {item: number for number, item in enumerate(holders)}
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(9.6, 1.5 + 0.3 * len(holders)), layout="constrained")
        for item, first, last in questions.all_reigns(holders):
            axes.barh(line[item], mdates.date2num(last) - mdates.date2num(first), left=mdates.date2num(first),
                      height=0.34, color=_OTHER_REIGNS, linewidth=0)  # fmt: skip
        bars = []
        for row in longest.rows:
            first, last = row[at["first_time"]], row[at["until"]] or row[at["last_time"]]
            begin, end, y = mdates.date2num(first), mdates.date2num(last), line[row[at["object"]]]
            axes.barh(y, end - begin, left=begin, height=0.62, color=ACCENT, linewidth=0)
            bars.append(Bar(begin, end, y, f"{_length(first, last)}{' and counting' if row[at['ongoing']] else ''}"))
        axes.margins(x=0.01)
        _label_bars(axes, bars)
        axes.set_yticks(range(len(holders)), [_short(names[item]) for item in holders])
        axes.invert_yaxis()
        _dress(axes, f"Unbeaten longest: {questions.definition.title}")
        _explain(figure, questions, "Grey: other reigns.")
        save(figure, path)


def draw_frequent(questions: FrequentQuestions, query: Query, over: str | None, path: Path) -> None:
    """The most frequent objects over time: how many of the last snapshots each was unbeaten in, one line per object,
    red where that is enough."""
    check_picture(path)
    curves = questions.curves(query, over, _DRAWN, _POINTS)
    if not curves:
        raise SkyarchiveError(f"Nobody is frequent there ({query}): there is nothing to draw.")
    if over is None:
        curves = begun(curves)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(9.6, 1.7 + 0.42 * len(curves)), layout="constrained")
        for line, curve in enumerate(curves):
            base = len(curves) - 1 - line
            when, counts = held(mdates.date2num(curve.times), curve.counts)
            share = counts / query.window * _RIDGE
            enough = counts >= query.needed
            axes.fill_between(when, base, base + share, color=_OTHER_REIGNS, linewidth=0)
            axes.fill_between(when, base, base + share, where=enough, color=ACCENT, linewidth=0)
            axes.axhline(base, color=GRID, linewidth=0.8, zorder=0.5)
        heights = [len(curves) - 1 - line for line in range(len(curves))]
        axes.set_yticks([base + _RIDGE / 2 for base in heights], [_short(curve.name) for curve in curves])
        axes.set_ylim(-0.1, len(curves))
        axes.margins(x=0.01)
        _dress(axes, f"Unbeaten most often: {questions.definition.title}")
        _explain(figure, questions, f"Height: in how many of the last {query.window} snapshots, up to all of them. "
                                    f"Red: in at least {query.needed} (θ {query.theta:f}).")  # fmt: skip
        save(figure, path)


def begun(curves: list[Curve]) -> list[Curve]:
    """The curves without the time before anybody was unbeaten: an archive may begin without anybody who counts."""
    begin = min(int(np.argmax(curve.counts > 0)) for curve in curves)
    return [replace(curve, times=curve.times[begin:], counts=curve.counts[begin:]) for curve in curves]


def held(times: ArrayLike, counts: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """A curve of counts that hold until the next time, however far that is."""
    return np.repeat(np.asarray(times), 2)[1:], np.repeat(np.asarray(counts), 2)[:-1]


def _dress(axes: Axes, title: str) -> None:
    """Time along the bottom, and as few lines as will do."""
    axes.xaxis_date(tz=UTC)
    axes.xaxis.set_major_locator(locator := mdates.AutoDateLocator(tz=UTC, minticks=4, maxticks=9))
    axes.xaxis.set_major_formatter(mdates.ConciseDateFormatter(locator, tz=UTC))
    axes.tick_params(length=0)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    head(cast(Figure, axes.figure), title)


def head(figure: Figure, title: str) -> None:
    """The title over everything, in as many lines as it needs."""
    figure.suptitle(fill_lines(title, _TITLE_WIDTH), x=0.01, ha="left", fontweight="bold", fontsize=13)


def _explain(figure: Figure, questions: Questions, more: str) -> None:
    """What is shown, in small print below."""
    attributes = questions.definition.attributes.items()
    better = ", ".join(f"{name.replace('_', ' ')} ({a.better} is better)" for name, a in attributes)
    meaning = f"Unbeaten: nobody is at least as good in everything and better in something. {more}"
    small_print(figure, f"{meaning}\n{better}")


def small_print(figure: Figure, text: str) -> None:
    """Below everything."""
    note = fill_lines(text, _SMALL_PRINT_WIDTH)
    figure.supxlabel(note, fontsize=8, color=SOFT, x=0.01, ha="left", linespacing=1.4)


@dataclass(frozen=True)
class Bar:
    """A reign as it is drawn, on the axis of dates."""

    first: float
    last: float
    line: int
    text: str


Label = tuple[float, bool, bool]
"""Where a text stands, whether to the left of there, and whether in its bar."""


def _label_bars(axes: Axes, bars: list[Bar]) -> None:
    """How long each bar is."""
    for bar, label in zip(bars, labels(bars, *axes.get_xlim()), strict=True):
        if label is not None:
            x, to_the_left, within = label
            axes.annotate(bar.text, (x, bar.line), (-5 if to_the_left else 5, 0), textcoords="offset points",
                          va="center", ha="right" if to_the_left else "left", fontsize=8.5,
                          color="white" if within else INK)  # fmt: skip


def labels(bars: list[Bar], left: float, right: float) -> list[Label | None]:
    """Where the text of each bar stands: in it if it is long enough; else beside it, where no other bar or text of the
    line is; or nowhere."""
    taken: dict[int, list[tuple[float, float]]] = {}
    for bar in bars:
        taken.setdefault(bar.line, []).append((bar.first, bar.last))
    found: list[Label | None] = []
    for bar in bars:
        wide = _LETTER * (right - left) * len(bar.text)
        if bar.last - bar.first > wide:
            found.append((bar.first, False, True))
            continue
        found.append(None)
        for begin, to_the_left in ((bar.last, False), (bar.first - wide, True)):
            is_free = not any(first < begin + wide and begin < last for first, last in taken[bar.line])
            if is_free and left <= begin and begin + wide <= right:
                taken[bar.line].append((begin, begin + wide))
                found[-1] = (bar.first if to_the_left else bar.last, to_the_left, False)
                break
    return found


def fill_lines(text: str, width: int) -> str:
    """The text's lines, none longer than `width`."""
    return "\n".join(part for line in text.splitlines() for part in textwrap.wrap(line, width))


def check_picture(path: Path) -> None:
    """Refuses a file whose name does not say a kind of picture."""
    if path.suffix.lower() not in KINDS:
        raise SettingError(f"--plot {path}: end the name in {', '.join(KINDS[:-1])} or {KINDS[-1]}.")


def save(figure: Figure, path: Path) -> None:
    """Writes the picture and lets go of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=160, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
    except OSError as error:
        raise SkyarchiveError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        plt.close(figure)


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"


def _length(first: datetime, last: datetime) -> str:
    """How long a reign lasted, as people say it."""
    seconds = (last - first).total_seconds()
    for unit, size in (("years", 365.25 * 86400), ("days", 86400.0), ("hours", 3600.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}" if unit == "years" else f"{seconds / size:.0f} {unit}"
    return f"{seconds / 60:.0f} minutes"

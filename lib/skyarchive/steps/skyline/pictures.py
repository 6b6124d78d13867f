"""The longest reigns, drawn. Importing this takes half a second: import it late."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import matplotlib.dates as mdates
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from skyarchive.answers.pictures import ACCENT, INK, QUIET, STYLE, check_picture, dress, explain, save, short
from skyarchive.answers.questions import Answer
from skyarchive.errors import SkyarchiveError
from skyarchive.steps.skyline.questions import SkylineQuestions

_LETTER = 0.011
"""Width of a letter beside a bar, as a share of the picture's."""


def draw_reigns(questions: SkylineQuestions, longest: Answer, path: Path) -> None:
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
                      height=0.34, color=QUIET, linewidth=0)  # fmt: skip
        bars = []
        for row in longest.rows:
            first, last = row[at["first_time"]], row[at["until"]] or row[at["last_time"]]
            begin, end, y = mdates.date2num(first), mdates.date2num(last), line[row[at["object"]]]
            axes.barh(y, end - begin, left=begin, height=0.62, color=ACCENT, linewidth=0)
            bars.append(Bar(begin, end, y, f"{_length(first, last)}{' and counting' if row[at['ongoing']] else ''}"))
        axes.margins(x=0.01)
        _label_bars(axes, bars)
        axes.set_yticks(range(len(holders)), [short(names[item]) for item in holders])
        axes.invert_yaxis()
        dress(axes, f"Unbeaten longest: {questions.definition.title}")
        explain(figure, questions, "Grey: other reigns.")
        save(figure, path)


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


def _length(first: datetime, last: datetime) -> str:
    """How long a reign lasted, as people say it."""
    seconds = (last - first).total_seconds()
    for unit, size in (("years", 365.25 * 86400), ("days", 86400.0), ("hours", 3600.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}" if unit == "years" else f"{seconds / size:.0f} {unit}"
    return f"{seconds / 60:.0f} minutes"

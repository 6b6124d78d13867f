"""The skyline of the last while over time, drawn. Importing this takes half a second: import it late."""

from pathlib import Path
from typing import cast

import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numpy.typing import NDArray

from skyarchive.answers.pictures import ACCENT, QUIET, STYLE, check_picture, dress, save, small_print
from skyarchive.errors import SkyarchiveError
from skyarchive.steps.windows.questions import WindowQuestions

_BINS = 120
"""Spans of time in which changes are counted."""
_STILL = np.inf


def draw_windows(questions: WindowQuestions, over: str | None, path: Path) -> None:
    """How many members there are, how many come and go, and since when and until when each of them is one; in A..B, or
    all the time."""
    check_picture(path)
    stays, end = questions.stays(over)
    if not stays:
        raise SkyarchiveError("There is no stay to draw.")
    last = float(mdates.date2num(end))
    since = np.array([mdates.date2num(stay[0]) for stay in stays], float)
    until = np.array([_STILL if stay[1] is None else mdates.date2num(stay[1]) for stay in stays], float)
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            3, 1, figsize=(9.6, 9), layout="constrained", sharex=True, height_ratios=[1.4, 1, 3]
        )
        size, turnover, bars = cast(list[Axes], list(panels))
        _draw_size(size, since, until, last)
        _draw_turnover(turnover, since, until, last)
        _draw_bars(bars, since, until, last)
        query = questions.query
        dress(bars, f"Unbeaten in the last {query.last}: {questions.definition.name}")
        for axes in (size, turnover):
            for side in ("top", "right", "left"):
                axes.spines[side].set_visible(False)
            axes.tick_params(length=0)
        ways = ", ".join(f"{name.replace('_', ' ')} ({it.better} is better)" for name, it in query.attributes.items())
        small_print(
            figure,
            "A record is a member while no other one that counts is at least as good in everything and better in "
            f"something. Red: members that are at the end.\n{ways}",
        )
        save(figure, path)


def _draw_size(axes: Axes, since: NDArray[np.float64], until: NDArray[np.float64], last: float) -> None:
    ended = until[np.isfinite(until)]
    times = np.concatenate([since, ended])
    steps = np.concatenate([np.ones(len(since)), -np.ones(len(ended))])
    order = np.argsort(times, kind="stable")
    when, count = times[order], np.cumsum(steps[order])
    final = np.append(when[1:] != when[:-1], True)  # what is so for no time is not drawn
    axes.step([*when[final], last], [*count[final], count[-1]], where="post", color=ACCENT, linewidth=0.8)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("members")


def _draw_turnover(axes: Axes, since: NDArray[np.float64], until: NDArray[np.float64], last: float) -> None:
    edges = np.linspace(since.min(), max(last, since.max() + 1e-9), _BINS + 1)
    for values, sign, color in ((since, 1, ACCENT), (until[np.isfinite(until)], -1, QUIET)):
        counts, _ = np.histogram(values, edges)
        axes.bar(edges[:-1], sign * counts, np.diff(edges), align="edge", color=color, linewidth=0)
    axes.set_ylabel("come, go")


def _draw_bars(axes: Axes, since: NDArray[np.float64], until: NDArray[np.float64], last: float) -> None:
    lines = np.arange(len(since))
    still = ~np.isfinite(until)
    ends = np.where(still, last, until)
    segments = np.stack([np.column_stack([since, lines]), np.column_stack([ends, lines])], axis=1)
    width = float(np.clip(220 / len(since), 0.3, 4))
    colors = [ACCENT if goes_on else QUIET for goes_on in still]
    axes.add_collection(LineCollection(list(segments), colors=colors, linewidths=width))
    axes.set_xlim(since.min(), last + (last - since.min()) * 0.01)
    axes.set_ylim(len(since), -1)
    axes.set_yticks([])
    axes.set_ylabel("one line for each stay")

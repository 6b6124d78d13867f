"""The most frequent objects over time, drawn. Importing this takes half a second: import it late."""

from dataclasses import replace
from pathlib import Path

import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import ArrayLike

from skyarchive.answers.pictures import ACCENT, GRID, QUIET, STYLE, check_picture, dress, explain, save, short
from skyarchive.definition.frequent import Query
from skyarchive.errors import SkyarchiveError
from skyarchive.steps.frequent.questions import Curve, FrequentQuestions

_DRAWN = 15
"""Objects in a picture of the most frequent."""
_POINTS = 2000
"""Points of a curve: about one for each dot across a printed page."""
_RIDGE = 0.82
"""Height of a curve at its highest; the next one stands at 1."""


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
            axes.fill_between(when, base, base + share, color=QUIET, linewidth=0)
            axes.fill_between(when, base, base + share, where=enough, color=ACCENT, linewidth=0)
            axes.axhline(base, color=GRID, linewidth=0.8, zorder=0.5)
        heights = [len(curves) - 1 - line for line in range(len(curves))]
        axes.set_yticks([base + _RIDGE / 2 for base in heights], [short(curve.name) for curve in curves])
        axes.set_ylim(-0.1, len(curves))
        axes.margins(x=0.01)
        dress(axes, f"Unbeaten most often: {questions.definition.title}")
        explain(figure, questions, f"Height: in how many of the last {query.window} snapshots, up to all of them. "
                                    f"Red: in at least {query.needed} (θ {query.theta:f}).")  # fmt: skip
        save(figure, path)


def begun(curves: list[Curve]) -> list[Curve]:
    """The curves without the time before anybody was unbeaten: an archive may begin without anybody who counts."""
    begin = min(int(np.argmax(curve.counts > 0)) for curve in curves)
    return [replace(curve, times=curve.times[begin:], counts=curve.counts[begin:]) for curve in curves]


def held(times: ArrayLike, counts: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """A curve of counts that hold until the next time, however far that is."""
    return np.repeat(np.asarray(times), 2)[1:], np.repeat(np.asarray(counts), 2)[:-1]

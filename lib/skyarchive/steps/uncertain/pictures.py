"""How probable the best of the last while are over time, drawn. Importing this takes half a second: import it late."""

from pathlib import Path
from typing import cast

import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from skyarchive.answers.pictures import ACCENT, QUIET, STYLE, check_picture, dress, save, small_print
from skyarchive.arrivals.moments import time_of
from skyarchive.arrivals.ordered import Asked, Records
from skyarchive.errors import SkyarchiveError
from skyarchive.kernels.uncertain import Present
from skyarchive.kernels.uncertain.checking import SLACK
from skyarchive.steps.uncertain.questions import UncertainQuestions
from skyarchive.steps.uncertain.replaying import microseconds

_LOOKS = 400
"""Moments that are looked at."""
_NAMED = 6
"""Of those that were the best, so many are named."""
_ROOM = 0.12
"""For a name, of the width of the picture."""


def draw_uncertain(questions: UncertainQuestions, path: Path, over: str | None, top: int | None) -> None:
    """The probabilities of the most probable at many moments: one line for each record, the best in red."""
    check_picture(path)
    records, begin = _records(questions, over)
    if begin >= len(records):
        raise SkyarchiveError("There is no record to draw.")
    count = top or questions.query.top
    looked = np.unique(np.linspace(begin, len(records) - 1, _LOOKS).astype(np.int64))
    best = _best(questions, records, looked)
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(2, 1, figsize=(9.6, 7), layout="constrained", sharex=True, height_ratios=[2.4, 1])
        likely, sizes = cast(list[Axes], list(panels))
        times = mdates.date2num([time_of(int(records.time[look])) for look in looked])
        _draw(questions, likely, records, times, [(numbers[:count], chances[:count]) for numbers, chances in best])
        _draw_sizes(questions, sizes, times, best)
        dress(likely, f"The last {questions.query.last}, as probable as they are: {questions.definition.title}")
        likely.set_ylabel("probability")
        sizes.set_ylabel("members")
        for side in ("top", "right", "left"):
            sizes.spines[side].set_visible(False)
        sizes.tick_params(length=0)
        sizes.xaxis_date()
        ways = ", ".join(
            f"{name.replace('_', ' ')} ({it.better} is better)" for name, it in questions.query.attributes.items()
        )
        small_print(
            figure,
            f"How probable it is that a record exists and no other one that counts and beats it does: the {count} most "
            "probable, a line for each. Red: the best.\nBelow: how many reach each threshold that is kept. "
            f"Probability: {questions.query.probability}\n{ways}",
        )
        save(figure, path)


def _records(questions: UncertainQuestions, over: str | None) -> tuple[Records, int]:
    """The records of a span with those before it that count at its beginning, and where it begins."""
    first, last = questions.moments.span(over or "..", "..")
    extents = [it for it in questions.extents if it.first_number <= last.extent.first_number]
    width = questions.query.width
    begin = first.extent if first else extents[0]
    if questions.query.counts_records:
        needed = [it for it in extents if it.last_number > begin.first_number - width]
    else:
        needed = [it for it in extents if (begin.first - it.last).total_seconds() * 1e6 < width]
    periods = [it.period for it in needed]
    records = questions.raw().read(periods, questions.look.before(periods[0]), questions.facts)

    def place(number: int | None, time: int | None) -> int:
        if number is not None:
            return number - needed[0].first_number
        assert time is not None
        return int(np.searchsorted(records.time, time, "right")) - 1

    end = place(last.number, None if last.time is None else microseconds(last))
    start = 0 if first is None else place(first.number, None if first.time is None else microseconds(first))
    return records.at(np.arange(end + 1)), max(start, 0)


Seen = list[tuple[NDArray[np.int64], NDArray[np.float64]]]


def _best(questions: UncertainQuestions, records: Records, looked: NDArray[np.int64]) -> Seen:
    """Records and their probabilities at each look, the most probable first."""
    [asked] = Asked.of([questions.query])
    assert records.chance is not None
    moments, every = records.moments(asked), slice(0, len(records))
    costs, groups = records.costs(asked, every), records.group_codes(every)
    present = Present(asked.width, float(min(asked.thresholds)))
    found, begin = [], 0
    for look in looked.tolist():
        # All that come at one time count at once.
        end = int(np.searchsorted(moments, moments[look], "right"))
        part = slice(begin, end)
        present.feed(
            moments[part], None if groups is None else groups[part], [own[part] for own in costs], records.chance[part]
        )
        numbers, chances = present.likely()
        order = np.argsort(-chances, kind="stable")
        found.append((numbers[order], chances[order]))
        begin = end
    return found


def _draw(questions: UncertainQuestions, axes: Axes, records: Records, times: NDArray[np.float64], best: Seen) -> None:
    lines: dict[int, tuple[list[float], list[float]]] = {}
    for time, (numbers, chances) in zip(times.tolist(), best, strict=True):
        for number, chance in zip(numbers.tolist(), chances.tolist(), strict=True):
            when, how = lines.setdefault(number, ([], []))
            when.append(time)
            how.append(chance)
    for when, how in lines.values():
        axes.plot(when, how, color=QUIET, linewidth=0.9, marker=".", markersize=2)
    seen = zip(times.tolist(), best, strict=True)
    first = [(time, int(numbers[0]), float(chances[0])) for time, (numbers, chances) in seen if len(numbers)]
    axes.plot([it[0] for it in first], [it[2] for it in first], color=ACCENT, linewidth=1.4, drawstyle="steps-post")
    lowest = min((min(how) for _, how in lines.values()), default=0.0)
    axes.set_ylim(max(lowest - 0.1 * (1.01 - lowest), 0), 1 + 0.15 * (1.01 - lowest))
    _name(questions, axes, records, first, float(np.ptp(times)))


def _draw_sizes(questions: UncertainQuestions, axes: Axes, times: NDArray[np.float64], best: Seen) -> None:
    """How many reach each threshold, the highest on top of the others."""
    levels = sorted(questions.query.levels)
    for place, threshold in enumerate(levels):
        counts = [int((chances >= float(threshold) * (1 - SLACK)).sum()) for _, chances in best]
        color = ACCENT if place == len(levels) - 1 else QUIET
        axes.step(times, counts, where="post", color=color, linewidth=0.9)
        axes.annotate(
            f" {threshold:f}", (float(times[-1]), counts[-1]), xytext=(3, 0), textcoords="offset points",
            va="center", fontsize=8, color=color,
        )  # fmt: skip
    axes.set_ylim(bottom=0)


def _name(
    questions: UncertainQuestions, axes: Axes, records: Records, first: list[tuple[float, int, float]], width: float
) -> None:
    """Those that were the best for longest, as far as there is room."""
    spells: dict[int, list[tuple[float, float]]] = {}
    for time, number, chance in first:
        spells.setdefault(number, []).append((time, chance))
    longest = sorted(spells, key=lambda number: -len(spells[number]))[:_NAMED]
    items = {n: records.object.names[int(records.object.codes[n])].as_py() for n in longest}
    names, named = questions.called(list(items.values())), list[float]()
    for number in longest:
        time, chance = spells[number][len(spells[number]) // 2]
        if all(abs(time - other) > width * _ROOM for other in named):
            named.append(time)
            axes.annotate(
                names.get(items[number], items[number]), (time, chance), xytext=(0, 4), textcoords="offset points",
                ha="center", fontsize=8,
            )  # fmt: skip

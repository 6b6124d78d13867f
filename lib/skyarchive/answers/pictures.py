"""What pictures of answers have in common, for screen and print. Importing this takes half a second: import it late."""

import textwrap
from datetime import UTC
from pathlib import Path
from typing import Any, cast

import matplotlib

matplotlib.use("agg")
import matplotlib.dates as mdates
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skyarchive.answers.questions import Questions
from skyarchive.errors import SettingError, SkyarchiveError

KINDS = (".svg", ".png", ".pdf")
INK, SOFT, ACCENT, GRID = "#22272e", "#8a94a3", "#b3242a", "#dde2e8"
QUIET = "#c9d1db"
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


def dress(axes: Axes, title: str) -> None:
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


def explain(figure: Figure, questions: Questions, more: str) -> None:
    """What is shown, in small print below."""
    attributes = questions.definition.attributes.items()
    better = ", ".join(f"{name.replace('_', ' ')} ({a.better} is better)" for name, a in attributes)
    meaning = f"Unbeaten: nobody is at least as good in everything and better in something. {more}"
    small_print(figure, f"{meaning}\n{better}")


def small_print(figure: Figure, text: str) -> None:
    """Below everything."""
    note = fill_lines(text, _SMALL_PRINT_WIDTH)
    figure.supxlabel(note, fontsize=8, color=SOFT, x=0.01, ha="left", linespacing=1.4)


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


def short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"

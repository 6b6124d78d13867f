"""Kept records: what `keeping` works on, frozen in time and with room for all."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.columns import Columns
from skyarchive.kernels.windows import slots
from skyarchive.kernels.windows.codes import CODES, Coder, encoded
from skyarchive.kernels.windows.frozen import gather, into_leaves, settle
from skyarchive.kernels.windows.keeping import take
from skyarchive.kernels.windows.lanes import LANES
from skyarchive.kernels.windows.slots import (
    BASE,
    ELDERS,
    END,
    FIRST,
    FREEZE,
    FRESH,
    FROZEN,
    HEAD,
    HELD,
    KNOWN,
    LEAVES,
    NOBODY,
    RECORD,
    RUNS,
)
from skyarchive.kernels.windows.tables import new_tables

_SWALLOWS = 1.5
"""A run swallows the one before it if that has at most so many times its records: each run has fewer than this share of
what the one before had when it was made, so that there are never many."""
_MOST_RUNS, _DEPTH = 64, 64
"""More than there can be of runs, and of halvings of one that wait."""
Frozen = tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.int64]]
"""Codes and points of some records, a row for each, and what is known of them."""


@dataclass
class Numbers:
    """What settles everything about records that were taken in, -1 where there is nobody."""

    freed_by: NDArray[np.int64]
    """The youngest older one that beats it, of those alive when it came."""
    beaten_by: NDArray[np.int64]
    """The first younger one that beats it while it is alive."""
    pairs: NDArray[np.int64]
    """The same about those kept from before: one, and who beat it."""
    n_elders: int = 0

    @property
    def elders(self) -> NDArray[np.int64]:
        return self.pairs[: self.n_elders]


class Keeper:
    """Kept records of one stream."""

    def __init__(self, axes: int) -> None:
        self.axes = axes
        self.tally = np.zeros(slots.PLACES, np.int64)
        self.runs = np.zeros((_MOST_RUNS, slots.SPAN), np.int64)
        self.tables = new_tables(axes, FRESH)
        self._own, self._marks = np.empty(axes), np.empty(axes, np.uint8)

    def numbers(self, length: int, base: int = 0) -> Numbers:
        """To be filled in about so many records, the first of which has the number `base`."""
        self.tally[[ELDERS, BASE]] = 0, base
        freed_by, beaten_by = np.full((2, length), NOBODY, np.int64)
        return Numbers(freed_by, beaten_by, np.empty((int(self.tally[HELD] + self.tally[FROZEN]), 2), np.int64))

    def take(
        self,
        columns: Columns,
        moments: NDArray[np.int64],
        coded: NDArray[np.uint8],
        chosen: NDArray[np.int32],
        begin: int,
        end: int,
        width: int,
        numbers: Numbers,
    ) -> None:
        """Takes in the records in these places of `chosen`, and fills in their numbers."""
        while True:
            begin = take(
                columns.addresses, moments, coded, chosen, begin, end, width, *self.tables, self.runs, self.tally,
                self._own, self._marks, numbers.freed_by, numbers.beaten_by, numbers.pairs,
            )  # fmt: skip
            numbers.n_elders = int(self.tally[ELDERS])
            if begin == end:
                return
            self._freeze(int(moments[chosen[begin]]) - width)

    def held(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """What is known about everybody kept, and the points, by number."""
        places = self.tables.slots()
        places = places[np.argsort(self.tables.about[places, RECORD])]
        return self.tables.about[places], self.tables.points[places]

    def refill(self, coder: Coder, values: NDArray[np.float64], known: NDArray[np.int64]) -> None:
        """These are kept, and nobody else: points and what is known of them, by number."""
        blocks = encoded(coder, Columns(list(np.ascontiguousarray(values.T))), len(known)).blocks
        marks = np.ascontiguousarray(blocks.transpose(0, 2, 1)).reshape(-1, self.axes)[: len(known)]
        self.tables.alive[:] = 0
        self.tally[[HEAD, END, HELD, RUNS, FROZEN]] = 0
        if len(known) >= FREEZE:
            self._add_run(marks, values, known)
        elif len(known):
            settle(marks, values, known, np.arange(len(known), dtype=np.int32), *self.tables, 0)
            self.tally[[END, HELD]] = len(known)

    def recode(self, coder: Coder) -> None:
        """From now on codes are of another kind."""
        known, points = self.held()
        self.refill(coder, points, known)

    @property
    def tests(self) -> int:
        """Pairs of records compared."""
        return int(self.tally[slots.TESTS])

    @property
    def most(self) -> int:
        """The most records kept at once."""
        return int(self.tally[slots.MOST])

    def _freeze(self, least: int) -> None:
        """The fresh records become a run, together with the last runs that are not much larger. Who came at the moment
        `least`, or before, has expired."""
        parts = [(int(self.tally[HEAD]), -(-int(self.tally[END]) // LANES))]
        size = int(self.tally[HELD])
        while self.tally[RUNS]:
            first, leaves = self.runs[self.tally[RUNS] - 1, [FIRST, LEAVES]].tolist()
            in_run = self.tables.count(first, first + leaves)
            if in_run > size * _SWALLOWS:
                break
            parts.append((first, first + leaves))
            size += in_run
            self.tally[RUNS] -= 1
        run = self._gathered(parts, size, least)
        self.tally[[HEAD, END, HELD]] = 0
        self._add_run(*run)

    def _gathered(self, parts: list[tuple[int, int]], size: int, least: int) -> Frozen:
        """Those alive in some blocks, taken out of them."""
        codes, alive, points, about, _, _ = self.tables
        marks, values = np.empty((size, self.axes), np.uint8), np.empty((size, self.axes))
        known = np.empty((size, KNOWN), np.int64)
        taken = 0
        for first, end in parts:
            taken = gather(codes, alive, points, about, first, end, least, marks, values, known, taken)
        return marks[:taken], values[:taken], known[:taken]

    def _add_run(self, marks: NDArray[np.uint8], values: NDArray[np.float64], known: NDArray[np.int64]) -> None:
        if len(marks):
            n_runs = int(self.tally[RUNS])
            leaves = -(-len(marks) // LANES)
            first = self._place_after(n_runs, -(-leaves // LANES) * LANES)
            order = np.arange(len(marks), dtype=np.int32)
            into_leaves(marks, order, np.empty_like(order), np.empty(CODES, np.int64), np.empty((_DEPTH, 2), np.int64))
            newest = settle(marks, values, known, order, *self.tables, first)
            self.runs[n_runs] = first, leaves, newest
            self.tally[RUNS] += 1
        self.tally[FROZEN] = self.tables.count(FRESH)

    def _place_after(self, n_runs: int, blocks: int) -> int:
        """The first of so many free blocks after the last run. Space of runs that are gone is used again before more is
        made."""
        end = self._end(n_runs)
        if end + blocks > self.tables.room and n_runs and self.runs[0, FIRST] > FRESH:
            first = int(self.runs[0, FIRST])
            self.tables.slide(first, end, FRESH)
            self.runs[:n_runs, FIRST] -= first - FRESH
            end = self._end(n_runs)
        if end + blocks > self.tables.room:
            self.tables = self.tables.with_room(max(end + blocks, 2 * self.tables.room))
        return end

    def _end(self, n_runs: int) -> int:
        """After the last run: the first block of a group."""
        return -(-int(self.runs[n_runs - 1, [FIRST, LEAVES]].sum()) // LANES) * LANES if n_runs else FRESH

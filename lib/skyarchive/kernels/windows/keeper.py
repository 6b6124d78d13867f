"""The tables that `keeping` works on, with room for as many records as are kept."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.columns import Columns
from skyarchive.kernels.windows.codes import Coder, encoded
from skyarchive.kernels.windows.frozen import gather, into_leaves, settle
from skyarchive.kernels.windows.keeping import (
    BASE,
    ELDERS,
    END,
    FIRST,
    FREEZE,
    FRESH,
    FROZEN,
    HEAD,
    HELD,
    MOST,
    NEWEST,
    NOBODY,
    RECORD,
    RUNS,
    TESTS,
    take,
)
from skyarchive.kernels.windows.lanes import LANES

_MOST_RUNS = 64
_SWALLOWS = 1
"""A run swallows the one before it if that has at most so many times its records."""
_DEPTH = 64


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
        self.tally = np.zeros(9, np.int64)
        self.runs = np.zeros((_MOST_RUNS, 3), np.int64)
        self._own, self._marks = np.empty(axes), np.empty(axes, np.uint8)
        self.codes = np.empty((0, axes, LANES), np.uint8)
        self.alive = np.zeros(0, np.int64)
        self.best, self.worst = (np.empty((0, axes, LANES), np.uint8) for _ in range(2))
        self.points = np.empty((0, axes))
        self.about = np.empty((0, 4), np.int64)
        self._lay_out(FRESH)

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
                columns.addresses, moments, coded, chosen, begin, end, width,
                self.codes, self.alive, self.points, self.about, self.best, self.worst, self.runs, self.tally,
                self._own, self._marks, numbers.freed_by, numbers.beaten_by, numbers.pairs,
            )  # fmt: skip
            numbers.n_elders = int(self.tally[ELDERS])
            if begin == end:
                return
            self._freeze(int(moments[chosen[begin]]) - width)

    def held(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """What is known about everybody kept, and the points, by number."""
        lanes = np.unpackbits(self.alive.view(np.uint8), bitorder="little")
        slots = np.flatnonzero(lanes)
        slots = slots[np.argsort(self.about[slots, RECORD])]
        return self.about[slots], self.points[slots]

    def refill(self, coder: Coder, values: NDArray[np.float64], known: NDArray[np.int64]) -> None:
        """These are kept, and nobody else: points and what is known of them, by number."""
        codes = encoded(coder, Columns(list(np.ascontiguousarray(values.T))), len(known))
        marks = np.ascontiguousarray(codes.blocks.transpose(0, 2, 1)).reshape(-1, self.axes)[: len(known)]
        self.alive[:] = 0
        self.tally[[HEAD, END, HELD, RUNS, FROZEN]] = 0
        if len(known) >= FREEZE:
            self._add_run(marks, values, known)
            self.tally[FROZEN] = len(known)
        elif len(known):
            order = np.arange(len(known), dtype=np.int32)
            settle(
                marks, values, known, order,
                self.codes, self.alive, self.points, self.about, self.best, self.worst, 0,
            )  # fmt: skip
            self.tally[[END, HELD]] = len(known)

    def recode(self, coder: Coder) -> None:
        """From now on codes are of another kind."""
        known, points = self.held()
        self.refill(coder, points, known)

    @property
    def tests(self) -> int:
        return int(self.tally[TESTS])

    @property
    def most(self) -> int:
        return int(self.tally[MOST])

    def _freeze(self, least: int) -> None:
        """The fresh records become a run, together with the last runs that are not much larger."""
        parts = [(int(self.tally[HEAD]), -(-int(self.tally[END]) // LANES))]
        size = int(self.tally[HELD])
        while self.tally[RUNS]:
            first, leaves, _ = self.runs[self.tally[RUNS] - 1].tolist()
            in_run = int(np.bitwise_count(self.alive[first : first + leaves].view(np.uint64)).sum())
            if in_run > size * _SWALLOWS:
                break
            parts.append((first, first + leaves))
            size += in_run
            self.tally[RUNS] -= 1
        tables = self._gathered(parts, size, least)
        self.tally[[HEAD, END, HELD]] = 0
        self._add_run(*tables)
        self.tally[FROZEN] = np.bitwise_count(self.alive[FRESH:].view(np.uint64)).sum()

    def _gathered(
        self, parts: list[tuple[int, int]], size: int, least: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.int64]]:
        """Codes, points and what is known of those alive in some blocks, taken out of them."""
        marks, values = np.empty((size, self.axes), np.uint8), np.empty((size, self.axes))
        known = np.empty((size, self.about.shape[1]), np.int64)
        taken = 0
        for first, end in parts:
            taken = gather(
                self.codes, self.alive, self.points, self.about, first, end, least, marks, values, known, taken
            )
        return marks[:taken], values[:taken], known[:taken]

    def _add_run(self, marks: NDArray[np.uint8], values: NDArray[np.float64], known: NDArray[np.int64]) -> None:
        if not len(marks):
            return
        n_runs = int(self.tally[RUNS])
        leaves = -(-len(marks) // LANES)
        first = self._place_after(n_runs, -(-leaves // LANES) * LANES)
        order = np.arange(len(marks), dtype=np.int32)
        into_leaves(marks, order, np.empty_like(order), np.empty(256, np.int64), np.empty((_DEPTH, 2), np.int64))
        newest = settle(
            marks, values, known, order,
            self.codes, self.alive, self.points, self.about, self.best, self.worst, first,
        )  # fmt: skip
        self.runs[n_runs] = first, leaves, newest
        self.tally[RUNS] += 1

    def _place_after(self, n_runs: int, leaves: int) -> int:
        """The first of so many free blocks after the last run. Space of runs that are gone is used again before more is
        made."""
        end = self._end(n_runs)
        if end + leaves > len(self.alive):
            self._slide(n_runs)
            end = self._end(n_runs)
        if end + leaves > len(self.alive):
            self._lay_out(-(-max(end + leaves, 2 * len(self.alive)) // LANES) * LANES)
        return end

    def _end(self, n_runs: int) -> int:
        """Runs begin where a block of corners does."""
        return -(-int(self.runs[n_runs - 1, :NEWEST].sum()) // LANES) * LANES if n_runs else FRESH

    def _slide(self, n_runs: int) -> None:
        """Moves the runs to where the first one may begin."""
        first = int(self.runs[0, FIRST]) if n_runs else FRESH
        if first == FRESH:
            return
        end, back = self._end(n_runs), first - FRESH
        for table in (self.codes, self.alive, self.best, self.worst, self.points, self.about):
            size = len(table) * LANES // len(self.alive)  # of its rows to 64 blocks
            table[FRESH * size // LANES : (end - back) * size // LANES] = table[
                first * size // LANES : end * size // LANES
            ].copy()
        self.runs[:n_runs, FIRST] -= back

    def _lay_out(self, blocks: int) -> None:
        """Room for so many blocks; what there is stays."""
        old = (self.codes, self.alive, self.best, self.worst, self.points, self.about)
        groups = blocks // LANES
        self.codes = np.empty((blocks, self.axes, LANES), np.uint8)
        self.alive = np.zeros(blocks, np.int64)
        self.best, self.worst = (np.empty((groups, self.axes, LANES), np.uint8) for _ in range(2))
        self.points = np.empty((blocks * LANES, self.axes))
        self.about = np.empty((blocks * LANES, 4), np.int64)
        for table, before in zip(
            (self.codes, self.alive, self.best, self.worst, self.points, self.about), old, strict=True
        ):
            table[: len(before)] = before

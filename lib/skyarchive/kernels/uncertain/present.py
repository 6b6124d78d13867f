"""The records that can still matter, fed one batch after the other, and asked at the present moment."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.compiling import entry_point
from skyarchive.kernels.uncertain.checking import (
    SLACK,
    Stream,
    check_width,
    checked_stream,
    checked_threshold,
    checked_thresholds,
)
from skyarchive.kernels.uncertain.codes import Filter, filter_of
from skyarchive.kernels.uncertain.look_back import fed
from skyarchive.kernels.uncertain.standing import RECORD
from skyarchive.kernels.uncertain.stays import TOLD
from skyarchive.kernels.uncertain.store import HEAD, TAIL, Store, new_store

_NO_MOMENT = int(np.iinfo(np.int64).min)


@entry_point
def _ask(store, now, lowered, numbers, chances):  # type: ignore[no-untyped-def]
    """Writes down who is alive and has at least this chance; gives how many."""
    _, places, _, records, _, _, lists, _, tally = store
    found = 0
    for slot in range(tally[HEAD], tally[TAIL]):
        if places[slot] < 0:
            continue
        record = records[places[slot]]
        chance = record.own * record.younger
        if record.expires <= now or chance < lowered:
            continue
        length = np.int64(record.length)
        while length > 0 and lists[record.first + length - 1].until <= now:
            length -= 1
        if length > 0:
            chance *= lists[record.first + length - 1].product
        if chance >= lowered:
            numbers[found] = record.record
            chances[found] = chance
            found += 1
    return found


class Present:
    """Answers, at its present moment, for any threshold from a given one up (the paper's QSKY).

    What is kept gives all its products again when it is fed to a new one: whoever is younger and beats a kept record is
    kept too, and older ones count only as far as they are. So a saved state is just the records kept.
    """

    def __init__(self, width: int, threshold: float) -> None:
        check_width(width)
        self.width = width
        self.threshold = checked_threshold("threshold", threshold)
        self.now = _NO_MOMENT
        self.fed = 0
        """Records so far; they are numbered from 0 in the order in which they come."""
        self._stores: dict[int, tuple[Store, Filter]] = {}
        self._thresholds = checked_thresholds([threshold])

    def feed(
        self,
        moments: NDArray[np.int64],
        groups: NDArray[np.int32] | None,
        columns: Sequence[NDArray[np.float64]],
        probability: NDArray[np.float64],
    ) -> None:
        """More records, none earlier than what came before; the present is now that of the last one."""
        stream = checked_stream(moments, groups, columns, probability, self.width)
        if len(stream) and moments[0] < self.now:
            raise ValueError(f"moments must not go back, but moments[0] is {moments[0]} and it is {self.now} already")
        if self._stores and len(stream.columns) != self._n_columns:
            raise ValueError(f"columns must be {self._n_columns} as before, not {len(stream.columns)}")
        self._take(stream, groups, np.arange(self.fed, self.fed + len(stream)))
        self.fed += len(stream)
        if len(stream):
            self.now = int(moments[-1])

    @property
    def _n_columns(self) -> int:
        """As of what came so far; 0 if nothing did."""
        return next((store.points.shape[1] for store, _ in self._stores.values()), 0)

    def _take(self, stream: Stream, groups: NDArray[np.int32] | None, names: NDArray[np.int64]) -> None:
        """Each group's records go to its own store, under the numbers `names[row]`."""
        for begin, end in zip(stream.borders[:-1], stream.borders[1:], strict=True):
            if begin == end:
                continue
            group = 0 if groups is None else int(groups[stream.numbers[begin]])
            if group not in self._stores:
                self._stores[group] = new_store(len(stream.columns), 1, 64), filter_of(stream.columns)
            store, chosen = self._stores[group]
            numbered = Stream(
                stream.moments, stream.columns, stream.probability, stream.width, stream.borders, names[stream.numbers]
            )
            store = fed(store, numbered, int(begin), int(end), self._thresholds, chosen)
            store.tally[TOLD] = 0
            self._stores[group] = store, chosen

    def until(self, moment: int) -> None:
        """Time goes on without a record."""
        if moment < self.now:
            raise ValueError(f"time must not go back: it is {self.now} already, not {moment}")
        self.now = int(moment)

    def likely(self, threshold: float | None = None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The numbers of all whose probability is at least the threshold (none: the state's own) at the present moment,
        ascending, and how likely each is."""
        asked = self.threshold if threshold is None else checked_threshold("threshold", threshold)
        if asked < self.threshold:
            raise ValueError(f"threshold must be at least {self.threshold}, for which records are kept, not {asked}")
        found = [self._asked(store, asked) for store, _ in self._stores.values()]
        numbers = np.concatenate([np.empty(0, np.int64), *(number for number, _ in found)])
        chances = np.concatenate([np.empty(0), *(chance for _, chance in found)])
        order = np.argsort(numbers)
        return numbers[order], chances[order]

    def _asked(self, store: Store, threshold: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        numbers, chances = np.empty(len(store.free), np.int64), np.empty(len(store.free))
        found = _ask(store, self.now, threshold * (1 - SLACK), numbers, chances)
        return numbers[:found], chances[:found]

    def saved(self) -> dict[str, NDArray[Any]]:
        """All it takes to go on later, as plain arrays."""
        parts = [(np.empty(0, RECORD), np.empty((0, self._n_columns)), np.empty(0, np.int32))]
        for group, (store, _) in self._stores.items():
            places = store.places[store.tally[HEAD] : store.tally[TAIL]]
            places = places[places >= 0]
            places = places[store.records["expires"][places] > self.now]
            parts.append((store.records[places], store.points[places], np.full(len(places), group, np.int32)))
        records, points, groups = (np.concatenate(kept) for kept in zip(*parts, strict=True))
        order = np.argsort(records["record"])
        return {
            "moments": records["expires"][order] - self.width,
            "groups": groups[order],
            "columns": points[order].T.copy(),
            "probability": records["own"][order],
            "numbers": records["record"][order],
            "state": np.array([self.width, self.fed, self.now], np.int64),
            "threshold": np.array([self.threshold]),
        }

    @classmethod
    def resumed(cls, saved: Mapping[str, NDArray[Any]]) -> Self:
        """As it was when it was saved."""
        width, n_fed, now = (int(number) for number in saved["state"])
        present = cls(width, float(saved["threshold"][0]))
        if len(saved["moments"]):
            stream = checked_stream(
                saved["moments"], saved["groups"], list(saved["columns"]), saved["probability"], width
            )
            present._take(stream, saved["groups"], saved["numbers"])
        present.fed, present.now = n_fed, now
        return present


def top_k(
    moments: NDArray[np.int64],
    groups: NDArray[np.int32] | None,
    columns: Sequence[NDArray[np.float64]],
    probability: NDArray[np.float64],
    width: int,
    at: int,
    k: int,
    *,
    threshold: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The `k` records that are most probably unbeaten at a moment, best first, and how likely each is: of those that
    reach the threshold, for less likely ones need not be kept. Equally likely ones stand in the order given."""
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    checked_stream(moments, groups, columns, probability, width)
    begin, end = np.searchsorted(moments, [at - width, at], side="right")
    present = Present(width, threshold)
    part = None if groups is None else groups[begin:end]
    present.feed(moments[begin:end], part, [column[begin:end] for column in columns], probability[begin:end])
    numbers, chances = present.likely()
    best = np.argsort(-chances, kind="stable")[:k]
    return numbers[best] + begin, chances[best]

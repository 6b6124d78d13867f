"""The records kept, in order of arrival, for `look_back`."""

from typing import NamedTuple

import numpy as np

from skyarchive.kernels.uncertain.codes import DEAD, LANES, form_of, words_of
from skyarchive.kernels.uncertain.standing import ENTRY, RECORD, SPAN
from skyarchive.kernels.uncertain.stays import STAY, TALLY

HEAD, TAIL, LISTED, FREE, SEEN, TAKEN = range(TALLY, TALLY + 6)
"""More places in the tally: the oldest slot in use, the one after the youngest, list entries in use, places free,
records seen since the store is new, and of those that were handed over last."""
_SMALLEST = 1024


class Store(NamedTuple):
    """Everything that stands between two calls. A record kept has a slot, in order of arrival, and a place, which does
    not move as slots do."""

    codes: np.ndarray
    """uint32[words, slots]. The first slots stay dead: blocks reach below the oldest record."""
    places: np.ndarray
    """int32[slots]: whose slot it is; -1 if it is dead."""
    free: np.ndarray
    """int32[places]: a stack."""
    records: np.ndarray
    points: np.ndarray
    """float64[places, m]"""
    spans: np.ndarray
    lists: np.ndarray
    told: np.ndarray
    tally: np.ndarray


def new_store(width: int, n_thresholds: int, size: int = _SMALLEST) -> Store:
    tally = np.zeros(TALLY + 6, np.int64)
    tally[HEAD] = tally[TAIL] = LANES
    tally[FREE] = size
    return Store(
        np.full((words_of(width), LANES + 2 * size), form_of(width)[DEAD]),
        np.full(LANES + 2 * size, -1, np.int32),
        np.arange(size, dtype=np.int32)[::-1].copy(),
        np.zeros(size, RECORD),
        np.zeros((size, width)),
        np.zeros((n_thresholds, size), SPAN),
        np.zeros(2 * size, ENTRY),
        np.zeros(2 * size * n_thresholds, STAY),
        tally,
    )


def larger(store: Store) -> Store:
    """The same with room for twice as many records."""
    size, n_free = len(store.free), int(store.tally[FREE])
    grown = new_store(store.points.shape[1], len(store.spans), 2 * size)
    grown.codes[:, : store.codes.shape[1]] = store.codes
    grown.spans[:, :size] = store.spans
    for name in ("places", "records", "points"):
        old = getattr(store, name)
        getattr(grown, name)[: len(old)] = old
    grown.free[:size] = np.arange(size, 2 * size)[::-1]
    grown.free[size : size + n_free] = store.free[:n_free]
    store.tally[FREE] += size
    return grown._replace(lists=store.lists, told=store.told, tally=store.tally)


def with_longer_lists(store: Store) -> Store:
    return store._replace(lists=doubled(store.lists))


def with_more_told(store: Store) -> Store:
    return store._replace(told=doubled(store.told))


def doubled(values: np.ndarray) -> np.ndarray:
    """With room for as many again."""
    grown = np.zeros(2 * len(values), values.dtype)  # memory that is not written to costs nothing
    grown[: len(values)] = values
    return grown

"""Every method gives, at every moment, what the definition gives.

SKYARCHIVE_FUZZ=5000 makes it try that many random streams and not only the first few.
"""

import io
import os
from collections.abc import Iterator
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import windows as oracle
from oracle.windows import Member, Stream, random_stream
from skyarchive.kernels.windows import (
    Changes,
    Counters,
    LiveWindow,
    Method,
    Stays,
    dominators,
    keeper,
    warming,
    window_stays,
)

METHODS: tuple[Method, ...] = get_args(Method)
STREAMS = int(os.environ.get("SKYARCHIVE_FUZZ", "160"))
BATCH = 20


def members_of(stays: Stays) -> list[Member]:
    return list(zip(stays.record.tolist(), stays.entered.tolist(), stays.left.tolist(), strict=True))


def small_stream(moments: list[int], points: list[tuple[float, ...]], width: int) -> Stream:
    return Stream(np.array(moments), None, [np.array(column) for column in zip(*points, strict=True)], width)


def assert_right(stream: Stream, method: Method) -> None:
    """The stays, and why: by definition."""
    stays = window_stays(*stream.arguments, method=method)
    assert members_of(stays) == oracle.stays(stream)
    older, younger = oracle.dominators(stream)
    assert stays.freed_by.tolist() == [older[record] for record in stays.record]
    assert stays.beaten_by.tolist() == [younger[record] for record in stays.record]


@pytest.mark.parametrize("first", range(0, STREAMS, BATCH))
def test_random_streams(first: int) -> None:
    for seed in range(first, first + BATCH):
        stream = random_stream(seed)
        for method in METHODS:
            assert_right(stream, method)
        older, younger = dominators(*stream.arguments)
        assert (older.tolist(), younger.tolist()) == oracle.dominators(stream), seed


@pytest.mark.parametrize("method", METHODS)
def test_sixteen_attributes(method: Method) -> None:
    assert_right(random_stream(3, axes=16), method)


POINTS = st.tuples(*[st.sampled_from([-1.0, -0.0, 0.0, 1.0, 1e300, -1e-300])] * 2)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), POINTS, st.integers(0, 1)), min_size=1, max_size=25),
    st.integers(1, 9),
    st.booleans(),
)
def test_any_small_stream(records: list[tuple[int, tuple[float, ...], int]], width: int, grouped: bool) -> None:
    steps, points, groups = zip(*records, strict=True)
    stream = Stream(
        np.cumsum(steps),
        np.array(groups, np.int32) if grouped else None,
        [np.array(column) for column in zip(*points, strict=True)],
        width,
    )
    for method in METHODS:
        assert_right(stream, method)


def brute_dominators(stream: Stream) -> tuple[np.ndarray, np.ndarray]:
    """As the oracle's, of longer streams."""
    points = np.column_stack(stream.columns)
    older, younger = np.full((2, len(points)), -1)
    for record, mine in enumerate(points):
        begin, end = np.searchsorted(stream.moments, stream.moments[record] + np.array([1 - stream.width, stream.width]))
        rivals = points[begin:end]
        beats = begin + np.flatnonzero((rivals <= mine).all(axis=1) & (rivals < mine).any(axis=1))
        older[record] = max(beats[beats < record], default=-1)
        younger[record] = min(beats[beats > record], default=-1)
    return older, younger


def long_streams() -> Iterator[Stream]:
    """Long enough that many are kept: around a plane, with ties, and shifting."""
    rng = np.random.default_rng(5)
    for axes, length, width, decimals in (
        (2, 4000, 2000, 9), (3, 9000, 8000, 9), (4, 12_000, 7000, 2), (5, 25_000, 4500, 9), (8, 9000, 6000, 1),
    ):  # fmt: skip
        points = rng.random((length, axes))
        points += 0.5 - points.mean(axis=1, keepdims=True) + rng.uniform(-0.005, 0.005, (length, 1))
        points[length // 2 :] += rng.choice([-0.01, 0.0, 0.01])
        moments = np.cumsum(rng.choice([0, 1, 2, 500], length, p=[0.4, 0.3, 0.2999, 0.0001]))
        yield Stream(moments, None, list(np.ascontiguousarray(points.round(decimals).T)), width)


@pytest.mark.parametrize("place", range(5))
def test_many_kept(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than stand in the fresh blocks: runs are frozen, swallowed and dropped."""
    stream = list(long_streams())[place]
    added = []
    whole = keeper.Keeper._add_run
    monkeypatch.setattr(keeper.Keeper, "_add_run", lambda self, *run: (added.append(len(run[0])), whole(self, *run))[1])
    older, younger = brute_dominators(stream)
    for found, wanted in zip(dominators(*stream.arguments), (older, younger), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert place == 0 or (len(added) > 1 and max(added) > keeper.FREEZE)
    for method in METHODS:
        stays = window_stays(*stream.arguments, method=method)
        assert len(stays) and (stays.entered < stays.left).all()
        np.testing.assert_array_equal(stays.freed_by, older[stays.record])
        np.testing.assert_array_equal(stays.beaten_by, younger[stays.record])
    assert changes_of(live_in_pieces(stream, [0, 2000, 2500, len(stream.moments)])) == owed(stream)


def live_in_pieces(stream: Stream, borders: list[int], resumed: bool = True) -> list[Changes]:
    """Fed piece by piece (moments are not torn apart), put away and taken up again in between."""
    borders = [int(np.searchsorted(stream.moments, stream.moments[at])) if at < len(stream.moments) else at for at in borders]
    live, told = LiveWindow(stream.width, len(stream.columns)), []
    for begin, end in pairwise(sorted({*borders})):
        part = stream.part(begin, end)
        told.append(live.feed(part.moments, part.groups, part.columns))
        if resumed:
            file = io.BytesIO()
            np.savez(file, **live.state())
            file.seek(0)
            live = LiveWindow.from_state(dict(np.load(file)))
    return told


def changes_of(told: list[Changes]) -> list[tuple[int, int, int, int]]:
    return [
        row
        for part in told
        for row in zip(*(c.tolist() for c in (part.moment, part.change, part.record, part.because)), strict=True)
    ]


def owed(stream: Stream) -> list[tuple[int, int, int, int]]:
    """The changes up to the last record's moment that the stays come down to."""
    stays = window_stays(*stream.arguments)
    last = stream.moments[-1]
    rows = [(stays.entered, 1, stays.freed_by), (stays.left, -1, stays.beaten_by)]
    return sorted(
        (int(moment), change, int(record), int(because))
        for moments, change, reasons in rows
        for moment, record, because in zip(moments, stays.record, reasons, strict=True)
        if moment <= last
    )


@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize("first", range(0, STREAMS, BATCH))
def test_live_tells_the_changes_wherever_it_is_put_away(first: int, resumed: bool) -> None:
    for seed in range(first, first + BATCH):
        stream = random_stream(seed)
        rng = np.random.default_rng(seed)
        length = len(stream.moments)
        borders = [0, *np.flatnonzero(rng.random(length) < rng.choice([0.05, 0.5, 1.0])).tolist(), length]
        assert changes_of(live_in_pieces(stream, borders, resumed)) == owed(stream), seed


def test_live_refuses_what_it_cannot_take_back() -> None:
    live = LiveWindow(5, 1)
    one, zero = np.array([1]), np.zeros(1)
    assert len(live.feed(np.empty(0, np.int64), None, [np.empty(0)])) == 0
    live.feed(one, None, [zero])
    with pytest.raises(ValueError, match="must come later than 1"):
        live.feed(one, None, [zero])
    with pytest.raises(ValueError, match="either all records of a stream have groups"):
        live.feed(one + 1, np.zeros(1, np.int32), [zero])
    with pytest.raises(ValueError, match="must be 1 columns, not 2"):
        live.feed(one + 1, None, [zero, zero])


@pytest.mark.parametrize("method", METHODS)
def test_slices_of_any_length(method: Method) -> None:
    for seed in range(60):
        stream = random_stream(seed)
        whole = window_stays(*stream.arguments)
        rng = np.random.default_rng(seed)
        length = len(stream.moments)
        for begin, end in np.sort(rng.integers(0, length + 1, (4, 2)), axis=1).tolist():
            first = int(np.searchsorted(stream.moments, stream.moments[begin - 1] - 2 * stream.width)) if begin else 0
            if end:  # a moment is not torn apart at the end: it is told net
                end = int(np.searchsorted(stream.moments, stream.moments[end - 1], "right"))
            part = stream.part(first, end)
            found = window_stays(*part.arguments, method=method, begin=begin - first)
            after = stream.moments[begin - 1] if begin else -(2**62)
            until = stream.moments[end - 1] if end else after
            wanted = {
                (record, entered, left if left <= until else None)
                for record, entered, left in members_of(whole)
                if after < left and entered <= until
            }
            assert {
                (record + first, entered, left if left <= until else None)
                for record, entered, left in members_of(found)
                if entered <= until
            } == wanted, seed


@pytest.mark.parametrize("method", METHODS)
def test_equal_points_are_all_members(method: Method) -> None:
    """Weak dominance, as printed, would show one of them after the other, or replace one by the other."""
    stream = small_stream([0, 1, 2, 3], [(1.0, -0.0), (2.0, 2.0), (1.0, 0.0), (1.0, 0.0)], 5)
    assert members_of(window_stays(*stream.arguments, method=method)) == [(0, 0, 5), (2, 2, 7), (3, 3, 8)]
    assert members_if_weakly_beaten(stream) != [(0, 0, 5), (2, 2, 7), (3, 3, 8)]


def members_if_weakly_beaten(stream: Stream) -> list[Member]:
    """Eager as it is printed: whoever comes takes the place of its equals."""
    points = np.column_stack(stream.columns)
    found = []
    for record, mine in enumerate(points):
        as_good = (points <= mine).all(axis=1)
        younger = [at for at in np.flatnonzero(as_good).tolist() if at > record]
        older = [at for at in np.flatnonzero(as_good).tolist() if at < record]
        moments = stream.moments
        left = min([moments[record] + stream.width, *(moments[at] for at in younger)])
        entered = max([moments[record], *(moments[at] + stream.width for at in older if younger)])
        if entered < left:
            found.append((record, int(entered), int(left)))
    return found


@pytest.mark.parametrize("method", METHODS)
def test_expiry_goes_first(method: Method) -> None:
    stream = small_stream([0, 5, 10], [(1.0,), (2.0,), (0.0,)], 5)
    stays = window_stays(*stream.arguments, method=method)
    assert members_of(stays) == [(0, 0, 5), (1, 5, 10), (2, 10, 15)]
    assert stays.freed_by.tolist() == stays.beaten_by.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("method", METHODS)
def test_what_happens_in_one_moment_is_told_net(method: Method) -> None:
    """The first of two at a moment is beaten by the second; one is freed and beaten in a moment."""
    stream = small_stream([0, 1, 5, 5], [(1.0,), (2.0,), (1.5,), (0.5,)], 5)
    assert members_of(window_stays(*stream.arguments, method=method)) == [(0, 0, 5), (3, 5, 10)]


@pytest.mark.parametrize("method", METHODS)
def test_nothing_one_and_a_window_longer_than_everything(method: Method) -> None:
    nothing = np.empty(0, np.int64)
    assert len(window_stays(nothing, None, [np.empty(0)], 3, method=method)) == 0
    assert len(window_stays(nothing, np.empty(0, np.int32), [np.empty(0)], 3, method=method)) == 0
    stream = small_stream([-7, 3], [(1.0,), (2.0,)], 2**61)
    assert members_of(window_stays(*stream.arguments, method=method)) == [(0, -7, 2**61 - 7), (1, 2**61 - 7, 2**61 + 3)]


@pytest.mark.parametrize("method", METHODS)
def test_inputs_stay_and_may_be_views(method: Method) -> None:
    stream = random_stream(8, axes=3)
    table = np.column_stack(stream.columns)
    arrays = [stream.moments, *table.T]
    copies = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    stays = window_stays(stream.moments, stream.groups, list(table.T), stream.width, method=method)
    assert members_of(stays) == oracle.stays(stream)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("method", METHODS)
def test_methods_say_what_it_cost(method: Method) -> None:
    stream = next(long_streams())
    counters = Counters()
    window_stays(*stream.arguments, method=method, counters=counters)
    assert counters.tests > 0 and 0 < counters.kept <= len(stream.moments)


def test_groups_far_apart_in_number_and_time() -> None:
    stream = random_stream(4, axes=2)
    groups = np.where(stream.columns[0] > 0, np.int32(2**31 - 1), np.int32(-(2**31)))
    stream = Stream(stream.moments * 2**50, groups, stream.columns, 2**57)
    for method in METHODS:
        assert_right(stream, method)


TWO = np.zeros(2, np.int64)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((TWO, None, [], 1), "there must be 1 to 16 columns, not 0"),
        ((TWO, None, [np.zeros(2)] * 17, 1), "there must be 1 to 16 columns, not 17"),
        ((TWO, None, [np.zeros(2)], 0), "width must be a whole number of at least 1, not 0"),
        ((TWO, None, [np.zeros(2)], 1.5), "width must be a whole number of at least 1, not 1.5"),
        ((TWO, None, [np.zeros(3)], 1), "columns[0] has 3 rows where moments has 2"),
        ((TWO, np.zeros(1, np.int32), [np.zeros(2)], 1), "groups has 1 rows where moments has 2"),
        ((TWO, np.zeros(2), [np.zeros(2)], 1), "groups must be an array of int32"),
        ((np.array([1, 0]), None, [np.zeros(2)], 1), "moments must not descend"),
        ((TWO, None, [np.array([0, np.nan])], 1), "columns[0] has a NaN or an infinity"),
        ((TWO, None, [np.zeros(2), np.array([-np.inf, 0])], 1), "columns[1] has a NaN or an infinity"),
        ((np.array([0, 2**62]), None, [np.zeros(2)], 1), "moments must be within"),
    ],
)
def test_bad_input_is_told_in_a_sentence(arguments: tuple, sentence: str) -> None:
    for asked in (window_stays, dominators):
        with pytest.raises(ValueError) as refusal:
            asked(*arguments)
        assert sentence in str(refusal.value)


def test_bad_options_are_told_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="method must be one of replay, .*, not 'hasty'"):
        window_stays(TWO, None, [np.zeros(2)], 1, method="hasty")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"begin must be in 0\.\.2, not 3"):
        window_stays(TWO, None, [np.zeros(2)], 1, begin=3)


def test_warming_loads_the_default_methods() -> None:
    warming.warm()

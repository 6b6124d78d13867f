"""Every method gives, at every moment, what the definition gives.

SKYARCHIVE_FUZZ=5000 makes it try that many random streams and not only the first few.
"""

import io
import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import windows as oracle
from oracle.windows import Member, Stream, random_stream
from skyarchive.kernels.columns import Columns
from skyarchive.kernels.windows import (
    Changes,
    Counters,
    Index,
    LiveWindow,
    Method,
    Stays,
    dominators,
    keeper,
    live,
    replay,
    warming,
    window_stays,
)
from skyarchive.kernels.windows.codes import Codes, coder_for, encoded
from skyarchive.kernels.windows.stays import stays_of

METHODS: dict[str, tuple[Method, Index]] = {
    "replay": ("replay", "list"),
    "live": ("live", "list"),
    "lazy on lists": ("lazy", "list"),
    "lazy on trees": ("lazy", "tree"),
    "eager on a list": ("eager", "list"),
    "eager on a tree": ("eager", "tree"),
}
STREAMS = int(os.environ.get("SKYARCHIVE_FUZZ", "160"))
BATCH = 20


def asked(stream: Stream, method: str, **options: Any) -> Stays:
    name, index = METHODS[method]
    return window_stays(*stream.arguments, method=name, index=index, **options)


def members_of(stays: Stays) -> list[Member]:
    return list(zip(stays.record.tolist(), stays.entered.tolist(), stays.left.tolist(), strict=True))


def small_stream(moments: list[int], points: list[tuple[float, ...]], width: int) -> Stream:
    return Stream(np.array(moments), None, [np.array(column) for column in zip(*points, strict=True)], width)


def assert_right(stream: Stream, method: str) -> None:
    """The stays, and why: by definition."""
    stays = asked(stream, method)
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
def test_sixteen_attributes(method: str) -> None:
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


def sieved_streams() -> Iterator[Stream]:
    """Long windows of records most of which are never in: with ties, gaps, groups, crowds at one moment and drift."""
    for seed in range(24):
        rng = np.random.default_rng(seed)
        length, axes = int(rng.integers(1500, 4000)), int(rng.integers(1, 6))
        points = np.floor(rng.random((length, axes)) * rng.choice([4, 12, 40, 300, 10**6]))
        if seed % 4 == 1:
            points = -np.floor(np.exp(rng.normal(4, 3, points.shape)))
        if seed % 4 == 2:
            points += np.arange(length)[:, None] * rng.choice([-0.01, 0.01])
        if seed % 4 == 3:
            points[rng.random(points.shape) < 0.01] -= 1000.5
        steps = [rng.choice([0, 1, 2], length), rng.choice([0, 1, 9000], length, p=[0.3, 0.699, 0.001]), 1]
        moments = np.cumsum(np.broadcast_to(steps[seed % 3], length)).astype(np.int64)
        groups = rng.integers(0, 2, length).astype(np.int32) if seed % 5 == 0 else None
        width = max(int((moments[-1] - moments[0]) * rng.choice([0.2, 0.35, 2.0])), 3)
        yield Stream(moments, groups, list(np.ascontiguousarray(points.T)), width)


def test_leaving_out_who_is_never_in_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    left_over, given = [], []
    whole = replay.may_matter

    def watched(moments: np.ndarray, codes: Codes, width: int) -> np.ndarray:
        rows = whole(moments, codes, width)
        left_over.append(len(rows))
        given.append(len(moments))
        return rows

    monkeypatch.setattr(replay, "may_matter", watched)
    for stream in sieved_streams():
        older, younger = dominators(*stream.arguments)
        wanted = stays_of(stream.moments, np.arange(len(older)), older, younger, stream.width)
        stays = window_stays(*stream.arguments)
        for name in ("record", "entered", "left", "freed_by", "beaten_by"):
            np.testing.assert_array_equal(getattr(stays, name), getattr(wanted, name))
    assert sum(left_over) < sum(given) * 0.6


def brute_dominators(stream: Stream) -> tuple[np.ndarray, np.ndarray]:
    """As the oracle's, of longer streams."""
    points = np.column_stack(stream.columns)
    older, younger = np.full((2, len(points)), -1)
    for record, mine in enumerate(points):
        begin, end = np.searchsorted(
            stream.moments, stream.moments[record] + np.array([1 - stream.width, stream.width])
        )
        rivals = points[begin:end]
        beats = begin + np.flatnonzero((rivals <= mine).all(axis=1) & (rivals < mine).any(axis=1))
        older[record] = max(beats[beats < record], default=-1)
        younger[record] = min(beats[beats > record], default=-1)
    return older, younger


def long_streams() -> Iterator[Stream]:
    """Long enough that many are kept: around a plane, with ties, and shifting."""
    rng = np.random.default_rng(5)
    for axes, length, width, decimals in (
        (2, 4000, 2000, 9), (3, 9000, 8000, 9), (4, 9000, 5000, 2), (5, 20_000, 4500, 9), (8, 7000, 5000, 1),
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
    for method in METHODS if place == 1 else ("replay", "live"):
        stays = asked(stream, method)
        assert len(stays) and (stays.entered < stays.left).all()
        np.testing.assert_array_equal(stays.freed_by, older[stays.record])
        np.testing.assert_array_equal(stays.beaten_by, younger[stays.record])
    assert changes_of(live_in_pieces(stream, [0, 2000, 2500, len(stream.moments)])) == owed(stream)


def live_in_pieces(stream: Stream, borders: list[int], resumed: bool = True) -> list[Changes]:
    """Fed piece by piece (moments are not torn apart), put away and taken up again in between."""
    borders = [
        int(np.searchsorted(stream.moments, stream.moments[at])) if at < len(stream.moments) else at for at in borders
    ]
    window, told = LiveWindow(stream.width, len(stream.columns)), []
    for begin, end in pairwise(sorted({*borders})):
        part = stream.part(begin, end)
        told.append(window.feed(part.moments, part.groups, part.columns))
        if resumed:
            file = io.BytesIO()
            np.savez(file, **window.state())
            file.seek(0)
            window = LiveWindow.from_state(dict(np.load(file)))
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


@pytest.mark.parametrize("drift", [0.0, 1e6])
def test_live_makes_its_codes_anew_if_they_are_worn(drift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a feed are short here; values drift away from what the codes were made for, or stay."""
    monkeypatch.setattr(live, "_PIECE", 1024)
    recoded = []
    whole = keeper.Keeper.recode
    monkeypatch.setattr(keeper.Keeper, "recode", lambda self, coder: (recoded.append(1), whole(self, coder))[1])
    stream = list(long_streams())[1]
    length = len(stream.moments)
    columns = [values + drift * (np.arange(length) // 3000) for values in stream.columns]
    stream = Stream(stream.moments, stream.groups, columns, stream.width)
    assert changes_of(live_in_pieces(stream, [0, length])) == owed(stream)
    assert len(recoded) <= 3 if drift == 0 else 4 <= len(recoded) <= 7


def test_live_refuses_what_it_cannot_take_back() -> None:
    window = LiveWindow(5, 1)
    one, zero = np.array([1]), np.zeros(1)
    assert len(window.feed(np.empty(0, np.int64), None, [np.empty(0)])) == 0
    window.feed(one, None, [zero])
    with pytest.raises(ValueError, match="must come later than 1"):
        window.feed(one, None, [zero])
    with pytest.raises(ValueError, match="either all records of a stream have groups"):
        window.feed(one + 1, np.zeros(1, np.int32), [zero])
    with pytest.raises(ValueError, match="must be 1 columns, not 2"):
        window.feed(one + 1, None, [zero, zero])


@pytest.mark.parametrize("axes", [1, 2, 3, 5, 16])
def test_codes_never_fall_as_values_rise(axes: int) -> None:
    rng = np.random.default_rng(axes)
    kinds = [
        rng.random(3000), -np.floor(np.exp(rng.normal(5, 4, 3000))), rng.poisson(3, 3000) * 1.0, np.zeros(3000),
        rng.choice([-1e308, 1e308, 0.0, -0.0, 1e-320], 3000), rng.integers(-200, 200, 3000) / 2, rng.normal(0, 1, 3000),
    ]  # fmt: skip
    columns = Columns([kinds[axis % len(kinds)] for axis in range(axes)])
    codes = encoded(coder_for(columns, 0, 1000), columns, 3000)  # values follow that the sample has not seen
    flat = codes.blocks.transpose(1, 0, 2).reshape(axes, -1)[:, :3000].astype(int)
    for axis, values in enumerate(columns.arrays):
        order = np.argsort(values)
        assert (np.diff(flat[axis][order]) >= 0).all()
        assert (np.diff(flat[axis][order])[np.diff(values[order]) == 0] == 0).all()
        if codes.exact[axis]:
            inside = (flat[axis] > 0) & (flat[axis] < 255)
            assert len(np.unique(flat[axis][inside])) == len(np.unique(values[inside]))


@pytest.mark.parametrize("method", METHODS)
def test_slices_of_any_length(method: str) -> None:
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
            found = asked(part, method, begin=begin - first)
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
def test_equal_points_are_all_members(method: str) -> None:
    """Weak dominance, as printed, would show one of them after the other, or replace one by the other."""
    stream = small_stream([0, 1, 2, 3], [(1.0, -0.0), (2.0, 2.0), (1.0, 0.0), (1.0, 0.0)], 5)
    assert members_of(asked(stream, method)) == [(0, 0, 5), (2, 2, 7), (3, 3, 8)]
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
def test_expiry_goes_first(method: str) -> None:
    stream = small_stream([0, 5, 10], [(1.0,), (2.0,), (0.0,)], 5)
    stays = asked(stream, method)
    assert members_of(stays) == [(0, 0, 5), (1, 5, 10), (2, 10, 15)]
    assert stays.freed_by.tolist() == stays.beaten_by.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("method", METHODS)
def test_what_happens_in_one_moment_is_told_net(method: str) -> None:
    """The first of two at a moment is beaten by the second; one is freed and beaten in a moment."""
    stream = small_stream([0, 1, 5, 5], [(1.0,), (2.0,), (1.5,), (0.5,)], 5)
    assert members_of(asked(stream, method)) == [(0, 0, 5), (3, 5, 10)]


@pytest.mark.parametrize("method", METHODS)
def test_nothing_one_and_a_window_longer_than_everything(method: str) -> None:
    nothing = np.empty(0, np.int64)
    assert len(asked(Stream(nothing, None, [np.empty(0)], 3), method)) == 0
    assert len(asked(Stream(nothing, np.empty(0, np.int32), [np.empty(0)], 3), method)) == 0
    stream = small_stream([-7, 3], [(1.0,), (2.0,)], 2**61)
    assert members_of(asked(stream, method)) == [(0, -7, 2**61 - 7), (1, 2**61 - 7, 2**61 + 3)]


@pytest.mark.parametrize("method", METHODS)
def test_inputs_stay_and_may_be_views(method: str) -> None:
    stream = random_stream(8, axes=3)
    table = np.column_stack(stream.columns)
    arrays = [stream.moments, *table.T]
    copies = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    stays = asked(Stream(stream.moments, stream.groups, list(table.T), stream.width), method)
    assert members_of(stays) == oracle.stays(stream)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("method", METHODS)
def test_methods_say_what_it_cost(method: str) -> None:
    stream = next(long_streams())
    counters = Counters()
    asked(stream, method, counters=counters)
    assert counters.tests > 0 and 0 < counters.kept <= len(stream.moments)


def test_groups_far_apart_in_number_and_time() -> None:
    """So far that not all of them fit into one stream."""
    stream = random_stream(4, axes=2)
    groups = np.where(stream.columns[0] > 0, np.int32(2**31 - 1), np.int32(-(2**31)))
    moments = np.sort(np.random.default_rng(0).integers(-(2**60), 2**60, len(groups)))
    for width in (1, 2**57, 2**60):
        for method in METHODS:
            assert_right(Stream(moments, groups, stream.columns, width), method)


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
    with pytest.raises(ValueError, match=r"method must be one of replay, .*, not 'hasty'"):
        window_stays(TWO, None, [np.zeros(2)], 1, method="hasty")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="index must be one of list, tree, not 'heap'"):
        window_stays(TWO, None, [np.zeros(2)], 1, index="heap")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"begin must be in 0\.\.2, not 3"):
        window_stays(TWO, None, [np.zeros(2)], 1, begin=3)


def test_warming_loads_the_default_methods() -> None:
    warming.warm()

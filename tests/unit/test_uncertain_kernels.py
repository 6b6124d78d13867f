"""Every method gives, at every moment, what the definition gives.

SKYARCHIVE_FUZZ=5000 makes it try that many random streams and not only the first few.
"""

import os
from dataclasses import replace
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest

from oracle import uncertain as oracle
from oracle.random_streams import anti_correlated, random_stream
from oracle.uncertain import Records, Stay
from skyarchive.kernels.uncertain import (
    Likely,
    Method,
    Present,
    counted_stays,
    instance_stays,
    likely_stays,
    look_back,
    top_k,
)
from skyarchive.kernels.uncertain.checking import checked_stream, checked_thresholds
from skyarchive.kernels.uncertain.codes import filter_of
from skyarchive.kernels.uncertain.sorting import in_order
from skyarchive.kernels.uncertain.warming import warm

METHODS: list[Method] = list(get_args(Method))
STREAMS = int(os.environ.get("SKYARCHIVE_FUZZ", "240"))
BATCH = 40


def rows(likely: Likely) -> list[Stay]:
    columns = (likely.threshold, likely.entered, likely.record, likely.left, likely.probability, likely.greatest)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def found(records: Records, thresholds: list[float], method: Method = "look_back") -> list[Stay]:
    return rows(likely_stays(*records.arguments, thresholds, method=method))


def assert_same(found: list[Stay], wanted: list[Stay], what: object = None) -> None:
    """The same stays; probabilities to a billionth."""
    assert [stay[:4] for stay in found] == [stay[:4] for stay in wanted], what
    for column in (4, 5):
        np.testing.assert_allclose(
            [stay[column] for stay in found], [stay[column] for stay in wanted], rtol=1e-9, err_msg=str(what)
        )


def stream(points: list[tuple[float, ...]], probability: list[float], width: int = 100) -> Records:
    """One record per moment."""
    columns = [np.array(column, float) for column in zip(*points, strict=True)]
    return Records(np.arange(len(points)), None, columns, np.array(probability), width)


def chain(probability: np.ndarray, width: int) -> Records:
    """Each record is beaten by all that came before it."""
    n = len(probability)
    return Records(np.arange(n), None, [np.arange(float(n))], probability, width)


@pytest.mark.parametrize("first", range(0, STREAMS, BATCH))
def test_random_streams(first: int) -> None:
    for seed in range(first, first + BATCH):
        records, thresholds = random_stream(seed)
        wanted = oracle.stays(records, thresholds)
        for method in METHODS:
            assert_same(found(records, thresholds, method), wanted, (seed, method))


def test_moments_far_from_zero() -> None:
    """Days in microseconds, after 1970 and long before: the same stays at other moments."""
    day = 86_400_000_000
    for seed in range(40):
        records, thresholds = random_stream(seed, size=40)
        for shift in (1_600_000_000_000_000, -(2**62)):
            far = replace(records, moments=records.moments * day + shift, width=records.width * day)
            for method in METHODS:
                wanted = [
                    (at, entered * day + shift, row, left * day + shift, *rest)
                    for at, entered, row, left, *rest in found(records, thresholds, method)
                ]
                assert found(far, thresholds, method) == wanted, (seed, method)


def test_sorting_by_several_numbers() -> None:
    chance = np.random.default_rng(0)
    for n in (0, 1, 1000):
        keys = [chance.integers(-(2**63), 2**63, n), chance.integers(0, 3, n), chance.integers(-5, 5000, n)]
        for some in (keys, keys[::-1], keys[1:]):
            assert in_order(*some).tolist() == np.lexsort(some[::-1]).tolist()


def test_sums_over_possible_worlds() -> None:
    seen = 0
    for seed in range(60):
        records, thresholds = random_stream(seed, size=7)
        chances = [oracle.by_worlds(records, moment) for moment in oracle.happenings(records)]
        wanted = oracle.stays(records, thresholds, chances)
        seen += len(wanted)
        for method in METHODS:
            assert_same(found(records, thresholds, method), wanted, (seed, method))
    assert seen > 200


@pytest.mark.parametrize("width", [2, 3, 5, 9])
def test_direct_products_over_large_windows(width: int) -> None:
    """Of long streams, at a few moments; many records come at each."""
    n, window, threshold = 6000, 700, 0.2
    chance = np.random.default_rng(width)
    moments = np.sort(chance.integers(0, n // 3, n))
    records = Records(moments, None, anti_correlated(n, width, width), 1 - chance.random(n), window)
    answers = [likely_stays(*records.arguments, [threshold], method=method) for method in METHODS]
    for moment in chance.choice(moments, 5):
        part = np.flatnonzero(oracle.alive(records, moment))
        direct = oracle.by_products(records.some(part), moment)
        wanted = {int(part[row]): value for row, value in direct.items() if value >= threshold}
        assert len(wanted) > 3
        for likely in answers:
            is_here = (likely.entered <= moment) & (moment < likely.left)
            assert sorted(likely.record[is_here].tolist()) == sorted(wanted)
            for stay in np.flatnonzero(is_here & (likely.entered == moment)):
                assert likely.probability[stay] == pytest.approx(wanted[likely.record[stay]], rel=1e-9)
            for stay in np.flatnonzero(is_here):
                assert likely.greatest[stay] >= wanted[likely.record[stay]] * (1 - 1e-9)


def test_methods_agree_where_much_is_kept() -> None:
    """More than fits the rooms that they begin with, of everything."""
    n = 12_000
    chance = np.random.default_rng(0)
    for records in (
        Records(np.arange(n), None, anti_correlated(n, 4, 0), 1 - chance.random(n), 4000),
        chain(0.01 + 0.3 * chance.random(n // 4), 1500),
    ):
        thresholds = [0.05, 0.3, 0.6]
        wanted = found(records, thresholds)
        counted = {method: counted_stays(*records.arguments, thresholds, method=method) for method in METHODS}
        assert counted["look_back"][1].largest >= 1000
        for method, (likely, counters) in counted.items():
            assert_same(rows(likely), wanted, method)
            if method != "ssky":
                assert counters.largest == counted["scan"][1].largest, method


@pytest.mark.parametrize("method", METHODS)
def test_equal_points_do_not_beat_each_other(method: Method) -> None:
    records = stream([(1.0, 2.0)] * 4, [1.0, 0.5, 0.2, 1.0], width=10)
    assert [stay[:4] for stay in found(records, [0.4], method)] == [(0, 0, 0, 10), (0, 1, 1, 11), (0, 3, 3, 13)]
    zeros = stream([(0.0,), (-0.0,)], [1.0, 1.0])
    assert len(found(zeros, [1.0], method)) == 2


@pytest.mark.parametrize("method", METHODS)
def test_certain_records_rule_out_all_they_beat_and_nothing_after(method: Method) -> None:
    records = stream([(1.0,), (1.0,), (2.0,)], [1.0, 1.0, 0.8], width=5)
    assert [stay[1:4] for stay in found(records, [0.5], method)] == [(0, 0, 5), (1, 1, 6), (6, 2, 7)]
    beaten_later = stream([(2.0,), (1.0,)], [0.8, 1.0], width=5)
    assert [stay[1:4] for stay in found(beaten_later, [0.5], method)] == [(0, 0, 1), (1, 1, 6)]


@pytest.mark.parametrize("method", METHODS)
def test_one_moment_counts_as_a_whole(method: Method) -> None:
    """Of records that come together none is there before the other; one whose blocker expires at the moment at which
    another comes does not enter in between, and one that only changes hands stays."""
    columns = [np.array([3.0, 2.0, 1.0])]
    together = Records(np.zeros(3, np.int64), None, columns, np.array([0.9, 0.9, 0.9]), 4)
    assert [stay[1:4] for stay in found(together, [0.5], method)] == [(0, 2, 4)]
    relay = Records(np.array([0, 2, 5]), None, [np.array([1.0, 2.0, 1.0])], np.array([0.9, 0.9, 0.9]), 5)
    assert [stay[1:4] for stay in found(relay, [0.5], method)] == [(0, 0, 5), (5, 2, 10)]
    equal_relay = replace(relay, columns=[np.array([1.0, 2.0, 1.0])], probability=np.array([0.4, 0.9, 0.4]))
    assert [stay[1:4] for stay in found(equal_relay, [0.5], method)] == [(2, 1, 7)]


@pytest.mark.parametrize("method", METHODS)
def test_thresholds_met_exactly_are_met(method: Method) -> None:
    """Also where rounding puts a product just below: 0.7 · (1 - 0.9) is less than 0.07."""
    assert 0.7 * (1 - 0.9) < 0.07
    records = stream([(1.0,), (2.0,)], [0.9, 0.7], width=5)
    assert [stay[1:4] for stay in found(records, [0.07], method)] == [(0, 0, 5), (1, 1, 6)]
    younger = stream([(2.0,), (1.0,)], [0.7, 0.9], width=5)
    assert [stay[1:4] for stay in found(younger, [0.07], method)] == [(0, 0, 5), (1, 1, 6)]
    assert [stay[1:4] for stay in found(records, [0.07001], method)] == [(0, 0, 5), (5, 1, 6)]
    kept = stream([(2.0,), (1.0,), (1.0,), (3.0,)], [1.0, 0.3, 0.7, 0.9], width=5)
    assert (0, 0, 5) in [stay[1:4] for stay in found(kept, [0.21], method)]


def test_greatest_is_that_of_the_stay() -> None:
    """It enters with 0.9 · 0.5, rises to 0.9 when the older one expires, falls to 0.45 and goes on."""
    records = Records(np.array([0, 2, 7]), None, [np.array([1.0, 2.0, 1.5])], np.array([0.5, 0.9, 0.5]), 6)
    for method in METHODS:
        assert (0, 2, 1, 8, 0.45, 0.9) in [
            (*stay[:4], round(stay[4], 12), round(stay[5], 12)) for stay in found(records, [0.4], method)
        ], method


@pytest.mark.parametrize("method", METHODS)
def test_slices_of_any_length_give_the_whole(method: Method) -> None:
    """A slice that begins at a is computed from the records after a - width on."""
    for seed in range(40):
        records, thresholds = random_stream(seed, size=50)
        whole = found(records, thresholds, method)
        borders = [int(border) for border in np.unique(np.quantile(records.moments, [0, 0.2, 0.25, 0.7, 1]))]
        for begin, end in pairwise(borders):
            part = np.flatnonzero((records.moments > begin - records.width) & (records.moments < end))
            here = [
                (at, entered, part[record], *rest)
                for at, entered, record, *rest in found(records.some(part), thresholds, method)
            ]  # type: ignore[misc]
            assert clipped(here, begin, end) == clipped(whole, begin, end), (seed, begin)


def clipped(stays: list[Stay], begin: int, end: int) -> list[tuple[int, int, int, int]]:
    """What is seen of them between two moments."""
    return sorted(
        (at, max(entered, begin), int(record), min(left, end))
        for at, entered, record, left, *_ in stays
        if entered < end and left > begin
    )


@pytest.mark.parametrize("method", METHODS)
def test_streams_that_only_worsen(method: Method) -> None:
    """Everything is kept, and products over older ones are far below what a float can hold."""
    n, width, threshold = 2600, 2500, 0.3
    probability = 1 - 0.999 * np.random.default_rng(4).random(n)
    probability[::97] = 1.0
    wanted = []
    for record in range(n):
        entered, value, product = record, probability[record], probability[record]
        for older in range(record - 1, max(record - width, -1), -1):
            if product * (1 - probability[older]) < threshold * (1 - 1e-9):
                entered = older + width
                break
            product *= 1 - probability[older]
        value = product
        if probability[record] >= threshold:
            wanted.append((entered, record, record + width, value))
    stays = found(chain(probability, width), [threshold], method)
    assert [stay[1:4] for stay in stays] == [stay[:3] for stay in sorted(wanted)]
    np.testing.assert_allclose([stay[4] for stay in stays], [stay[3] for stay in sorted(wanted)], rtol=1e-9)


@pytest.mark.parametrize(
    "n", [300_000, pytest.param(10_000_000, marks=[pytest.mark.thorough, pytest.mark.slow])], ids=["short", "long"]
)
def test_nothing_drifts(n: int) -> None:
    """After very many arrivals the answer is still what a fresh start on the last two windows gives."""
    chance = np.random.default_rng(n)
    width = 2000
    columns = [chance.random(n) for _ in range(3)]
    records = Records(np.arange(n), None, columns, 1 - chance.random(n), width)
    last = np.arange(n - 2 * width, n)
    fresh = found(records.some(last), [0.3])
    begin = n - width
    wanted = [(at, entered, int(last[record]), *rest) for at, entered, record, *rest in fresh if entered >= begin]
    methods: list[Method] = ["look_back"] if n > 1_000_000 else ["look_back", "scan", "msky"]
    for method in methods:
        likely = likely_stays(*records.arguments, [0.3], method=method)
        assert_same([stay for stay in rows(likely) if stay[1] >= begin], wanted, method)  # type: ignore[arg-type]
        assert len(wanted) > 100
    members = oracle.by_products(records.some(last[width:]), n - 1)
    present = Present(width, 0.3)
    for batch in np.array_split(np.arange(n), 37):
        part = records.some(batch)
        present.feed(part.moments, None, part.columns, part.probability)
    numbers, chances = present.likely()
    assert numbers.tolist() == [row + begin for row, value in members.items() if value >= 0.3 * (1 - 1e-9)]
    np.testing.assert_allclose(chances, [members[number - begin] for number in numbers], rtol=1e-9)


def test_what_is_kept_does_not_depend_on_the_filter() -> None:
    """Codes that tell nothing, and ranks that are closed at every arrival or never, change speed only."""
    for seed in range(60):
        records, thresholds = random_stream(seed, size=200)
        plain, asked = checked_stream(*records.arguments), checked_thresholds(thresholds)
        filtered = filter_of(plain.columns)
        wanted, counters = look_back.stays(plain, asked)
        blind = np.ones_like(filtered.table)
        for chosen in (
            filtered._replace(table=blind),
            filtered._replace(often=1),
            filtered._replace(often=10**9),
            filtered._replace(table=blind, often=3),
        ):
            stays, counted = look_back.stays(plain, asked, chosen)
            assert stays.tolist() == wanted.tolist(), seed
            assert (counted.largest, counted.pairs) == (counters.largest, counters.pairs), seed


def test_kept_is_whoever_younger_ones_leave_likely() -> None:
    for seed in range(60):
        records, thresholds = random_stream(seed)
        if not len(records.moments) or records.groups is not None:
            continue
        beaten = oracle.beaten_by(records)
        sizes = []
        for newest in range(len(records.moments)):
            alive = [row for row in range(newest + 1) if records.moments[row] + records.width > records.moments[newest]]
            left = [np.prod(1 - records.probability[row : newest + 1][beaten[row, row : newest + 1]]) for row in alive]
            sizes.append(sum(value >= min(thresholds) * (1 - 2e-9) for value in left))
        for method in ("look_back", "scan", "msky"):
            _, counters = counted_stays(*records.arguments, thresholds, method=method)
            assert counters.largest == max(sizes), (seed, method)


def test_present_answers_any_higher_threshold() -> None:
    """Fed in batches of any length, saved and taken up again, and while time goes on without records."""
    asked = 0
    for seed in range(100):
        records, thresholds = random_stream(seed)
        chance = np.random.default_rng(seed)
        present, at, n = Present(records.width, min(thresholds)), 0, len(records.moments)
        while at < n:
            batch = records.some(np.arange(at, min(n, at + int(chance.integers(1, 8)))))
            present.feed(batch.moments, batch.groups, batch.columns, batch.probability)
            at += len(batch.moments)
            if at < n and chance.random() < 0.3:
                present.until(int(chance.integers(records.moments[at - 1], records.moments[at] + 1)))
            if chance.random() < 0.3:
                present = Present.resumed(present.saved())
            direct = oracle.by_products(records.some(np.arange(at)), present.now)
            for threshold in (None, min(1.0, min(thresholds) * 1.7), 1.0):
                lowest = threshold or min(thresholds)
                wanted = {row: value for row, value in direct.items() if value >= lowest * (1 - 1e-9)}
                numbers, chances = present.likely(threshold)
                assert numbers.tolist() == sorted(wanted), (seed, at)
                np.testing.assert_allclose(chances, [wanted[number] for number in sorted(wanted)], rtol=1e-9)
                asked += len(wanted)
    assert asked > 1000


def test_nothing_fed_is_saved_too() -> None:
    present = Present.resumed(Present(5, 0.5).saved())
    assert present.fed == 0 and not len(present.likely()[0])
    present.feed(np.array([3]), None, [np.array([1.0])], np.array([0.7]))
    assert [column.tolist() for column in present.likely()] == [[0], [0.7]]


def test_the_most_probable() -> None:
    for seed in range(60):
        records, _ = random_stream(seed)
        for moment in oracle.happenings(records)[::4]:
            direct = oracle.by_products(records, moment)
            wanted = sorted((-round(value, 12), row) for row, value in direct.items() if value >= 0.1 * (1 - 1e-9))[:3]
            numbers, chances = top_k(*records.arguments, moment, 3, threshold=0.1)
            np.testing.assert_allclose(chances, [-value for value, _ in wanted], rtol=1e-9)
            assert all(direct[int(row)] == pytest.approx(value) for row, value in zip(numbers, chances, strict=True))


def test_equally_probable_ones_stand_as_given() -> None:
    records = stream([(1.0, 4.0), (2.0, 3.0), (3.0, 2.0)], [0.5, 0.8, 0.5])
    assert top_k(*records.arguments, 2, 5, threshold=0.3)[0].tolist() == [1, 0, 2]


def random_objects(seed: int, n: int | None = None) -> tuple[Records, np.ndarray]:
    """Objects of one to three instances; some certain to exist."""
    chance = np.random.default_rng(seed)
    n = int(chance.choice([0, 1, 5, 20])) if n is None else n
    counts = chance.integers(1, 4, n)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    shares = [chance.random(count) + 0.01 for count in counts]
    chances = [share / share.sum() * chance.choice([1.0, 0.9, 0.5]) for share in shares]
    points = np.floor(chance.random((starts[-1], int(chance.integers(1, 4)))) * chance.choice([3, 1000]))
    moments = np.sort(chance.integers(0, max(n, 1), n))
    groups = None if chance.random() < 0.6 else chance.integers(0, 2, n).astype(np.int32)
    columns = [np.ascontiguousarray(column) for column in points.T]
    probability = np.concatenate([np.empty(0), *chances])
    return Records(moments, groups, columns, probability, int(chance.choice([1, 3, 10]))), starts


def instances_found(records: Records, starts: np.ndarray, thresholds: list[float]) -> list[Stay]:
    moments, *rest = records.arguments
    return rows(instance_stays(moments, starts, *rest, thresholds)[0])


def test_objects_of_several_instances() -> None:
    thresholds = [0.5, 0.1, 0.9]
    for seed in range(60):
        records, starts = random_objects(seed)
        chances = [oracle.by_instances(records, starts, moment) for moment in oracle.happenings(records)]
        wanted = oracle.stays(records, thresholds, chances)
        assert_same(instances_found(records, starts, thresholds), wanted, seed)


def test_objects_by_possible_worlds() -> None:
    for seed in range(40):
        records, starts = random_objects(seed, n=5)
        records = replace(records, groups=None)
        chances = [oracle.instances_by_worlds(records, starts, moment) for moment in oracle.happenings(records)]
        assert_same(instances_found(records, starts, [0.2, 0.6]), oracle.stays(records, [0.2, 0.6], chances), seed)


def test_one_instance_each_is_a_record_each() -> None:
    for seed in range(40):
        records, thresholds = random_stream(seed)
        starts = np.arange(len(records.moments) + 1)
        assert_same(instances_found(records, starts, thresholds), found(records, thresholds), seed)


@pytest.mark.parametrize("method", METHODS)
def test_inputs_stay_as_they_are(method: Method) -> None:
    records, thresholds = random_stream(8, size=40)
    given = [records.moments, records.probability, *records.columns]
    before = [column.copy() for column in given]
    for column in given:
        column.flags.writeable = False
    likely = likely_stays(*records.arguments, thresholds, method=method)
    assert all((column == old).all() for column, old in zip(given, before, strict=True))
    types = {name: getattr(likely, name).dtype for name in ("record", "threshold", "entered", "left", "probability")}
    assert list(types.values()) == [np.int64, np.int32, np.int64, np.int64, np.float64]
    for column in given:
        column.flags.writeable = True
    assert all(column.flags.writeable for column in given)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"moments": np.array([0, 2, 1])}, r"moments\[2\] is 1 after 2"),
        ({"moments": np.array([0.0, 1.0, 2.0])}, "moments must be a one-dimensional int64 array"),
        ({"moments": np.array([0, 1, 2**63 - 2])}, "must fit int64"),
        ({"groups": np.zeros(2, np.int32)}, "groups must have one value per record: 2 for 3 moments"),
        ({"groups": np.zeros(3)}, "groups must be a one-dimensional int32 array"),
        ({"columns": []}, "columns must be 1 to 16 columns, not 0"),
        ({"columns": [np.zeros(3)] * 17}, "columns must be 1 to 16 columns, not 17"),
        ({"columns": [np.zeros(4)]}, r"columns\[0\] must have one value per record: 4 for 3 moments"),
        ({"columns": [np.array([0.0, np.nan, 1.0])]}, r"columns\[0\] must be finite, but columns\[0\]\[1\] is nan"),
        ({"columns": [np.array([0.0, 1.0, np.inf])]}, r"columns\[0\] must be finite, but columns\[0\]\[2\] is inf"),
        ({"probability": np.array([0.5, 0.0, 0.5])}, r"probability\[1\] is 0.0"),
        ({"probability": np.array([0.5, 0.5, 1.5])}, r"probability\[2\] is 1.5"),
        ({"probability": np.array([np.nan, 0.5, 0.5])}, r"probability\[0\] is nan"),
        ({"width": 0}, "width must be at least 1, not 0"),
        ({"thresholds": []}, "thresholds must be 1 to 100 probabilities, not 0"),
        ({"thresholds": [0.5, 0.0]}, r"thresholds\[1\] must be above 0 and at most 1, not 0.0"),
        ({"thresholds": [float("nan")]}, r"thresholds\[0\] must be above 0 and at most 1, not nan"),
        ({"thresholds": [0.5, 0.3, 0.5]}, r"thresholds must differ, but thresholds\[2\] is 0.5 again"),
        ({"method": "magic"}, "method must be one of look_back, scan, tree, ssky, msky, not 'magic'"),
    ],
)
def test_bad_input_is_told_in_a_sentence(changed: dict[str, object], sentence: str) -> None:
    arguments: dict[str, object] = {
        "moments": np.array([0, 1, 2]),
        "groups": None,
        "columns": [np.zeros(3)],
        "probability": np.full(3, 0.5),
        "width": 5,
        "thresholds": [0.3],
    }
    with pytest.raises(ValueError, match=sentence):
        likely_stays(**{**arguments, **changed})  # type: ignore[arg-type]


def test_bad_questions_are_told_in_a_sentence() -> None:
    present = Present(5, 0.3)
    one = (None, [np.zeros(1)], np.ones(1))
    present.feed(np.array([4]), *one)
    with pytest.raises(ValueError, match=r"threshold must be at least 0.3, for which records are kept, not 0.2"):
        present.likely(0.2)
    with pytest.raises(ValueError, match="moments must not go back"):
        present.feed(np.array([3]), *one)
    with pytest.raises(ValueError, match="time must not go back"):
        present.until(3)
    with pytest.raises(ValueError, match="columns must be 1 as before, not 2"):
        present.feed(np.array([5]), None, [np.zeros(1)] * 2, np.ones(1))
    with pytest.raises(ValueError, match="k must be at least 1, not 0"):
        top_k(np.array([4]), *one, 5, 4, 0, threshold=0.3)
    with pytest.raises(ValueError, match="width must be at least 1"):
        Present(0, 0.3)
    for starts, probability, sentence in (
        ([1, 2], [1.0, 1.0], "starts must go from 0"),
        ([0, 2, 2], [0.5, 0.5], "object 1 has none"),
        ([0, 2], [0.6, 0.5], "sum to at most 1, but object 0's sum to 1.1"),
    ):
        moments = np.arange(len(starts) - 1)
        with pytest.raises(ValueError, match=sentence):
            instance_stays(moments, np.array(starts), None, [np.zeros(2)], np.array(probability), 5, [0.3])


def test_warming_needs_nothing() -> None:
    warm()

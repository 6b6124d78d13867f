"""Stocks: beta against the market and slope of the last closes, by a kernel over buckets of tickers."""

from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.definition.derivation import MarketModel
from skyarchive.kernels import market as kernel
from skyarchive.steps.derive.methods.parts import (
    BEFORE,
    Chain,
    Derived,
    at_snapshots,
    numbered_snapshots,
    with_periods,
)

_ROWS_PER_BUCKET = 200_000
_HISTORY = ["closes", "returns", "markets"]
_OUTPUT = (
    "place int, snapshot bigint, object string, beta double, slope double, "
    "closes array<double>, returns array<double>, markets array<double>"
)


def derive_market(chain: Chain) -> Derived:
    """One snapshot per date with a row; an object without a row that day is not alive."""
    method = chain.definition.derive
    assert isinstance(method, MarketModel)
    order = method.order
    snapshots = chain.kept.keep(numbered_snapshots(chain, order))
    rows = at_snapshots(chain, snapshots, order)
    quotes = chain.kept.keep(rows.transform(with_returns, chain, method).transform(with_market_returns))
    ends = _period_ends(snapshots, chain)
    derived = chain.kept.keep(_by_buckets(quotes, chain, method, ends))
    updates = derived.where(F.col("place") == BEFORE).withColumn("gone", F.col("beta").isNull())
    states = derived.where(F.col("place") != BEFORE).join(F.broadcast(chain.period_order()), "place")
    return Derived(
        snapshots,
        with_periods(updates, snapshots, chain.attributes),
        rows.select("period", "object", F.col("object").alias("name")).distinct(),
        states.select("period", "object", *chain.attributes, *_HISTORY),
    )


def with_returns(rows: DataFrame, chain: Chain, method: MarketModel) -> DataFrame:
    """Each quote with its return on the object's previous close, null for the first quote ever."""
    quotes = rows.select("object", "snapshot", F.col(method.close).cast("double").alias("close"))
    if chain.carry is not None:
        last_close = F.element_at("closes", -1).alias("close")
        quotes = quotes.unionByName(
            chain.carry.select("object", F.lit(BEFORE).cast("bigint").alias("snapshot"), last_close)
        )
    previous = F.lag("close").over(Window.partitionBy("object").orderBy("snapshot"))
    returns = quotes.withColumn("return", F.col("close") / previous - 1)
    return returns.where(F.col("snapshot") != BEFORE)


def with_market_returns(quotes: DataFrame) -> DataFrame:
    """Each quote with the mean return of its day. Summed in sorted order, so that the mean is the same to
    the last bit however the rows were spread."""
    in_order = F.array_sort(F.collect_list("return"))
    total = F.aggregate(in_order, F.lit(0.0), lambda sum_, value: sum_ + value)
    days = quotes.groupBy("snapshot").agg(F.try_divide(total, F.count("return")).alias("market"))
    return quotes.join(F.broadcast(days), "snapshot")


def _period_ends(snapshots: DataFrame, chain: Chain) -> list[int]:
    """The last snapshot of each period; one without any ends where the one before did."""
    found: dict[str, int] = dict(snapshots.groupBy("period").agg(F.max("snapshot")).collect())
    ends: list[int] = []
    for period in chain.periods:
        ends.append(found.get(period, ends[-1] if ends else chain.next_snapshot - 1))
    return ends


def _by_buckets(quotes: DataFrame, chain: Chain, method: MarketModel, ends: list[int]) -> DataFrame:
    spark = quotes.sparkSession
    empty = "object string, beta double, slope double, " + ", ".join(f"{name} array<double>" for name in _HISTORY)
    carry = chain.carry if chain.carry is not None else spark.createDataFrame([], empty)
    carry = carry.select("object", *chain.attributes, *_HISTORY)
    buckets = max(2, quotes.count() // _ROWS_PER_BUCKET)
    bucket = F.pmod(F.xxhash64("object"), F.lit(buckets))
    work = partial(_derive_bucket, method.window, method.decimals, chain.next_snapshot, ends)
    left = quotes.withColumn("bucket", bucket).groupBy("bucket")
    right = carry.withColumn("bucket", bucket).groupBy("bucket")
    return left.cogroup(right).applyInArrow(work, _OUTPUT)


def _derive_bucket(
    window: int, decimals: int, first: int, ends: list[int], quotes: pa.Table, carry: pa.Table
) -> pa.Table:
    """Runs on the workers: updates (place BEFORE) and, per period end, the states of a bucket's objects."""
    book = _Book.of(quotes, carry)
    beta, slope = kernel.positions(book.start, book.fresh, book.close, book.returns, book.market, window, decimals)
    changed = kernel.changes(
        book.start, book.fresh, book.snapshot, beta, slope, book.begin_beta, book.begin_slope, first, ends[-1]
    )
    parts = [_updates(book, *changed)]
    parts += [_states(book, beta, slope, place, first, end, window) for place, end in enumerate(ends)]
    return pa.concat_tables(parts)


class _Book:
    """A bucket's quotes object by object: what was carried in, then the new rows, in time order."""

    def __init__(self, objects: pa.Array, columns: dict[str, np.ndarray], begin: dict[str, np.ndarray]):
        order = np.lexsort((columns["order"], columns["code"]))
        code = columns["code"][order]
        self.objects = objects
        self.snapshot = columns["snapshot"][order]
        self.close = columns["close"][order]
        self.returns = columns["return"][order]
        self.market = columns["market"][order]
        numbers = np.arange(len(objects))
        self.start = np.searchsorted(code, np.append(numbers, len(objects)))
        carried = np.bincount(code[self.snapshot == BEFORE], minlength=len(objects))
        self.fresh = self.start[:-1] + carried
        self.begin_beta, self.begin_slope = begin["beta"], begin["slope"]

    @classmethod
    def of(cls, quotes: pa.Table, carry: pa.Table) -> "_Book":
        objects = pc.unique(pa.chunked_array([*quotes["object"].chunks, *carry["object"].chunks], pa.string()))
        lengths = pc.fill_null(pc.list_value_length(carry["closes"]), 0).to_numpy()
        held = _numbers(pc.index_in(carry["object"], objects), np.int64)
        carried = int(lengths.sum())
        columns = {
            "code": np.concatenate(
                [np.repeat(held, lengths), _numbers(pc.index_in(quotes["object"], objects), np.int64)]
            ),
            "snapshot": np.concatenate([np.full(carried, BEFORE), _numbers(quotes["snapshot"], np.int64)]),
            # Carried rows come first and in the order they were kept in.
            "order": np.concatenate([np.arange(carried) - carried, _numbers(quotes["snapshot"], np.int64)]),
        }
        for name, kept in (("close", "closes"), ("return", "returns"), ("market", "markets")):
            columns[name] = np.concatenate([_flat(carry[kept]), _numbers(quotes[name], np.float64)])
        begin = {name: np.full(len(objects), np.nan) for name in ("beta", "slope")}
        for name, values in begin.items():
            values[held] = _numbers(carry[name], np.float64)
        return cls(objects, columns, begin)


def _numbers(column: pa.ChunkedArray, kind: type) -> np.ndarray:
    """A column as a plain array; null becomes NaN."""
    return column.to_numpy().astype(kind)


def _flat(lists: pa.ChunkedArray) -> np.ndarray:
    return pc.list_flatten(lists).to_numpy().astype(np.float64)


_SCHEMA = pa.schema(
    [("place", pa.int32()), ("snapshot", pa.int64()), ("object", pa.string())]
    + [("beta", pa.float64()), ("slope", pa.float64())]
    + [(name, pa.list_(pa.float64())) for name in _HISTORY]
)


def _updates(book: _Book, code: np.ndarray, snapshot: np.ndarray, beta: np.ndarray, slope: np.ndarray) -> pa.Table:
    nothing = pa.nulls(len(code), pa.list_(pa.float64()))
    columns = [
        np.full(len(code), BEFORE, np.int32),
        snapshot,
        book.objects.take(pa.array(code)),
        pa.array(beta, from_pandas=True),
        pa.array(slope, from_pandas=True),
        *([nothing] * len(_HISTORY)),
    ]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=_SCHEMA)


def _states(
    book: _Book, beta: np.ndarray, slope: np.ndarray, place: int, first: int, end: int, window: int
) -> pa.Table:
    """The objects' states after snapshot `end`: the last `window` rows up to it, and the position if alive at it."""
    known = np.concatenate([[0], np.cumsum(book.snapshot <= end)])
    until = book.start[:-1] + known[book.start[1:]] - known[book.start[:-1]]
    seen = np.flatnonzero(until > book.start[:-1])
    until, begin = until[seen], np.maximum(book.start[:-1][seen], until[seen] - window)
    last = until - 1
    alive = book.snapshot[last] == end
    # Before the chain's first snapshot everybody stands where they stood.
    now_beta = book.begin_beta[seen] if end < first else np.where(alive, beta[last], np.nan)
    now_slope = book.begin_slope[seen] if end < first else np.where(alive, slope[last], np.nan)
    offsets = np.concatenate([[0], np.cumsum(until - begin)])
    rows = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - begin, until - begin)
    lists = [
        pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values[rows], from_pandas=True))
        for values in (book.close, book.returns, book.market)
    ]
    columns = [
        pa.array(np.full(len(seen), place, np.int32)),
        pa.array(np.full(len(seen), end)),
        book.objects.take(pa.array(seen)),
        pa.array(now_beta, from_pandas=True),
        pa.array(now_slope, from_pandas=True),
        *lists,
    ]
    return pa.Table.from_arrays(columns, schema=_SCHEMA)

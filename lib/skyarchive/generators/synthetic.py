"""The synthetic archive: points on a random walk in [0, 100]^m that are born, move and go."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from skyarchive.errors import SettingError
from skyarchive.generators import dirt_synthetic
from skyarchive.generators.files import write_parquet
from skyarchive.generators.options import GenerateOptions
from skyarchive.generators.seeds import stream

SIDE = 100.0
REACH = 5.0
"""A move changes each coordinate by at most this much."""
DECIMALS = 2
"""Positions are rounded, so that ties happen and files stay small."""
NEVER = np.iinfo(np.int64).max
PERIOD_DIGITS = 5


@dataclass
class Points:
    """Objects with where they are (before folding into [0, 100]) and the steps they are born and go."""

    ids: np.ndarray
    position: np.ndarray
    born: np.ndarray
    dies: np.ndarray

    def where(self, mask: np.ndarray) -> "Points":
        return Points(self.ids[mask], self.position[mask], self.born[mask], self.dies[mask])


@dataclass
class Moves:
    """Moves of a block ordered by object, then step: which object (by index), when, and where to."""

    index: np.ndarray
    step: np.ndarray
    position: np.ndarray


def all_periods(options: GenerateOptions) -> list[str]:
    """The names of all blocks of the archive."""
    return [_name(block) for block in range(-(-options.snapshots // options.block))]


def schema(attributes: int) -> pa.Schema:
    """The columns of a block file."""
    coordinates = [(f"x{i}", pa.float64()) for i in range(attributes)]
    return pa.schema([("step", pa.int64()), ("object", pa.int64()), *coordinates, ("gone", pa.bool_())])


def generate(folder: Path, periods: list[str], options: GenerateOptions) -> list[Path]:
    """Write the named blocks; the ones before them are computed too, as the walk goes on from them."""
    allowed = all_periods(options)
    unknown = [period for period in periods if period not in allowed]
    if unknown:
        raise SettingError(
            f"{unknown[0]!r} is not a period of synthetic: {options.snapshots} snapshots in blocks of "
            f"{options.block} have the periods {allowed[0]} to {allowed[-1]}."
        )
    written: list[Future[Path]] = []
    with ThreadPoolExecutor(1) as writer:  # a block is written while the next is computed
        for block, table in enumerate(_blocks(options, allowed.index(periods[-1]) + 1)):
            if _name(block) in periods:
                if written:
                    written[-1].result()  # at most one waits, so memory stays bounded by the block
                written.append(writer.submit(_write, folder, block, table, options))
        return [path.result() for path in written]


def _write(folder: Path, block: int, table: pa.Table, options: GenerateOptions) -> Path:
    if options.dirt_share:
        table = dirt_synthetic.dirty(table, options, _name(block))
    coordinates = [name for name in table.column_names if name.startswith("x")]
    return write_parquet(
        folder / f"block_{_name(block)}.parquet",
        table,
        compression="lz4",
        use_dictionary=coordinates,
        column_encoding={"step": "DELTA_BINARY_PACKED", "object": "DELTA_BINARY_PACKED"},
    )


def _name(block: int) -> str:
    return f"{block:0{PERIOD_DIGITS}d}"


def _blocks(options: GenerateOptions, count: int) -> Iterator[pa.Table]:
    """The updates of each block in turn. A block is drawn whole, so a later end changes nothing in it."""
    living = _newborn(stream(options.seed, "synthetic", "start"), np.zeros(options.object_count, np.int64), 0, options)
    next_id = options.object_count
    for block in range(count):
        rng = stream(options.seed, "synthetic", block)
        first = block * options.block
        born = _birth_steps(rng, first, options)
        newborn = _newborn(rng, born, next_id, options)
        next_id += len(born)
        living = Points(
            np.concatenate([living.ids, newborn.ids]),
            np.concatenate([living.position, newborn.position]),
            np.concatenate([living.born, newborn.born]),
            np.concatenate([living.dies, newborn.dies]),
        )
        moves = _moves(rng, living, first, options)
        yield _updates(living, moves, first, options)
        living = _after(living, moves, first + options.block)


def _birth_steps(rng: np.random.Generator, first: int, options: GenerateOptions) -> np.ndarray:
    counts = rng.poisson(options.births * options.object_count, options.block)
    if first == 0:
        counts[0] = 0  # step 0 is for the first objects
    return np.repeat(np.arange(first, first + options.block), counts)


def _newborn(rng: np.random.Generator, born: np.ndarray, first_id: int, options: GenerateOptions) -> Points:
    count = len(born)
    dies = np.full(count, NEVER)
    if options.deaths > 0:
        dies = born + rng.geometric(options.deaths, count)
    position = rng.random((count, options.attributes)) * SIDE
    return Points(np.arange(first_id, first_id + count), position, born, dies)


def _moves(rng: np.random.Generator, points: Points, first: int, options: GenerateOptions) -> Moves:
    """Every (object, step) it lives through moves with the same chance. The cells are laid end to end and
    only the hits are drawn, by the gaps between them, so the work is in the moves and not in the cells."""
    start = np.maximum(points.born + 1, first)
    lengths = np.maximum(np.minimum(points.dies, first + options.block) - start, 0)
    ends = np.cumsum(lengths)
    hits = _hits(rng, int(ends[-1]) if len(ends) else 0, options.moves)
    counts = np.diff(np.searchsorted(hits, ends), prepend=0)
    index = np.repeat(np.arange(len(lengths), dtype=np.int32), counts)
    step = hits + np.repeat(start - (ends - lengths), counts)
    position = np.empty((options.attributes, len(hits)))
    opening = np.cumsum(counts) - counts
    for axis in range(options.attributes):
        walk = np.cumsum(rng.uniform(-REACH, REACH, len(hits)))
        before = np.where(opening > 0, walk[opening - 1], 0.0) if len(walk) else np.zeros(len(counts))
        walk += np.repeat(points.position[:, axis] - before, counts)
        position[axis] = walk
    return Moves(index, step, position)


def _hits(rng: np.random.Generator, cells: int, chance: float) -> np.ndarray:
    """The cells of 0..cells-1 that come up, each with the given chance, in order."""
    if cells == 0 or chance <= 0:
        return np.empty(0, np.int64)
    if chance >= 1:
        return np.arange(cells)
    found, last = [], -1
    while last < cells:
        expected = (cells - last) * chance
        gaps = np.log1p(-rng.random(int(expected + 4 * expected**0.5) + 16)) / np.log1p(-chance)
        hits = last + np.cumsum(gaps.astype(np.int64) + 1)
        last = int(hits[-1])
        found.append(hits)
    hits = np.concatenate(found)
    return hits[: np.searchsorted(hits, cells)]


def _folded(walk: np.ndarray) -> np.ndarray:
    """A free walk reflected at both sides of [0, 100], as it is written."""
    folded = np.abs(walk - 2 * SIDE * np.floor((walk + SIDE) / (2 * SIDE)))  # faster than the remainder
    return np.round(folded, DECIMALS, out=folded)


def _updates(points: Points, moves: Moves, first: int, options: GenerateOptions) -> pa.Table:
    """Insertions, real moves and departures of a block, by step, then object."""
    end = min(first + options.block, options.snapshots)
    inserted = np.flatnonzero((points.born >= first) & (points.born < end))
    gone = np.flatnonzero((points.dies >= first) & (points.dies < end))
    kept, folded = _real_moves(points, moves, end)
    steps = np.concatenate([points.born[inserted], moves.step[kept], points.dies[gone]])
    index = np.concatenate([inserted, moves.index[kept], gone])
    # Linear, unlike a lexsort: the stable sort merges three sorted runs, then 16 bits are sorted by radix.
    order = np.argsort(index, kind="stable")
    order = order[np.argsort((steps[order] - first).astype(np.uint16), kind="stable")]
    is_gone = np.zeros(len(steps), bool)
    is_gone[len(steps) - len(gone) :] = True
    is_gone = is_gone[order]
    columns = [pa.array(steps[order]), pa.array(points.ids[index[order]])]
    for axis in range(options.attributes):
        values = np.concatenate([_folded(points.position[inserted, axis]), folded[axis], np.zeros(len(gone))])
        columns.append(pa.array(values[order], mask=is_gone if len(gone) else None))
    return pa.Table.from_arrays([*columns, pa.array(is_gone)], schema=schema(options.attributes))


def _real_moves(points: Points, moves: Moves, end: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Which moves change something as written, and their written positions."""
    opening = np.diff(moves.index, prepend=-1) != 0
    changed = np.zeros(len(opening), bool)
    folded = [_folded(axis) for axis in moves.position]
    for axis, values in enumerate(folded):
        before = np.roll(values, 1)
        before[opening] = _folded(points.position[moves.index[opening], axis])
        changed |= values != before
    kept = changed & (moves.step < end)
    return kept, [values[kept] for values in folded]


def _after(points: Points, moves: Moves, end: int) -> Points:
    """Who still lives when the block ends, where its moves left them."""
    closing = np.flatnonzero(np.diff(moves.index, append=-1) != 0)
    position = points.position.copy()
    position[moves.index[closing]] = moves.position[:, closing].T
    return Points(points.ids, position, points.born, points.dies).where(points.dies >= end)

"""Careers: totals of an object's games so far; its attributes are ratios of them."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.definition.derivation import Career
from skyarchive.steps.derive.methods.parts import (
    BEFORE,
    Chain,
    Derived,
    at_snapshots,
    changed_positions,
    numbered_snapshots,
    states_at_ends,
    with_periods,
    with_place,
)


def derive_career(chain: Chain) -> Derived:
    """One snapshot per game; an object's position is its career up to and with that game."""
    method = chain.definition.derive
    assert isinstance(method, Career)
    snapshots = chain.kept.keep(numbered_snapshots(chain, method.order))
    games = at_snapshots(chain, snapshots, method.order)
    careers = chain.kept.keep(games.transform(with_totals, chain, method).transform(with_positions, chain, method))
    state = list(method.state_columns(chain.definition.attributes))
    return Derived(
        snapshots,
        changed_positions(careers, chain.attributes).transform(with_periods, snapshots, chain.attributes),
        last_names(games, chain),
        states_at_ends(chain, careers, [*chain.attributes, *state]),
    )


def with_totals(games: DataFrame, chain: Chain, method: Career) -> DataFrame:
    """Running totals per object. What the chain starts from is the first summand, so that sums come out
    the same to the last bit however the periods are cut."""
    columns = method.summed(chain.definition.attributes)
    played = with_place(games, chain).select(
        "object",
        "snapshot",
        "place",
        "file",
        "row",
        F.lit(1).cast("bigint").alias("games"),
        *(F.coalesce(F.col(c).cast("double"), F.lit(0.0)).alias(f"total_{c}") for c in columns),
    )
    totals = ["games", *(f"total_{c}" for c in columns)]
    if chain.carry is not None:
        started = chain.carry.select(
            "object",
            F.lit(BEFORE).cast("bigint").alias("snapshot"),
            F.lit(BEFORE).alias("place"),
            F.lit("").alias("file"),
            F.lit(0).cast("bigint").alias("row"),
            *totals,
        )
        played = started.unionByName(played)
    career = Window.partitionBy("object").orderBy("snapshot", "file", "row")
    so_far = career.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    # Several rows of an object at one snapshot count together: only the last one is its state.
    next_snapshot = F.lead("snapshot").over(career)
    return (
        played.select(
            "object",
            "snapshot",
            "place",
            next_snapshot.alias("next"),
            *(F.sum(t).over(so_far).alias(t) for t in totals),
        )
        .where("next is null or next != snapshot")
        .drop("next")
    )


def with_positions(careers: DataFrame, chain: Chain, method: Career) -> DataFrame:
    """The attributes of objects that have played enough; null for the others."""
    ratios = {name: a.ratio for name, a in chain.definition.attributes.items() if a.ratio}
    alive = F.col("games") > method.more_than
    for _, denominator in ratios.values():
        alive = alive & (F.col(f"total_{denominator}") > 0)
    return careers.withColumns(
        {
            name: F.when(alive, F.col(f"total_{top}") / F.col(f"total_{bottom}"))
            for name, (top, bottom) in ratios.items()
        }
    )


def last_names(games: DataFrame, chain: Chain) -> DataFrame:
    """The name each object had last in each period."""
    column = chain.definition.object.name
    name = F.col(column) if column else F.lit(None).cast("string")
    latest = F.max_by(name, F.struct("snapshot", "file", "row"))
    return games.groupBy("period", "object").agg(F.coalesce(latest, F.col("object")).alias("name"))

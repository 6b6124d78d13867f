"""Tables that already are an update log or a series of full snapshots: no code of their own needed."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.dataframes.columns import is_finite
from skyarchive.definition.derivation import FullSnapshots, UpdateLog
from skyarchive.steps.derive.methods.career import last_names
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


def derive_log(chain: Chain) -> Derived:
    """Each row sets its object's position; a missing attribute or `gone` means it is not there."""
    method = chain.definition.derive
    assert isinstance(method, UpdateLog | FullSnapshots)
    snapshots = chain.kept.keep(numbered_snapshots(chain, method.order))
    rows = at_snapshots(chain, snapshots, method.order)
    if not set(chain.definition.record_key) <= {chain.definition.object.column, *method.order.identity}:
        rows = rows.transform(with_one_row_each)
    leaves = F.col(method.gone) if isinstance(method, UpdateLog) and method.gone else F.lit(False)
    leaves = F.coalesce(leaves, F.lit(False))
    whole = F.lit(True)
    for attribute in chain.attributes:
        whole = whole & is_finite(F.col(attribute).cast("double"))
    positions = with_place(rows, chain).select(
        "object",
        "snapshot",
        "place",
        # Adding zero makes -0.0 plain 0.0.
        *(F.when(whole & ~leaves, F.col(a).cast("double") + 0.0).alias(a) for a in chain.attributes),
    )
    if isinstance(method, FullSnapshots):
        positions = positions.transform(with_absences, chain, snapshots)
    history = chain.kept.keep(_with_start(positions, chain))
    states = states_at_ends(chain, history, chain.attributes).where(F.col(chain.attributes[0]).isNotNull())
    missing = rows.where(~whole & ~leaves).groupBy("period").agg(F.count("*").alias("rows"))
    return Derived(
        snapshots,
        changed_positions(history, chain.attributes).transform(with_periods, snapshots, chain.attributes),
        last_names(rows, chain),
        states,
        missing,
    )


def with_one_row_each(rows: DataFrame) -> DataFrame:
    """The first row of every object and snapshot, where the definition's `unique` allows more."""
    first = Window.partitionBy("object", "snapshot").orderBy("file", "row")
    return rows.withColumn("nth", F.row_number().over(first)).where("nth = 1").drop("nth")


def _with_start(positions: DataFrame, chain: Chain) -> DataFrame:
    if chain.carry is None:
        return positions
    started = chain.carry.select(
        "object",
        F.lit(BEFORE).cast("bigint").alias("snapshot"),
        F.lit(BEFORE).alias("place"),
        *chain.attributes,
    )
    return started.unionByName(positions)


def with_absences(positions: DataFrame, chain: Chain, snapshots: DataFrame) -> DataFrame:
    """A state 'not there' at the snapshot after an object's last one of several in a row."""
    rows = _with_start(positions, chain)
    present = F.when(F.col("snapshot") == BEFORE, F.lit(chain.next_snapshot - 1)).otherwise(F.col("snapshot"))
    following = F.lead("snapshot").over(Window.partitionBy("object").orderBy("snapshot"))
    left = (
        rows.select("object", present.alias("at"), following.alias("following"))
        .where("following is null or following > at + 1")
        .select("object", (F.col("at") + 1).alias("snapshot"))
    )
    places = with_place(snapshots.select("period", "snapshot"), chain)
    nothing = [F.lit(None).cast("double").alias(a) for a in chain.attributes]
    # Beyond the chain's last snapshot nothing is known yet: the join drops those.
    absences = left.join(places, "snapshot").select("object", "snapshot", "place", *nothing)
    return positions.unionByName(absences)

"""Traffic: connections per remote group and service over the last seconds before each snapshot.

A connection enters the counts at the first snapshot after it began and leaves them `window` later; so a
group's counts are running sums of +1 and -1, and the -1 still to come at a period's end are its carry.
"""

from datetime import date

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from skyarchive.definition.derivation import Traffic
from skyarchive.steps.derive.methods.parts import BEFORE, Chain, Derived, states_at_ends, with_periods, with_place

_DAY_SECONDS = 86400
_EPOCH = date(1970, 1, 1)


def derive_traffic(chain: Chain) -> Derived:
    """Snapshots every few seconds of each day in the chain, idle or not."""
    method = chain.definition.derive
    assert isinstance(method, Traffic)
    days = _Days(chain, method)
    snapshots = chain.kept.keep(days.snapshots())
    events = chain.kept.keep(connection_events(chain, method).transform(days.placed))
    counts = chain.kept.keep(_running_counts(events, chain))
    alive = F.greatest(*(F.col(a) for a in chain.attributes)) > 0
    positions = counts.select(
        "object", "snapshot", "place", *(F.when(alive, F.col(a)).alias(a) for a in chain.attributes)
    )
    updates = positions.where(F.col("snapshot") != BEFORE).withColumn("gone", F.col(chain.attributes[0]).isNull())
    states = states_at_ends(chain, positions, chain.attributes).where(F.col(chain.attributes[0]).isNotNull())
    return Derived(
        snapshots,
        with_periods(updates, snapshots, chain.attributes),
        chain.rows.select("period", F.col("remote").alias("object"), F.col("remote").alias("name")).distinct(),
        states.join(pending_events(events, days), ["period", "object"], "left"),
    )


def connection_events(chain: Chain, method: Traffic) -> DataFrame:
    """+1 and -1 per connection: `object`, `at` (in steps since 1970), one signed count per attribute, `entered`."""
    entered = F.floor(F.col("ts") / method.every_seconds).cast("bigint") + 1
    leaves = entered + method.window_seconds // method.every_seconds
    service = _service(chain, method)
    moves = F.array(
        F.struct(entered.alias("at"), F.lit(1).alias("sign")),
        F.struct(leaves.alias("at"), F.lit(-1).alias("sign")),
    )
    rows = with_place(chain.rows, chain)
    events = rows.select(
        F.col("remote").alias("object"), "place", service.alias("service"), F.explode(moves).alias("m")
    )
    events = events.select(
        "object",
        "place",
        F.col("m.at").alias("at"),
        *(
            F.when(F.col("service") == a, F.col("m.sign")).otherwise(0).cast("double").alias(a)
            for a in chain.attributes
        ),
    )
    events = events.groupBy("object", "place", "at").agg(*(F.sum(a).alias(a) for a in chain.attributes))
    return events if chain.carry is None else events.unionByName(_carried_events(chain))


def _service(chain: Chain, method: Traffic) -> Column:
    by_name = F.col("log") == "lbl"
    service = F.lit(None).cast("string")
    for name, spec in method.services.items():
        matches = F.when(by_name, F.col("service").isin(spec.names)).otherwise(F.col("resp_p").isin(spec.ports))
        service = F.coalesce(service, F.when(matches, name))
    return F.coalesce(service, F.lit(method.other))


def _carried_events(chain: Chain) -> DataFrame:
    """What the chain starts from as events: the standing counts before all, and what is still to leave."""
    assert chain.carry is not None
    place = F.lit(BEFORE).alias("place")
    standing = chain.carry.select("object", place, F.lit(None).cast("bigint").alias("at"), *chain.attributes)
    leaving = chain.carry.select("object", place, F.explode("pending").alias("p"))
    leaving = leaving.select(
        "object",
        "place",
        F.col("p.at").alias("at"),
        *(F.col("p.counts")[i].cast("double").alias(a) for i, a in enumerate(chain.attributes)),
    )
    return standing.unionByName(leaving)


def _running_counts(events: DataFrame, chain: Chain) -> DataFrame:
    """Each object's counts after every snapshot at which they changed."""
    net = (
        events.where("snapshot is not null")
        .groupBy("object", "snapshot", "snapshot_place")
        .agg(*(F.sum(a).alias(a) for a in chain.attributes))
    )
    moved = F.lit(False)
    for attribute in chain.attributes:
        moved = moved | (F.col(attribute) != 0)
    so_far = Window.partitionBy("object").orderBy("snapshot").rowsBetween(Window.unboundedPreceding, 0)
    return net.where(moved).select(
        "object",
        "snapshot",
        F.col("snapshot_place").alias("place"),
        *(F.sum(a).over(so_far).alias(a) for a in chain.attributes),
    )


def pending_events(events: DataFrame, days: "_Days") -> DataFrame:
    """Per period and object the events after its end of connections that had begun by then."""
    attributes = days.chain.attributes
    ends = F.broadcast(days.frame().select("period", F.col("place").alias("end_place"), "end"))
    pending = events.where("at is not null").join(
        ends, (F.col("place") <= F.col("end_place")) & (F.col("at") > F.col("end"))
    )
    pending = pending.groupBy("period", "object", "at").agg(*(F.sum(a).alias(a) for a in attributes))
    counts = F.array(*(F.col(a).cast("bigint") for a in attributes))
    event = F.struct(F.col("at"), counts.alias("counts"))
    return pending.groupBy("period", "object").agg(F.array_sort(F.collect_list(event)).alias("pending"))


class _Days:
    """The chain's days on the line of steps since 1970: where each begins and ends, and its first snapshot."""

    def __init__(self, chain: Chain, method: Traffic):
        self.chain = chain
        self.every = method.every_seconds
        self.per_day = _DAY_SECONDS // method.every_seconds

    def frame(self) -> DataFrame:
        """`place`, `period`, `after` (end of the day before in the chain), `begin`, `end`, `first` snapshot."""
        rows = []
        after = -1
        for place, period in enumerate(self.chain.periods):
            begin = (date.fromisoformat(period) - _EPOCH).days * self.per_day
            end = begin + self.per_day
            rows.append((place, period, after, begin, end, self.chain.next_snapshot + place * self.per_day))
            after = end
        schema = "place int, period string, after bigint, begin bigint, end bigint, first bigint"
        return self.chain.rows.sparkSession.createDataFrame(rows, schema)

    def snapshots(self) -> DataFrame:
        """Every step of every day, named by the time it ends at."""
        step = F.explode(F.sequence(F.lit(1).cast("bigint"), F.lit(self.per_day).cast("bigint")))
        steps = self.frame().select("period", "begin", "first", step.alias("k"))
        time = F.timestamp_seconds((F.col("begin") + F.col("k")) * self.every)
        return steps.select(
            "period",
            (F.col("first") + F.col("k") - 1).alias("snapshot"),
            time.alias("time"),
            F.date_format(time, "yyyy-MM-dd HH:mm:ss").alias("label"),
        )

    def placed(self, events: DataFrame) -> DataFrame:
        """Events with the snapshot they show at (null beyond the chain) and its place. What happens on a day
        that is not there shows at the first snapshot after it."""
        days = F.broadcast(self.frame().withColumnRenamed("place", "snapshot_place"))
        within = (F.col("at") > F.col("after")) & (F.col("at") <= F.col("end"))
        joined = events.join(days, within, "left")
        snapshot = F.col("first") + F.greatest(F.col("at") - F.col("begin") - 1, F.lit(0))
        before = F.col("at").isNull()
        return joined.select(
            "object",
            "place",
            "at",
            *self.chain.attributes,
            F.when(before, BEFORE).otherwise(snapshot).alias("snapshot"),
            F.when(before, BEFORE).otherwise(F.col("snapshot_place")).alias("snapshot_place"),
        )

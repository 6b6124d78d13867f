"""From rows as they came to typed rows, each with its period and, if it is refused, the reason."""

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from skyarchive.definition.model import Definition
from skyarchive.definition.periods import period_told_by
from skyarchive.names import PERIOD
from skyarchive.steps.ingest.judging import judged_column
from skyarchive.steps.ingest.reading.files import RawFile

DUPLICATE = "is there twice; the first stays"


def judged_rows(rows: DataFrame, definition: Definition, named_for: DataFrame) -> DataFrame:
    """The typed rows with `period` (null if it cannot be read), `_reason` (null if accepted) and, for
    refused rows, `_record`. `named_for` has each `_source` and the period `_named` in its name."""
    return (
        rows.join(F.broadcast(named_for), "_source", "left")
        .transform(with_missing_as_null, definition)
        .transform(with_types_and_reasons, definition)
        .transform(with_period, definition)
        .transform(with_first_reason, definition)
    )


def with_missing_as_null(rows: DataFrame, definition: Definition) -> DataFrame:
    """Texts that mean 'no value' become null; the row as it came is kept for the record."""
    texts = {field.name for field in rows.schema.fields if field.dataType.simpleString() == "string"}
    present = [name for name in definition.columns if name in rows.columns]
    extra = [name for name in sorted(definition.derive.reader_columns) if name in rows.columns]
    as_text = definition.source.format in ("csv", "conn_log")
    absent = F.array(*map(F.lit, definition.source.missing))

    def cleaned(name: str) -> Column:
        value = F.col(name)
        if as_text and name in texts:
            return F.when(~F.array_contains(absent, F.trim(value)), value)
        return value

    record = F.to_json(F.struct(*present), {"ignoreNullFields": "false"})
    return rows.select(
        "_source",
        "file",
        "row",
        "_fault",
        "_named",
        F.when(F.col("_text").isNotNull(), F.to_json(F.struct(F.col("_text").alias("text"))))
        .otherwise(record)
        .alias("_record"),
        *(cleaned(name).alias(name) for name in present),
        *(F.lit(None).cast("string").alias(n) for n in definition.columns if n not in present),
        *extra,
    )


def with_types_and_reasons(rows: DataFrame, definition: Definition) -> DataFrame:
    """Each column in its declared type, `_faults`: an array of the columns' reasons, nulls where fine, and
    `_place_fault`: the reason of the column that gives the period."""
    types = {field.name: field.dataType.simpleString() for field in rows.schema.fields}
    judged = {name: judged_column(name, spec, types[name]) for name, spec in definition.columns.items()}
    others = [F.col(c) for c in rows.columns if c not in definition.columns]
    typed = [value.alias(name) for name, (value, _) in judged.items()]
    reasons = [reason for _, reason in judged.values() if reason is not None]
    faults = F.array(*reasons) if reasons else F.array().cast("array<string>")
    place_fault = judged[definition.period.column][1]
    place_fault = F.lit(None).cast("string") if place_fault is None else place_fault
    return rows.select(*others, *typed, faults.alias("_faults"), place_fault.alias("_place_fault"))


def with_period(rows: DataFrame, definition: Definition) -> DataFrame:
    """`_own_period`: the period a row belongs to by its content, null if that cannot be read or believed."""
    spec = definition.columns[definition.period.column]
    period = F.expr(period_told_by(definition))
    if definition.period.by == "value" and spec.type == "string":
        period = F.when(period.rlike(f"^{PERIOD.pattern}$"), period)
    else:  # others are names, unless they begin with a sign
        period = F.when(F.ascii(period) >= ord("0"), period)
    return rows.withColumn("_own_period", F.when(F.col("_place_fault").isNull(), period))


def with_first_reason(rows: DataFrame, definition: Definition) -> DataFrame:
    """`period` and `_reason`; of several reasons the first one counts. Rows that are not checked must have their
    place, too: an accepted row without a period would be nowhere, and in a wrong one nobody would look for it."""
    rules = [F.when(F.expr(rule.when), rule.reason) for rule in definition.refuse]
    first_fault = F.element_at(F.filter("_faults", lambda fault: fault.isNotNull()), 1)
    has_fault = F.exists("_faults", lambda fault: fault.isNotNull())
    unreadable = F.when(F.col("_own_period").isNull(), f"{definition.period.column} gives no period")
    elsewhere = F.when(
        F.col("_named").isNotNull() & (F.col("_own_period") != F.col("_named")),
        F.concat(F.lit("belongs to period "), "_own_period", F.lit(", but the file is named for "), "_named"),
    )
    checks = F.coalesce(F.when(has_fault, first_fault), *rules)
    if definition.check_only:
        checks = F.when(F.expr(definition.check_only), checks)
    reason = F.coalesce("_fault", checks, "_place_fault", unreadable, elsewhere)
    return rows.select(
        "_source",
        "file",
        "row",
        F.coalesce("_named", "_own_period").alias("period"),
        reason.alias("_reason"),
        F.when(reason.isNotNull(), F.col("_record")).alias("_record"),
        *definition.columns,
        *(name for name in sorted(definition.derive.reader_columns) if name in rows.columns),
    )


def placed_rows(rows: DataFrame, definition: Definition, holds: DataFrame) -> DataFrame:
    """Each row in a period that its file holds, with `_unplaced` for those that are only there because it is the
    file's first. `holds` has each `_source` with the periods `_held`, in order."""
    known = F.coalesce(F.array_contains("_held", F.col("period")), F.lit(False))
    missed = F.concat(
        F.lit("belongs to period "), "period", F.lit(", which its file did not hold when it was looked into")
    )
    return refused_where(rows.join(F.broadcast(holds), "_source"), definition, ~known, missed).select(
        *(c for c in rows.columns if c != "period"),
        F.when(known, F.col("period")).otherwise(F.col("_held")[0]).alias("period"),
        (~known).alias("_unplaced"),
    )


def refused_where(rows: DataFrame, definition: Definition, condition: Column, reason: Column) -> DataFrame:
    """The rows with the reason set for those that meet the condition and were accepted so far."""
    record = F.to_json(F.struct(*definition.columns), {"ignoreNullFields": "false"})
    now = F.col("_reason").isNull() & condition
    changed = {
        "_reason": F.when(now, reason).otherwise(F.col("_reason")),
        "_record": F.when(now, record).otherwise(F.col("_record")),
    }
    return rows.select(*(changed[c].alias(c) if c in changed else F.col(c) for c in rows.columns))


def repeated_records(rows: DataFrame, definition: Definition) -> DataFrame:
    """The records that several accepted rows give, with `_file` and `_row` of the first of them."""
    first = F.min(F.struct("file", "row"))
    keys = [F.col(key).alias(f"_{key}") for key in ("period", *definition.record_key)]
    found = rows.where("_reason is null").groupBy(*keys)
    counted = found.agg(F.count("*").alias("_copies"), first["file"].alias("_file"), first["row"].alias("_row"))
    return counted.where("_copies > 1").drop("_copies")


def with_repeats_refused(rows: DataFrame, repeated: DataFrame, definition: Definition) -> DataFrame:
    """The rows with the reason set for those that repeat an earlier one's record."""
    keys = ["period", *definition.record_key]
    same = F.col("_reason").isNull()
    for key in keys:
        same = same & F.col(key).eqNullSafe(F.col(f"_{key}"))
    again = (F.col("file") != F.col("_file")) | (F.col("row") != F.col("_row"))
    reason = F.lit(f"{' and '.join(definition.record_key)} {DUPLICATE}")
    marked = rows.join(F.broadcast(repeated), same, "left")
    return refused_where(marked, definition, again, reason).select(*rows.columns)


def named_frame(spark: SparkSession, files: list[RawFile]) -> DataFrame:
    """Each source and the one period its name gives, if it does."""
    return spark.createDataFrame([(file.name, file.period) for file in files], "_source string, _named string")

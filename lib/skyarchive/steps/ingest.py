"""From rows as they came to typed rows, each with its period and, if it is refused, the reason."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from skyarchive.definition import NUMERIC_TYPES, Definition, Period
from skyarchive.definition import Column as ColumnSpec
from skyarchive.names import PERIOD

_NUMBER = r"^\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[nN][aA][nN]|[iI]nf(inity)?|INF(INITY)?)\s*$"
_DATE = r"^\s*\d{4}-\d{2}-\d{2}\s*$"
DUPLICATE = "is there twice; the first stays"


def judged_rows(rows: DataFrame, definition: Definition, named_for: DataFrame) -> DataFrame:
    """The typed rows with `period` (null if it cannot be read), `reason` (null if accepted) and, for
    refused rows, `record`. `named_for` has each `source` and the period `named` in its name."""
    return (
        rows.join(F.broadcast(named_for), "source", "left")
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
        "source",
        "file",
        "row",
        "fault",
        "named",
        F.when(F.col("text").isNotNull(), F.to_json(F.struct("text"))).otherwise(record).alias("record"),
        *(cleaned(name).alias(name) for name in present),
        *(F.lit(None).cast("string").alias(n) for n in definition.columns if n not in present),
        *extra,
    )


def with_types_and_reasons(rows: DataFrame, definition: Definition) -> DataFrame:
    """Each column in its declared type, and `faults`: an array of the columns' reasons, nulls where fine."""
    types = {field.name: field.dataType.simpleString() for field in rows.schema.fields}
    judged = {name: _judge(name, spec, types[name]) for name, spec in definition.columns.items()}
    others = [F.col(c) for c in rows.columns if c not in definition.columns]
    typed = [value.alias(name) for name, (value, _) in judged.items()]
    reasons = [reason for _, reason in judged.values() if reason is not None]
    faults = F.array(*reasons) if reasons else F.array().cast("array<string>")
    return rows.select(*others, *typed, faults.alias("faults"))


def _judge(name: str, spec: ColumnSpec, found: str) -> tuple[Column, Column | None]:
    """A column's typed value, and the expression of what is wrong with it (None if nothing can be)."""
    value = F.col(name)
    if spec.type in NUMERIC_TYPES:
        typed, reason = _judge_number(name, spec, value, found)
    elif spec.type in ("date", "timestamp"):
        readable = value.rlike(_DATE) if found == "string" and spec.type == "date" else F.lit(True)
        typed = F.when(readable, value.try_cast(spec.type))
        reason = F.when(value.isNotNull() & typed.isNull(), f"{name} is not a {spec.type}")
    else:
        typed = value.try_cast(spec.type)
        reason = F.when(value.isNotNull() & typed.isNull(), f"{name} is not a {spec.type}")
    if not spec.checked:
        return typed, None
    if spec.required:
        reason = F.when(value.isNull(), f"{name} is missing").otherwise(reason)
    return typed, reason


def _judge_number(name: str, spec: ColumnSpec, value: Column, found: str) -> tuple[Column, Column]:
    readable = F.when(value.rlike(_NUMBER), value) if found == "string" else value
    number = readable.try_cast("double")
    typed = number if spec.type == "double" else readable.try_cast(spec.type)
    reason = F.when(value.isNotNull() & number.isNull(), f"{name} is not a number")
    reason = reason.when(F.isnan(number), f"{name} is NaN")
    reason = reason.when(F.abs(number) == float("inf"), f"{name} is infinite")
    if spec.min is not None:
        below = f"{name} is negative" if spec.min == 0 else f"{name} is below {spec.min:g}"
        reason = reason.when(number < spec.min, below)
    if spec.max is not None:
        reason = reason.when(number > spec.max, f"{name} is above {spec.max:g}")
    if spec.type != "double":
        whole = (number == F.floor(number)) & typed.isNotNull()
        reason = reason.when(number.isNotNull() & ~whole, f"{name} is not a whole number")
    return typed, reason


def with_period(rows: DataFrame, definition: Definition) -> DataFrame:
    """`own_period`: the period a row belongs to by its content, null if that cannot be read."""
    spec = definition.columns[definition.period.column]
    period = _period_of(F.col(definition.period.column), definition.period, spec)
    return rows.withColumn("own_period", F.when(period.rlike(f"^{PERIOD.pattern}$"), period))


def _period_of(value: Column, period: Period, spec: ColumnSpec) -> Column:
    if period.by == "value":
        return value.cast("string")
    if period.by == "block":
        return F.format_string("%05d", F.floor(value / period.size).cast("bigint"))
    formats = {"year": "yyyy", "month": "yyyy-MM", "day": "yyyy-MM-dd"}
    if spec.type in NUMERIC_TYPES:
        in_range = (value >= 0) & (value < 253402300800)
        value = F.timestamp_seconds(F.when(in_range, value))
    return F.date_format(value, formats[period.by])


def with_first_reason(rows: DataFrame, definition: Definition) -> DataFrame:
    """`period` and `reason`; of several reasons the first one counts."""
    rules = [F.when(F.expr(rule.when), rule.reason) for rule in definition.refuse]
    first_fault = F.element_at(F.filter("faults", lambda fault: fault.isNotNull()), 1)
    has_fault = F.exists("faults", lambda fault: fault.isNotNull())
    unreadable = F.when(F.col("own_period").isNull(), f"{definition.period.column} gives no period")
    elsewhere = F.when(
        F.col("named").isNotNull() & (F.col("own_period") != F.col("named")),
        F.concat(
            F.lit("belongs to period "), "own_period", F.lit(", but the file is named for "), "named"
        ),
    )
    checks = F.coalesce(F.when(has_fault, first_fault), *rules, unreadable, elsewhere)
    if definition.check_only:
        checks = F.when(F.expr(definition.check_only), checks)
    reason = F.coalesce("fault", checks)
    return rows.select(
        "source",
        "file",
        "row",
        F.coalesce("named", "own_period").alias("period"),
        reason.alias("reason"),
        F.when(reason.isNotNull(), F.col("record")).alias("record"),
        *definition.columns,
        *(name for name in sorted(definition.derive.reader_columns) if name in rows.columns),
    )


def duplicate_rows(rows: DataFrame, definition: Definition) -> DataFrame:
    """`file` and `row` of the accepted rows that repeat an earlier one's unique columns."""
    keys = definition.record_key
    accepted = rows.where("reason is null")
    repeated = accepted.groupBy("period", *keys).agg(
        F.count("*").alias("copies"), F.min(F.struct("file", "row")).alias("first")
    )
    repeated = repeated.where("copies > 1").drop("copies")
    same = [accepted[key].eqNullSafe(repeated[key]) for key in ("period", *keys)]
    return (
        accepted.join(F.broadcast(repeated), same)
        .where(F.struct(accepted["file"], accepted["row"]) != F.col("first"))
        .select(accepted["file"], accepted["row"])
    )


def with_duplicates_refused(rows: DataFrame, duplicates: DataFrame, definition: Definition) -> DataFrame:
    """The rows with the reason set for those of `duplicates`."""
    reason = f"{' and '.join(definition.record_key)} {DUPLICATE}"
    marked = rows.join(F.broadcast(duplicates.withColumn("again", F.lit(True))), ["file", "row"], "left")
    plain = [c for c in definition.columns]
    return marked.withColumn("reason", F.coalesce("reason", F.when(F.col("again"), reason))).withColumn(
        "record",
        F.coalesce("record", F.when(F.col("again"), F.to_json(F.struct(*plain), {"ignoreNullFields": "false"}))),
    ).drop("again")

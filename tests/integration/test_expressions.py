"""Expressions of definitions before Spark: what the grammar lets through is what Spark reads, and types are told."""

import random
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from conftest import Home
from skyarchive.definition.expression_grammar import FUNCTIONS, columns_in
from skyarchive.definition.expression_tokens import ExpressionError

pytestmark = pytest.mark.spark

COLUMNS = ["a", "b", "who", "date", "interval", "year", "r", "user"]
SEEDS = [
    "a > 0 and not b between -1 and 2.5e3 or who like 'x%' escape '/'",
    "case when a in (1, 2L) then year(date) else cast(who as decimal(10, 2)) end is not null",
    "date >= date '2020-01-01' - interval 2 days and timestamp '2020-01-01 10:00' <> date",
    "coalesce(if(a <=> b, a, b), try_cast(`who` as double), extract(year from date)) * 3 % 2 / -b || 'x'",
    "case who when 'it''s' then r else user end is not distinct from who rlike '^\\\\d+$'",
    "interval - 1 div 2 > interval '3' hours or (a = 1) is not true",
]
PIECES = r"""
a b who r user year date interval `a` `c` 1 2.5 1L 1.5bd .5 'x' "y" 'a''b' '\'' r'x' X'1F' ( ) , + - * / % || | = == <>
!= < <= > >= <=> => -> :: : ; ? ! ~ ^ & . [ ] { } ${x} -- /* */ and or not in between like rlike escape is null true
distinct from case when then else end cast as int over filter where select exists any all lambda days months collate at
time zone abs( if( rand( java_method( count( coalesce( year( extract( struct( map( identifier( position( trim( now(
current_date uuid(
"""
PLAIN = """
UnresolvedAttribute UnresolvedFunction Literal Cast CaseWhen And Or Not In Like RLike Between IsNull IsNotNull EqualTo
EqualNullSafe LessThan LessThanOrEqual GreaterThan GreaterThanOrEqual Add Subtract Multiply Divide Remainder
IntegralDivide UnaryMinus UnaryPositive Concat TimestampDiff
"""
"""Kinds of node of a plan, none of which does more than a function on the list."""
_OWN_FUNCTIONS = {"between", "concat", "ilike", "rlike", "regexp", "regexp_like", "like"}
"""Functions that Spark makes of operators."""


def candidates(seed: int, count: int) -> list[str]:
    """Expressions with a few pieces changed, left out or put in, and some of pieces alone."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        pieces = chance.choice(SEEDS).split(" ")
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            place = chance.randrange(len(pieces))
            pieces[place : place + chance.randrange(2)] = chance.choices(
                [*PIECES.split(), *pieces], k=chance.randrange(3)
            )
            pieces = pieces or ["a"]
        found.append(chance.choice([" ", " ", "", "\n"]).join(pieces))
    return found


def named_in(spark: SparkSession, text: str) -> tuple[set[str], set[str], set[str]]:
    """The kinds of node, functions and columns that Spark's parser finds."""
    jvm: Any = spark
    kinds, functions, columns = set(), set(), set()
    todo = [jvm._jsparkSession.sessionState().sqlParser().parseExpression(text)]
    while todo:
        node = todo.pop()
        kind = node.getClass().getSimpleName()
        kinds.add(kind)
        if kind == "UnresolvedFunction":
            functions.add(node.nameParts().mkString(".").lower())
        if kind == "UnresolvedAttribute":
            columns.add(node.nameParts().mkString(".").lower())
        children = node.children()
        todo += [children.apply(place) for place in range(children.size())]
    return kinds, functions, columns


def _agrees(spark: SparkSession, seed: int, count: int) -> int:
    """Whether all that the grammar lets through is what Spark reads; how many there were."""
    let_through = 0
    for text in candidates(seed, count):
        try:
            named = columns_in(text, COLUMNS)
        except ExpressionError:
            continue
        let_through += 1
        try:
            kinds, functions, columns = named_in(spark, text)
        except (Py4JJavaError, PySparkException) as error:
            assert "INVALID_TYPED_LITERAL" in str(error) or "INTERVAL" in str(error).upper(), (seed, text, error)
            continue
        assert kinds <= set(PLAIN.split()), (seed, text, kinds)
        assert functions <= FUNCTIONS | _OWN_FUNCTIONS, (seed, text, functions)
        assert columns == {name.lower() for name in named}, (seed, text, columns, named)
    return let_through


def test_what_the_grammar_lets_through_spark_reads_alike(spark: SparkSession) -> None:
    assert _agrees(spark, 1, 400) > 20


@pytest.mark.thorough
def test_what_the_grammar_lets_through_spark_reads_alike_in_many_trials(spark: SparkSession) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    assert _agrees(spark, seed, 40_000) > 2000


def test_spark_knows_every_function(spark: SparkSession) -> None:
    jvm: Any = spark
    known = {row.function for row in jvm.sql("show system functions").collect()}
    assert set() == FUNCTIONS - known


THINGS = """\
name: things
title: Things
source: {format: csv}
period: {column: day, by: year}
columns: {day: {type: date}, who: {type: string}, x: {type: double}, n: {type: int}}
refuse: [{when: x < 0, reason: below zero}]
object: {column: who}
derive: {method: snapshots, order: {by: [day]}}
attributes: {x: {better: lower}}
external: {attributes: {x: {better: lower}}}
"""
WRONG = [
    ("when: x < 0", "when: x", "things: refuse.0.when is a double, and must be true or false for each row."),
    ("when: x < 0", "when: upper(who)", "refuse.0.when is a string, and must be true or false"),
    ("when: x < 0", "when: day > 3", "refuse.0.when cannot be computed: [DATATYPE_MISMATCH"),
    ("object:", "counts: substring(who)\nobject:", "counts cannot be computed: [WRONG_NUM_ARGS"),
    ("object:", "counts: day > date '2020-33-01'\nobject:", "counts cannot be computed: [INVALID_TYPED_LITERAL"),
    ("object:", f'counts: "{"(" * 40}n > 1{")" * 40} or n"\nobject:', "counts cannot be computed: [DATATYPE_MISMATCH"),
    ("object:", "check_only: n\nobject:", "check_only is a int, and must be true or false"),
    ("{x: {better: lower}}}", "{y: {better: lower, value: upper(who)}}}", "attributes.y.value is a text, which has no"),
    ("{x: {better: lower}}}", "{y: {better: lower, value: day}}}", "attributes.y.value cannot be computed: [DATATYPE"),
    ("{x: {better: lower}}}", "{x: {better: lower}}, group: [abs(day)]}", "external.group.0 cannot be computed: ["),
]


def test_what_spark_cannot_compute_is_told_before_anything_is_published(spark: SparkSession, home: Home) -> None:
    folder = home.raw / "things"
    folder.mkdir(parents=True)
    (folder / "2020.csv").write_text("day,who,x,n\n2020-01-01,a,1,1\n2020-01-02,b,2,2\n")
    for old, new, words in WRONG:
        assert old in THINGS
        (folder / "archive.yaml").write_text(THINGS.replace(old, new, 1))
        answer = home.command("run", "things")
        assert answer.code == 1 and words in answer.err and "Traceback" not in answer.err, (new, answer.err)
        assert home.workshop("things").lake.published_versions("things") == {}, new


def test_a_row_that_an_expression_cannot_be_computed_for_is_told(spark: SparkSession, home: Home) -> None:
    folder = home.raw / "things"
    folder.mkdir(parents=True)
    (folder / "2020.csv").write_text("day,who,x,n\n2020-01-01,a,1,1\n2020-01-02,b,2,0\n")
    (folder / "archive.yaml").write_text(THINGS.replace("when: x < 0", "when: n / (n - 1) > 3"))
    answer = home.command("run", "things")
    words = "things: an expression of its definition (refuse.0.when) cannot be computed for a row: Division by zero"
    assert answer.code == 1 and words in answer.err and "try_divide" in answer.err and "Traceback" not in answer.err
    (folder / "archive.yaml").write_text(THINGS.replace("when: x < 0", "when: cast(who as int) > 3"))
    answer = home.command("run", "things")
    assert answer.code == 1 and "cannot be computed for a row: The value 'a'" in answer.err, answer.err

"""Expressions of definitions: what may be said, and that nothing else may."""

import pytest
import yaml

from skyarchive.definition.expression_grammar import FUNCTIONS, columns_in
from skyarchive.definition.expression_tokens import ExpressionError
from skyarchive.definition.model import Definition

COLUMNS = ["a", "b", "who", "Day", "date", "interval", "year", "exists"]

ALLOWED = """
true
a > 0
who
a + b * -2 - 3.5e-2 / 4 % 5 div 6
A = DAY
`date` < date '2020-01-01' and Day >= timestamp '2020-01-01 10:00:00'
date >= date'2020-01-01'
interval - 1 > 2
date - interval 2 days > Day - interval '36 hours'
year(date) = year or year = 1
a in (1, 2L, -3) and who not in ('x', "y")
a between 1 and b and not b not between 2 and 3
who like '%x' or who not ilike 'a/%' escape '/' or who rlike '^\\d+$' or who regexp 'x'
a is null or b is not null or a is not distinct from b or (a > 1) is true
a <=> b or a <> b or a != b or a == b or a <= b
case when a > 1 then 'x' when b > 1 then 'y' else 'z' end = 'x'
case who when 'x' then 1 end is null
cast(a as decimal(10, 2)) > try_cast(who as double)
coalesce(if(a > b, a, b), least(a, b), greatest(a, b), abs(a), ln(a), exp(b), sqrt(a), pow(a, b), power(a, 2)) > 0
upper(trim(who)) || lower(who) = concat(substring(who, 1, 2), split_part(who, ',', 1))
date_trunc('month', date) = to_date(who) and month(Day) = extract(month from date)
'it''s' = who
'it\\'s -- no comment; /* none */ {{ }}' = who
"""
TRICKS = {
    "true) or (1=1": "')' cannot stand",
    "a > 0) or (1 = 1": "')' cannot stand",
    "(a > 0": "ends too early",
    "": "is empty",
    " \n ": "is empty",
    "a b": "'b' cannot stand",
    "a >": "ends too early",
    "c > 0": "there is no column 'c'; columns are a, b, who",
    "`c` > 0": "there is no column 'c'",
    "rand() < 0.5": "'rand' is not a function here; functions are abs, acos, add_months",
    "java_method('java.lang.System', 'exit', '1')": "'java_method' is not a function",
    "reflect('java.lang.Runtime', 'x')": "'reflect' is not a function",
    "sum(a) > 1": "'sum' is not a function",
    "count(*) > 1": "'count' is not a function",
    "abs(*)": "'*' cannot stand",
    "abs(distinct a)": "'distinct' cannot stand",
    "lag(a) over (order by b)": "'lag' is not a function",
    "abs(a) over (order by b)": "'over' cannot stand",
    "abs(a) filter (where a > 1)": "'filter' cannot stand",
    "exists (select 1)": "'exists' is not a function",
    "a in (select b from t)": "there is no column 'select'",
    "(select 1)": "there is no column 'select'",
    "a = (select max(x) from csv.`/etc/passwd`)": "'.' cannot be",
    "a > 0; drop table t": "';' cannot be",
    "a > 0 -- or not": "a comment (--)",
    "a /* x */ > 0": "a comment (/*)",
    "a > '${env:HOME}'": "'${' cannot be",
    "a > ${spark.x:1}": "'${' cannot be",
    "{{ params.x }} > 0": "'{' cannot be",
    "a > :p": "':' cannot be",
    "a > ?": "'?' cannot be",
    "a > $p": "'$' cannot be",
    "a > @x": "'@' cannot be",
    "a::int > 0": "':' cannot be",
    "a[0] > 0": "'[' cannot be",
    "a.b > 0": "cannot be",
    "spark_catalog.default.abs(a)": "cannot be",
    "`java_method`('x')": "there is no column 'java_method'",
    "`abs`(a)": "there is no column 'abs'",
    "`a`(b)": "'(' cannot stand",
    "'abs'(a)": "'(' cannot stand",
    "identifier('a') > 0": "'identifier' is not a function",
    "array_contains(array(1), 1)": "'array_contains' is not a function",
    "transform(a, x -> x) > 0": "'transform' is not a function",
    "abs(x => a)": "there is no column 'x'",
    "abs(a => b)": "cannot stand",
    "abs(a -> b)": "'>' cannot stand",
    "current_date > Day": "there is no column 'current_date'",
    "current_timestamp() > Day": "'current_timestamp' is not a function",
    "now() > Day": "'now' is not a function",
    "unix_timestamp() > a": "'unix_timestamp' needs an argument",
    "cast('today' as date) > Day": "'today' can be a time, and another one in every run",
    "Day < ' Now '": "can be a time",
    "to_timestamp(\"tomorrow UTC\") > Day": "can be a time",
    "Day in (timestamp('yesterday'))": "can be a time",
    "date 'today' > Day": "'today' is not a date in figures",
    "timestamp \" now\" > Day": "is not a timestamp in figures",
    "input_file_name() = 'x'": "'input_file_name' is not a function",
    "_metadata.file_path = 'x'": "cannot be",
    "* > 1": "'*' cannot stand",
    "a = 'x' 'y'": "\"'y'\" cannot stand",
    "r'x' = who": "there is no column 'r'",
    "a'x' = who": "\"'x'\" cannot stand",
    "X'1F' = who": "there is no column 'X'",
    "0x1F > a": "'0x1F' cannot be",
    "1a > a": "'1a' cannot be",
    "1.5L > a": "'1.5L' cannot be",
    "who = 'open": "\"'\" cannot be",
    "who = 'open\\'": "\"'\" cannot be",
    "а > 0": "'а' cannot be",
    "a\u00a0> 0": "cannot be",
    "a > ０": "cannot be",
    "a | b > 0": "'|' cannot be",
    "a ^ b > 0": "'^' cannot be",
    "!exists": "'!' cannot be",
    "(a, b) in ((1, 2))": "',' cannot stand",
    "a in ()": "')' cannot stand",
    "a as b": "'as' cannot stand",
    "a not null": "'null' cannot stand",
    "cast(a as array<int>)": "'array' is not a type to cast to; types are bigint, boolean",
    "cast(a as int) over ()": "'over' cannot stand",
    "a like any ('x')": "'any' is not a function",
    "case when a then b": "ends too early, where 'end'",
    "case end": "'end' cannot stand",
    "extract(century from date)": "extract takes one of",
    "interval 1.5 days > a": "a whole number is expected",
    "interval 1 > a": "is expected",
    "who like 'x' escape 'ab'": "a text of one character is expected",
    "who like 'x' escape who": "a text of one character is expected",
    "not not a": "'not' cannot stand",
    "a = b = 1": "'=' cannot stand",
    "between > 1": "a column of this name needs backticks",
    "(" * 60 + "a" + ")" * 60: "nested deeper than 50",
    "if(" * 3000: "nested deeper than 50",
    "a" + " + a" * 300: "more than 200 arithmetic signs",
    "a = 1 or " * 4000 + "a = 2": "longer than 20000 characters",
}  # fmt: skip


@pytest.mark.parametrize("text", ALLOWED.strip().splitlines())
def test_conditions_and_values_of_one_row_are_allowed(text: str) -> None:
    columns_in(text, COLUMNS)


@pytest.mark.parametrize(("text", "words"), TRICKS.items(), ids=[text[:40] for text in TRICKS])
def test_anything_else_is_refused_with_the_word(text: str, words: str) -> None:
    with pytest.raises(ExpressionError) as refusal:
        columns_in(text, COLUMNS)
    assert words in str(refusal.value)


def test_the_columns_that_are_named_are_told_as_they_are_written_in_the_definition() -> None:
    assert columns_in("day > `a` and who is null and A = 1", COLUMNS) == {"Day", "a", "who"}
    assert columns_in("year(date) = 1 and 'b' = who", COLUMNS) == {"date", "who"}


@pytest.mark.parametrize("name", sorted(FUNCTIONS - {"extract"}))
def test_no_function_knows_more_than_its_arguments(name: str) -> None:
    """Of the names that Spark gives to what changes from run to run, reads files, or calls others' code."""
    hidden = ("rand", "uuid", "current", "now", "java", "reflect", "file", "user", "session", "version", "shuffle")
    assert not any(word in name for word in hidden)


MINE = """\
name: mine
title: Things
source: {format: csv}
period: {column: day, by: year}
columns:
  day: {type: date}
  who: {type: string}
  x: {type: double}
unique: [day, who]
object: {column: who}
derive: {method: market, date: day, close: x, window: 2, decimals: 2}
attributes: {beta: {better: lower}, slope: {better: higher}}
"""


def with_fields(more: str) -> Definition:
    return Definition.model_validate(yaml.safe_load(MINE + more))


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ('counts: "true) or (1=1"', "counts"),
        ("check_only: nowhere = 1", "check_only"),
        ("check_only: period = '2020'", "check_only"),
        ("refuse: [{when: x < 0, reason: r}, {when: rand() < 0.5, reason: r}]", "refuse.1.when"),
        ("refuse: [{when: previous_close > 0, reason: r}]", "refuse.0.when"),
        ("counts: previous_close > 0", "counts"),
        ("external: {attributes: {y: {better: lower, value: sum(x)}}}", "external.attributes.y.value"),
        ("external: {attributes: {x: {better: lower}}, group: [who, year(whom)]}", "external.group.1"),
    ],
)
def test_a_definition_with_one_is_refused_when_it_is_read(more: str, field: str) -> None:
    with pytest.raises(ValueError, match=rf"Value error, {field}: "):
        with_fields(more)


@pytest.mark.parametrize(
    "more",
    [
        "check_only: file like '%.csv' and row > 1",
        "counts: period > '2014' and row > 1",
        "external: {attributes: {y: {better: lower, value: x / previous_close - 1}}, group: [period, year(day), file]}",
    ],
)
def test_columns_are_known_where_they_are_there(more: str) -> None:
    with_fields(more)

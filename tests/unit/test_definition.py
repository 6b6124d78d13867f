"""Archive definitions: a mistake names the file, the field and what is allowed."""

from pathlib import Path
from typing import Any

import pytest

from skyarchive.definition.catalog import Catalog, load_definition
from skyarchive.definition.model import Definition
from skyarchive.errors import DefinitionError
from skyarchive.pipeline.step import step_named
from skyarchive.settings import Settings

MINE = """\
name: mine
title: Things by price and weight
source: {format: csv}
period: {column: day, by: year}
columns:
  day: {type: date}
  who: {type: string}
  x: {type: double}
  y: {type: double}
object: {column: who}
derive: {method: snapshots, order: {by: [day]}}
attributes:
  x: {better: lower}
  y: {better: higher}
"""
ATTRIBUTES = MINE[MINE.index("attributes:") :]
METHOD = "method: snapshots, order: {by: [day]}"


def loaded(folder: Path, old: str = "", new: str = "") -> Definition:
    """MINE with one change."""
    assert old in MINE
    path = folder / "mine.yaml"
    path.write_text(MINE.replace(old, new, 1), encoding="utf-8")
    return load_definition(path)


def test_a_right_one_says_what_it_says(tmp_path: Path) -> None:
    definition = loaded(tmp_path)
    assert definition.attribute_names == ["x", "y"] and definition.attributes["y"].better == "higher"
    assert definition.record_key == ["day", "who"]
    assert (definition.source.files, definition.source.missing, definition.counts) == ("*", [""], "true")
    assert definition.max_refused_share == 0.05


MISTAKES = {
    "a typo": ("title:", "titel:", ["title: is missing", "titel: is not a field here"]),
    "a typo inside": ("{format: csv}", "{format: csv, delimeter: ;}", ["source.delimeter: is not a field here"]),
    "a typo in a method": ("order:", "ordre:", ["order: is missing", "ordre: is not a field here"]),
    "a field missing": ("  x: {better: lower}", "  x: {}", ["attributes.x.better: is missing"]),
    "a section missing": ("object: {column: who}\n", "", ["object: is missing"]),
    "no attributes": (ATTRIBUTES, "attributes: {}", ["attributes: must not be empty"]),
    "nothing as attributes": (ATTRIBUTES, "attributes:", ["attributes:", "must be a mapping", "not empty"]),
    "a list as attributes": (ATTRIBUTES, "attributes: [x, y]", ["attributes:", "must be a mapping"]),
    "attributes missing": (ATTRIBUTES, "", ["attributes: is missing"]),
    "too many attributes": (
        ATTRIBUTES,
        "attributes:\n" + "".join(f"  a{n}: {{better: lower}}\n" for n in range(17)),
        ["attributes:", "at most 16"],
    ),
    "an attribute in 2 cases": (ATTRIBUTES, ATTRIBUTES + "  X: {better: lower}", ["attributes: x and X are one name"]),
    "a column in two cases": ("  x: {type", "  X: {type: int}\n  x: {type", ["columns: X and x are one name"]),
    "an unknown direction": ("better: lower", "better: up", ["attributes.x.better", "'lower' or 'higher'", "'up'"]),
    "an unknown type": ("type: double", "type: float", ["columns.x.type", "'bigint', 'double'", "'float'"]),
    "an unknown format": ("csv", "xml", ["source.format", "'csv', 'parquet', 'delta' or 'conn_log'", "'xml'"]),
    "an unknown method": ("snapshots", "snapshot", ["derive.method", "'snapshot'", "updates, snapshots, career"]),
    "no method": (METHOD, "order: {by: [day]}", ["derive.method: is missing", "updates, snapshots, career"]),
    "an unknown period": ("by: year", "by: week", ["period.by", "'value', 'year', 'month', 'day' or 'block'"]),
    "blocks without size": ("by: year", "by: block", ["period:", "`size` goes with `by: block`"]),
    "a size without blocks": ("by: year", "by: year, size: 5", ["period:", "`size` goes with `by: block`"]),
    "blocks of nothing": ("by: year", "by: block, size: 0", ["period.size", "greater than or equal to 1", "0"]),
    "a bad regex": ("csv}", "csv, period_in_name: '('}", ["source.period_in_name", "is not a regular expression"]),
    "a regex without group": ("csv}", "csv, period_in_name: x}", ["source.period_in_name", "exactly one group"]),
    "a regex with two": ("csv}", "csv, period_in_name: (x)(y)}", ["source.period_in_name", "exactly one group"]),
    "a long delimiter": ("csv}", "csv, delimiter: ;;}", ["source.delimiter", "a single ASCII character", "';;'"]),
    "an invisible delimiter": ("csv}", 'csv, delimiter: "\\0"}', ["source.delimiter", "a single ASCII character"]),
    "a key of one column twice": ("object:", "unique: [day, day]\nobject:", ["unique: 'day' is there twice"]),
    "an order of one twice": ("by: [day]", "by: [day, day]", ["derive.order.by: 'day' is there twice"]),
    "a key of snapshots twice": ("by: [day]", "by: [day], key: [x, x]", ["derive.order.key: 'x' is there twice"]),
    "endless steps": ("by: [day]", "by: [x], step_seconds: .inf", ["derive.order.step_seconds", "less than or equal"]),
    "blocks of more than a column holds": ("by: year", f"by: block, size: {10**30}", ["period.size", "less than or"]),
    "a schedule of another age": (
        "object:", "schedule: {cron: 0 6 1 7 *, key: '%Y', offset: -99999999}\nobject:", ["schedule.offset", "greater"],
    ),
    "a memory without end": (
        METHOD,
        f"method: market, date: day, close: x, window: {10**30}, decimals: 2",
        ["derive.window: Input should be less than or equal to 100000"],
    ),
    "a word as long as a page": ("better: lower", f"better: {'x' * 5000}", ["(it is 'xxx", "xxx...)"]),
    "an order of texts": ("by: [day]", "by: [who]", ["derive.order.by: who is a string, which tells no time"]),
    "periods of moments": (
        MINE[MINE.index("period:") : MINE.index("  who:")],
        "period: {column: day}\ncolumns:\n  day: {type: timestamp}\n",
        ["period.by: moments are no periods; choose year"],
    ),
    "a market of texts": (
        METHOD + "}\n" + ATTRIBUTES,
        "method: market, date: day, close: who, window: 2, decimals: 2}\n"
        "attributes: {beta: {better: lower}, slope: {better: lower}}",
        ["derive.close: who is a string, must be int or bigint or double"],
    ),
    "traffic without a time": (
        METHOD + "}\n" + ATTRIBUTES,
        "method: traffic, every_seconds: 100, window_seconds: 200, services: {x: {ports: [1]}}, other: y}\n"
        "attributes: {x: {better: lower}, y: {better: lower}}",
        ["derive.method: there is no column 'ts'"],
    ),
    "a path as name": ("name: mine", "name: ../../etc", ["'../../etc' is not an archive name", "lower-case letters"]),
    "SQL as name": ("name: mine", "name: \"x'; drop table\"", ["drop table", "is not an archive name"]),
    "a number as name": ("name: mine", "name: 2014", ["name:", "string", "2014"]),
    "a bad column": ("  who:", "  who is:", ["'who is' is not a column name"]),
    "a bad attribute": ("  x: {better", "  x y: {better", ["'x y' is not a column name"]),
    "a column of ingestion": ("  who: {", "  File: {type: string}\n  who: {", ["columns: 'file'", "rename"]),
    "a column of results": (ATTRIBUTES, ATTRIBUTES + "  time: {better: lower}", ["attributes: 'time'", "another name"]),
    "an attribute from nowhere": (
        ATTRIBUTES, ATTRIBUTES + "  z: {better: lower}", ["attributes: there is no column 'z'", "day, who, x, y"],
    ),
    "an object from nowhere": ("column: who", "column: whom", ["object.column: there is no column 'whom'", "day, who"]),
    "a name from nowhere": ("column: who", "column: who, name: nick", ["object.name: there is no column 'nick'"]),
    "a period from nowhere": ("column: day", "column: dya", ["period.column: there is no column 'dya'"]),
    "an order from nowhere": ("by: [day]", "by: [dya]", ["derive.order: there is no column 'dya'"]),
    "a key from nowhere": ("object:", "unique: [day, whom]\nobject:", ["unique: there is no column 'whom'"]),
    "a label from nowhere": ("by: [day]", "by: [day], label: l", ["derive.order: there is no column 'l'"]),
    "an order of nothing": ("by: [day]", "by: []", ["order.by: must not be empty"]),
    "a share above one": ("object:", "max_refused_share: 5\nobject:", ["max_refused_share", "equal to 1", "5"]),
    "bounds of a text": ("type: string", "type: string, min: 0", ["columns.who", "`min` and `max` are for numbers"]),
    "a number for a date": ("type: date", "type: date, min: 5", ["columns.day", "no bound of a date: write a date"]),
    "a time for a date": ("type: date", "type: date, max: 2014-01-02 03:04:05", ["columns.day", "write a date"]),
    "a date for a number": ("type: double", "type: double, min: 2014-01-02", ["columns.x", "write a number"]),
    "a word for a bound": ("type: date", "type: date, max: tomorrow", ["columns.day.max: must be a number, a date"]),
    "bounds that move": ("type: date", "type: date, min: next year", ["columns.day", "can be `max`, not `min`"]),
    "crossed dates": (
        "type: date", "type: date, min: 2014-01-03, max: 2014-01-02", ["columns.day", "`min` is above `max`"],
    ),
    "a rule without reason": ("object:", "refuse: [{when: x < 0}]\nobject:", ["refuse.0.reason: is missing"]),
    "gone from nowhere": (METHOD, METHOD.replace("snapshots", "updates") + ", gone: g", ["derive.gone", "'g'"]),
    "a career without ratio": (METHOD, "method: career, order: {by: [day]}, more_than: 3", ["attributes.x", "`ratio:"]),
    "a share of nothing": (
        "object:", "frequent: [{theta: 0, window: 5}]\nobject:", ["frequent.0.theta: must be above 0", "it is 0"],
    ),
    "a share above all": ("object:", "frequent: [{theta: 1.1, window: 5}]\nobject:", ["frequent.0.theta", "at most 1"]),
    "too fine a share": ("object:", "frequent: [{theta: 0.1234567, window: 5}]\nobject:", ["6 decimal places"]),
    "no window": ("object:", "frequent: [{theta: 0.5, window: 0}]\nobject:", ["frequent.0.window", "from 1 to"]),
    "half a window": ("object:", "frequent: [{theta: 0.5, window: 2.5}]\nobject:", ["frequent.0.window", "integer"]),
    "a typo in a query": (
        "object:", "frequent: [{theta: 0.5, windows: 5}]\nobject:", ["windows: is not a field", "theta, window"],
    ),
    "a query twice": (
        "object:", "frequent: [{theta: 0.5, window: 5}, {theta: '0.50', window: 5}]\nobject:",
        ["frequent: θ 0.5 over 5 snapshots is there twice"],
    ),
    "half a ratio": ("better: lower", "better: lower, ratio: [x]", ["attributes.x.ratio"]),
    "a market of others": (
        METHOD, "method: market, date: day, close: x, window: 2, decimals: 2", ["attributes:", "`beta` and `slope`"],
    ),
    "a window of one": (
        METHOD, "method: market, date: day, close: x, window: 1, decimals: 2", ["window", "greater than or equal to 2"],
    ),
    "a broken window": (
        METHOD,
        "method: traffic, every_seconds: 100, window_seconds: 250, services: {x: {ports: [1]}}, other: y",
        ["window_seconds: must be a multiple of every_seconds", "250"],
    ),
    "a broken day": (
        METHOD,
        "method: traffic, every_seconds: 7, window_seconds: 70, services: {x: {ports: [1]}}, other: y",
        ["window_seconds", "must divide a day"],
    ),
    "a service from nowhere": (
        METHOD,
        "method: traffic, every_seconds: 100, window_seconds: 200, services: {web: {ports: [1]}}, other: y",
        ["attributes: must be the services and `y`", "web"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named(old: str, new: str, words: list[str], tmp_path: Path) -> None:
    with pytest.raises(DefinitionError) as refusal:
        loaded(tmp_path, old, new)
    assert str(refusal.value).startswith(str(tmp_path / "mine.yaml"))
    assert [word for word in words if word not in str(refusal.value)] == []


UNSEEN = {
    "an attribute of text": ("x: {type: double}", "x: {type: string}"),
    "bounds the wrong way round": ("x: {type: double}", "x: {type: double, min: 3, max: 1}"),
    "years of a text": ("column: day", "column: who"),
    "gone that is a number": (METHOD, METHOD.replace("snapshots", "updates") + ", gone: x"),
    "a start that is no time": ("by: [day]", "by: [day], start: yesterday"),
    "a delimiter the parser cannot take": ("csv}", "csv, delimiter: é}"),
    "a delimiter that is a line end": ("csv}", 'csv, delimiter: "\\n"}'),
    "files by an absolute path": ("csv}", "csv, files: /etc/*}"),
    "files by nothing": ("csv}", "csv, files: ''}"),
    "traffic of a csv": (
        METHOD, "method: traffic, every_seconds: 100, window_seconds: 200, services: {x: {ports: [1]}}, other: y",
    ),
    "a career attribute in the way of its state": (
        METHOD + "}\n" + ATTRIBUTES,
        "method: career, order: {by: [day]}, more_than: 3}\nattributes: {games: {better: lower, ratio: [x, y]}}",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new"), UNSEEN.values(), ids=UNSEEN)
def test_a_mistake_does_not_wait_for_the_first_run(old: str, new: str, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError):
        loaded(tmp_path, old, new)


@pytest.mark.parametrize(
    ("change", "ingest", "derive"),
    [
        ({"title": "Other"}, False, False),
        ({"counts": "x > 0"}, False, True),
        ({"unique": ["day", "who", "x"]}, True, True),
        ({"attributes": {"x": {"better": "lower"}}}, False, True),
        ({"max_refused_share": 0.5}, False, False),
    ],
)
def test_a_fingerprint_differs_where_the_step_depends_on_it(
    change: dict[str, Any], ingest: bool, derive: bool, tmp_path: Path
) -> None:
    definition = loaded(tmp_path)
    other = Definition.model_validate(definition.model_dump() | change)
    assert (step_named("ingest").definition_print(definition) != step_named("ingest").definition_print(other)) == ingest
    assert (step_named("derive").definition_print(definition) != step_named("derive").definition_print(other)) == derive


def test_what_is_ingested_depends_on_what_a_record_is(tmp_path: Path) -> None:
    by_day = loaded(tmp_path)
    by_x = loaded(tmp_path, "by: [day]", "by: [day], key: [x]")
    assert by_day.record_key != by_x.record_key
    assert step_named("ingest").definition_print(by_day) != step_named("ingest").definition_print(by_x)


@pytest.mark.parametrize(
    ("name", "key", "better", "state"),
    [
        ("nba", ["game_id", "athlete_id"], {"higher"}, {"games", "total_points", "total_minutes", "total_rebounds",
                                                        "total_field_goals_made", "total_field_goals_attempted"}),
        ("stocks", ["date", "ticker"], {"lower", "higher"}, {"closes", "returns", "markets"}),
        ("tcp", [], {"higher"}, {"pending"}),
        ("synthetic", ["step", "object"], {"lower"}, set()),
    ],
)  # fmt: skip
def test_the_built_in_ones_are_the_contracts(name: str, key: list[str], better: set[str], state: set[str]) -> None:
    definition = Catalog(Settings(raw="no such folder")).get(name)
    assert definition.record_key == key
    assert {attribute.better for attribute in definition.attributes.values()} == better
    assert set(definition.derive.state_columns(definition.attributes)) == state

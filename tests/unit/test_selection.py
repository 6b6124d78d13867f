"""Which periods a person means, of those that are there and of those to be made."""

from typing import Any

import pytest

from conftest import Home
from skyarchive.definition.catalog import Catalog
from skyarchive.definition.model import Definition
from skyarchive.definition.selection import Selection
from skyarchive.errors import SettingError
from skyarchive.generators.ranges import written_out
from skyarchive.pipeline.running import run_steps
from skyarchive.settings import Settings


def defined(archive: str) -> Definition:
    return Catalog(Settings(raw="no such folder")).get(archive)


KNOWN = ["2008", "2010", "2011", "2014"]


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        (None, KNOWN),
        ("2010", ["2010"]),
        ("2012", ["2012"]),
        ("2010..2013", ["2010", "2011"]),
        ("2009..2014", ["2010", "2011", "2014"]),
        ("2010..2010", ["2010"]),
        ("2010..", ["2010", "2011", "2014"]),
        ("..2010", ["2008", "2010"]),
        ("..", KNOWN),
        ("2014,2008", ["2008", "2014"]),
        (" 2014 , 2008..2010, 2010", ["2008", "2010", "2014"]),
    ],
)
def test_what_is_picked_comes_in_order_and_once(text: str | None, periods: list[str]) -> None:
    assert Selection(text).pick(KNOWN, defined("nba")) == periods


def test_days_are_picked_by_their_order_in_time() -> None:
    days = ["2024-04-19", "2024-04-20", "2024-05-01"]
    assert Selection("2024-04-20..2024-05").pick(days, defined("tcp")) == ["2024-04-20"]
    assert Selection("2024-04..").pick(days, defined("tcp")) == days


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2014..2010", "is a range from later to earlier; write 2010..2014"),
        ("", "'' is not a period"),
        ("2010,", "'' is not a period"),
        ("2010..2011..2012", "'2011..2012' is not a period"),
        ("../../etc", "'/../etc' is not a period"),
        ("x'; drop table", "is not a period"),
        ("2010..x'; drop table", "is not a period"),
        ("2012..2013", "nba has no period in 2012..2013; there are 4 from 2008 to 2014"),
    ],
)
def test_what_cannot_be_meant_is_said(text: str, words: str) -> None:
    with pytest.raises(SettingError) as refusal:
        Selection(text).pick(KNOWN, defined("nba"))
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("known", "text", "words"),
    [
        ([], None, "nba has no period in its raw files; there are no raw files for it yet; its periods look like 2014"),
        ([], "..", "there are no raw files for it yet"),
        (["2010"], "2011..", "there is 2010"),
    ],
)
def test_nothing_to_pick_from_is_said(known: list[str], text: str | None, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        Selection(text).pick(known, defined("nba"))


@pytest.mark.parametrize(
    ("archive", "text", "periods"),
    [
        ("nba", "2010..2012", ["2010", "2011", "2012"]),
        ("nba", "2010", ["2010"]),
        ("nba", "2010, 2012..2013", ["2010", "2012", "2013"]),
        ("synthetic", "00008..00011", ["00008", "00009", "00010", "00011"]),
        ("tcp", "2024-02-28..2024-03-01", ["2024-02-28", "2024-02-29", "2024-03-01"]),
        ("tcp", "2024-04-19", ["2024-04-19"]),
    ],
)
def test_a_range_is_written_out(archive: str, text: str, periods: list[str]) -> None:
    assert written_out(text, archive) == periods


@pytest.mark.parametrize(
    ("archive", "text", "words"),
    [
        ("nba", "2012..2010", "2012..2010 holds 0 periods; give 1 to 10000"),
        ("nba", "1..20000", "1..20000 holds 20000 periods"),
        ("tcp", "0001-01-01..9999-12-31", "periods; give 1 to 10000"),
        ("tcp", "2024-04-20..2024-04-19", "holds 0 periods"),
        ("nba", "a..b", "a..b is not a range of periods of nba"),
        ("tcp", "2024..2025", "is not a range of periods of tcp"),
        ("tcp", "2024-02-30..2024-03-01", "is not a range of periods of tcp"),
        ("nba", "2010..", "'' is not a period"),
        ("nba", "../../etc", "is not a period"),
        ("nba", "x'; drop table", "is not a period"),
    ],
)
def test_a_range_that_is_none_is_refused(archive: str, text: str, words: str) -> None:
    with pytest.raises(SettingError) as refusal:
        written_out(text, archive)
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("archive", "text", "words"),
    [
        ("nba", "foo", "'foo' is not a period of nba: its periods look like 2014."),
        ("nba", "2014,20145", "'20145' is not a period of nba: its periods look like 2014."),
        ("stocks", "2014-06", "'2014-06' is not a period of stocks: its periods look like 2014."),
        ("tcp", "2014", "'2014' is not a period of tcp: its periods look like 2014-06-15."),
        ("synthetic", "7", "'7' is not a period of synthetic: its periods are numbers of blocks of 1000, as 00012."),
    ],
)
def test_a_period_that_cannot_be_is_told_with_the_look_of_one(archive: str, text: str, words: str) -> None:
    for known in ([], ["2014"]):
        with pytest.raises(SettingError) as refusal:
            Selection(text).pick(known, defined(archive))
        assert str(refusal.value) == words


def test_what_cannot_be_a_period_is_told_before_any_file_is_looked_into(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.raw / "tcp").mkdir(parents=True)
    (home.raw / "tcp" / "conn.log").write_text("never looked into")
    monkeypatch.setattr("skyarchive.pipeline.running.looked_into", lambda *_: pytest.fail("a file is looked into"))
    with pytest.raises(SettingError, match="'foo' is not a period of tcp: its periods look like 2014-06-15"):
        run_steps(home.workshop("tcp"), Selection("foo"), ["ingest"])


@pytest.mark.parametrize(
    ("by", "schedule", "kind", "words"),
    [
        ("value", None, "int", "its periods are the values of when, whole numbers"),
        ("value", None, "string", None),
        ("value", {"cron": "0 6 1 7 *", "key": "%Y-%m"}, "string", "its periods look like 2014-06"),
        ("month", None, "date", "its periods look like 2014-06"),
    ],
)
def test_the_look_follows_from_the_definition(by: str, schedule: Any, kind: str, words: str | None) -> None:
    content = defined("synthetic").model_dump(mode="json") | {
        "period": {"column": "when", "by": by},
        "schedule": schedule,
    }
    definition = Definition.model_validate(content | {"columns": content["columns"] | {"when": {"type": kind}}})
    if words is None:
        assert Selection("foo").pick([], definition) == ["foo"]
    else:
        with pytest.raises(SettingError, match=words):
            Selection("foo").pick([], definition)

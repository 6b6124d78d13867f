"""The external step: every period's answer is what the definition gives for all records up to its end."""

import csv
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import DataFrame, SparkSession

from conftest import Home, as_settings, make_home
from oracle import records as oracle
from skyarchive.definition.model import Definition
from skyarchive.definition.selection import Selection
from skyarchive.kernels.points.preferences import checked_preferences
from skyarchive.pipeline.publishing import Run
from skyarchive.pipeline.refreshing import refresh
from skyarchive.pipeline.running import run_step, run_steps
from skyarchive.steps.external import body as recording
from skyarchive.steps.external.checks import Answers, judge
from skyarchive.steps.external.records import records

SHOPS = """
name: shops
title: Shops by their best days
source: {format: csv, files: "*.csv", period_in_name: '(\\d+)'}
period: {column: year}
columns:
  year: {type: int, required: true}
  day: {type: int, required: true}
  shop: {type: string, required: true}
  cost: {type: double, min: 0}
  sales: {type: bigint}
  grade: {type: string}
  town: {type: string}
  open: {type: boolean}
counts: open
unique: [year, day, shop]
object: {column: shop}
derive: {method: updates, order: {by: [year, day], step_seconds: 1}}
attributes:
  cost: {better: lower}
external:
  attributes:
    cost: {better: lower}
    per_day: {better: higher, value: sales / 2}
    grade: {better: {order: [[A, B], [A, C], [B, D], [C, D]]}}
  group: [town]
"""
GRADES = [("A", "B"), ("A", "C"), ("B", "D"), ("C", "D")]
WAYS: dict[str, Any] = {"cost": "lower", "per_day": "higher", "grade": GRADES}
YEARS = ["2001", "2002", "2003"]
NAMES = ["year", "day", "shop", "cost", "sales", "grade", "town", "open"]
Rows = list[dict[str, Any]]


def write_year(folder: Path, year: str, seed: int) -> None:
    chance = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"shops{year}.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(NAMES)
        for day in range(1, 31):
            for shop in range(4):
                sales = chance.randint(0, 9)
                cost = "" if chance.random() < 0.05 else sales + chance.randint(0, 3)
                out.writerow([
                    year, day, f"s{shop}", -1 if chance.random() < 0.02 else cost,
                    "" if chance.random() < 0.05 else sales, chance.choice(["A", "B", "B", "C", "C", "D", ""]),
                    chance.choice(["X", "Y", ""]), chance.random() < 0.9,
                ])  # fmt: skip


@pytest.fixture(scope="module")
def built(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Three years of shops, run in one job."""
    home = make_home(tmp_path_factory.mktemp("shops"))
    definitions = home.folder / "definitions"
    definitions.mkdir()
    (definitions / "shops.yaml").write_text(SHOPS)
    home.settings = replace(home.settings, archives=str(definitions))
    for seed, year in enumerate(YEARS):
        write_year(home.raw / "shops", year, seed)
    workshop = home.workshop("shops")
    outcomes = run_steps(workshop, Selection(), workshop.steps)
    assert [outcome.refused for outcome in outcomes] == [{}] * 4
    return home


@pytest.fixture
def shops(built: Home, tmp_path: Path) -> Home:
    """A copy of it for one test."""
    shutil.copytree(built.folder, tmp_path, dirs_exist_ok=True)
    settings = {name: str(tmp_path / name) for name in ("warehouse", "raw")}
    return Home(tmp_path, replace(built.settings, archives=str(tmp_path / "definitions"), **settings))


def truth(home: Home, ways: dict[str, Any] = WAYS) -> list[tuple[Any, ...]]:
    """Every year's unbeaten records as its files say, a record at a time."""
    found: list[tuple[Any, ...]] = []
    seen: Rows = []
    for year in YEARS:
        with (home.raw / "shops" / f"shops{year}.csv").open() as file:
            for number, row in enumerate(csv.DictReader(file), start=1):
                if row["open"] == "True" and row["cost"] != "-1":  # others do not count, or are refused
                    seen.append({
                        "file": f"shops{year}.csv", "row": number, "object": row["shop"],
                        "group_key": row["town"] or "(none)",
                        "cost": float(row["cost"]) if row["cost"] else None,
                        "per_day": int(row["sales"]) / 2 if row["sales"] else None, "grade": row["grade"] or None,
                    })  # fmt: skip
        best = oracle.unbeaten(seen, ways, ["group_key"])
        found += [(year, r["group_key"], r["file"], r["row"], r["object"], *(r[name] for name in ways)) for r in best]
    return sorted(found)


def table(home: Home, columns: str = "*") -> list[tuple[Any, ...]]:
    return sorted(home.workshop("shops").lake.query(f"select {columns} from shops.external").rows)


def test_every_year_s_answer_is_what_its_files_give(shops: Home) -> None:
    wanted = truth(shops)
    assert table(shops) == wanted
    # The data has what makes it hard: records that stay, records that are beaten later, several groups.
    by_year = {year: {row[1:] for row in wanted if row[0] == year} for year in YEARS}
    assert by_year["2001"] & by_year["2002"] and by_year["2001"] - by_year["2002"]
    assert {row[1] for row in wanted} == {"(none)", "X", "Y"}


def test_groups_of_several_columns_are_never_taken_for_each_other(spark: SparkSession) -> None:
    definition = Definition.model_validate(yaml.safe_load(SHOPS.replace("group: [town]", "group: [town, grade]")))
    towns = [
        ("X / Y", "A"), ("X", "Y / A"), ("X /", "/ A"), ("X // Y", "A"), ("X", "A"), ("X/Y", "A"),
        (None, "A"), ("", "A"), ("(none)", "A"), ("((none))", "A"),
    ]  # fmt: skip
    rows = spark.createDataFrame(
        [("2001", "f", n, "s", 1.0, 2, town, grade) for n, (town, grade) in enumerate(towns)],
        "period string, file string, row int, shop string, cost double, sales int, town string, grade string",
    )
    text = yaml.safe_load(SHOPS.replace("group: [town]", "group: town"))
    assert Definition.model_validate(text).external.group == ["town"]
    keys = [row.group_key for row in records(rows, definition, None).orderBy("row").collect()]
    assert len(set(keys)) == len(towns)
    assert keys[4] == "X / A" and keys[6] == "(none) / A"


def test_year_by_year_and_by_passes_give_the_same(shops: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    before = table(shops)
    assert run_step(shops.workshop("shops"), "external", ["2002"]).published == ["2002"]
    monkeypatch.setattr(recording, "chosen_plan", lambda *rest: "passes")
    assert run_step(shops.workshop("shops"), "external", ["2003"]).published == ["2003"]
    assert table(shops) == before
    assert refresh(shops.workshop("shops")) == []


def test_what_stands_on_another_definition_is_computed_again(shops: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    as_settings(monkeypatch, shops)
    path = shops.folder / "definitions" / "shops.yaml"
    path.write_text(SHOPS.replace("    cost: {better: lower}\n    per_day", "    cost: {better: higher}\n    per_day"))
    answer = shops.command("run", "shops", "--periods", "2003", "--steps", "external")
    assert answer.code == 0, answer.err
    assert table(shops) == truth(shops, WAYS | {"cost": "higher"})
    assert set(shops.states("shops").values()) == {"current"}


def test_a_correction_is_followed_as_far_as_it_matters(shops: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    as_settings(monkeypatch, shops)
    file = shops.raw / "shops" / "shops2002.csv"
    lines = file.read_text().splitlines()
    # A record that nobody is better than comes in 2002: 2002 and 2003 are other than they were.
    file.write_text("\n".join([*lines, "2002,40,s1,0,99,A,X,True"]) + "\n")
    assert shops.states("shops") == {"2001": "current", "2002": "stale", "2003": "stale"}
    done = [(outcome.step, period) for outcome in refresh(shops.workshop("shops")) for period in outcome.published]
    assert [period for step, period in done if step == "external"] == ["2002", "2003"]
    assert table(shops) == truth(shops)
    assert sum(row[1] == "X" for row in truth(shops) if row[0] == "2003") == 1
    # A record that others beat changes nothing after its own period.
    file.write_text("\n".join([*lines, "2002,40,s1,0,99,A,X,True", "2002,41,s1,50,0,D,X,True"]) + "\n")
    done = [(outcome.step, period) for outcome in refresh(shops.workshop("shops")) for period in outcome.published]
    assert [period for step, period in done if step == "external"] == ["2002"]
    assert table(shops) == truth(shops)
    assert set(shops.states("shops").values()) == {"current"}


def test_what_comes_before_is_computed_first(shops: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(shops.folder / "warehouse")
    workshop = shops.workshop("shops")
    run_steps(workshop, Selection(), ["ingest"])
    assert run_step(workshop, "external", ["2002"]).published == ["2001", "2002"]
    assert table(shops) == [row for row in truth(shops) if row[0] < "2003"]
    # Names come with `derive`, which has not run: objects stand for themselves.
    as_settings(monkeypatch, shops)
    found = shops.command("external", "shops", "--format", "json").rows
    assert found and all(row["name"] == row["object"] for row in found)
    path = shops.folder / "definitions" / "shops.yaml"
    path.write_text(SHOPS.replace("    per_day:", "    sales: {better: higher}\n    per_day:"))
    answer = shops.command("external", "shops")
    assert (
        answer.code == 1
        and "was made under another definition, without sales: run: skyarchive refresh shops." in answer.err
    )
    assert "is not ingested" in run_step(workshop, "external", ["2009"]).refused["2009"]


def test_other_attributes_make_its_table_anew_and_no_other(shops: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    as_settings(monkeypatch, shops)
    lake = shops.workshop("shops").lake
    before, versions = truth(shops), lake.published_versions("shops")
    path = shops.folder / "definitions" / "shops.yaml"
    path.write_text(SHOPS.replace("    grade: {better: {order: [[A, B], [A, C], [B, D], [C, D]]}}\n", ""))
    told = shops.command("run", "shops", "--periods", "2003", "--steps", "external")
    assert told.code == 0 and "shops.external: its columns are others now" in told.err
    ways = {name: way for name, way in WAYS.items() if name != "grade"}
    changed = shops.workshop("shops").lake
    rows = changed.query("select * from shops.external order by all").rows
    assert list(rows) == truth(shops, ways) != before
    assert set(shops.states("shops").values()) == {"current"}
    now = changed.published_versions("shops")
    assert {table for table in now if now[table] != versions[table]} == {"external", "runs", "quality"}
    # What it was stays readable by its version.
    old = shops.command("sql", "select * from shops.external order by all", "--version",
                        f"shops.external={versions['external']}", "--format", "json").rows  # fmt: skip
    assert [tuple(row.values()) for row in old] == before
    assert shops.command("diff", "shops.external", "--format", "json").rows


def test_a_period_that_other_attributes_refuse_is_published_no_more(
    shops: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_settings(monkeypatch, shops)
    path = shops.folder / "definitions" / "shops.yaml"
    orders = "    grade: {better: {order: [[A, B], [A, C], [B, D], [C, D]]}}\n"
    path.write_text(SHOPS.replace(orders, orders.replace("grade:", "rank:").replace("}}", "}, value: grade}")))
    file = shops.raw / "shops" / "shops2003.csv"
    file.write_text(file.read_text() + "2003,31,s1,5,1,E,X,True\n")
    told = shops.command("refresh", "shops")
    assert told.code == 1 and "rank is 'E'" in told.err
    states = {row["period"]: (row["state"], row["why"]) for row in shops.command(
        "status", "shops", "--format", "json").rows}  # fmt: skip
    assert states["2001"][0] == states["2002"][0] == "current"
    assert states["2003"][0] == "unfinished" and "rank is 'E'" in states["2003"][1]
    assert {row["period"] for row in shops.sql("select distinct period from shops.external")} == {"2001", "2002"}
    answer = shops.command("external", "shops", "--period", "2003")
    assert answer.code == 1 and "they are computed for 2001, 2002." in answer.err
    file.write_text(file.read_text().replace(",E,X,True", ",D,X,True"))
    assert shops.command("refresh", "shops").code == 0
    assert set(shops.states("shops").values()) == {"current"}


def test_raw_rows_outlive_their_columns_and_their_files(shops: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    as_settings(monkeypatch, shops)
    before = shops.sql("select * exclude (town) from shops.raw order by all")
    (shops.raw / "shops" / "shops2001.csv").unlink()
    path = shops.folder / "definitions" / "shops.yaml"
    path.write_text(SHOPS.replace("  town: {type: string}\n", "  site: {type: string}\n").replace("[town]", "[grade]"))
    assert shops.command("run", "shops", "--periods", "2002,2003", "--steps", "ingest").code == 0
    assert shops.sql("select * exclude (site) from shops.raw order by all") == before
    assert shops.sql("select count(*) as n from shops.raw where site is not null") == [{"n": 0}]


def test_a_kill_before_the_new_table_is_published_leaves_the_old_one(
    shops: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_settings(monkeypatch, shops)
    before = truth(shops)
    path = shops.folder / "definitions" / "shops.yaml"
    path.write_text(SHOPS.replace("    grade: {better: {order: [[A, B], [A, C], [B, D], [C, D]]}}\n", ""))
    monkeypatch.setattr(Run, "publish", lambda *_: (_ for _ in ()).throw(RuntimeError("killed")))
    with pytest.raises(RuntimeError, match="killed"):
        run_step(shops.workshop("shops"), "external", YEARS)
    monkeypatch.undo()
    as_settings(monkeypatch, shops)
    assert list(shops.workshop("shops").lake.query("select * from shops.external order by all").rows) == before
    path.write_text(SHOPS)
    assert run_step(shops.workshop("shops"), "external", YEARS).published == YEARS
    assert table(shops) == before


def test_a_wrong_answer_is_never_published(shops: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    before = table(shops)
    right = recording.unbeaten_so_far
    monkeypatch.setattr(recording, "unbeaten_so_far", lambda *rest: right(*rest).where("row % 3 <> 0"))
    outcome = run_step(shops.workshop("shops"), "external", ["2002"])
    assert outcome.published == []
    assert "audited records outside the answer are beaten by one in it" in outcome.refused["2002"]
    assert "misjudged:" in outcome.refused["2002"]
    assert table(shops) == before


def test_each_check_can_fail(shops: Home) -> None:
    workshop = shops.workshop("shops")
    contract = workshop.tables.contract("external")
    published = workshop.ledger().versions
    schema = workshop.tables.read("external", published["external"], ["2001"]).schema
    answers = [dict(zip(contract.columns, row, strict=True)) for row in table(shops)]
    raw = workshop.tables.read("raw", published["raw"], ["2002", "2003"])
    own = records(raw.where(workshop.definition.counts), workshop.definition, None)
    preferences = checked_preferences(WAYS | {"grade": {"order": GRADES}})

    def frame(rows: Rows) -> DataFrame:
        return workshop.spark.createDataFrame([tuple(row[name] for name in contract.columns) for row in rows], schema)

    def figures(answer: Rows) -> dict[str, int]:
        """Of 2002, whose answer is followed by that of 2003."""
        sizes = dict.fromkeys(("2002", "2003"), (1, 1, 1))  # every record is audited
        found = frame(answer + [row for row in answers if row["period"] == "2003"])
        start = frame([row for row in answers if row["period"] == "2001"])
        judged = judge(Answers.of(found, start, own, raw, ["2002", "2003"]), preferences, ["2002", "2003"], sizes)
        assert [row[0] for row in judged.rows] == ["2002", "2003"]
        assert bool(judged.misjudged["2002"]) == any(judged.rows[0][4:])
        return dict(zip(("repeated", "strangers", "audited", "beaten", "missed"), judged.rows[0][1:], strict=True))

    right = [row for row in answers if row["period"] == "2002"]
    fine = figures(right)
    assert fine.pop("audited") > len(right) and set(fine.values()) == {0}
    of_before = next(row for row in answers if row["period"] == "2001" and row | {"period": "2002"} not in right)
    ranked = next(row for row in right if row["grade"] != "A")
    assert figures([*right, right[0]])["repeated"] == 1
    assert figures([*right, right[0] | {"row": 9999}])["strangers"] == 1
    assert figures([*right, of_before | {"period": "2002"}])["strangers"] == 0
    assert figures([*right, of_before | {"period": "2002"}])["beaten"] == 1
    assert figures([*right, ranked | {"grade": "D", "row": 9999}])["beaten"] == 1
    assert figures(right[1:])["missed"] >= 1


def test_an_expression_or_a_value_that_cannot_be_used_is_told(shops: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    as_settings(monkeypatch, shops)
    path = shops.folder / "definitions" / "shops.yaml"
    for wrong, words in (
        (
            SHOPS.replace("value: sales / 2", "value: sale / 2"),
            "external.attributes.per_day.value: there is no column 'sale'",
        ),
        (
            SHOPS.replace("[B, D], [C, D]", "[B, C]"),
            "grade is 'D', which its order in external.attributes does not name",
        ),
        (
            SHOPS.replace("[B, D], [C, D]", "[B, A]"),
            "external.attributes.grade.better: order: a partial order must have no",
        ),
        (
            SHOPS.replace("value: sales / 2", "value: \"concat(sales, 'x')\""),
            "per_day.value is a text, which has no lower and",
        ),
        (
            SHOPS.replace("per_day: {better: higher, value: sales / 2}", "town: {better: higher}"),
            "is a string, which has",
        ),
        (SHOPS.replace("[town]", "[twon]"), "external.group.0: there is no column 'twon'; columns are year, day, shop"),
        (SHOPS.replace("higher, value: sales / 2", "up, value: sales"), "external.attributes.per_day"),
        (SHOPS.replace("value: sales / 2", "valu: sales / 2"), "allowed are better, value"),
        (SHOPS.replace("per_day: {better: higher, value: sales / 2}", "gains: {better: higher}"), "no column 'gains'"),
    ):
        path.write_text(wrong)
        answer = shops.command("run", "shops", "--periods", "2001", "--steps", "external")
        assert answer.code == 1 and words in answer.err, answer.err
        assert "Traceback" not in answer.err


def test_a_value_that_the_order_does_not_name_stops_its_period_only(shops: Home) -> None:
    file = shops.raw / "shops" / "shops2002.csv"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines, "2002,50,s1,1,1,E,X,True"]) + "\n")
    shutil.rmtree(shops.folder / "warehouse")
    workshop = shops.workshop("shops")
    outcomes = run_steps(workshop, Selection(), ["ingest", "external"])
    assert outcomes[1].published == ["2001"]
    assert (
        outcomes[1].refused["2002"].startswith(f"shops 2002: shops2002.csv, row {len(lines)}: grade is 'E', which its")
    )
    assert "follows a period that was refused" in outcomes[1].refused["2003"]
    assert table(shops) == [row for row in truth(shops) if row[0] == "2001"]


def test_the_question_names_the_records(shops: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    as_settings(monkeypatch, shops)
    wanted = [row for row in truth(shops) if row[0] == "2003"]
    found = shops.command("external", "shops", "--format", "json").rows
    assert [(r["group_key"], r["file"], r["row"], r["object"]) for r in found] == sorted(
        ((g, file, row, item) for _, g, file, row, item, *_ in wanted),
        key=lambda key: next(
            (r[1], r[5], r[4], r[2], r[3]) for r in wanted if (r[1], r[2], r[3], r[4]) == key
        ),
    )  # fmt: skip
    one = shops.command("external", "shops", "--period", "2001", "--group", "X", "--format", "json").rows
    of_x = {(file, row) for year, town, file, row, *_ in truth(shops) if (year, town) == ("2001", "X")}
    assert {(r["file"], r["row"]) for r in one} == of_x
    assert all(r["name"] for r in one)
    remark = shops.command("external", "shops", "--period", "2001", "--group", "X").err
    assert (
        f"up to 2001 in X {'is' if len(one) == 1 else 'are'} beaten by no other (cost lower, per_day higher, grade by"
        in remark
    )
    for wrong, words in (
        (["--period", "1999"], "no records up to 1999: they are computed for 2001, 2002, 2003."),
        (["--group", "Z"], "no group 'Z' up to 2003; groups are '(none)', 'X', 'Y'."),
    ):
        answer = shops.command("external", "shops", *wrong)
        assert answer.code == 1 and words in answer.err and answer.out == ""
    (shops.folder / "definitions" / "shops.yaml").write_text(SHOPS.replace("  group: [town]\n", ""))
    answer = shops.command("external", "shops", "--group", "X")
    assert answer.code == 1 and "names no external.group" in answer.err and answer.out == ""

"""Raw files: which there are, what they are named for, which are copies, and what is remembered of them."""

import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from delta_log import Archive
from skyarchive.definition.catalog import Catalog
from skyarchive.definition.model import Definition
from skyarchive.errors import InputError
from skyarchive.settings import Settings
from skyarchive.steps.ingest.inventory import Inventory
from skyarchive.steps.ingest.reading.files import files_fingerprint, raw_files, without_copies
from skyarchive.steps.ingest.reading.raw import inspect
from skyarchive.store.lake import Lake

FILES = pa.schema(
    [
        ("file", pa.string()),
        ("bytes", pa.int64()),
        ("modified", pa.int64()),
        ("period", pa.string()),
        ("rows", pa.int64()),
        ("fault", pa.string()),
        ("definition", pa.string()),
    ]
)


@pytest.fixture
def home(tmp_path: Path) -> Settings:
    return Settings(warehouse=str(tmp_path / "warehouse"), raw=str(tmp_path / "raw"))


def defined(archive: str = "stocks", **source: Any) -> Definition:
    definition = Catalog(Settings(raw="no such folder")).get(archive)
    return definition.model_copy(update={"source": definition.source.model_copy(update=source)})


def put(home: Settings, name: str, content: str = "", archive: str = "stocks") -> Path:
    path = home.raw_folder / archive / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content or name, encoding="utf-8")
    return path


def names(home: Settings, definition: Definition) -> list[str]:
    return [file.name for file in raw_files(home, definition)]


def test_files_come_in_order_with_the_period_of_their_name(home: Settings) -> None:
    for name in ("nyse_daily_2005.csv.gz", "nyse_daily_2004.csv", "late/fixes.csv", "range_2004_2005.csv"):
        put(home, name)
    found = raw_files(home, defined())
    assert [(file.name, file.period) for file in found] == [
        ("late/fixes.csv", None),
        ("nyse_daily_2004.csv", "2004"),
        ("nyse_daily_2005.csv.gz", "2005"),
        ("range_2004_2005.csv", None),
    ]
    assert found[1].bytes == len("nyse_daily_2004.csv") and found[1].path.is_absolute()


def test_hidden_files_folders_and_the_definition_are_no_raw_files(home: Settings) -> None:
    for name in (".hidden.csv", "_temporary/part.csv", ".git/x.csv", "archive.yaml", "readme.txt", "good.csv"):
        put(home, name)
    (home.raw_folder / "stocks" / "folder.csv").mkdir()
    assert names(home, defined()) == ["good.csv"]
    assert names(home, defined(files="*")) == ["good.csv", "readme.txt"]


def test_links_to_files_and_folders_are_followed_and_those_to_nowhere_told(home: Settings, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    for name in ("2004.csv", "deep/2005.csv"):
        (elsewhere / name).write_text(name)
    put(home, "2003.csv")
    folder = home.raw_folder / "stocks"
    links = {
        "file.csv": elsewhere / "2004.csv", "folder": elsewhere, "loop": folder, "folder/deep/up": elsewhere,
        "_hidden": elsewhere, "2006.csv": Path("nowhere"), "2007.csv": Path("2007.csv"),
    }  # fmt: skip
    for link, target in links.items():
        (folder / link).symlink_to(target)
    found = {file.name: file for file in raw_files(home, defined())}
    assert sorted(found) == ["2003.csv", "2006.csv", "2007.csv", "file.csv", "folder/2004.csv", "folder/deep/2005.csv"]
    assert {file.path.resolve() for name, file in found.items() if "4" in name} == {elsewhere / "2004.csv"}
    for name, target in {"2006.csv": "nowhere", "2007.csv": "2007.csv"}.items():
        assert found[name].period == name[:4]
        with pytest.raises(InputError, match=rf"file {name}: is a link to {target}, which leads nowhere; mend it"):
            inspect(defined(), found[name])
    kept, copies = without_copies(list(found.values()))
    assert [copy.name for copy in copies] == ["folder/2004.csv"] and found["2006.csv"] in kept


@pytest.mark.parametrize("pattern", ["../tcp/*", "../../*", "../tcp/secret.csv"])
def test_a_pattern_does_not_lead_out_of_the_archives_folder(pattern: str, home: Settings) -> None:
    put(home, "mine.csv")
    put(home, "secret.csv", archive="tcp")
    assert names(home, defined(files=pattern)) == []


def test_a_raw_folder_that_is_hidden_itself_is_read(tmp_path: Path) -> None:
    home = Settings(raw=str(tmp_path / ".cache" / "raw"))
    put(home, "a.csv")
    assert names(home, defined()) == ["a.csv"]


def test_no_folder_means_no_files(home: Settings) -> None:
    assert raw_files(home, defined()) == []


@pytest.mark.parametrize(
    ("pattern", "name", "period"),
    [(r"^(.+)\.csv$", "x'; drop table.csv", "x'; drop table"), (r"^(.*)\.csv$", "a..b.csv", "a..b"),
     (r"day(\d*)", "day.csv", ""), (r"day(\d+)?", "day.csv", None)],
)  # fmt: skip
def test_a_name_that_gives_no_period_is_refused(pattern: str, name: str, period: str | None, home: Settings) -> None:
    put(home, name, "x")
    with pytest.raises(InputError) as refusal:
        raw_files(home, defined(period_in_name=pattern))
    assert name in str(refusal.value) and f"{period!r}, which is none; rename" in str(refusal.value)


def test_a_delta_table_is_one_file_that_changes_with_its_log(home: Settings) -> None:
    archive = Archive(home.raw_folder, "stocks")
    table = archive.table("prices", pa.schema([("period", pa.string()), ("x", pa.int64())]))
    put(home, "stray.csv")
    table.append("2004", [{"x": 1}])
    [before] = raw_files(home, defined(format="delta", files="*"))
    table.append("2005", [{"x": 2}, {"x": 3}])
    [after] = raw_files(home, defined(format="delta", files="*"))
    assert before.name == after.name == "prices" and before.state != after.state


def test_a_copy_is_left_out_whatever_its_name(home: Settings) -> None:
    for name, content in {
        "a.csv": "same",
        "b.csv": "same",
        "c/d.csv": "same",
        "e.csv": "Same",
        "f.csv": "longer",
    }.items():
        put(home, name, content)
    kept, copies = without_copies(raw_files(home, defined()))
    assert [file.name for file in kept] == ["a.csv", "e.csv", "f.csv"]
    assert {copy.name: original.name for copy, original in copies.items()} == {"b.csv": "a.csv", "c/d.csv": "a.csv"}


def test_files_named_for_different_periods_are_no_copies_of_each_other(home: Settings) -> None:
    for name in ("a_2009.csv", "b_2010.csv", "c_2010.csv", "d.csv", "e.csv"):
        put(home, name, "same")
    kept, copies = without_copies(raw_files(home, defined()))
    assert [file.name for file in kept] == ["a_2009.csv", "b_2010.csv"]
    assert {copy.name: original.name for copy, original in copies.items()} == {
        "c_2010.csv": "b_2010.csv",
        "d.csv": "a_2009.csv",
        "e.csv": "a_2009.csv",
    }


def test_a_file_that_cannot_be_read_is_told_with_its_copies(home: Settings) -> None:
    for name in ("a.csv", "b.csv", "c.csv"):
        put(home, name, "same")
    found = inventory(home)
    [file] = found.files
    found.keep_fault(file, "a is damaged.")
    assert found.faulty == {file: "a is damaged. The same, byte for byte: b.csv, c.csv."}
    assert found.untold()[0].startswith("a is damaged. The same, byte for byte: b.csv, c.csv. It is not known")
    remember(home, found)
    assert inventory(home).faulty == found.faulty


def test_only_files_of_one_size_are_opened(home: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    put(home, "a.csv", "1")
    put(home, "b.csv", "22")
    files = raw_files(home, defined())
    monkeypatch.setattr("skyarchive.steps.ingest.reading.files._sha256", lambda path: pytest.fail(f"{path} was read"))
    assert without_copies(files) == (files, {})


def test_a_fingerprint_tells_a_changed_file_and_not_an_order(home: Settings) -> None:
    paths = [put(home, "a.csv", "1"), put(home, "b.csv", "2")]
    files = raw_files(home, defined())
    before = files_fingerprint(files)
    assert files_fingerprint(files[::-1]) == before != files_fingerprint(files[:1])
    os.utime(paths[0], ns=(0, 12345))
    touched = files_fingerprint(raw_files(home, defined()))
    paths[0].rename(paths[0].with_name("c.csv"))
    assert len({before, touched, files_fingerprint(raw_files(home, defined()))}) == 3


def inventory(home: Settings) -> Inventory:
    return Inventory.read(Lake(home), home, defined())


def remember(home: Settings, found: Inventory) -> None:
    """As a look into the files writes it."""
    shutil.rmtree(Path(home.warehouse) / "stocks" / "files", ignore_errors=True)
    table = Archive(Path(home.warehouse), "stocks").table("files", FILES, partitioned=False)
    table._write("", found.table_rows(), set(), None)


def test_periods_come_from_names_and_what_was_remembered(home: Settings) -> None:
    for name in ("y2004.csv", "all.csv", "empty.csv", "copy_2009.csv"):
        put(home, name, "x" if name == "copy_2009.csv" else "")
    put(home, "also_2009.csv", "x")
    found = inventory(home)
    assert [file.name for file in found.unknown] == ["all.csv", "empty.csv"]
    assert found.periods() == ["2004", "2009"] and [file.name for file in found.copies] == ["copy_2009.csv"]

    by_name = {file.name: file for file in found.files}
    found.keep(by_name["all.csv"], {"2005": 3, "2004": 2})
    found.keep(by_name["empty.csv"], {})
    rows = found.table_rows()
    assert sorted((row["file"], row["period"] or "", row["rows"]) for row in rows) == [
        ("all.csv", "2004", 2), ("all.csv", "2005", 3), ("empty.csv", "", 0),
    ]  # fmt: skip
    remember(home, found)

    again = inventory(home)
    assert again.found == found.found and again.unknown == []
    assert again.periods() == ["2004", "2005", "2009"]
    assert [file.name for file in again.files_of("2004")] == ["all.csv", "y2004.csv"]
    assert again.periods_of(by_name["empty.csv"]) == []
    assert [file.name for file in again.files_of("2009")] == ["also_2009.csv"]


def test_a_changed_file_has_to_be_looked_into_again(home: Settings) -> None:
    path = put(home, "all.csv", "before")
    found = inventory(home)
    found.keep(found.files[0], {"2004": 1})
    remember(home, found)
    assert inventory(home).periods() == ["2004"]
    path.write_text("something longer", encoding="utf-8")
    assert inventory(home).found == {} and inventory(home).periods() == []
    assert [file.name for file in inventory(home).unknown] == ["all.csv"]


def test_a_file_that_cannot_be_read_blocks_what_it_held_and_else_nobody(home: Settings) -> None:
    put(home, "known.csv", "before")
    put(home, "never.csv", "never")
    known, never = (found := inventory(home)).files
    found.keep(known, {"2004": 1, "2005": 2})
    remember(home, found)
    put(home, "known.csv", "no longer readable")
    known, never = (found := inventory(home)).files
    assert found.unknown == [known, never] and found.periods() == []
    found.keep_fault(known, "known is damaged.")
    found.keep_fault(never, "never is damaged.")
    remember(home, found)
    again = inventory(home)
    assert again.unknown == [] and again.periods() == ["2004", "2005"]
    assert again.faulty == {known: "known is damaged.", never: "never is damaged."}
    assert [sentence.split(".")[0] for sentence in again.untold()] == ["never is damaged"]


def test_under_another_definition_a_file_may_hold_other_periods(home: Settings) -> None:
    put(home, "all.csv")
    found = inventory(home)
    found.keep(found.files[0], {"2004": 1})
    remember(home, found)
    by_month = defined().model_copy(update={"period": defined().period.model_copy(update={"by": "month"})})
    assert Inventory.read(Lake(home), home, by_month).unknown == found.files

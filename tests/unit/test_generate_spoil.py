"""Whole files gone bad: each way to spoil one does what it says and nothing else."""

import gzip
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skyarchive.errors import SettingError
from skyarchive.generators import GenerateOptions, generate
from skyarchive.generators.dirt import SPOILS, spoil

PARQUET = ["nba", "synthetic"]
TEXT = ["stocks", "zeek", "plain"]
KEY = {"nba": "minutes", "synthetic": "x0", "stocks": "close", "zeek": "ts", "plain": "ts"}
PLACE = {"stocks": 5, "zeek": 0, "plain": 0}


def good_file(folder: Path, kind: str) -> Path:
    archive = "tcp" if kind in ("zeek", "plain", "lbl") else kind
    flavour = kind if archive == "tcp" else "zeek"
    options = GenerateOptions(size=0.05, flavour=flavour, objects=20, snapshots=20)
    return generate(archive, folder, options)[0]


def lines_of(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


@pytest.mark.parametrize("kind", [*PARQUET, *TEXT, "lbl"])
def test_a_truncated_file_cannot_be_read(tmp_path: Path, kind: str) -> None:
    path = spoil(good_file(tmp_path, kind), "truncate")
    assert path.stat().st_size > 100
    with pytest.raises((pa.ArrowInvalid, OSError) if kind in PARQUET else (EOFError, zlib.error)):
        pq.read_table(path) if kind in PARQUET else lines_of(path)


@pytest.mark.parametrize("kind", [*PARQUET, *TEXT, "lbl"])
def test_an_empty_file_and_a_copy(tmp_path: Path, kind: str) -> None:
    good = good_file(tmp_path, kind)
    content = good.read_bytes()
    twin = spoil(good, "copy")
    assert twin != good and twin.parent == good.parent and twin.suffixes == good.suffixes
    assert twin.read_bytes() == content == good.read_bytes()
    assert spoil(good, "empty") == good and good.read_bytes() == b""


@pytest.mark.parametrize("kind", PARQUET)
def test_spoilt_columns_in_parquet(tmp_path: Path, kind: str) -> None:
    good = good_file(tmp_path, kind)
    before = pq.read_table(good)
    retyped = pq.read_table(spoil(good, "retype_column"))
    assert retyped.schema.field(KEY[kind]).type == pa.string()
    assert retyped.drop_columns([KEY[kind]]).equals(before.drop_columns([KEY[kind]]))
    renamed = pq.read_table(spoil(good, "rename_column", column="gone" if kind == "synthetic" else "points"))
    assert len(set(renamed.column_names) - set(before.column_names)) == 1
    bare = pq.read_table(spoil(good, "header_only"))
    assert bare.num_rows == 0 and bare.schema.equals(renamed.schema)


@pytest.mark.parametrize("kind", TEXT)
def test_a_retyped_column_in_text(tmp_path: Path, kind: str) -> None:
    good = good_file(tmp_path, kind)
    separator = "," if kind == "stocks" else "\t"
    before = [line.split(separator) for line in lines_of(good)]
    after = [line.split(separator) for line in lines_of(spoil(good, "retype_column"))]
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert len(changed) == sum(fields[0][0].isdigit() for fields in before) > 50
    for was, now in changed:
        assert now.pop(PLACE[kind]) == f"about {was.pop(PLACE[kind])}"
        assert now == was


@pytest.mark.parametrize("kind", TEXT)
def test_a_renamed_column_and_only_a_header_in_text(tmp_path: Path, kind: str) -> None:
    good = good_file(tmp_path, kind)
    before = lines_of(good)
    after = lines_of(spoil(good, "rename_column"))
    [(was, now)] = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert now == was.replace(KEY[kind], f"{KEY[kind]}_renamed", 1)
    bare = lines_of(spoil(good, "header_only"))
    assert bare == [line for line in after if not line[0].isdigit()] != []


def test_the_lbl_form_has_no_columns_to_spoil(tmp_path: Path) -> None:
    good = good_file(tmp_path, "lbl")
    with pytest.raises(SettingError, match="no line of column names"):
        spoil(good, "rename_column")
    assert gzip.decompress(spoil(good, "header_only").read_bytes()) == b""


def test_an_unknown_way_or_column_is_refused(tmp_path: Path) -> None:
    good = good_file(tmp_path, "stocks")
    with pytest.raises(SettingError, match=", ".join(SPOILS)):
        spoil(good, "burn")
    with pytest.raises(SettingError, match="no column 'age'"):
        spoil(good, "rename_column", column="age")

"""Text files as batches: every row with its own number and its fault, whatever the file holds."""

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyarchive.errors import InputError
from skyarchive.steps.ingest.reading import text as reading
from skyarchive.steps.ingest.reading.text import HAS_NUL, NOT_UTF8, UNENDED, csv_layout, first_lines, read_text

Row = tuple[Any, ...]
SHORT = "1 fields instead of 2"
SMALL_BLOCK = 64


def rows_of(path: Path, delimiter: str = ",") -> dict[int, Row]:
    """Row number to its values, and where there is one its fault; a number twice fails."""
    rows: dict[int, Row] = {}
    for batch in read_text(path, csv_layout(path, delimiter)):
        columns = [values.to_pylist() for values in batch.columns.values()]
        columns = columns or [batch.texts.to_pylist() if batch.texts is not None else []]
        for number, *values, fault in zip(batch.rows.tolist(), *columns, batch.faults.to_pylist(), strict=True):
            assert number not in rows
            rows[number] = tuple(values) if fault is None else (*values, fault)
    return dict(sorted(rows.items()))


def read(folder: Path, content: bytes | str) -> dict[int, Row]:
    path = folder / "x.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return rows_of(path)


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("a,b\n1,2\n3,4\n", {1: ("1", "2"), 2: ("3", "4")}),
        ("a,b\n1,2\n3,4", {1: ("1", "2"), 2: ("3", "4", UNENDED)}),
        ("a,b\n1,2\n3", {1: ("1", "2"), 2: ("3", UNENDED)}),
        ("a,b\n1\n2,3", {1: ("1", SHORT), 2: ("2", "3", UNENDED)}),
        (b"a,b\n1,2\n3,\xc3", {1: ("1", "2"), 2: ("3", "\ufffd", UNENDED)}),
        ('a,b\n1,2\n3,"4"', {1: ("1", "2"), 2: ("3", "4", UNENDED)}),
        ("a,b\r1,2\r", {1: ("1", "2")}),
        ("a\x0bc,b\n1,2\n", {1: ("1", "2")}),
        ("a,b\r\n1,2\r\n3\r\n5,6\r\n", {1: ("1", "2"), 2: ("3", SHORT), 3: ("5", "6")}),
        ("a,b\n1,2\n\n3\n\n5,6\n7\n", {1: ("1", "2"), 2: ("3", SHORT), 3: ("5", "6"), 4: ("7", SHORT)}),
        ("a,b\n1,2,3\n4,5\n", {1: ("1,2,3", "3 fields instead of 2"), 2: ("4", "5")}),
        ("a,b\n1\n2\n", {1: ("1", SHORT), 2: ("2", SHORT)}),
        ("\ufeffa,b\n1,2\n", {1: ("1", "2")}),
        ("a,b\n,\n", {1: ("", "")}),
        ("a,b\n 1 ,NA\n", {1: (" 1 ", "NA")}),
        ('a,b\n"x,1","say ""so"""\n', {1: ("x,1", 'say "so"')}),
        ('a,b\n"two\nlines",1\n3\n"and\r\n\nmore",4\n5\n', {1: ("two\nlines", "1"), 2: ("3", SHORT),
                                                            3: ("and\r\n\nmore", "4"), 4: ("5", SHORT)}),
        ('a,b\nO"Neal,名前\n', {1: ('O"Neal', "名前")}),
        (b"a,b\nx\xff,2\ny,3\n", {1: ("x\ufffd", "2", NOT_UTF8), 2: ("y", "3")}),
        ("a,b\nx\ufffd,2\n", {1: ("x\ufffd", "2")}),
        ("a,b\n\x00,2\n", {1: ("\x00", "2", HAS_NUL)}),
        ("a,b\nx,y\x00\x00\nz,2\n", {1: ("x", "y\x00\x00", HAS_NUL), 2: ("z", "2")}),
        ("a,b\n", {}),
        ("a,b", {}),
    ],
)  # fmt: skip
def test_every_row_has_its_number_and_its_fault(content: bytes | str, rows: dict[int, Row], tmp_path: Path) -> None:
    assert read(tmp_path, content) == rows


def test_the_columns_are_the_headers(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('\ufeffa;"b;c"; d \n1;2;3\n', encoding="utf-8")
    assert csv_layout(tmp_path / "x.csv", ";").columns == ["a", "b;c", "d"]
    assert rows_of(tmp_path / "x.csv", ";") == {1: ("1", "2", "3")}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "x.csv is empty"),
        ("\n \r\n", "x.csv is empty"),
        ("a,b,a\n1,2,3\n", "names the column 'a' twice"),
        ('a,"b\n1,2\n3,"4"\n', 'x.csv: the header cannot be read .*: a,"b'),
        ("a,b\n1,2\n".encode("utf-16"), "x.csv is UTF-16 text"),
    ],
)
def test_a_file_without_a_use_is_refused_by_name(content: str | bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, content)


@given(widths=st.lists(st.sampled_from([1, 2, 2, 2, 3]), max_size=80), size=st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_numbers_hold_over_many_blocks(tmp_path_factory: pytest.TempPathFactory, widths: list[int], size: int) -> None:
    lines = [",".join([str(number).zfill(size)] * width) for number, width in enumerate(widths, start=1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_BLOCK_BYTES", SMALL_BLOCK)
        rows = read(tmp_path_factory.mktemp("blocks"), "\n".join(["a,b", *lines, ""]))
    assert list(rows) == list(range(1, len(widths) + 1))
    for (number, row), line, width in zip(rows.items(), lines, widths, strict=True):
        good = (str(number).zfill(size),) * 2
        assert row == (good if width == 2 else (line, f"{width} fields instead of 2"))


def test_a_line_end_in_quotes_may_fall_between_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_BLOCK_BYTES", SMALL_BLOCK)
    values = [f"{number}\nof\n{'x' * (number % 23)}\n\n" for number in range(1, 100)]
    rows = read(tmp_path, "a,b\n" + "".join(f'"{value}",2\n3\n' for value in values))
    assert rows == {n: ("3", SHORT) if n % 2 == 0 else (values[n // 2], "2") for n in range(1, 199)}


def test_numbers_hold_over_real_blocks(tmp_path: Path) -> None:
    count, bad = 500_000, {1, 77_777, 400_000, 500_000}
    path = tmp_path / "x.csv"
    lines = (f"{n}\n" if n in bad else f"{n},{n}{n}\n" for n in range(1, count + 1))
    path.write_text("a,b\n" + "".join(lines), encoding="utf-8")
    batches = list(read_text(path, csv_layout(path, ",")))
    assert len(batches) > 2 and path.stat().st_size > reading._BLOCK_BYTES
    assert sorted(n for batch in batches for n in batch.rows.tolist()) == list(range(1, count + 1))
    assert set(batches[-1].rows.tolist()) == bad
    assert batches[-1].texts is not None and batches[-1].texts.to_pylist() == [str(n) for n in sorted(bad)]
    for batch in batches[:-1]:
        assert batch.columns["a"].to_pylist() == [str(n) for n in batch.rows]


@pytest.mark.parametrize("rows", [1, 7, 100])
def test_the_last_row_without_a_line_end_is_a_doubt_in_any_block(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_BLOCK_BYTES", SMALL_BLOCK)
    for last in ("5,6", "5"):
        whole = read(tmp_path, "a,b\n" + "1,2\n" * rows + last + "\n")
        cut = read(tmp_path, "a,b\n" + "1,2\n" * rows + last)
        assert list(whole) == list(cut) == list(range(1, rows + 2))
        assert cut.pop(rows + 1)[-1] == UNENDED != whole.pop(rows + 1)[-1]
        assert cut == whole


def varied(count: int) -> bytes:
    return b"a,b\n" + b"".join(b"%d,%d\n" % (n * 7919 % 100_003, n) for n in range(count))


@pytest.mark.parametrize("name", ["x.csv.gz", "x.csv"])
def test_gzip_is_told_by_its_content(name: str, tmp_path: Path) -> None:
    parts = gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n")
    (tmp_path / name).write_bytes(parts)
    assert rows_of(tmp_path / name) == {1: ("1", "2"), 2: ("3", "4")}


@pytest.mark.parametrize("rows", [1, 5_000, 400_000])
@pytest.mark.parametrize("cut", [1, 8, 0.5, 0.9])
def test_a_truncated_gzip_never_ends_quietly(rows: int, cut: float, tmp_path: Path) -> None:
    packed = gzip.compress(varied(rows), compresslevel=1)
    keep = len(packed) - (cut if isinstance(cut, int) else int(len(packed) * cut))
    (tmp_path / "x.csv.gz").write_bytes(packed[:keep])
    with pytest.raises((OSError, pa.ArrowException), match="Truncated"):
        rows_of(tmp_path / "x.csv.gz")


def test_a_damaged_gzip_never_ends_quietly(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(varied(5_000)))
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "x.csv.gz").write_bytes(packed)
    with pytest.raises((OSError, pa.ArrowException)):
        rows_of(tmp_path / "x.csv.gz")


def test_the_first_lines_are_a_few(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("\n".join(map(str, range(100_000))), encoding="utf-8")
    assert first_lines(tmp_path / "x", 3) == ["0", "1", "2"] and len(first_lines(tmp_path / "x")) == 64


@pytest.mark.parametrize("before", [0, 200])
def test_a_short_row_that_is_not_text_costs_only_itself(
    before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_BLOCK_BYTES", SMALL_BLOCK)
    rows = read(tmp_path, b"a,b\n" + b"1,2\n" * before + b"x\xff\n5,6\n")
    assert list(rows) == list(range(1, before + 3))
    assert rows[before + 1][-1] in (SHORT, NOT_UTF8) and rows[before + 2] == ("5", "6")


@pytest.mark.parametrize("before", [0, 1, 200])
def test_a_quote_that_is_never_closed_does_not_pass_for_the_files_end(
    before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_BLOCK_BYTES", SMALL_BLOCK)
    with pytest.raises((InputError, OSError, pa.ArrowException)):
        read(tmp_path, "a,b\n" + "1,2\n" * before + '"3,4\n' + "5,6\n" * 100)


def test_an_empty_line_before_the_header_is_no_header(tmp_path: Path) -> None:
    assert read(tmp_path, "\na,b\n1,2\n") == {1: ("1", "2")}


def test_a_byte_order_mark_before_a_quoted_header(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('\ufeff"a","b"\n1,2\n', encoding="utf-8")
    assert csv_layout(tmp_path / "x.csv", ",").columns == ["a", "b"]

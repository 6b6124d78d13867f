"""Connection logs of both kinds in one shape."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from skyarchive.errors import InputError
from skyarchive.steps.ingest.reading import text as reading
from skyarchive.steps.ingest.reading.conn_log import conn_columns, conn_layout, read_conn_log
from skyarchive.steps.ingest.reading.text import UNENDED

MISSING = ["-", "?", ""]
FIELDS = ["ts", "uid", "id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p", "proto", "local_orig", "local_resp"]
PREAMBLE = "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n#open\t2024\n"
HEADER = "#fields\t" + "\t".join(FIELDS) + "\n"
TYPES = "#types\ttime\tstring\taddr\tport\taddr\tport\tenum\tbool\tbool\n"
ZEEK = PREAMBLE + HEADER + TYPES
PLAIN = "\t".join(FIELDS) + "\n"
LBL = "748162802.427995 1.24383 smtp 2075 265 5 128.97.154.3 SF L\n"


def conn(orig: str = "10.0.0.1", resp: str = "8.8.8.8", proto: str = "tcp", ts: str = "1.5") -> str:
    return "\t".join([ts, "C1", orig, "1024", resp, "80", proto, "-", "-"]) + "\n"


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "conn.log"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows_of(path: Path, *names: str, missing: list[str] = MISSING) -> dict[int, tuple[Any, ...]]:
    """Row number to the named columns (or the row's text) and the fault."""
    rows: dict[int, tuple[Any, ...]] = {}
    for batch in read_conn_log(path, missing):
        columns = [batch.columns[name].to_pylist() for name in names] if batch.columns else []
        columns = columns or [batch.texts.to_pylist() if batch.texts is not None else []]
        for number, *values in zip(batch.rows.tolist(), *columns, batch.faults.to_pylist(), strict=True):
            assert number not in rows
            rows[number] = tuple(values)
    return dict(sorted(rows.items()))


@pytest.mark.parametrize("header", [ZEEK, HEADER, PLAIN, PLAIN.replace("id.", ""), ZEEK.replace("\n", "\r\n")])
def test_zeek_is_read_with_any_of_its_headers(header: str, tmp_path: Path) -> None:
    path = write(tmp_path, header + conn() + conn("8.8.8.8", "10.0.0.1"))
    assert conn_columns(conn_layout(path)) == [name.removeprefix("id.") for name in FIELDS]
    assert rows_of(path, "ts", "orig_h", "resp_p", "remote", "log") == {
        1: ("1.5", "10.0.0.1", "80", "8.8.8.0/24", "zeek", None),
        2: ("1.5", "8.8.8.8", "80", "8.8.8.0/24", "zeek", None),
    }


def test_lines_with_a_hash_are_no_rows_wherever_they_stand(tmp_path: Path) -> None:
    content = ZEEK + conn(ts="1") + "#close\t2024\n" + ZEEK + conn(ts="2") + "bad\trow\n#\n" + conn(ts="3") + "#close\n"
    assert rows_of(write(tmp_path, content), "ts") == {
        1: ("1", None), 2: ("2", None), 3: ("bad\trow", "2 fields instead of 9"), 4: ("3", None),
    }  # fmt: skip


def test_numbers_hold_over_blocks_with_comments_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_BLOCK_BYTES", 512)
    rounds = 60
    content = ZEEK + ("#note\tx\n" + conn(ts="good") * 3 + "bad\n" + "#\n" + conn(ts="good")) * rounds
    rows = rows_of(write(tmp_path, content), "ts")
    assert list(rows) == list(range(1, 5 * rounds + 1))
    assert [number for number, row in rows.items() if row[0] == "bad"] == list(range(4, 5 * rounds, 5))


@pytest.mark.parametrize("rest", ["", "#close\t2024\n", "\n\n"])
@pytest.mark.parametrize("header", [ZEEK, PLAIN])
def test_a_log_without_connections_is_empty(header: str, rest: str, tmp_path: Path) -> None:
    assert rows_of(write(tmp_path, header + rest), "ts") == {}


def test_only_tcp_rows_are_judged_by_their_addresses(tmp_path: Path) -> None:
    rows = [conn("x"), conn(resp="x"), conn("x", "y"), conn("-"), conn(resp="-"), conn("x", proto="udp"), conn()]
    faults = {number: row[-1] for number, row in rows_of(write(tmp_path, ZEEK + "".join(rows)), "remote").items()}
    orig, resp = "orig_h is not an address", "resp_h is not an address"
    assert faults == {1: orig, 2: resp, 3: orig, 4: orig, 5: resp, 6: None, 7: None}


def test_text_with_quotes_and_broken_bytes_stays_in_its_row(tmp_path: Path) -> None:
    content = (ZEEK + conn('"10.0.0.1') + conn()).encode() + conn(ts="3").encode().replace(b"C1", b"\xff")
    assert rows_of(write(tmp_path, content), "orig_h") == {
        1: ('"10.0.0.1', "orig_h is not an address"),
        2: ("10.0.0.1", None),
        3: ("10.0.0.1", "the row is not UTF-8 text"),
    }


def test_gzip_is_unpacked(tmp_path: Path) -> None:
    path = write(tmp_path, gzip.compress((ZEEK + conn()).encode()))
    assert rows_of(path, "remote") == {1: ("8.8.8.0/24", None)}


def test_lbl_rows_have_eight_or_nine_fields(tmp_path: Path) -> None:
    content = LBL + "2.5 ? nntp ? ? 7 11 SF\n1 2 3\n\n  " + LBL + "1 2 3 4 5 6 7 8 9 10\n4 ? x ? ? 1 ? REJ N\n"
    path = write(tmp_path, content)
    names = ("ts", "duration", "service", "orig_bytes", "orig_h", "resp_h", "remote", "proto", "log")
    first = ("748162802.427995", "1.24383", "smtp", "2075", "5", "128.97.154.3", "128.97.154.3", "tcp", "lbl", None)
    assert rows_of(path, *names) == {
        1: first,
        2: ("2.5", "?", "nntp", "?", "7", "11", "11", "tcp", "lbl", None),
        3: ("1 2 3", "3 fields instead of 8 or 9"),
        4: first,
        5: ("1 2 3 4 5 6 7 8 9 10", "10 fields instead of 8 or 9"),
        6: ("4", "?", "x", "?", "1", "?", "?", "tcp", "lbl", "resp_h is missing"),
    }
    assert set(names[:6]) | {"proto", "orig_p", "resp_p"} <= set(conn_columns(conn_layout(path)))


@pytest.mark.parametrize(
    "content", ['{"ts": 1}\n', "date,ticker\n", "#only\n#comments\n", "a b c d e f g h\n", "1 2 3\n", "\x00\x01"]
)
def test_what_is_no_connection_log_is_refused_by_name(content: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"conn\.log is no connection log"):
        rows_of(write(tmp_path, content))


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_log_is_refused_by_name(content: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"conn\.log is empty"):
        rows_of(write(tmp_path, content))


def test_a_row_commented_out_is_no_row(tmp_path: Path) -> None:
    assert list(rows_of(write(tmp_path, ZEEK + conn() + "#" + conn() + conn()), "ts")) == [1, 2]


def test_a_second_header_with_other_columns_is_not_read_by_the_first(tmp_path: Path) -> None:
    content = "#fields\tts\tid.orig_h\tid.resp_h\tproto\n1\t10.0.0.1\t8.8.8.8\ttcp\n"
    content += "#fields\tts\tproto\tid.orig_h\tid.resp_h\n2\ttcp\t10.0.0.1\t9.9.9.9\n"
    path = write(tmp_path, content)
    try:
        assert rows_of(path, "proto", "remote")[2] == ("tcp", "9.9.9.0/24", None)
    except InputError as refusal:
        assert "conn.log" in str(refusal)


@pytest.mark.parametrize("content", [ZEEK + conn() + conn(), ZEEK + conn() + "1\t2\n", LBL + LBL, LBL + "1 2 3\n"])
def test_the_last_row_without_a_line_end_is_a_doubt(content: str, tmp_path: Path) -> None:
    assert rows_of(write(tmp_path, content), "ts")[2][-1] != UNENDED
    assert rows_of(write(tmp_path, content.removesuffix("\n")), "ts")[2][-1] == UNENDED
    assert rows_of(write(tmp_path, ZEEK + conn() + "#close"), "ts") == {1: ("1.5", None)}


def test_a_header_that_names_a_column_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="names the column 'ts' twice"):
        rows_of(write(tmp_path, HEADER.replace("uid", "ts") + conn()))


@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_a_comment_before_the_header_hides_no_row(odd: str, tmp_path: Path) -> None:
    assert list(rows_of(write(tmp_path, f"#odd{odd}\n" + ZEEK + conn() + conn()), "ts")) == [1, 2]


@pytest.mark.parametrize("content", [ZEEK + conn(), LBL])
def test_a_definition_may_know_no_text_for_missing(content: str, tmp_path: Path) -> None:
    assert list(rows_of(write(tmp_path, content), "ts", missing=[])) == [1]

"""What can happen to a text file (csv, connection log; packed or not) between whoever wrote it and us."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable
from random import Random

Mutation = Callable[[Random, bytes], bytes]
NUL = b"\x00"
GARBLED = [
    b"", b"-", b"x", b"NaN", b"inf", b"-inf", b"1e400", b"12d", b"0x1p3", b"-1", b"99999999999999999999", b"1,5",
    b"9999-12-31", b"10000-01-01", b"0000-00-00", b" 12 ", b"\t12", b"12\x7f", b"'", b'"', b'"12', b"a" * 10_000,
    NUL * 4096 + b"12", b"12" + NUL, b"\xff\xfe", b"\xef\xbb\xbf12", "１２".encode(), "−1".encode(), b"true",
    b"#", b"\x0b",
]  # fmt: skip
_LINE = re.compile(b"[^\r\n]*(?:\r\n|\n|\r|$)")


def lines_of(content: bytes) -> list[bytes]:
    """The lines with their ends."""
    return [line for line in _LINE.findall(content) if line]


def _on_rows(change: Callable[[Random, list[bytes], bytes], None], rows: int = 3) -> Mutation:
    """A mutation of a few lines below the header; the change gets the lines and the delimiter."""

    def mutate(chance: Random, content: bytes) -> bytes:
        lines = lines_of(content)
        delimiter = b"\t" if b"\t" in lines[0] + lines[-1] else b","
        for _ in range(chance.randint(1, rows)):
            change(chance, lines, delimiter)
        return b"".join(lines)

    return mutate


def _row(chance: Random, lines: list[bytes]) -> int:
    return chance.randrange(1, len(lines))


def _with_fields(change: Callable[[Random, list[bytes]], None]) -> Mutation:
    def on_rows(chance: Random, lines: list[bytes], delimiter: bytes) -> None:
        at = _row(chance, lines)
        body = lines[at].rstrip(b"\r\n")
        fields = body.split(delimiter)
        change(chance, fields)
        lines[at] = delimiter.join(fields) + lines[at][len(body) :]

    return _on_rows(on_rows)


def _garble(chance: Random, fields: list[bytes]) -> None:
    fields[chance.randrange(len(fields))] = chance.choice(GARBLED)


def _one_digit(chance: Random, fields: list[bytes]) -> None:
    at = chance.randrange(len(fields))
    fields[at] = re.sub(rb"\d", lambda digit: b"%d" % chance.randrange(10), fields[at], count=3)


def _drop_field(chance: Random, fields: list[bytes]) -> None:
    del fields[chance.randrange(len(fields))]


def _add_field(chance: Random, fields: list[bytes]) -> None:
    fields.insert(chance.randrange(len(fields) + 1), chance.choice(GARBLED[:12]))


def _drop_row(chance: Random, lines: list[bytes], _: bytes) -> None:
    del lines[_row(chance, lines)]


def _repeat_row(chance: Random, lines: list[bytes], _: bytes) -> None:
    lines.insert(_row(chance, lines), lines[_row(chance, lines)])


def _blank_row(chance: Random, lines: list[bytes], _: bytes) -> None:
    lines.insert(_row(chance, lines), chance.choice([b"\n", b"\r\n", b"  \n", b"#\n", b",\n"]))


def _other_line_end(chance: Random, lines: list[bytes], _: bytes) -> None:
    at = _row(chance, lines)
    lines[at] = lines[at].rstrip(b"\r\n") + chance.choice([b"\r\n", b"\r", b"\n\n", b""])


def _flip(chance: Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _insert(chance: Random, content: bytes) -> bytes:
    at = chance.randrange(len(content))
    return content[:at] + chance.choice([NUL * 4096, chance.randbytes(9), b'"', b"\n", b"\x85", b"\x0c"]) + content[at:]


def _delete(chance: Random, content: bytes) -> bytes:
    at = chance.randrange(len(content))
    return content[:at] + content[at + chance.randint(1, 200) :]


def _cut(chance: Random, content: bytes) -> bytes:
    return content[: chance.randrange(len(content))]


ROWS: dict[str, Mutation] = {
    "garbled": _with_fields(_garble),
    "other digits": _with_fields(_one_digit),
    "field dropped": _with_fields(_drop_field),
    "field added": _with_fields(_add_field),
    "row dropped": _on_rows(_drop_row),
    "row repeated": _on_rows(_repeat_row),
}
"""Changes of rows, as corrections are."""
CONTENT: dict[str, Mutation] = ROWS | {
    "blank row": _on_rows(_blank_row),
    "line ends": _on_rows(_other_line_end),
    "bytes flipped": _flip,
    "bytes inserted": _insert,
    "bytes deleted": _delete,
    "cut": _cut,
    "no last line end": lambda chance, content: content.rstrip(b"\r\n"),
    "crlf": lambda chance, content: content.replace(b"\n", b"\r\n"),
    "cr": lambda chance, content: content.replace(b"\n", b"\r"),
    "utf-16": lambda chance, content: content.decode("utf-8", "replace").encode(chance.choice(["utf-16", "utf-16-le"])),
    "byte order mark": lambda chance, content: b"\xef\xbb\xbf" + content,
    "twice": lambda chance, content: content + content,
    "no header": lambda chance, content: b"".join(lines_of(content)[1:]),
    "only a header": lambda chance, content: lines_of(content)[0],
    "empty": lambda chance, content: chance.choice([b"", b"\n", b"\r\n \n"]),
}
PACKED: dict[str, Mutation] = {
    "packed": lambda chance, packed: packed,
    "packed, flipped": _flip,
    "packed, cut": _cut,
    "packed, garbage after": lambda chance, packed: packed + chance.randbytes(99),
    "packed, zeros after": lambda chance, packed: packed + NUL * 512,
    "packed in parts": lambda chance, packed: packed + gzip.compress(b"".join(lines_of(gzip.decompress(packed))[-1:])),
}


def records(content: bytes, *, log: bool) -> list[list[str]] | None:
    """The fields of every data row, as a second reader finds them; None where no reader could."""
    if content.startswith(b"\x1f\x8b"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            return None
    text = content.decode("utf-8-sig", errors="replace")
    text = re.sub(r"\A([ \t]*[\r\n])+", "", text)  # blank lines before the header
    if not log:
        rows = list(csv.reader(io.StringIO(text, newline="")))
        return [row for row in rows if row][1:]
    lines = [line for line in re.split("\r\n|\n|\r", text) if line]
    header = next((at for at, line in enumerate(lines) if line.startswith("#fields")), None)
    if header is None:
        header = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))
    return [line.split("\t") for line in lines[header + 1 :] if not line.startswith("#")]

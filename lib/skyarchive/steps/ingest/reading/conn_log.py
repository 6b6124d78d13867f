"""Connection logs: Zeek's conn.log (as Zeek writes it, or with one plain header line) and LBL-CONN-7."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from skyarchive.errors import InputError
from skyarchive.steps.ingest.reading.addresses import remote_groups
from skyarchive.steps.ingest.reading.text import Batch, Layout, assert_named_once, first_lines, read_text

ZEEK = "zeek"
LBL = "lbl"
_FIELDS = "#fields"
_ADDRESSES = ("orig_h", "resp_h")
# LBL-CONN-7: timestamp, duration, protocol, bytes by originator and responder, local and remote host,
# state, and flags that may be absent. The protocol is the service's name; everything in it is TCP.
_LBL_COLUMNS = ["ts", "duration", "service", "orig_bytes", "resp_bytes", "orig_h", "resp_h", "conn_state"]
_LBL_LINE = Layout(["line"], "\x1f", skip_lines=0, quote=False)


def conn_layout(path: Path) -> Layout:
    """Tell Zeek from LBL by the first lines, and read Zeek's column names."""
    lines = first_lines(path)
    for number, line in enumerate(lines, start=1):
        if line.startswith(_FIELDS):
            return _zeek(path, [name.removeprefix("id.") for name in line.split("\t")[1:]], number)
        if line.startswith("#") or not line.strip():
            continue
        names = line.split("\t")
        if "ts" in names:
            return _zeek(path, [name.removeprefix("id.") for name in names], number)
        if _looks_like_lbl(line):
            return _LBL_LINE
    raise InputError(
        f"{path.name} is no connection log: its first lines hold neither Zeek's column names (ts, id.orig_h, ...) "
        "nor LBL-CONN-7 fields."
    )


def _zeek(path: Path, columns: list[str], header_lines: int) -> Layout:
    assert_named_once(path, columns)
    return Layout(columns, "\t", header_lines, quote=False, comment="#", header=_FIELDS)


def _looks_like_lbl(line: str) -> bool:
    fields = line.split()
    if len(fields) not in (8, 9):
        return False
    try:
        return float(fields[0]) >= 0
    except ValueError:
        return False


def conn_columns(layout: Layout) -> list[str]:
    """The columns a file with this layout gives."""
    return [*_LBL_COLUMNS, "proto", "orig_p", "resp_p"] if layout == _LBL_LINE else layout.columns


def read_conn_log(path: Path, missing: list[str]) -> Iterator[Batch]:
    """Rows of either kind of log in Zeek's columns, with `remote` (the group of the other end) and `log`."""
    layout = conn_layout(path)
    lbl = layout == _LBL_LINE
    for batch in read_text(path, layout):
        if not batch.columns:
            yield batch
        elif lbl:
            yield from _lbl_batches(batch, pa.array(missing, pa.string()))
        else:
            yield _zeek_batch(batch, pa.array(missing, pa.string()))


def _zeek_batch(batch: Batch, missing: pa.Array) -> Batch:
    count = len(batch.rows)

    def column(name: str) -> pa.Array:
        values = batch.columns.get(name, pa.nulls(count, pa.string()))
        return pc.if_else(pc.is_in(values, missing), pa.scalar(None, pa.string()), values)

    remote, *readable = remote_groups(*map(column, (*_ADDRESSES, "local_orig", "local_resp")))
    tcp = pc.equal(column("proto"), "tcp")
    faults = batch.faults
    for name, ok in zip(_ADDRESSES, readable, strict=True):
        # A missing address is no address either; only TCP rows are judged.
        wrong = pc.and_(pc.fill_null(tcp, False), pc.invert(ok))
        faults = pc.if_else(pc.and_(wrong, pc.is_null(faults)), f"{name} is not an address", faults)
    extra = {"remote": remote, "log": pa.array([ZEEK] * count)}
    return Batch(batch.rows, batch.columns | extra, faults)


def _lbl_batches(batch: Batch, missing: pa.Array) -> Iterator[Batch]:
    fields = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(batch.columns["line"]))
    counts = pc.list_value_length(fields)
    shaped = pc.is_in(counts, pa.array([8, 9], pa.int32()))
    good = fields.filter(shaped)
    columns = {name: pc.list_element(good, i) for i, name in enumerate(_LBL_COLUMNS)}
    count = len(good)
    columns |= {
        "proto": pa.array(["tcp"] * count, pa.string()),
        "remote": columns["resp_h"],
        "log": pa.array([LBL] * count, pa.string()),
    }
    keep = shaped.to_numpy(zero_copy_only=False)
    nowhere = pc.is_in(columns["resp_h"], missing)
    faults = pc.coalesce(
        batch.faults.filter(shaped), pc.if_else(nowhere, "resp_h is missing", pa.scalar(None, pa.string()))
    )
    yield Batch(batch.rows[keep], columns, faults)
    if not keep.all():
        bad = pc.invert(shaped)
        reasons = pc.binary_join_element_wise(
            pc.cast(counts.filter(bad), pa.string()), pa.scalar("fields instead of 8 or 9"), " "
        )
        reasons = pc.coalesce(batch.faults.filter(bad), reasons)
        yield Batch(batch.rows[~keep], {}, reasons, batch.columns["line"].filter(bad))

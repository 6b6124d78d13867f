"""tcp: connections of the last 1000 seconds, by remote address group."""

import ipaddress
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from oracle.common import (
    Derived,
    File,
    Ledger,
    in_name_order,
    number,
    objects_frame,
    open_text,
    refused_frame,
    snapshots_frame,
)

ATTRIBUTES = ["web", "mail", "shell", "other"]
PORTS = {
    "web": {80, 443, 8000, 8080, 8443},
    "mail": {25, 110, 143, 465, 587, 993, 995},
    "shell": {22, 23, 3389, 5900},
}
LBL_SERVICES = {
    "web": {"http", "www"},
    "mail": {"smtp", "pop", "imap", "nntp"},
    "shell": {"telnet", "login", "shell", "ssh"},
}
LBL_FIELDS = (8, 9)  # the ninth, flags, is absent when a connection has none
STEP, STEPS, SPAN = 100, 864, 1000
PAST = datetime(datetime.now(UTC).year + 2, 1, 1, tzinfo=UTC).timestamp()
"""The end of the next year."""


class Connection(NamedTuple):
    ts: float
    remote: str
    service: str


class Row(NamedTuple):
    """What one data record says: when, and a fault, a connection that counts, or neither (not tcp)."""

    ts: float | None
    fault: str | None
    connection: Connection | None


def tcp(files: Iterable[File]) -> Derived:
    """864 snapshots for every day present; a group is alive while it has a connection in the last 1000 s."""
    days: set[str] = set()
    connections: list[Connection] = []
    refused: list[tuple[str | None, str, int, str]] = []
    for path in in_name_order(files):
        rows = list(_rows(path))
        first_day = min((_day(row.ts) for row in rows if row.ts is not None), default=None)
        for place, row in enumerate(rows, start=1):
            day = None if row.ts is None else _day(row.ts)
            if row.fault is not None:
                refused.append((day or first_day, path.name, place, row.fault))
            elif day is not None:
                days.add(day)
            if row.connection is not None:
                connections.append(row.connection)
    connections.sort()

    ledger = Ledger(ATTRIBUTES)
    snapshots: list[tuple[str, int, datetime, str]] = []
    for day in sorted(days):
        start = datetime.fromisoformat(day).replace(tzinfo=UTC)
        for k in range(1, STEPS + 1):
            time = start + timedelta(seconds=STEP * k)
            ledger.tell_all(day, len(snapshots), _alive(connections, time.timestamp()))
            snapshots.append((day, len(snapshots), time, time.strftime("%Y-%m-%d %H:%M:%S")))
    names: dict[tuple[str, str], str | None] = {(_day(c.ts), c.remote): c.remote for c in connections}
    return Derived(snapshots_frame(snapshots), ledger.frame(), objects_frame(names), refused_frame(refused))


def _alive(connections: list[Connection], time: float) -> dict[str, list[int]]:
    """The counts by service of every group with a connection at time - 1000 <= ts < time."""
    first = bisect_left(connections, time - SPAN, key=lambda connection: connection.ts)
    end = bisect_left(connections, time, key=lambda connection: connection.ts)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for connection in connections[first:end]:
        counts[connection.remote][connection.service] += 1
    return {remote: [of[service] for service in ATTRIBUTES] for remote, of in counts.items()}


def _day(ts: float) -> str:
    return datetime.fromtimestamp(ts // 86400 * 86400, UTC).strftime("%Y-%m-%d")


def _rows(path: Path) -> Iterator[Row]:
    """The data records of a file: Zeek with #fields or a plain header, or LBL-CONN-7 (no header at all)."""
    with open_text(path) as text:
        lines = [line.rstrip("\r\n") for line in text]
    lines = [line for line in lines if line.strip()]
    rows = [line for line in lines if not line.startswith("#")]
    zeek = any(line.startswith("#fields\t") for line in lines) or (rows and "ts" in rows[0].split("\t"))
    if not zeek:
        yield from (_lbl_row(line.split()) for line in rows)
        return
    names: list[str] | None = None
    for line in lines:
        if line.startswith("#fields\t"):
            names = _columns(line.split("\t")[1:])
        elif line.startswith("#"):
            continue
        elif names is None:
            names = _columns(line.split("\t"))
        else:
            yield _zeek_row(names, line.split("\t"))


def _columns(names: list[str]) -> list[str]:
    return [name.removeprefix("id.") for name in names]


def _zeek_row(names: list[str], fields: list[str]) -> Row:
    record = dict(zip(names, fields, strict=False))
    ts = _timestamp(record.get("ts", ""))
    # A record too short to say its protocol may have been tcp: it is refused, not passed over.
    if record.get("proto", "tcp") != "tcp":
        return Row(ts, "ts" if ts is None else None, None)
    if len(fields) != len(names):
        return Row(ts, "fields", None)
    if ts is None:
        return Row(None, "ts", None)
    if not (_is_address(record["orig_h"]) and _is_address(record["resp_h"])):
        return Row(ts, "address", None)
    if not (_is_port(record["orig_p"]) and _is_port(record["resp_p"])):
        return Row(ts, "port", None)
    port = int(record["resp_p"])
    service = next((name for name, ports in PORTS.items() if port in ports), "other")
    return Row(ts, None, Connection(ts, _group(_remote(record)), service))


def _lbl_row(fields: list[str]) -> Row:
    """timestamp, duration, service, two byte counts, local host, remote host, state, flags; all are tcp."""
    ts = _timestamp(fields[0])
    if len(fields) not in LBL_FIELDS:
        return Row(ts, "fields", None)
    if ts is None:
        return Row(None, "ts", None)
    remote = fields[6]
    if remote in ("?", "-"):
        return Row(ts, "address", None)
    service = next((name for name, services in LBL_SERVICES.items() if fields[2] in services), "other")
    return Row(ts, None, Connection(ts, remote, service))


def _remote(record: dict[str, str]) -> str:
    """The responder, unless it is local and the originator is not."""
    orig_local = _is_local(record.get("local_orig", "-"), record["orig_h"])
    resp_local = _is_local(record.get("local_resp", "-"), record["resp_h"])
    return record["orig_h"] if resp_local and not orig_local else record["resp_h"]


def _is_local(flag: str, address: str) -> bool:
    if flag in ("T", "F"):
        return flag == "T"
    return ipaddress.ip_address(address).is_private


def _group(address: str) -> str:
    length = 24 if ipaddress.ip_address(address).version == 4 else 64
    return str(ipaddress.ip_network((address, length), strict=False))


def _timestamp(text: str) -> float | None:
    value = number(text)
    return value if value is not None and 0 <= value < PAST else None


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _is_port(text: str) -> bool:
    return re.fullmatch("[0-9]{1,5}", text) is not None and int(text) <= 65535

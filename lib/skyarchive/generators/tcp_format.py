"""Connections as text: Zeek's conn.log, the same with a plain header line, and LBL-CONN-7."""

import numpy as np
import pyarrow as pa

from skyarchive.generators.files import joined, text
from skyarchive.generators.tcp_services import LBL_NAMES, SERVICES
from skyarchive.generators.tcp_traffic import Traffic

PLAIN_FIELDS = (
    "ts", "uid", "orig_h", "orig_p", "resp_h", "resp_p", "proto", "service", "duration", "orig_bytes",
    "resp_bytes", "conn_state", "local_orig", "local_resp", "missed_bytes", "history", "orig_pkts",
    "orig_ip_bytes", "resp_pkts", "resp_ip_bytes", "tunnel_parents",
)  # fmt: skip
_IDS = {"orig_h", "orig_p", "resp_h", "resp_p"}
ZEEK_FIELDS = tuple(f"id.{name}" if name in _IDS else name for name in PLAIN_FIELDS)
ZEEK_TYPES = (
    "time", "string", "addr", "port", "addr", "port", "enum", "string", "interval", "count", "count",
    "string", "bool", "bool", "count", "string", "count", "count", "count", "count", "set[string]",
)  # fmt: skip
_LETTERS = np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "S1")
_LBL_FLAGS = np.array(["", " L", " N", " NL"], object)
_HEADER_BYTES, _PACKET = 40, 1400
LBL_HOSTS = 1600
_LOSSY, _LOST_BYTES = 0.001, 2896
_REFUSAL_SECONDS = 0.00006
_PROTO = np.array([service.proto for service in SERVICES], object)
_NAME = np.array([service.name for service in SERVICES], object)


def zeek_header(day: np.datetime64) -> list[str]:
    """The lines Zeek opens a log with."""
    return [
        r"#separator \x09", "#set_separator\t,", "#empty_field\t(empty)", "#unset_field\t-", "#path\tconn",
        f"#open\t{day}-00-00-00", "#fields\t" + "\t".join(ZEEK_FIELDS), "#types\t" + "\t".join(ZEEK_TYPES),
    ]  # fmt: skip


def zeek_footer(day: np.datetime64) -> list[str]:
    """The line Zeek closes a log with."""
    return [f"#close\t{day + 1}-00-00-00"]


def plain_header() -> list[str]:
    """One line of column names."""
    return ["\t".join(PLAIN_FIELDS)]


def conn_lines(traffic: Traffic, day: np.datetime64, rng: np.random.Generator, by_end: bool) -> list[str]:
    """conn.log rows in order of time, or as Zeek writes them: when a connection is over."""
    proto, out, port = _PROTO[traffic.service], traffic.outgoing, traffic.port
    state, history = _endings(traffic, proto)
    counted = ~np.isin(state, ("S0", "OTH")) | ((state == "OTH") & traffic.answered)
    sent = np.where(state == "REJ", 0, traffic.sent)
    received = np.where(np.isin(state, ("REJ", "S0", "OTH")), 0, traffic.received)
    orig_packets = 1 + sent // _PACKET + np.where(state == "SF", 4, 0) * (proto == "tcp")
    resp_packets = np.where(np.isin(state, ("S0", "OTH")), 0, orig_packets + received // _PACKET)
    orig_port = np.where(proto == "icmp", port, traffic.local_port)  # there type and code, not ports

    def by_side(local: np.ndarray, remote: np.ndarray) -> tuple[pa.Array, pa.Array]:
        return pa.array(np.where(out, local, remote)), pa.array(np.where(out, remote, local))

    orig_host, resp_host = by_side(traffic.local, traffic.remote)
    orig_flag, resp_flag = by_side(traffic.local_flag, traffic.remote_flag)
    columns = [
        _stamps(traffic.ts, day), _uids(rng, len(proto)), orig_host, text(orig_port), resp_host, text(port),
        pa.array(proto),
        pa.array(np.where(counted & (state != "REJ"), _NAME[traffic.service], "-")),
        _or_dash(_seconds(np.where(state == "REJ", _REFUSAL_SECONDS, traffic.seconds)), counted),
        _or_dash(text(sent), counted), _or_dash(text(received), counted), pa.array(state), orig_flag,
        resp_flag,
        text(np.where(rng.random(len(proto)) < _LOSSY, _LOST_BYTES, 0)), pa.array(history),
        text(orig_packets), text(sent + _HEADER_BYTES * orig_packets), text(resp_packets),
        text(received + _HEADER_BYTES * resp_packets), pa.array(np.full(len(proto), "-", object)),
    ]  # fmt: skip
    lasted = np.where(counted & by_end, traffic.seconds * 1e6, 0).astype(np.int64)
    order = pa.array(np.lexsort((traffic.ts, traffic.ts + lasted)))
    return joined([column.take(order) for column in columns], "\t")


def _endings(traffic: Traffic, proto: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """conn_state and history: how a connection ended and the packets seen."""
    tcp, done, answered = proto == "tcp", traffic.completes, traffic.answered
    cases = [proto == "icmp", ~tcp & done, ~tcp, done, answered & (traffic.received == 0), answered]
    states = ["OTH", "SF", "S0", "SF", "REJ", "RSTO"]
    histories = ["-", "Dd", "D", "ShADadFf", "Sr", "ShADadFR"]
    state = np.select(cases, states, "S0").astype(object)
    return state, np.select(cases, histories, "S").astype(object)


def lbl_lines(traffic: Traffic, day: np.datetime64) -> list[str]:
    """LBL-CONN-7 rows in order of time: tcp only, services by name, local hosts numbered, '?' for missing."""
    proto = _PROTO[traffic.service]
    rows = np.flatnonzero(proto == "tcp")
    rows = rows[np.argsort(traffic.ts[rows], kind="stable")]
    state, _ = _endings(traffic, proto)
    known = (state == "SF")[rows]
    names = np.array([LBL_NAMES.get(port, "other") for port in traffic.port[rows]], object)
    outgoing = traffic.outgoing[rows]
    flag = 2 * (names == "nntp") + outgoing
    answered = known | traffic.answered[rows]
    ending = np.select([known, answered], ["SF", "REJ"], "S0").astype(object) + _LBL_FLAGS[flag]
    columns = [
        _stamps(traffic.ts[rows], day), _or_dash(_seconds(traffic.seconds[rows]), answered, "?"),
        pa.array(names), _or_dash(text(traffic.sent[rows]), known, "?"),
        _or_dash(text(traffic.received[rows]), known, "?"), text(1 + traffic.local_port[rows] % LBL_HOSTS),
        pa.array(traffic.remote[rows]), pa.array(ending),
    ]  # fmt: skip
    return joined(columns, " ")


def _stamps(micros: np.ndarray, day: np.datetime64) -> pa.Array:
    """Seconds since 1970 with six decimals, exact."""
    total = day.astype("datetime64[us]").astype(np.int64) + micros
    return pa.array([f"{t // 1_000_000}.{t % 1_000_000:06d}" for t in total.tolist()])


def _seconds(values: np.ndarray) -> pa.Array:
    return pa.array([f"{value:.6f}" for value in values.tolist()])


def _or_dash(values: pa.Array, known: np.ndarray, missing: str = "-") -> pa.Array:
    return pa.array(np.where(known, values.to_numpy(zero_copy_only=False), missing))


def _uids(rng: np.random.Generator, count: int) -> pa.Array:
    """Connection ids as Zeek makes them: C and some 17 letters and digits."""
    letters = _LETTERS[rng.integers(0, len(_LETTERS), (count, 17))]
    ids = np.ascontiguousarray(letters).view("S17").ravel().astype(str)
    return pa.array("C" + ids.astype(object))

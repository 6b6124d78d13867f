"""Generated connection logs: the three forms, plausible traffic, and dirt."""

import gzip
import ipaddress
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from skyarchive.generators import GenerateOptions, generate
from skyarchive.generators.dirt_tcp import ODD_SERVICES

SHARED = Path(__file__).parents[3] / "shared" / "data" / "tcp" / "conn_2024-04-19_21.log.gz"
DAY = "2024-04-19"
START = 1713484800
PLAIN = [
    "ts", "uid", "orig_h", "orig_p", "resp_h", "resp_p", "proto", "service", "duration", "orig_bytes",
    "resp_bytes", "conn_state", "local_orig", "local_resp", "missed_bytes", "history", "orig_pkts",
    "orig_ip_bytes", "resp_pkts", "resp_ip_bytes", "tunnel_parents",
]  # fmt: skip
TYPES = [
    "time", "string", "addr", "port", "addr", "port", "enum", "string", "interval", "count", "count",
    "string", "bool", "bool", "count", "string", "count", "count", "count", "count", "set[string]",
]  # fmt: skip


def lines_of(folder: Path, flavour: str, **options: Any) -> list[str]:
    day = "1993-09-16" if flavour == "lbl" else DAY
    [path] = generate("tcp", folder, GenerateOptions(seed=1, flavour=flavour, periods=[day], **options))
    assert path.name == (f"lbl-conn-{day}.txt.gz" if flavour == "lbl" else f"conn_{day}.log.gz")
    return gzip.decompress(path.read_bytes()).decode().removesuffix("\n").split("\n")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return lines_of(tmp_path_factory.mktemp("plain"), "plain")


@pytest.fixture(scope="module")
def frame(plain: list[str]) -> pd.DataFrame:
    return pd.DataFrame([line.split("\t") for line in plain[1:]], columns=PLAIN)


def remote_side(frame: pd.DataFrame) -> pd.Series:
    local = frame.orig_h.map(lambda host: host.startswith(("64.225.56.10", "10.", "192.168.", "172.16.", "fe80")))
    return frame.resp_h.where(local, frame.orig_h)


def test_the_plain_form_is_the_real_one(plain: list[str]) -> None:
    assert plain[0].split("\t") == PLAIN
    if SHARED.is_file():
        with gzip.open(SHARED, "rt") as real:
            assert next(real).rstrip("\n") == plain[0]


def test_the_zeek_form_is_what_zeek_writes(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, "zeek")
    fields = [f"id.{name}" if name[-2:] in ("_h", "_p") else name for name in PLAIN]
    assert lines[:8] == [
        "#separator \\x09", "#set_separator\t,", "#empty_field\t(empty)", "#unset_field\t-", "#path\tconn",
        f"#open\t{DAY}-00-00-00", "\t".join(["#fields", *fields]), "\t".join(["#types", *TYPES]),
    ]  # fmt: skip
    assert lines[-1] == "#close\t2024-04-20-00-00-00"
    assert not any(line.startswith("#") for line in lines[8:-1])


def test_zeek_and_plain_hold_the_same_connections_and_zeek_is_ordered_by_end(tmp_path: Path, plain: list[str]) -> None:
    zeek = lines_of(tmp_path, "zeek")[8:-1]
    assert sorted(zeek) == sorted(plain[1:])
    assert plain[1:] == sorted(plain[1:], key=lambda line: float(line.split("\t")[0]))
    assert zeek != plain[1:]


def test_every_value_has_its_form(frame: pd.DataFrame) -> None:
    assert frame.ts.str.fullmatch(r"\d{10}\.\d{6}").all()
    assert frame.ts.astype(float).between(START, START + 86400, inclusive="left").all()
    assert frame.uid.str.fullmatch(r"C[0-9A-Za-z]{17}").all() and frame.uid.is_unique
    for host in pd.concat([frame.orig_h, frame.resp_h]).unique():
        ipaddress.ip_address(host)
    for port in ("orig_p", "resp_p"):
        assert frame[port].astype(int).between(0, 65535).all()
    for column in ("duration", "orig_bytes", "resp_bytes"):
        assert frame[column].str.fullmatch(r"-|\d+(\.\d{6})?").all()
    assert set(frame.local_orig) == {"T", "F", "-"}
    missing = frame.duration == "-"
    assert (missing == (frame.orig_bytes == "-")).all() and 0.01 < missing.mean() < 0.3


def test_traffic_is_a_mix_of_protocols_directions_and_families(frame: pd.DataFrame) -> None:
    share = frame.proto.value_counts(normalize=True)
    assert set(share.index) == {"tcp", "udp", "icmp"} and share["tcp"] > 0.6
    said = frame[frame.local_orig != "-"]
    pairs = Counter(zip(said.local_orig, said.local_resp, strict=True))
    assert set(pairs) == {("T", "F"), ("F", "T"), ("T", "T"), ("F", "F")}
    assert pairs["F", "T"] > pairs["T", "F"] > 500
    unsaid = frame[frame.local_orig == "-"]
    private = [
        ipaddress.ip_address(a).is_private or ipaddress.ip_address(b).is_private
        for a, b in zip(unsaid.orig_h, unsaid.resp_h, strict=True)
    ]
    assert all(private) and len(private) > 100
    assert 0.01 < remote_side(frame).str.contains(":").mean() < 0.15
    assert {"SF", "REJ", "S0", "RSTO", "OTH"} <= set(frame.conn_state)


def test_a_remote_is_never_a_private_address_where_nothing_is_said(frame: pd.DataFrame) -> None:
    outside = remote_side(frame[(frame.local_orig == "-") & (frame.resp_h != "10.7.0.2")])
    assert not any(ipaddress.ip_address(host).is_private for host in outside.unique())


def test_the_day_has_a_rhythm_and_few_networks_do_much(frame: pd.DataFrame) -> None:
    assert 5000 < len(frame) < 7000
    hour = frame.ts.astype(float).sub(START).floordiv(3600)
    web = frame.resp_p.isin(["80", "443", "8080", "8443", "8000"]) & (frame.proto == "tcp")
    by_hour = hour[web].value_counts()
    assert by_hour[[13.0, 14.0, 15.0]].sum() > 3 * by_hour[[1.0, 2.0, 3.0]].sum()
    networks = remote_side(frame[frame.proto == "tcp"]).str.rsplit(".", n=1).str[0].value_counts()
    assert len(networks) > 200
    assert networks.iloc[:20].sum() > 0.3 * networks.sum()
    assert (networks == 1).sum() > 50


def test_networks_come_again_on_other_days_and_weekends_are_quieter(tmp_path: Path) -> None:
    days = generate("tcp", tmp_path, GenerateOptions(seed=1, flavour="plain"))
    frames = [pd.read_csv(day, sep="\t", dtype=str) for day in days]
    groups = [set(remote_side(frame).str.rsplit(".", n=1).str[0]) for frame in frames]
    assert len(groups[0] & groups[1]) > 0.5 * min(len(groups[0]), len(groups[1]))
    assert len(frames[0]) > 1.1 * len(frames[1])  # Friday and Saturday


def test_the_lbl_form(tmp_path: Path) -> None:
    lines = [line.split(" ") for line in lines_of(tmp_path, "lbl")]
    assert {len(fields) for fields in lines} == {8, 9}
    assert {fields[8] for fields in lines if len(fields) == 9} == {"L", "N", "NL"}
    stamps = [float(fields[0]) for fields in lines]
    assert stamps == sorted(stamps) and stamps[0] >= 748137600 and stamps[-1] < 748137600 + 86400
    assert {"http", "www", "smtp", "nntp", "telnet", "login", "shell", "other"} <= {f[2] for f in lines}
    assert 0.05 < sum(fields[3] == "?" for fields in lines) / len(lines) < 0.6
    assert all(fields[5].isdecimal() for fields in lines)
    assert all(ipaddress.ip_address(fields[6]).version == 4 for fields in lines)
    assert {fields[7] for fields in lines} == {"SF", "REJ", "S0"}


def conn_faults(line: str) -> set[str]:
    fields = line.split("\t")
    if len(fields) != len(PLAIN):
        return {f"fields {'+' if len(fields) > len(PLAIN) else '-'}"}
    found = set()
    try:
        if not START <= float(fields[0]) < START + 86400:
            found.add("day")
    except ValueError:
        found.add("no ts" if fields[0] == "-" else "ts")
    try:
        ipaddress.ip_address(fields[2]), ipaddress.ip_address(fields[4])
    except ValueError:
        found.add("no address" if fields[2] == "-" else "address")
    if not fields[5].isdecimal():
        found.add("negative" if fields[5].startswith("-") else "text")
    elif int(fields[5]) > 65535:
        found.add("port")
    return found


CONN_FAULTS = {
    "ts",
    "no ts",
    "day",
    "address",
    "no address",
    "port",
    "negative",
    "text",
    "fields +",
    "fields -",
}


@pytest.mark.parametrize(("size", "dirt"), [(1.0, True), (0.001, 0.0001)])
def test_dirt_has_each_fault_and_nothing_good_is_lost(tmp_path: Path, size: float, dirt: float) -> None:
    dirty = lines_of(tmp_path / "dirty", "zeek", size=size, dirt=dirt)[8:-1]
    clean = lines_of(tmp_path / "clean", "zeek", size=size)[8:-1]
    assert {fault for line in dirty for fault in conn_faults(line)} == CONN_FAULTS
    good = [line for line in dirty if not conn_faults(line)]
    odd = [line for line in good if line.split("\t")[7] in ODD_SERVICES]
    assert {line.split("\t")[7] for line in odd} == set(ODD_SERVICES)
    assert {line.split("\t")[6] for line in odd} == {"udp"}
    assert sorted(set(good) - set(odd)) == sorted(clean)
    faulty = [line.split("\t")[6] for line in dirty if conn_faults(line)]
    assert set(faulty) == {"tcp"}
    if size == 1.0:
        assert 0.005 * len(clean) < len(faulty) < 0.02 * len(clean)


def test_dirt_disorders_the_rows(tmp_path: Path) -> None:
    stamps = [
        float(line.split("\t")[0]) for line in lines_of(tmp_path, "plain", dirt=True)[1:] if not conn_faults(line)
    ]
    backward = sum(b < a - 3600 for a, b in pairwise(stamps))
    assert backward > 20


def test_lbl_dirt_has_each_fault(tmp_path: Path) -> None:
    dirty = [line.split(" ") for line in lines_of(tmp_path / "dirty", "lbl", size=0.01, dirt=True)]
    clean = {tuple(line.split(" ")) for line in lines_of(tmp_path / "clean", "lbl", size=0.01)}
    added = [fields for fields in dirty if tuple(fields) not in clean]
    assert len(dirty) - len(added) == len(clean)
    assert any(fields[0] == "?" for fields in added)
    assert any("x" in fields[0] for fields in added)
    assert any(fields[1] == "long" for fields in added)
    assert {4} < {len(fields) for fields in added} and max(len(fields) for fields in added) >= 11
    assert any(fields[0][0].isdigit() and float(fields[0]) < 748137600 for fields in added if "x" not in fields[0])

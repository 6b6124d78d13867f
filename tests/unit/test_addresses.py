"""The remote end of a connection: which side it is, and its group."""

import pyarrow as pa
import pytest

from skyarchive.steps.ingest.reading.addresses import remote_groups

Flag = str | None


def remotes(*connections: tuple[Flag, Flag, Flag, Flag]) -> list[tuple[Flag, bool, bool]]:
    """(remote, originator readable, responder readable) of (orig, resp, local_orig, local_resp)."""
    columns = (pa.array(column, pa.string()) for column in zip(*connections, strict=True))
    return list(zip(*(found.to_pylist() for found in remote_groups(*columns)), strict=True))


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("8.8.4.4", "8.8.4.0/24"),
        ("255.255.255.255", "255.255.255.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::9", "2001:db8:1:2::/64"),
        ("2a00:1450:4001:0830:0000:0000:0000:200e", "2a00:1450:4001:830::/64"),
        ("::1", "::/64"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_an_address_belongs_to_its_group(address: str, group: str) -> None:
    assert remotes(("9.9.9.9", address, "T", "F")) == [(group, True, True)]


@pytest.mark.parametrize(
    "text",
    ["", "host", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", " 1.2.3.4", "1.2.3.0/24", "1.2.3.4:80", "::g", None],
)
def test_what_is_no_address_has_no_group(text: Flag) -> None:
    assert remotes(("9.9.9.9", text, "T", "F")) == [(None, True, False)]
    assert remotes((text, "9.9.9.9", None, None)) == [("9.9.9.0/24", False, True)]


PRIVATE, PUBLIC, OTHER = "10.0.0.1", "8.8.8.8", "9.9.9.9"


@pytest.mark.parametrize(
    ("orig", "resp", "local_orig", "local_resp", "remote_is_orig"),
    [
        (PRIVATE, PUBLIC, "T", "F", False),
        (PUBLIC, PRIVATE, "F", "T", True),
        (PRIVATE, "10.1.0.1", "T", "T", False),
        (PUBLIC, OTHER, "F", "F", False),
        # Nothing said: a private address is local.
        (PRIVATE, PUBLIC, None, None, False),
        (PUBLIC, PRIVATE, None, None, True),
        (PRIVATE, "10.1.0.1", None, None, False),
        (PUBLIC, OTHER, None, None, False),
        # '-' is nothing said too.
        (PUBLIC, PRIVATE, "-", "-", True),
        (PUBLIC, PRIVATE, "-", None, True),
        # What is said counts against what the address looks like.
        (PUBLIC, PRIVATE, "F", "F", False),
        (PUBLIC, PRIVATE, "T", "T", False),
        (PUBLIC, OTHER, "F", "T", True),
        (PRIVATE, "10.1.0.1", "F", "T", True),
        # One said, the other told by the address.
        (PUBLIC, PRIVATE, "F", None, True),
        (PUBLIC, PRIVATE, None, "F", False),
        (PUBLIC, OTHER, None, "T", True),
        (PRIVATE, OTHER, None, "T", False),
    ],
)
def test_the_remote_is_the_responder_unless_only_the_responder_is_local(
    orig: str, resp: str, local_orig: Flag, local_resp: Flag, remote_is_orig: bool
) -> None:
    group = (orig if remote_is_orig else resp).rpartition(".")[0] + ".0/24"
    assert remotes((orig, resp, local_orig, local_resp)) == [(group, True, True)]


@pytest.mark.parametrize(
    ("address", "private"),
    [
        ("10.255.255.255", True), ("11.0.0.0", False), ("9.255.255.255", False),
        ("172.16.0.1", True), ("172.31.255.255", True), ("172.15.255.255", False), ("172.32.0.0", False),
        ("192.168.0.1", True), ("192.169.0.1", False), ("192.167.255.255", False),
        ("127.0.0.1", True), ("169.254.3.4", True),
        ("fd00::1", True), ("fc00::1", True), ("fe80::1", True), ("::1", True), ("2a00:1450::1", False),
    ],
)  # fmt: skip
def test_private_addresses_are_local(address: str, private: bool) -> None:
    [(remote, _, _)] = remotes((PUBLIC, address, None, None))
    assert (remote == "8.8.8.0/24") == private


def test_many_connections_keep_their_places() -> None:
    rows = [
        (PUBLIC, PRIVATE, None, None),
        (PRIVATE, OTHER, "-", "-"),
        ("x", None, None, None),
        (PUBLIC, PRIVATE, "F", "F"),
    ]
    once = [("8.8.8.0/24", True, True), ("9.9.9.0/24", True, True), (None, False, False), ("10.0.0.0/24", True, True)]
    assert remotes(*rows * 100) == once * 100


def test_nothing_is_nothing() -> None:
    nothing = pa.array([], pa.string())
    assert [len(found) for found in remote_groups(nothing, nothing, nothing, nothing)] == [0, 0, 0]

"""The remote end of a connection: which side it is, and the address group it belongs to."""

import ipaddress
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

_IPV6_BITS = 64


@lru_cache(maxsize=1 << 18)
def _group(text: str) -> str | None:
    """IPv4 /24 or IPv6 /64 as CIDR text; None if it is no address."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if address.version == 4:
        return f"{text.rpartition('.')[0]}.0/24"
    return str(ipaddress.ip_network((address, _IPV6_BITS), strict=False))


@lru_cache(maxsize=1 << 18)
def _is_private(text: str) -> bool:
    return _group(text) is not None and ipaddress.ip_address(text).is_private


def _groups(addresses: pa.Array) -> pa.Array:
    """Each address's group, null where it is none. Logs name few addresses many times: each is parsed once."""
    encoded = pc.dictionary_encode(addresses)
    groups = pa.array([_group(text) for text in encoded.dictionary.to_pylist()], pa.string())
    return pc.take(groups, encoded.indices)


def _locals(flags: pa.Array, addresses: pa.Array) -> pa.Array:
    """Zeek's own word where it gives one, else whether the address is private."""
    said = pc.fill_null(pc.is_in(flags, pa.array(["T", "F"])), False)
    unsaid = pc.dictionary_encode(pc.if_else(said, pa.scalar(None, pa.string()), addresses))
    private = pa.array([_is_private(text) for text in unsaid.dictionary.to_pylist()], pa.bool_())
    return pc.if_else(said, pc.equal(flags, "T"), pc.fill_null(pc.take(private, unsaid.indices), False))


def remote_groups(
    orig: pa.Array, resp: pa.Array, local_orig: pa.Array, local_resp: pa.Array
) -> tuple[pa.Array, pa.Array, pa.Array]:
    """The remote group of each connection (the responder's, unless only the responder is local),
    and whether the originator and the responder are addresses at all."""
    orig_group, resp_group = _groups(orig), _groups(resp)
    inward = pc.and_not(_locals(local_resp, resp), _locals(local_orig, orig))
    remote = pc.if_else(inward, orig_group, resp_group)
    return remote, pc.is_valid(orig_group), pc.is_valid(resp_group)

"""The remote end of a connection: which side it is, and the address group it belongs to."""

import ipaddress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_GROUP_BITS = {4: 24, 6: 64}


def parsed(addresses: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """Each address's group as CIDR text (null where it is no address), and whether it is private.

    Logs name few addresses many times, so each distinct one is parsed once.
    """
    encoded = pc.dictionary_encode(addresses)
    groups: list[str | None] = []
    private: list[bool] = []
    for text in encoded.dictionary.to_pylist():
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            groups.append(None)
            private.append(False)
            continue
        network = ipaddress.ip_network((address, _GROUP_BITS[address.version]), strict=False)
        groups.append(str(network))
        private.append(address.is_private)
    indices = encoded.indices
    is_private = pc.fill_null(pc.take(pa.array(private, pa.bool_()), indices), False)
    return pc.take(pa.array(groups, pa.string()), indices), np.asarray(is_private)


def _is_local(flags: pa.Array, private: np.ndarray) -> np.ndarray:
    """Zeek's own word where it gives one, else a private address."""
    said = np.asarray(pc.fill_null(pc.is_in(flags, pa.array(["T", "F"])), False))
    true = np.asarray(pc.fill_null(pc.equal(flags, "T"), False))
    return np.where(said, true, private)


def remote_groups(
    orig: pa.Array, resp: pa.Array, local_orig: pa.Array, local_resp: pa.Array
) -> tuple[pa.Array, pa.Array, pa.Array]:
    """The remote group of each connection (the responder's, unless only the responder is local),
    and whether the originator and the responder are addresses at all."""
    orig_group, orig_private = parsed(orig)
    resp_group, resp_private = parsed(resp)
    inward = _is_local(local_resp, resp_private) & ~_is_local(local_orig, orig_private)
    remote = pc.if_else(pa.array(inward), orig_group, resp_group)
    return remote, pc.is_valid(orig_group), pc.is_valid(resp_group)

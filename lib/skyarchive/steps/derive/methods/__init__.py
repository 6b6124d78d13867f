"""From raw rows to the update log: derive(carry in, a chain of periods' rows) -> updates, carry out."""

from collections.abc import Callable

from skyarchive.steps.derive.methods.career import derive_career
from skyarchive.steps.derive.methods.log import derive_log
from skyarchive.steps.derive.methods.market import derive_market
from skyarchive.steps.derive.methods.parts import Chain, Derived
from skyarchive.steps.derive.methods.traffic import derive_traffic

__all__ = ["Chain", "Derived", "derive_chain"]

_METHODS: dict[str, Callable[[Chain], Derived]] = {
    "updates": derive_log,
    "snapshots": derive_log,
    "career": derive_career,
    "market": derive_market,
    "traffic": derive_traffic,
}


def derive_chain(chain: Chain) -> Derived:
    """The chain's snapshots, updates, objects and carries, by the method its definition names."""
    return _METHODS[chain.definition.derive.method](chain)

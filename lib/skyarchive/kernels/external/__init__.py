"""Skylines of more rows than memory holds: RAND in its variants, and the methods it is measured against.

The compiled parts work on plain arrays as all kernels do; the rows stream past them from disk, batch by batch.
"""

from skyarchive.kernels.external.counters import Counters
from skyarchive.kernels.external.finding import Found, Method, external_skyline

__all__ = ["Counters", "Found", "Method", "external_skyline"]

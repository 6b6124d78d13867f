"""All columns of a log for compiled code, however many there are.

numba compiles anew for every number of arrays it is given. One array with the addresses of the columns is compiled
for once; nothing is copied.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from skyarchive.kernels.compiling import inlined

_RUN = 8
"""Rows of a sample that are neighbours: they come from memory together."""


class Columns:
    """Columns of float64 of one length, each in one piece; they live as long as this does."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        self.arrays = tuple(arrays)
        self.addresses = np.array([array.ctypes.data for array in self.arrays], np.uintp)

    def __len__(self) -> int:
        return len(self.arrays)


@intrinsic
def _pointer(_context: Any, address: Any) -> Any:
    """A number as the address of floats."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.float64)(address), generate


@inlined
def column(addresses, axis):  # type: ignore[no-untyped-def]
    """One column, to read rows of it that the caller knows to exist: nothing is checked, and no row counts from the
    end."""
    return _pointer(addresses[axis])  # type: ignore[call-arg]


@inlined
def fill_sample(addresses, begin, length, sample):  # type: ignore[no-untyped-def]
    """Takes points of `length` rows from `begin` on into `sample`, a row of it per column: runs at even distances.
    Gives how many."""
    run = min(length, _RUN)
    n_runs = min(length, sample.shape[1]) // run
    for axis in range(len(sample)):
        values = column(addresses, axis)
        for place in range(n_runs):
            start = begin + place * (length - run) // n_runs
            for at in range(run):
                sample[axis, place * run + at] = values[start + at]
    return n_runs * run

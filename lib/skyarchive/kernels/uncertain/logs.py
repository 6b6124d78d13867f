"""Products of probabilities as sums of whole numbers: adding a factor and taking it out again is exact.

So nothing drifts, however many records come and go, and nothing underflows, however many beat one; a product that had
become 0 would never come back. A factor that rules out every threshold by itself, such as the 0 of a certain record,
counts as just below what rules it out: sums stay finite, and without it all is as it was.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyarchive.kernels.compiling import inlined
from skyarchive.kernels.uncertain.checking import SLACK, Stream, Thresholds

UNIT = 2.0**-42
"""Of a natural logarithm: a factor is right to 1e-13, and a million records that each halve a chance fit int64."""
_BEYOND = 1.0
"""How far below the lowest threshold a factor is put that rules out all."""


@dataclass(frozen=True)
class Logs:
    """A stream's probabilities and thresholds, as logarithms in units."""

    own: NDArray[np.int64]
    """Of P."""
    doubt: NDArray[np.int64]
    """Of 1 - P."""
    levels: NDArray[np.int64]
    """Of the thresholds, lowered by the slack, from the lowest up."""
    floor: int
    """Records are kept while the product over younger ones is at least this."""


def logs_of(stream: Stream, thresholds: Thresholds) -> Logs:
    levels = np.log(thresholds.lowered)
    floor = float(levels[0]) + np.log1p(-SLACK)
    with np.errstate(divide="ignore"):
        doubt = np.maximum(np.log1p(-stream.probability), floor - _BEYOND)
    return Logs(_units(np.log(stream.probability)), _units(doubt), _units(levels), int(_units(floor)))


def _units(values: Any) -> Any:
    return np.rint(values / UNIT).astype(np.int64)


@inlined
def probability_of(units):  # type: ignore[no-untyped-def]
    return np.exp(units * UNIT)

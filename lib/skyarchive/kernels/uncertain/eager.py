"""What the methods that look at a record at every change keep of it, and how they write down its stays."""

import numpy as np

from skyarchive.kernels.compiling import inlined
from skyarchive.kernels.uncertain.logs import probability_of
from skyarchive.kernels.uncertain.stays import TOLD

STANDING = np.dtype(
    [
        ("older", np.int64),  # the logarithm of the product over older ones that beat it
        ("younger", np.int64),  # the same over younger ones
        ("reached", np.int64),  # thresholds
        ("touched", np.int64),  # whether this moment changed it; in a tree, its node instead
    ]
)
GONE = np.int64(np.iinfo(np.int64).min)
"""Instead of a logarithm: it is not there."""


@inlined
def judge(standing, spans, levels, told, tally, at, moment, chance):  # type: ignore[no-untyped-def]
    """The moment is complete, and the record's chance is this: what it leaves and enters."""
    record = standing[at]
    while record.reached > 0 and chance < levels[record.reached - 1]:
        record.reached -= 1
        span = spans[at, record.reached]
        stay = told[np.uintp(tally[TOLD])]
        stay.threshold = record.reached
        stay.record = at
        stay.entered = span.entered
        stay.left = moment
        stay.probability = span.probability
        stay.greatest = span.greatest
        tally[TOLD] += 1
    if chance < levels[0]:
        return
    probability = probability_of(chance)
    for level in range(record.reached):
        span = spans[at, level]
        span.greatest = max(span.greatest, probability)
    while record.reached < len(levels) and chance >= levels[record.reached]:
        span = spans[at, record.reached]
        span.entered = moment
        span.probability = probability
        span.greatest = probability
        record.reached += 1

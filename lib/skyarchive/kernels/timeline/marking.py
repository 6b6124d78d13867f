"""Which rows of a log are beyond the corners of a few pruners: looked at for every row there is, so by the column.

No branch, and all columns in one pass where they are at most six: then it does not matter beyond which corner a row
is, and not to keep that in mind takes a third less time. NaN is beyond nothing.
"""

import numpy as np

from skyarchive.kernels.columns import column
from skyarchive.kernels.compiling import inlined

PRUNERS = 4
_EVERY_PRUNER = (1 << PRUNERS) - 1


@inlined
def _mark_by_three(mask, start, x, y, z, a, b, c):  # type: ignore[no-untyped-def]
    """By three columns; a, b, c are what the corners have there."""
    a0, a1, a2, a3 = a[0], a[1], a[2], a[3]
    b0, b1, b2, b3 = b[0], b[1], b[2], b[3]
    c0, c1, c2, c3 = c[0], c[1], c[2], c[3]
    for at in range(len(mask)):
        i, j, k = x[start + at], y[start + at], z[start + at]
        mask[at] = (
            ((i >= a0) & (j >= b0) & (k >= c0))
            | ((i >= a1) & (j >= b1) & (k >= c1))
            | ((i >= a2) & (j >= b2) & (k >= c2))
            | ((i >= a3) & (j >= b3) & (k >= c3))
        )


@inlined
def _mark_by_six(mask, start, u, v, w, x, y, z, a, b, c, d, e, f):  # type: ignore[no-untyped-def]
    """By six columns; a, b, c, d, e, f are what the corners have there."""
    a0, a1, a2, a3 = a[0], a[1], a[2], a[3]
    b0, b1, b2, b3 = b[0], b[1], b[2], b[3]
    c0, c1, c2, c3 = c[0], c[1], c[2], c[3]
    d0, d1, d2, d3 = d[0], d[1], d[2], d[3]
    e0, e1, e2, e3 = e[0], e[1], e[2], e[3]
    f0, f1, f2, f3 = f[0], f[1], f[2], f[3]
    for at in range(len(mask)):
        i, j, k = u[start + at], v[start + at], w[start + at]
        p, q, r = x[start + at], y[start + at], z[start + at]
        mask[at] = (
            ((i >= a0) & (j >= b0) & (k >= c0) & (p >= d0) & (q >= e0) & (r >= f0))
            | ((i >= a1) & (j >= b1) & (k >= c1) & (p >= d1) & (q >= e1) & (r >= f1))
            | ((i >= a2) & (j >= b2) & (k >= c2) & (p >= d2) & (q >= e2) & (r >= f2))
            | ((i >= a3) & (j >= b3) & (k >= c3) & (p >= d3) & (q >= e3) & (r >= f3))
        )


@inlined
def _narrow(mask, start, x, y, z, a, b, c):  # type: ignore[no-untyped-def]
    """Leaves in each row's mask, a bit per pruner, those beyond whose corners it is on three more columns."""
    a0, a1, a2, a3 = a[0], a[1], a[2], a[3]
    b0, b1, b2, b3 = b[0], b[1], b[2], b[3]
    c0, c1, c2, c3 = c[0], c[1], c[2], c[3]
    for at in range(len(mask)):
        i, j, k = x[start + at], y[start + at], z[start + at]
        mask[at] &= (
            np.uint8((i >= a0) & (j >= b0) & (k >= c0))
            | np.uint8(np.uint8((i >= a1) & (j >= b1) & (k >= c1)) << 1)
            | np.uint8(np.uint8((i >= a2) & (j >= b2) & (k >= c2)) << 2)
            | np.uint8(np.uint8((i >= a3) & (j >= b3) & (k >= c3)) << 3)
        )


@inlined
def mark_pruned(addresses, start, corners, mask):  # type: ignore[no-untyped-def]
    """Makes `mask` other than 0 for those of the rows from `start` on that are beyond a corner on every attribute."""
    final = corners.shape[1] - 1
    if final < 3:
        y, z = min(1, final), min(2, final)  # the last attribute again where there is none
        columns = column(addresses, 0), column(addresses, y), column(addresses, z)
        _mark_by_three(mask, start, *columns, corners[:, 0], corners[:, y], corners[:, z])
    elif final < 6:
        y, z = min(4, final), min(5, final)
        three = column(addresses, 0), column(addresses, 1), column(addresses, 2)
        others = column(addresses, 3), column(addresses, y), column(addresses, z)
        best = corners[:, 0], corners[:, 1], corners[:, 2]
        _mark_by_six(mask, start, *three, *others, *best, corners[:, 3], corners[:, y], corners[:, z])
    else:
        mask[:] = _EVERY_PRUNER
        for x in range(0, final + 1, 3):
            y, z = min(x + 1, final), min(x + 2, final)
            columns = column(addresses, x), column(addresses, y), column(addresses, z)
            _narrow(mask, start, *columns, corners[:, x], corners[:, y], corners[:, z])

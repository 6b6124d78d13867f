"""Who is whose witness: each beaten node has one, and each node a list of those it is the witness of.

One table, a row per node, so that a node's links share a cache line.
"""

import numpy as np

from skyarchive.kernels.compiling import inlined

WITNESS, HEAD, AFTER, BEFORE, FLAGS = 0, 1, 2, 3, 4
"""Columns: the node that beats this one (or what follows), the first of those it beats, and the neighbours in the
list it stands in itself; flags are the caller's."""
ABSENT, MEMBER, IN_BETWEEN = -2, -1, -3
"""In WITNESS, of a node that nobody is known to beat: it is not there, it is unbeaten, or a change is under way."""
NOBODY = -1
_PLACES = 8
"""So many that no row lies across two cache lines."""


def new_links(n_nodes: int) -> np.ndarray:
    links = np.full((n_nodes, _PLACES), NOBODY, np.int32)
    links[:, WITNESS] = ABSENT
    links[:, FLAGS] = 0
    return links


@inlined
def link(links, node, witness):  # type: ignore[no-untyped-def]
    """From now on `witness` answers for `node` being beaten."""
    first = links[witness, HEAD]
    links[node, WITNESS] = witness
    links[node, AFTER] = first
    links[node, BEFORE] = NOBODY
    if first != NOBODY:
        links[first, BEFORE] = node
    links[witness, HEAD] = node


@inlined
def unlink(links, node):  # type: ignore[no-untyped-def]
    """Takes a beaten node off its witness's list; the caller says at once what becomes of it."""
    previous, following = links[node, BEFORE], links[node, AFTER]
    if previous != NOBODY:
        links[previous, AFTER] = following
    else:
        links[links[node, WITNESS], HEAD] = following
    if following != NOBODY:
        links[following, BEFORE] = previous

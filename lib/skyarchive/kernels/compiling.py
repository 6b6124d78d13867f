"""How the kernels are compiled.

Compiled code is kept on disk and shared by all processes, so it must not depend on anything made at run time: every
kernel is a plain function of its module. It counts no references and allocates nothing (numba counts them with
locked instructions at every call, which would cost more than the work), so kernels fill the arrays they are given.

numba looks only at an entry point's own file to see whether its compiled code is still good. After a change in a
function that entry points of other files call, remove the compiled files (`make clean`).
"""

from typing import Any

from numba import njit

_PLAIN: dict[str, Any] = {"_nrt": False}
"""No reference counts: numba's own name for it, which its type hints do not tell."""
_INTERNAL: dict[str, Any] = {**_PLAIN, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

entry_point = njit(cache=True, **_PLAIN)
"""A function that Python calls."""
inner = njit(**_INTERNAL)
"""A function that only kernels call."""
inlined = njit(forceinline=True, **_INTERNAL)
"""The same, made part of each caller: for the few lines that everything depends on."""

"""How the kernels are compiled.

Compiled code is kept on disk and shared by all processes, so it must not depend on anything made at run time: every
kernel is a plain function of its module. It counts no references and allocates nothing (numba counts them with
locked instructions at every call, which would cost more than the work), so kernels fill the arrays they are given.
"""

import hashlib
import os
from pathlib import Path
from typing import Any

from numba import config, njit, types
from numba.extending import intrinsic

_SOURCES = Path(__file__).parent


def _folder() -> Path:
    """Where compiled code is kept: one folder for each state of the sources. numba itself would look only at an
    entry point's own file, and go on with old code after a change in what that calls."""
    digest = hashlib.sha256()
    for source in sorted(_SOURCES.rglob("*.py")):
        digest.update(source.read_bytes())
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        base = Path(chosen)
    elif os.access(_SOURCES, os.W_OK):
        base = _SOURCES / "__pycache__"
    else:
        base = Path.home() / ".cache" / "skyarchive"
    return base / f"compiled-{digest.hexdigest()[:12]}"


config.CACHE_DIR = str(_folder())  # type: ignore[attr-defined]

_PLAIN: dict[str, Any] = {"_nrt": False}
"""No reference counts: numba's own name for it, which its type hints do not tell."""
_INTERNAL: dict[str, Any] = {**_PLAIN, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

entry_point = njit(cache=True, **_PLAIN)
"""A function that Python calls."""
allocating = njit(cache=True)
"""The same, for one that makes its own arrays."""
inner = njit(**_INTERNAL)
"""A function that only kernels call."""
inlined = njit(forceinline=True, **_INTERNAL)
"""The same, made part of each caller: for the few lines that everything depends on."""


@intrinsic
def keep_apart(_context: Any) -> Any:
    """In a kernel's first line: it stays a function of its own. Made part of a large caller, a tight loop runs out of
    registers and fetches its tables' addresses from memory for every row."""

    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), generate

"""Asking the processor for what is needed soon, so that it does not wait for memory when it is needed now."""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from skyarchive.kernels.compiling import inlined

_TO_READ, _KEEP, _DATA = 0, 3, 1
"""llvm.prefetch's words: for reading, into all caches, not code."""


@intrinsic
def _prefetch(_context: Any, table: Any, row: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, value=arguments[0])
        number = context.cast(builder, arguments[1], signature.args[1], types.intp)
        place = [number, *[context.get_constant(types.intp, 0)] * (signature.args[0].ndim - 1)]
        pointer = cgutils.get_item_pointer(context, builder, signature.args[0], array, place, wraparound=False)
        words = [ir.IntType(32)] * 3
        prefetch = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, *words]), "llvm.prefetch.p0"
        )
        how = [ir.Constant(word, value) for word, value in zip(words, (_TO_READ, _KEEP, _DATA), strict=True)]
        builder.call(prefetch, [builder.bitcast(pointer, cgutils.voidptr_t), *how])
        return context.get_dummy_value()

    return types.void(table, row), generate


@inlined
def fetch(table, row):  # type: ignore[no-untyped-def]
    """Begins to load the start of a row of a table, or an element of a list; one that is not there does no harm."""
    _prefetch(table, row)  # type: ignore[call-arg]

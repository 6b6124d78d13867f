"""64 one-byte codes to a comparison, and the bits that it gives.

Written as instructions on vectors, which every processor that numba knows carries out with what it has: the loop that
says the same is not made into them. All bits are kept in int64; with unsigned numbers numba falls into float64.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES = 64
"""Records to a block: as many as a machine word has bits."""
ALL = -1
"""Every bit set."""

_BYTE, _WORD = ir.IntType(8), ir.IntType(64)
_VECTOR = ir.VectorType(_BYTE, LANES)


def _compare(operator: str) -> Any:
    """The code of: which of the 64 bytes from `place` on stand so to `code`."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        table, place, code = arguments
        block = builder.load(builder.bitcast(builder.gep(table, [place]), _VECTOR.as_pointer()), align=1)
        single = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), code, ir.Constant(ir.IntType(32), 0))
        everywhere = builder.shuffle_vector(
            single, ir.Constant(_VECTOR, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
        )
        return builder.bitcast(builder.icmp_unsigned(operator, block, everywhere), _WORD)

    return generate


@intrinsic
def start(_context: Any, table: Any) -> Any:
    """A table as one row from its first value on. Handed from kernel to kernel it is a single number, where an array
    is a dozen; and no place in it counts from the end."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(table.dtype)(table), generate


@intrinsic
def at_most(_context: Any, table: Any, place: Any, code: Any) -> Any:
    """Which of the 64 codes from `place` on, are `code` or less."""
    return types.int64(table, types.intp, types.uint8), _compare("<=")


@intrinsic
def at_least(_context: Any, table: Any, place: Any, code: Any) -> Any:
    """Which of the 64 codes from `place` on are `code` or more."""
    return types.int64(table, types.intp, types.uint8), _compare(">=")


@intrinsic
def lowest(_context: Any, bits: Any) -> Any:
    """The number of the lowest bit set; there is one."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@intrinsic
def highest(_context: Any, bits: Any) -> Any:
    """The number of the highest bit set; there is one."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        leading = builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))
        return builder.sub(ir.Constant(_WORD, LANES - 1), leading)

    return types.int64(types.int64), generate


@intrinsic
def count(_context: Any, bits: Any) -> Any:
    """How many bits are set."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@intrinsic
def bits_of(_context: Any, value: Any) -> Any:
    """A float's bits: of floats that are not negative, the greater has the greater bits."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], _WORD)

    return types.int64(types.float64), generate


@intrinsic
def after(_context: Any, table: Any, places: Any) -> Any:
    """The row that begins so many places after the start of another."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return table(table, types.intp), generate

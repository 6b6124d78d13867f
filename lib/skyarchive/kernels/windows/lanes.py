"""64 one-byte codes to a comparison, and the bits that it gives.

Written as instructions on vectors, which every processor that numba knows carries out with what it has: the loop that
says the same is not made into them. All bits are kept in int64; with unsigned numbers numba falls into float64.
"""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as _intrinsic

intrinsic: Any = _intrinsic  # its type hints do not tell that what it makes is called without the context

LANES = 64
"""Records to a block: as many as a machine word has bits."""
ALL = -1
"""Every bit set."""

_BYTE, _WORD, _INDEX = ir.IntType(8), ir.IntType(64), ir.IntType(32)
_VECTOR, _MASK = ir.VectorType(_BYTE, LANES), ir.VectorType(ir.IntType(1), LANES)
_NOWHERE, _FIRST = ir.Constant(_VECTOR, ir.Undefined), ir.Constant(ir.VectorType(_INDEX, LANES), None)


def _compared(builder: Any, arguments: Any, operators: tuple[str, ...]) -> list[Any]:
    """The code of: which of the lanes marked stand so to a point on every attribute, for each of some operators."""
    table, block, point, axes, bits = arguments
    found = [cgutils.alloca_once_value(builder, builder.bitcast(bits, _MASK)) for _ in operators]
    start = builder.gep(table, [builder.mul(builder.mul(block, axes), ir.Constant(_WORD, LANES))])
    with cgutils.for_range(builder, axes) as loop:
        place = builder.mul(loop.index, ir.Constant(_WORD, LANES))
        codes = builder.load(builder.bitcast(builder.gep(start, [place]), _VECTOR.as_pointer()), align=1)
        code = builder.load(builder.gep(point, [loop.index]))
        single = builder.insert_element(_NOWHERE, code, ir.Constant(_INDEX, 0))
        everywhere = builder.shuffle_vector(single, _NOWHERE, _FIRST)
        for mask, operator in zip(found, operators, strict=True):
            builder.store(builder.and_(builder.load(mask), builder.icmp_unsigned(operator, codes, everywhere)), mask)
    return [builder.bitcast(builder.load(mask), _WORD) for mask in found]


@intrinsic
def at_most(_context: Any, table: Any, block: Any, point: Any, axes: Any, bits: Any) -> Any:
    """Those of the lanes marked of a block of codes that are nowhere more than a point's codes."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _compared(builder, arguments, ("<=",))[0]

    return types.int64(table, types.int64, point, types.int64, types.int64), generate


@intrinsic
def at_least(_context: Any, table: Any, block: Any, point: Any, axes: Any, bits: Any) -> Any:
    """Those that are nowhere less."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _compared(builder, arguments, (">=",))[0]

    return types.int64(table, types.int64, point, types.int64, types.int64), generate


@intrinsic
def at_most_and_least(_context: Any, table: Any, block: Any, point: Any, axes: Any, bits: Any) -> Any:
    """Both, for the price of reading once."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        both = _compared(builder, arguments, ("<=", ">="))
        return context.make_tuple(builder, signature.return_type, both)

    return types.UniTuple(types.int64, 2)(table, types.int64, point, types.int64, types.int64), generate


@intrinsic
def start(_context: Any, table: Any) -> Any:
    """A table as one row from its first value on. Handed from kernel to kernel it is a single number, where an array
    is a dozen; and no place in it counts from the end."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(table.dtype)(table), generate


@intrinsic
def after(_context: Any, table: Any, places: Any) -> Any:
    """The row that begins so many places after the start of another."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return table(table, types.intp), generate


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

"""Vectors of eight numbers for compiled loops: a numba type with arithmetic, loads and stores.

Numba's compiler vectorizes loops only if it can prove that nothing overlaps, which it cannot for the steps of
a Fourier transform. Here the vectors are written down. Machines with narrower registers take two or four of them.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from gnomon.core.machine.loops import FAST_MATH_FLAGS
from gnomon.scattering.packed import SIGNALS_PER_VECTOR

_intrinsic: Any = intrinsic  # typed Any, because numba passes the first argument itself, which mypy cannot see


class Lanes(types.Type):
    """A numba type: a vector of ``SIGNALS_PER_VECTOR`` numbers of one dtype."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        number = manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(number, SIGNALS_PER_VECTOR))


def _arithmetic(operation: Any, instruction: str) -> None:
    """Defines an arithmetic operation on vectors of eight numbers for numba."""

    @type_callable(operation)
    def _(context):
        return lambda a, b: a if isinstance(a, Lanes) and a == b else None

    @lower_builtin(operation, Lanes, Lanes)
    def _(context, builder, signature, arguments):
        return getattr(builder, instruction)(*arguments, flags=sorted(FAST_MATH_FLAGS))


for _operation, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _arithmetic(_operation, _instruction)


@_intrinsic
def pointer(typing_context, array):
    """Returns the address of the data of a contiguous array, without the cost of reference counting.

    Hypotheses: the caller holds the array while it is used; arguments of an entry are held by Python.
    """

    def generate(context, builder, signature, arguments):
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


@_intrinsic
def load(typing_context, numbers, place):
    """Returns the vector of eight numbers that begins at a position of an array."""

    def generate(context, builder, signature, arguments):
        where, size = _lanes_at(context, builder, signature, arguments)
        return builder.load(where, align=size)

    return Lanes(numbers.dtype)(numbers, types.intp), generate


@_intrinsic
def store(typing_context, numbers, place, lanes):
    """Stores a vector of eight numbers at a position of an array."""

    def generate(context, builder, signature, arguments):
        where, size = _lanes_at(context, builder, signature, arguments)
        builder.store(arguments[2], where, align=size)
        return context.get_dummy_value()

    return types.void(numbers, types.intp, lanes), generate


def _lanes_at(context: Any, builder: Any, signature: Any, arguments: Any) -> tuple[Any, int]:
    """Returns the memory address of a vector, and the number of bytes per entry."""
    dtype = signature.args[0].dtype
    kind = ir.VectorType(context.get_value_type(dtype), SIGNALS_PER_VECTOR)
    return builder.bitcast(builder.gep(arguments[0], [arguments[1]]), kind.as_pointer()), dtype.bitwidth // 8


@_intrinsic
def spread(typing_context, numbers, value):
    """Returns a vector with the same value in all entries."""

    def generate(context, builder, signature, arguments):
        dtype = signature.args[0].dtype
        kind = ir.VectorType(context.get_value_type(dtype), SIGNALS_PER_VECTOR)
        scalar = context.cast(builder, arguments[1], signature.args[1], dtype)
        one = builder.insert_element(ir.Constant(kind, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), SIGNALS_PER_VECTOR), [0] * SIGNALS_PER_VECTOR)
        return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)

    return Lanes(numbers.dtype)(numbers, value), generate


@_intrinsic
def root(typing_context, lanes):
    """Returns the square root of each entry of a vector."""

    def generate(context, builder, signature, arguments):
        kind, name = arguments[0].type, f"llvm.sqrt.v{SIGNALS_PER_VECTOR}f{lanes.dtype.bitwidth}"
        known = builder.module.globals.get(name)
        return builder.call(known or ir.Function(builder.module, ir.FunctionType(kind, [kind]), name), arguments)

    return lanes(lanes), generate


@_intrinsic
def fetch(typing_context, numbers, place):
    """Prefetches memory at an address into the second-level cache."""

    def generate(context, builder, signature, arguments):
        byte, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        where = builder.bitcast(builder.gep(arguments[0], [arguments[1]]), byte)
        # Arguments of LLVM's prefetch: 0 means read access, 2 the second-level cache, and 1 data.
        builder.call(ask, [where, *(ir.Constant(whole, number) for number in (0, 2, 1))])
        return context.get_dummy_value()

    return types.void(numbers, types.intp), generate

"""Eight numbers that compiled loops handle as one: a type for numba, with arithmetic, loads and stores.

Numba's compiler makes vectors of loops only where it can prove that nothing overlaps, which it cannot for the steps of
a Fourier transform. Here the vectors are written down. Machines with narrower registers take two or four of them.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from gnomon.core.machine.loops import ARITHMETIC
from gnomon.scattering.packed import SIGNALS_PER_VECTOR

_intrinsic: Any = intrinsic  # its type asks callers for the compiler's context, which the compiler adds


class Lanes(types.Type):
    """The type of ``SIGNALS_PER_VECTOR`` numbers of one dtype."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        number = manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(number, SIGNALS_PER_VECTOR))


def _arithmetic(operation: Any, instruction: str) -> None:
    """Teach numba an operation between lanes of one dtype."""

    @type_callable(operation)
    def _(context):
        return lambda a, b: a if isinstance(a, Lanes) and a == b else None

    @lower_builtin(operation, Lanes, Lanes)
    def _(context, builder, signature, arguments):
        return getattr(builder, instruction)(*arguments, flags=sorted(ARITHMETIC))


for _operation, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _arithmetic(_operation, _instruction)


@_intrinsic
def pointer(typing_context, array):
    """Where the numbers of a contiguous array are. Loops that pass arrays on count references to them; this has none.

    Hypotheses: the caller holds the array while it is used; arguments of an entry are held by Python.
    """

    def generate(context, builder, signature, arguments):
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


@_intrinsic
def load(typing_context, numbers, place):
    """The lanes that begin at a place."""

    def generate(context, builder, signature, arguments):
        where, size = _lanes_at(context, builder, signature, arguments)
        return builder.load(where, align=size)

    return Lanes(numbers.dtype)(numbers, types.intp), generate


@_intrinsic
def store(typing_context, numbers, place, lanes):
    """Write lanes from a place on."""

    def generate(context, builder, signature, arguments):
        where, size = _lanes_at(context, builder, signature, arguments)
        builder.store(arguments[2], where, align=size)
        return context.get_dummy_value()

    return types.void(numbers, types.intp, lanes), generate


def _lanes_at(context: Any, builder: Any, signature: Any, arguments: Any) -> tuple[Any, int]:
    """Where lanes begin, and the bytes of one number."""
    dtype = signature.args[0].dtype
    kind = ir.VectorType(context.get_value_type(dtype), SIGNALS_PER_VECTOR)
    return builder.bitcast(builder.gep(arguments[0], [arguments[1]]), kind.as_pointer()), dtype.bitwidth // 8


@_intrinsic
def spread(typing_context, numbers, value):
    """One value in all lanes, in the dtype of the numbers."""

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
    """The square root of each."""

    def generate(context, builder, signature, arguments):
        kind, name = arguments[0].type, f"llvm.sqrt.v{SIGNALS_PER_VECTOR}f{lanes.dtype.bitwidth}"
        known = builder.module.globals.get(name)
        return builder.call(known or ir.Function(builder.module, ir.FunctionType(kind, [kind]), name), arguments)

    return lanes(lanes), generate


@_intrinsic
def fetch(typing_context, numbers, place):
    """Ask for what lies at a place to be brought into the second cache, without waiting for it."""

    def generate(context, builder, signature, arguments):
        byte, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        where = builder.bitcast(builder.gep(arguments[0], [arguments[1]]), byte)
        builder.call(ask, [where, *(ir.Constant(whole, number) for number in (0, 2, 1))])  # read, second cache, data
        return context.get_dummy_value()

    return types.void(numbers, types.intp), generate

"""Estimates how long it takes to compile the loops that compute a kernel; 0 if the compiled loops are cached.

The arguments below have the types of real calls and hold one number each: numba looks up compiled loops by types.
"""

import sys
from typing import Any

import numpy as np

from gnomon.core.machine.kept_loops import is_compiled_code_cached
from gnomon.kernels.fused.images import VECTOR_BYTES

__all__ = [
    "chain_is_loaded",
    "dense_compile_seconds",
    "planes_are_loaded",
    "convolution_compile_seconds",
    "loop_and_arguments",
]

CHAIN_LOOPS = "gnomon.kernels.fused.chain_loops"
"""Name of the module with the loop of dense programs; it is in sys.modules once it is loaded."""
PLANES = "gnomon.kernels.fused.planes"
"""Name of the module with the loops of convolutional programs."""
CHAIN_SECONDS = 8.0
"""Seconds to compile the loop of dense programs on a free core."""
STAGE_SECONDS = 20.0
"""Seconds to compile the loop of convolutional programs on a free core."""
SWEEP_SECONDS = 3.0
"""Seconds to compile the loop over rows of images on a free core."""

INTEGERS: np.ndarray = np.zeros((1, 1), np.int64)


def dense_compile_seconds(arithmetic: type, result: type) -> float:
    """Returns the approximate seconds to compile the kernel loop for fully connected networks in these precisions.

    Cost: if the loop may be in the cache on disk, numba is imported, and a small file is read.

    >>> dense_compile_seconds(np.float64, np.float64) in (0.0, CHAIN_SECONDS)
    True
    """
    if CHAIN_LOOPS not in sys.modules and not is_compiled_code_cached(CHAIN_LOOPS, "chain"):
        return CHAIN_SECONDS
    from gnomon.core.machine.loops import is_compiled
    from gnomon.kernels.fused.chain_loops import chain

    return 0.0 if is_compiled(chain, *chain_arguments(arithmetic, result)) else CHAIN_SECONDS


def convolution_compile_seconds(dtype: type, *, flat: bool) -> float:
    """Returns the approximate seconds to compile the kernel loops for convolutional networks in this precision.

    Cost: if loops may be in the cache on disk, numba is imported, and some small files are read.

    >>> convolution_compile_seconds(np.float64, flat=False) in (0.0, STAGE_SECONDS)
    True
    """
    if PLANES not in sys.modules and not is_compiled_code_cached(PLANES, "stage"):
        return STAGE_SECONDS * len({np.float64, dtype}) + (SWEEP_SECONDS if flat else 0.0)
    from gnomon.core.machine.loops import is_compiled
    from gnomon.kernels.fused.planes import stage, sweep

    swept = flat and is_compiled(sweep, *sweep_arguments(dtype))
    needed = {np.float64} if swept else {np.float64, dtype}
    stages = sum(STAGE_SECONDS for one in needed if not is_compiled(stage, *stage_arguments(one)))
    return stages + (SWEEP_SECONDS if flat and not swept else 0.0)


def chain_is_loaded(arithmetic: type, result: type) -> bool:
    """Whether the compiled loop for fully connected networks is in the memory of this process; does not import numba.

    >>> chain_is_loaded(np.float64, np.float64) in (True, False)
    True
    """
    if CHAIN_LOOPS not in sys.modules:
        return False
    from numba import typeof

    from gnomon.kernels.fused.chain_loops import chain

    return tuple(typeof(one) for one in chain_arguments(arithmetic, result)) in getattr(chain, "overloads", ())


def planes_are_loaded() -> bool:
    """Whether the compiled loops for convolutional networks are in the memory of this process, in some precision.

    >>> planes_are_loaded() in (True, False)
    True
    """
    if PLANES not in sys.modules:
        return False
    from gnomon.kernels.fused.planes import stage

    return bool(getattr(stage, "overloads", ()))


def loop_and_arguments(name: str, arithmetic: str, result: str) -> tuple[Any, tuple[Any, ...]]:
    """Returns a compiled loop by its name, with example arguments of these dtypes; imports numba.

    >>> loop, arguments = loop_and_arguments("stage", "float32", "float32")
    >>> loop.__name__, arguments[1].dtype
    ('stage', dtype('float32'))
    """
    from gnomon.kernels.fused import chain_loops, planes

    first, second = np.dtype(arithmetic).type, np.dtype(result).type
    if name == "chain":
        return chain_loops.chain, chain_arguments(first, second)
    return (planes.stage, stage_arguments(first)) if name == "stage" else (planes.sweep, sweep_arguments(first))


def chain_arguments(arithmetic: type, result: type) -> tuple[Any, ...]:
    """Returns example arguments with the dtypes of real calls, by which numba finds the compiled
    `chain_loops.chain`.
    """
    one, table = _zeros(arithmetic, 1), _zeros(arithmetic, 2)
    registers, out = _zeros(arithmetic, 3), _zeros(result, 2)
    constants = (arithmetic(0),) * 4
    return (INTEGERS, one, constants, table, table, table, table, table, arithmetic(0), (0,) * 5, True, registers, out,
            out)  # fmt: skip


def stage_arguments(dtype: type) -> tuple[Any, ...]:
    """Returns example arguments with the dtypes of real calls, by which numba finds the compiled `planes.stage`."""
    one, tag = _zeros(dtype, 1), (0,) * (VECTOR_BYTES // np.dtype(dtype).itemsize)
    return (INTEGERS, one, (dtype(0),) * 4, INTEGERS, tag, True, one, one, one, INTEGERS, one, INTEGERS,
            _zeros(dtype, 3), one, INTEGERS)  # fmt: skip


def sweep_arguments(dtype: type) -> tuple[Any, ...]:
    """Returns example arguments with the dtypes of real calls, by which numba finds the compiled `planes.sweep`."""
    one, tag = _zeros(dtype, 1), (0,) * (VECTOR_BYTES // np.dtype(dtype).itemsize)
    table, two = _zeros(dtype, 2), (INTEGERS, INTEGERS)
    return (two, (one, one), (dtype(0),) * 4, two, tag, one, table, (one, one), two, _zeros(dtype, 3), one,
            INTEGERS, table)  # fmt: skip


def _zeros(dtype: type, dimensions: int) -> np.ndarray:
    return np.zeros((1,) * dimensions, dtype)

"""Compiles Python loops with numba: they run in several threads, use wide vector instructions, and are cached on disk.

Numba marks no argument as free of aliases and lets the compiler prefer half of a 512-bit vector unit;
``use_wide_vectors`` repairs both for the function that calls it. ``array_without_reference_counting`` saves slices
their reference counts. Results do not depend on them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import njit, typeof, types
from numba.core import event
from numba.extending import intrinsic

from gnomon.core.machine import progress

__all__ = [
    "FAST_MATH_FLAGS",
    "INNER",
    "array_without_reference_counting",
    "compile_on_first_use",
    "is_compiled",
    "use_wide_vectors",
]

FAST_MATH_FLAGS = frozenset({"contract", "nsz", "arcp"})
"""Compiler optimizations that are allowed: fused multiply-add; no reordering, no assumptions about NaN or infinity."""

INNER: dict[str, Any] = {"nogil": True, "fastmath": set(FAST_MATH_FLAGS), "error_model": "numpy", "forceinline": True}
"""Options of inner functions. They are not cached, because cached machine code cannot be inlined."""

ANNOUNCEMENT = (
    "Compiling the numerical loops of gnomon for this machine. This happens once and takes up to half a minute."
)
"""Written to stderr before the first compilation."""

_intrinsic: Any = intrinsic  # typed Any, because numba passes the first argument itself, which mypy cannot see


def compile_on_first_use(function: Callable[..., Any]) -> Any:
    """Decorator: compiles a function with numba on its first call, and caches the compiled code on disk if possible.

    Numba looks only at the file of the function to see whether a kept version is old; here it sees the whole folder.
    Cost: a compilation at the first call with new argument types, unless it is cached.

    >>> compile_on_first_use(lambda x: 2 * x)(3)
    6
    """
    try:
        made: Any = njit(cache=True, nogil=True, fastmath=set(FAST_MATH_FLAGS), error_model="numpy")(function)
    except RuntimeError:  # numba found no writable cache folder, so each process compiles the function again.
        made = njit(nogil=True, fastmath=set(FAST_MATH_FLAGS), error_model="numpy")(function)
    made.announced = True
    try:
        made._cache._cache_file._source_stamp = _stamp(function)
    except AttributeError:  # Unknown numba version: the cache is renewed only if the function's own file changes.
        pass
    return made


def is_compiled(function: Any, *arguments: Any) -> bool:
    """Checks whether a function is already compiled for these argument types, in this process or in the cache on disk.

    With arguments: for arguments of their types; without any: for some types.
    Cost: one small file is read.

    >>> twice = compile_on_first_use(lambda x: 2 * x)
    >>> is_compiled(twice), twice(3), is_compiled(twice), is_compiled(twice, 4), is_compiled(twice, 4.0)
    (False, 6, True, True, False)
    """
    signature = tuple(typeof(argument) for argument in arguments)
    if signature in function.overloads or (function.overloads and not arguments):
        return True
    try:
        index = function._cache._cache_file._load_index()
        key = function._cache._index_key(signature, function.targetctx.codegen()) if arguments else None
    except (AttributeError, OSError):  # The cache is missing, or this numba version stores it elsewhere.
        return False
    return key in index if arguments else bool(index)


class Announcer(event.Listener):
    """A listener for numba that prints one message when gnomon's loops are compiled for the first time."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        """Prints a message that loops are being compiled, when the first of gnomon's functions is compiled."""
        if not self.said and getattr(event.data["dispatcher"], "announced", False) and progress.is_terminal():
            self.said = True
            progress.progress_line(ANNOUNCEMENT)

    def on_end(self, event: Any) -> None:
        """Does nothing; numba requires a listener to have this method."""


ANNOUNCER = Announcer()
"""The instance that numba calls."""
event.register("numba:compile", ANNOUNCER)


def _stamp(function: Callable[..., Any]) -> tuple[tuple[str, int, int], ...]:
    """Returns dates and sizes of the source files that a compiled function may depend on, to detect an outdated
    cache.
    """
    files = [Path(__file__), *sorted(Path(function.__code__.co_filename).parent.glob("*.py"))]
    return tuple((f.name, f.stat().st_mtime_ns, f.stat().st_size) for f in files)


@_intrinsic
def use_wide_vectors(typing_context):
    """Numba intrinsic that allows 512-bit vectors in a function and declares that its array arguments do not overlap.

    Hypotheses: they do not. Cost: none when it runs.

    >>> @compile_on_first_use
    ... def twice(x):
    ...     use_wide_vectors()
    ...     return 2 * x
    >>> twice(3)
    6
    """

    def generate(context, builder, signature, arguments):
        function = builder.function
        set.add(
            function.attributes, '"prefer-vector-width"="512"'
        )  # Added as text, because llvmlite has no method for this attribute
        for argument in function.args:
            if isinstance(argument.type, ir.PointerType) and isinstance(
                argument.type.pointee, ir.FloatType | ir.DoubleType
            ):
                argument.add_attribute("noalias")
        return context.get_dummy_value()

    return types.void(), generate


@_intrinsic
def array_without_reference_counting(typing_context, array):
    """Numba intrinsic that returns an array without reference counting, which makes slices in inner loops cheaper.

    Hypotheses: the caller holds the array while the view lives; arguments of an entry are held by Python.

    >>> import numpy as np
    >>> compile_on_first_use(lambda x: array_without_reference_counting(x)[1:].sum())(np.arange(3.0))
    3.0
    """

    def generate(context, builder, signature, arguments):
        view = context.make_array(signature.return_type)(context, builder, arguments[0])
        view.meminfo = view.meminfo.type(None)
        view.parent = view.parent.type(None)
        return view._getvalue()

    return array(array), generate

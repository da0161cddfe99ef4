"""Validates arguments of public functions: modules, inputs, targets, numbers and seeds.

Every check carries the call that the user made, and its message begins with it. What can be converted
without a change of meaning is converted: tables with names, arrays of any byte order, lists of numbers, short floats.

>>> import torch
>>> check_integer("steps", 10.0)
10
>>> as_numbers([[1, 2], [3, 4]], "x").shape
torch.Size([2, 2])
"""

from collections.abc import Mapping
from contextlib import suppress
from math import inf, isfinite
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from gnomon.core.errors import InputError, NotFiniteError, out_of_range_error
from gnomon.core.inputs.arguments import Inputs, count_examples, detached_on_device_of, input_tensors
from gnomon.core.inputs.arrays import as_tensor
from gnomon.core.inputs.images import adapt_images, warn

__all__ = [
    "as_inputs",
    "as_numbers",
    "as_targets",
    "check_finite_inputs",
    "to_dense_tensors",
    "check_type",
    "check_module",
    "check_module_is_callable",
    "check_seed",
    "check_weights",
    "check_integer",
    "is_array",
    "check_number",
    "check_real",
]

TABLE = "Pass a tensor, an array, a list or a table of numbers"
KINDS = {"U": "text", "S": "bytes", "M": "dates", "m": "durations", "V": "records", "O": "objects that are not numbers"}
SEEDS = range(-(2**63), 2**64)
"""Seeds that ``torch.manual_seed`` accepts."""


def check_module(module: Any) -> None:
    """Raises an error unless the argument is a torch module.

    >>> check_module(nn.Linear(1, 1))
    """
    if not isinstance(module, nn.Module):
        found = f"the module is a {type(module).__name__}"
        fix = "Pass the module itself, not its class or output"
        raise InputError(found, accepted="a torch.nn.Module", fix=fix)


def check_module_is_callable(module: Any) -> None:
    """Raises an error unless the argument is a module that torch can call with replaced parameters.

    Cost: a walk over the parts of the module.

    >>> check_module_is_callable(nn.Linear(1, 1))
    """
    check_module(module)
    if isinstance(module, nn.DataParallel | nn.parallel.DistributedDataParallel):
        found = f"the module is a {type(module).__name__}, a wrapper for several devices"
        raise InputError(found, accepted="one module on one device", fix="Pass the wrapped module, module.module")
    for name, part in module.named_modules():
        if isinstance(part, torch.jit.ScriptModule):
            where = f"'{name}'" if name else "the module"
            fix = "Pass the original module, before torch.jit.script or torch.jit.trace"
            raise InputError(f"{where} is compiled by torch.jit", accepted="a module written in Python", fix=fix)
        for own, p in (*part._parameters.items(), *part._buffers.items()):
            if p is not None and (is_lazy(p) or (p.is_complex() and isinstance(p, nn.Parameter))):
                _refuse(f"{name}.{own}" if name else own, p)


def check_weights(module: Any) -> None:
    """Raises an error if a module cannot be called with replaced parameters, or if its weights contain NaN or infinity.

    Cost: a pass over the weights.

    >>> check_weights(nn.Linear(1, 1))
    """
    check_module_is_callable(module)
    for name, p in (*module.named_parameters(), *module.named_buffers()):
        if p.is_floating_point() and not bool(torch.isfinite(p.detach()).all()):
            found, fix = f"'{name}' holds NaN or infinity", "Find the step at which training diverged"
            raise NotFiniteError(found, accepted="finite weights", fix=fix)


def _refuse(name: str, p: Tensor) -> None:
    if is_lazy(p):
        fix = "Call module(x[:1]) once so that every lazy layer gets its size"
        raise InputError(f"'{name}' has no size yet", accepted="a module whose parameters exist", fix=fix)
    fix = "Write the module with real parameters, for instance with torch.view_as_real"
    raise InputError(f"'{name}' holds {p.dtype}", accepted="a network of real numbers", fix=fix)


def as_inputs(x: Any, module: nn.Module) -> Inputs:
    """Validates model inputs (finite, dense, one row per example) and moves them to the module's device and dtype.

    Images of bytes, or without the one channel that the first layer wants, are adapted; see `core.adapt`.
    Cost: one pass over x, and a copy of what must be converted.

    >>> as_inputs([[1, 2], [3, 4]], nn.Linear(2, 1)).dtype
    torch.int64
    """
    if any(p.is_meta for p in module.parameters()):
        found = "the parameters are on the device 'meta' and have no values"
        raise InputError(found, accepted="a module with values", fix="Build the module on a real device")
    taken, notes = adapt_images(to_dense_tensors(x), module)
    warn(notes)
    data = detached_on_device_of(taken, module)
    count_examples(data)
    check_finite_inputs(data)
    return data


def check_finite_inputs(x: Inputs) -> None:
    """Raises an error if the inputs contain NaN or infinity; the message names the first such example.

    Cost: one pass over x.

    >>> check_finite_inputs(torch.zeros(2, 1))
    """
    for t in input_tensors(x):
        # A finite sum proves in one pass that all numbers are finite. If the sum is not finite, each number is checked.
        if t.is_floating_point() and not bool(t.sum().isfinite()) and not bool((finite := t.isfinite()).all()):
            rows = (~finite.reshape(len(t), -1).all(1)).nonzero().flatten()
            found = f"example {int(rows[0])} of x contains NaN or infinity ({len(rows)} of {len(t)} such examples)"
            raise NotFiniteError(found, accepted="finite inputs", fix="Drop or repair those examples")


def as_targets(y: Any, n: int) -> Tensor:
    """Validates targets and converts them to a dense tensor of finite numbers or classes, one for each of n examples.

    Cost: one pass over y.

    >>> as_targets([0, 1], 2)
    tensor([0, 1])
    """
    given = check_real(as_numbers(y, "y"), "y").detach()
    if given.dim() == 0 or len(given) != n:
        found = f"{n} inputs and {len(given) if given.dim() else 'one number for all'} targets"
        raise InputError(found, accepted="a target for each input", fix="Give x and y the same number of rows")
    if given.is_floating_point() and not bool(given.isfinite().all()):
        found = f"{int((~given.isfinite()).sum())} of the targets are not finite"
        raise NotFiniteError(found, accepted="finite targets", fix="Drop those examples")
    return given


def check_real(values: Tensor, name: str) -> Tensor:
    """Returns the tensor unchanged; raises an error if it holds complex numbers.

    >>> check_real(torch.ones(1), "y")
    tensor([1.])
    """
    if values.is_complex():
        fix = f"Pass {name}.real, or real and imaginary parts as two columns"
        raise InputError(f"{name} holds {values.dtype}", accepted="real numbers", fix=fix)
    return values


def as_numbers(values: Any, name: str) -> Tensor:
    """Converts numbers in a list, array, table or tensor to a dense tensor.

    Cost: a copy, but for dense tensors.

    >>> as_numbers(np.ones(2, dtype=">f4"), "x")
    tensor([1., 1.])
    """
    if isinstance(values, Tensor):
        return _as_strided_tensor(values, name)
    if isinstance(values, tuple | list):
        try:
            return as_numbers(np.asarray(values), name)
        # numpy raises these errors for rows of different lengths and for tensors without values (on the meta device).
        except (ValueError, TypeError, RuntimeError) as reason:
            if isinstance(reason, InputError):
                raise
            raise InputError(
                f"{name} is a list of rows with different lengths", accepted="a table", fix=TABLE
            ) from reason
    if not is_array(values):
        shown = repr(values) if isinstance(values, str | int | float | None) else f"a {type(values).__name__}"
        raise InputError(f"{name} is {shown[:60]}", accepted="a table of numbers", fix=TABLE)
    return as_tensor(_native(values, name))


def is_array(values: Any) -> bool:
    """Checks whether a value is an array, or a table that can be converted to an array.

    >>> is_array(np.ones(1)), is_array(np.float64(1.0)), is_array("text")
    (True, False, False)
    """
    return (hasattr(values, "to_numpy") or hasattr(values, "__array__")) and not isinstance(values, np.generic | type)


def check_integer(name: str, value: Any, *, least: int = 1) -> int:
    """Validates a whole number of at least ``least``, such as 10 or 1e6, and returns it as an int; rejects 2.5, True
    and text.

    >>> check_integer("memory", 1e9)
    1000000000
    """
    number = value.item() if isinstance(value, Tensor | np.ndarray) and value.ndim == 0 else value
    known = isinstance(number, int | float | np.integer | np.floating) and not isinstance(number, bool)
    if not known or not isfinite(number) or number != int(number) or number < least:
        accepted = "a whole number" if least < 0 else f"a whole number of at least {least}"
        raise out_of_range_error(name, accepted, value)
    return int(number)


def check_seed(value: Any) -> int:
    """Validates a random seed, which must be a 64-bit integer, and returns it.

    >>> check_seed(0)
    0
    """
    seed = check_integer("seed", value, least=SEEDS.start)
    if seed not in SEEDS:
        raise out_of_range_error("seed", "a 64-bit whole number, such as 0", value)
    return seed


def check_number(name: str, value: Any, *, above: float = -inf, below: float = inf) -> float:
    """Validates a finite number strictly between two bounds, and returns it as a float.

    >>> check_number("confidence", 0.95, above=0, below=1)
    0.95
    """
    known = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not known or not above < value < below:  # also refuses NaN
        low, high = f"above {above:g}" if above > -inf else "", f"below {below:g}" if below < inf else "finite"
        accepted = (
            f"a number {low} and {high}" if low else f"a {high} number" if high == "finite" else f"a number {high}"
        )
        raise out_of_range_error(name, accepted, value)
    return float(value)


def check_type(name: str, value: Any, kind: Any, *, fix: str) -> None:
    """Raises an error unless an option is an instance of the expected type.

    >>> from collections.abc import Callable
    >>> check_type("progress", print, Callable, fix="Pass a function")
    """
    if not isinstance(value, kind):
        accepted = getattr(kind, "__name__", str(kind)).removeprefix("Abstract").lower()
        shown = f"a {type(value).__name__}" if isinstance(value, nn.Module) else repr(value)[:80]
        raise InputError(f"{name} must be a {accepted}, but it is {shown}", accepted=f"a {accepted}", fix=fix)


def to_dense_tensors(x: Any) -> Any:
    """Converts all arrays in the model inputs x to dense tensors; a list of numbers becomes one tensor.

    >>> to_dense_tensors({"a": np.ones(1)})
    {'a': tensor([1.], dtype=torch.float64)}
    """
    if isinstance(x, Tensor) or is_array(x):
        return as_numbers(x, "x")
    if isinstance(x, list) and x and _is_number(x):
        return as_numbers(x, "x")
    if isinstance(x, Mapping):
        return {key: _argument(value, f"x[{key!r}]") for key, value in x.items()}
    if isinstance(x, tuple | list):
        return tuple(_argument(value, f"x[{i}]") for i, value in enumerate(x))
    return as_numbers(x, "x")  # raises an error


def _argument(value: Any, name: str) -> Any:
    """Converts one argument of a module: arrays become tensors, other values stay unchanged."""
    if isinstance(value, Tensor) or is_array(value):
        return as_numbers(value, name)
    if isinstance(value, Mapping):
        return {key: _argument(one, f"{name}[{key!r}]") for key, one in value.items()}
    if isinstance(value, tuple | list):
        return tuple(_argument(one, f"{name}[{i}]") for i, one in enumerate(value))
    return value


def _is_number(x: Any) -> bool:
    """Checks whether a value is a number, or a (nested) list whose first element is a number."""
    return _is_number(x[0]) if isinstance(x, list) and x else isinstance(x, int | float | np.number)


def _as_strided_tensor(t: Tensor, name: str) -> Tensor:
    if t.is_nested or t.layout == torch.jagged:
        found, fix = "is a nested tensor", f"Pad it: torch.nested.to_padded_tensor({name}, 0.0)"
    elif t.layout != torch.strided:
        found, fix = f"is a sparse tensor ({t.layout})", f"Pass {name}.todense()"
    elif t.is_meta:
        found, fix = "is on the device 'meta' and has no values", f"Make {name} on a real device"
    elif t.is_quantized:
        found, fix = f"is quantized ({t.dtype})", f"Pass {name}.dequantize()"
    else:
        # float8 tensors become float32, because torch cannot compute with float8.
        short = t.is_floating_point() and t.dtype.itemsize == 1
        return t.float() if short else t
    raise InputError(f"{name} {found}", accepted="a dense table of numbers", fix=fix)


def _native(values: Any, name: str) -> np.ndarray:
    """Converts values to a numpy array with a dtype that torch supports, in the byte order of this machine."""
    array = np.asanyarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        found = f"{name} has masked entries in {int(np.ma.getmaskarray(array).sum())} places"
        raise InputError(found, accepted="a value in every place", fix="Fill or drop the masked entries")
    array = np.asarray(array)
    if array.dtype.kind == "O":
        with suppress(ValueError):  # numpy fails for rows of different lengths, which the code below rejects.
            array = np.array(array.tolist())  # For tables with mixed column types, such as booleans and numbers.
    if array.dtype.kind not in "biufc":
        found = f"{_column(values, name)} holds {KINDS.get(array.dtype.kind, array.dtype)}"
        fix = "Encode text, categories and dates as numbers first"
        raise InputError(found, accepted="numbers", fix=fix)
    if array.dtype.kind in "fc" and array.dtype.itemsize > (8 if array.dtype.kind == "f" else 16):
        # float128 becomes float64, because torch has no float128.
        return array.astype(np.float64 if array.dtype.kind == "f" else np.complex128)
    if array.dtype.kind == "u" and array.dtype.itemsize > 1:
        return array.astype(np.int64)  # Torch computes with uint8, but not with wider unsigned integers.
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _column(values: Any, name: str) -> str:
    """Describes the first column of a table that does not hold numbers, for an error message; ``name`` if there are no
    columns.
    """
    for title in getattr(values, "columns", ()):
        if np.array(np.asarray(values[title]).tolist()).dtype.kind not in "biufc":
            return f"column {title!r} of {name}"
    return name

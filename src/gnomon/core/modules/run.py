"""Calls a user's module with one tensor, a tuple of arguments or a dict, and explains errors that the module raises.

>>> run_module(lambda a, b: a + b, {"a": 1, "b": 2})
3
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from gnomon.core.errors import GnomonError, InputError
from gnomon.core.inputs.arguments import Inputs, input_tensors

__all__ = ["call_with_inputs", "run_module", "wrap_user_errors"]


def run_module(module: Callable[..., Any], x: Inputs) -> Any:
    """Calls the module with inputs x, which may be a tensor, tuple or dict, and explains errors that the module raises.

    Cost: one call of the module.

    >>> run_module(lambda a, b: a + b, (1, 2))
    3
    """
    with wrap_user_errors(module, x):
        return call_with_inputs(module, x)


def call_with_inputs(function: Callable[..., Any], x: Inputs) -> Any:
    """Calls function(x), function(*x) or function(**x), depending on whether x is a tensor, a tuple or a dict.

    Cost: one call.

    >>> call_with_inputs(lambda a, b: a + b, (1, 2))
    3
    """
    if isinstance(x, Mapping):
        return function(**x)
    if isinstance(x, (tuple, list)):
        return function(*x)
    return function(x)


@contextmanager
def wrap_user_errors(module: Any, x: Inputs, *, what: str = "forward") -> Iterator[None]:
    """Context manager that turns errors in the user's code into errors that name the failed call, its inputs, and a
    fix.

    >>> try:
    ...     with wrap_user_errors(None, torch.zeros(2, 3)):
    ...         raise KeyError("mine")
    ... except InputError as error:
    ...     print(repr(error.__cause__))
    KeyError('mine')
    """
    try:
        yield
    except (GnomonError, MemoryError, torch.OutOfMemoryError):
        raise
    except (Exception, SystemExit) as error:
        seen = [f"{t.dtype} of shape {tuple(t.shape)}" for t in input_tensors(x)][:3]
        said = (str(error).strip().splitlines() or ["no message"])[0][:200]
        found = f"{what} raised {type(error).__name__} on {' and '.join(seen) or 'no tensors'}: {said}"
        raise InputError(found, accepted="a model that accepts its inputs", fix=_fix_for(module, x)) from error


def _fix_for(module: Any, x: Inputs) -> str:
    """Returns advice for an error that a module raised on inputs x."""
    if any(not t.is_floating_point() for t in input_tensors(x)):
        return "Pass x.float(), or a module that accepts this dtype"
    parameters = module.parameters() if isinstance(module, nn.Module) else ()
    if len({p.dtype for p in parameters if p.is_floating_point()}) > 1:
        return "Convert the module to one dtype, for instance with module.float()"
    return "Check the shape of x, and run module(x) alone to see which call fails"

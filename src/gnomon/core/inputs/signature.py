"""Adds what the data lack for a call of a module's ``forward``: None for optional arguments, and the targets.

>>> import torch
>>> class Table(nn.Module):
...     def forward(self, numbers, categories: Tensor | None):
...         return numbers
>>> add_none_for_optional_arguments(torch.zeros(2, 3), Table())[1] is None
True
"""

import inspect
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, input_tensors, take_examples
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module

__all__ = [
    "TARGET_ARGUMENT_NAMES",
    "most_positional_arguments",
    "target_argument",
    "add_none_for_optional_arguments",
    "inputs_with_targets",
]

TARGET_ARGUMENT_NAMES = ("labels", "targets", "target")
"""Names of ``forward`` arguments that take targets."""
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def add_none_for_optional_arguments(x: Inputs, module: nn.Module) -> Inputs:
    """Adds None to the inputs for each missing argument of ``forward`` whose annotation allows None.

    Cost: a look at the signature.

    >>> import torch
    >>> add_none_for_optional_arguments(torch.zeros(1), nn.Linear(1, 1)).shape
    torch.Size([1])
    """
    known = _parameters(module)
    if isinstance(x, Mapping):
        missing = [name for name, p in known.items() if name not in x and _is_required(p)]
        return {**x, **dict.fromkeys(missing)} if missing and all(_may_be_none(known[m]) for m in missing) else x
    given = x if isinstance(x, tuple | list) else (x,)
    rest = [p for p in list(known.values())[len(given) :] if _is_required(p) and p.kind in POSITIONAL]
    return (*given, *(None for _ in rest)) if rest and all(map(_may_be_none, rest)) else x


def most_positional_arguments(module: nn.Module) -> float:
    """Returns the largest number of positional arguments that the module's ``forward`` accepts; infinity for ``*args``.

    >>> most_positional_arguments(nn.Linear(1, 1)), most_positional_arguments(nn.Bilinear(1, 1, 1))
    (1, 2)
    """
    known = _parameters(module).values()
    if not known or any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in known):
        return inf
    return sum(p.kind in POSITIONAL for p in known)


def target_argument(module: nn.Module, inputs: Callable[[], Inputs], y: Tensor) -> str | None:
    """Returns the ``forward`` argument through which the module needs the targets, such as "labels"; None if it needs
    none.

    ``inputs`` returns the inputs; it is called only if ``forward`` has such an argument.

    Examples are an encoder with a decoder, which reads the targets one position late (some read the inputs instead if
    targets are missing), and a language model that returns the last position only without targets.
    Cost: none if ``forward`` has no such argument, else two forward passes on two examples.

    >>> import torch
    >>> target_argument(nn.Linear(1, 1), lambda: torch.zeros(2, 1), torch.zeros(2, 1)) is None
    True
    """
    name = next((name for name in TARGET_ARGUMENT_NAMES if name in _parameters(module)), None)
    if name is None:
        return None
    x = inputs()
    if isinstance(x, Mapping) and name in x:
        return None
    few = take_examples(x, slice(0, 2))
    try:
        without = _outputs(module, few)
    except InputError:
        return name
    if y.dim() != 2 or y.is_floating_point():
        return None
    try:
        given = _outputs(module, inputs_with_targets(few, y[:2].contiguous(), name, module))
    except InputError:  # The module takes targets of another form, or returns only a loss if it gets targets.
        given = without
    changed = given.shape == without.shape and not torch.allclose(given, without, equal_nan=True)
    return name if changed or y.shape[1] not in without.shape[1:] else None


def _outputs(module: nn.Module, x: Inputs) -> Tensor:
    """Runs a module in eval mode with a fixed random seed and returns its predictions."""
    with preserve(module, grad=False, seed=0):
        return output_tensor(run_module(module, x))


def inputs_with_targets(x: Inputs, y: Tensor, name: str, module: nn.Module) -> Inputs:
    """Returns the inputs as a dict of named arguments, with the targets y added under ``name``.

    >>> import torch
    >>> class Model(nn.Module):
    ...     def forward(self, ids, targets=None):
    ...         return ids
    >>> sorted(inputs_with_targets(torch.zeros(1, 2), torch.zeros(1, 2), "targets", Model()))
    ['ids', 'targets']
    """
    y = y.to(next(input_tensors(x)).device).contiguous()
    if isinstance(x, Mapping):
        return {**x, name: y}
    given = x if isinstance(x, tuple | list) else (x,)
    return {**dict(zip(_parameters(module), given, strict=False)), name: y}


def _parameters(module: nn.Module) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(module.forward).parameters)
    except (TypeError, ValueError):  # A forward that is not written in Python has no signature.
        return {}


def _is_required(p: inspect.Parameter) -> bool:
    return p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)


def _may_be_none(p: inspect.Parameter) -> bool:
    """Checks whether the type annotation of an argument allows None."""
    stated: Any = p.annotation
    words = stated if isinstance(stated, str) else str(stated)
    return stated is not p.empty and ("None" in words or "Optional" in words)

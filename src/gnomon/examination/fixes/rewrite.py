"""Replaces operations of a module, whether ``forward`` calls them as layers or as functions.

>>> import torch
>>> net = nn.Sequential(nn.Linear(2, 3), nn.Softmax(1))
>>> logits = without_last_call(net, torch.ones(4, 2), SOFTMAX)
>>> bool((logits(torch.ones(1, 2)) == net[0](torch.ones(1, 2))).all())
True
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from gnomon.core.inputs.arguments import Inputs
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module

__all__ = [
    "DROPOUT", "RELU", "SIGMOID", "SOFTMAX", "TANH", "ReplaceCall", "count_calls", "without_last_call",
]  # fmt: skip

SOFTMAX = frozenset({F.softmax, torch.softmax, Tensor.softmax})
"""Functions that compute softmax."""
SIGMOID = frozenset({torch.sigmoid, torch.sigmoid_, Tensor.sigmoid, Tensor.sigmoid_, F.sigmoid, F.hardsigmoid})
"""Functions that compute a sigmoid."""
TANH = frozenset({torch.tanh, torch.tanh_, Tensor.tanh, Tensor.tanh_, F.tanh, F.hardtanh})
"""Functions that compute tanh, or cut at -1 and 1."""
RELU = frozenset({F.relu, torch.relu, torch.relu_, Tensor.relu, Tensor.relu_, F.relu_, F.softplus})
"""Functions that compute ReLU or softplus."""
DROPOUT = frozenset(
    {F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.alpha_dropout, F.feature_alpha_dropout, torch.dropout}
)
"""Functions that drop units at random."""

ReplaceCall = Callable[["Rewritten", int, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
"""Replaces a call: (module, number of the call within the pass, function, arguments, named arguments) -> result."""


class _Replaced(TorchFunctionMode):
    """Context manager that replaces calls of certain torch functions in its block by other calls."""

    def __init__(self, owner: "Rewritten") -> None:
        super().__init__()
        self.owner, self.count = owner, 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        owner, options = self.owner, kwargs or {}
        if owner.functions is not None and func not in owner.functions:
            return func(*args, **options)
        self.count += 1
        return owner.call(owner, self.count - 1, func, args, options)


class Rewritten(nn.Module):
    """Wraps a module so that its calls of certain functions are replaced; shares the module's parameters.

    ``functions`` are those that are replaced; None replaces all of torch's functions.
    """

    def __init__(self, module: nn.Module, functions: frozenset[Any] | None, call: ReplaceCall) -> None:
        super().__init__()
        self.module, self.functions, self.call = module, functions, call
        self.training = module.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the original module with calls of certain functions replaced."""
        with _Replaced(self):
            return self.module(*args, **kwargs)


def count_calls(module: nn.Module, x: Inputs, functions: frozenset[Any]) -> int:
    """Counts how often a forward pass calls one of some functions, directly or in layers.

    >>> count_calls(nn.Sequential(nn.Tanh(), nn.Tanh()), torch.zeros(1, 1), TANH)
    2
    """
    numbers: list[int] = []

    def call(owner: Rewritten, number: int, function: Any, args: Any, options: Any) -> Any:
        numbers.append(number)
        return function(*args, **options)

    with preserve(module, grad=False):
        run_module(Rewritten(module, functions, call), x)
    return len(numbers)


def without_last_call(module: nn.Module, x: Inputs, functions: frozenset[Any]) -> nn.Module | None:
    """Returns the module without its last call of one of some functions, such as softmax; None if it never calls them.

    >>> without_last_call(nn.Linear(1, 1), torch.zeros(1, 1), TANH) is None
    True
    """
    last = count_calls(module, x, functions) - 1
    return None if last < 0 else Rewritten(module, functions, _SkipCall(last))


class _SkipCall:
    """Replaces one call of a function by the identity, which removes the call; all other calls are unchanged."""

    def __init__(self, skipped: int) -> None:
        self.skipped = skipped

    def __call__(self, owner: Rewritten, number: int, function: Any, args: Any, options: Any) -> Any:
        given = args[0] if args else options["input"]
        return given if number == self.skipped else function(*args, **options)
